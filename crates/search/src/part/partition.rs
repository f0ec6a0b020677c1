//! The partitions, and which states belong to which.
//!
//! Partitions are told apart by the first bits of a hash, each by as many as it has been split: a directory of all combinations of as many bits as any needs leads to
//! them.

use super::pending::Waiting;
use crate::SearchError;
use crate::compact::Identity;
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};
use lariat_storage::{Manifest, RowLog, RowLogOptions, RowQueue, StorageError, hash_row};

/// Transfers that a reader has in memory.
pub(super) const READ_BUFFERS: usize = 2;
/// Makes other bits of a hash than those that the table goes by.
const OTHER_BITS: u64 = 0xD6E8_FEB8_6659_FD93;
/// A queue has room for this many entries in memory at least.
const ENTRIES_MIN: usize = 16;

/// What waits: a state, and where it was found from if that is wanted.
#[derive(Clone, Copy)]
pub(super) struct Entries {
    pub(super) row_bytes: usize,
    pub(super) has_parents: bool,
}

/// What is noted of each partition, behind its place.
const PARTITIONS: &str = "partitions";
const MADE: &str = "made";
const DEPTH: &str = "depth";
const PREFIX: &str = "prefix";

impl Entries {
    pub(super) fn bytes(&self) -> usize {
        self.row_bytes + if self.has_parents { 8 } else { 0 }
    }

    pub(super) fn row<'e>(&self, entry: &'e [u8]) -> &'e [u8] {
        &entry[..self.row_bytes]
    }

    /// The hash of the state that it was found from.
    pub(super) fn parent(&self, entry: &[u8]) -> u64 {
        entry[self.row_bytes..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

pub(super) struct Partition<'b> {
    /// How many bits tell it from others, and what they are.
    depth: u32,
    prefix: u64,
    pub(super) visited: RowLog<'b>,
    pub(super) waiting: Waiting<'b>,
}

impl Partition<'_> {
    pub(super) fn n_waiting(&self) -> u64 {
        self.waiting.len()
    }
}

pub(super) struct Partitions<'b> {
    pub(super) all: Vec<Partition<'b>>,
    directory: Vec<u32>,
    depth: u32,
    disk: &'b dyn Disk,
    budget: &'b MemoryBudget,
    entries: Entries,
    identity: Identity,
    log: RowLogOptions,
    pending_bytes: usize,
    /// Partitions so far, by which files are named.
    n_made: u64,
}

impl<'b> Partitions<'b> {
    /// A single partition; `pending_bytes` are for all queues in memory.
    pub(super) fn new(
        disk: &'b dyn Disk,
        (entries, identity): (Entries, Identity),
        log: RowLogOptions,
        pending_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Self {
        let mut partitions = Self {
            all: Vec::new(),
            directory: vec![0],
            depth: 0,
            disk,
            budget,
            entries,
            identity,
            log,
            pending_bytes,
            n_made: 0,
        };
        let first = partitions.make(0, 0);
        partitions.all.push(first);
        partitions
    }

    fn make(&mut self, depth: u32, prefix: u64) -> Partition<'b> {
        let number = self.n_made;
        self.n_made += 1;
        let visited = RowLogOptions { row_bytes: self.visited_bytes(), ..self.log };
        let visited = RowLog::new(self.disk, &format!("visited-{number}"), visited, self.budget);
        let options = RowLogOptions { kind: FileKind::Queue, ..self.log };
        let queue = RowQueue::new(self.disk, &format!("queue-{number}"), options, self.budget);
        Partition { depth, prefix, visited, waiting: Waiting::new(self.entries, queue, self.budget) }
    }

    /// The bytes of what is stored of a visited state: what waited, or its signature.
    fn visited_bytes(&self) -> usize {
        if self.identity.is_compact() { self.identity.key_bytes() } else { self.entries.bytes() }
    }

    /// Where the partition of a state is, by the hash of its key.
    #[inline]
    pub(super) fn partition_of(&self, hash: u64) -> usize {
        // A shift by 64 would be undefined.
        self.directory[(hash.wrapping_mul(OTHER_BITS) >> 1 >> (63 - self.depth)) as usize] as usize
    }

    /// What each queue may have in memory. It changes only when the number of partitions has doubled. No queue has all of it, since finding duplicates in
    /// one takes memory, too.
    fn bytes_max(&self) -> usize {
        let n_queues = self.all.len().next_power_of_two().max(4);
        (self.pending_bytes / n_queues).max(ENTRIES_MIN * self.entries.bytes())
    }

    pub(super) fn enqueue(&mut self, place: usize, row: &[u8], parent: u64) -> Result<(), SearchError> {
        let bytes_max = self.bytes_max();
        Ok(self.all[place].waiting.push(row, parent, bytes_max)?)
    }

    /// Splits a partition in two.
    pub(super) fn split(&mut self, place: usize) -> Result<(), SearchError> {
        let (depth, prefix) = (self.all[place].depth + 1, self.all[place].prefix << 1);
        if depth > self.depth {
            self.directory = self.directory.iter().flat_map(|place| [*place; 2]).collect();
            self.depth += 1;
        }
        let (zero, one) = (self.make(depth, prefix), self.make(depth, prefix | 1));
        let mut old = std::mem::replace(&mut self.all[place], zero);
        let new = self.all.len();
        self.all.push(one);
        let open = self.depth - depth;
        let first = ((prefix | 1) as usize) << open;
        self.directory[first..first + (1 << open)].fill(new as u32);
        self.shrink_queues()?;

        let mut reader = old.visited.reader(0..old.visited.len(), READ_BUFFERS)?;
        loop {
            let entries = reader.next_rows()?;
            if entries.is_empty() {
                break;
            }
            for entry in entries.iter() {
                let place = self.partition_of(hash_row(self.identity.key(entry)));
                self.all[place].visited.push(entry)?;
            }
        }
        drop(reader);
        old.visited.discard()?;
        self.all[place].visited.rest()?;
        self.all[new].visited.rest()?;
        let (entries, identity) = (self.entries, self.identity);
        let mut space = Vec::new();
        while old.waiting.len() > 0 {
            old.waiting.take(usize::MAX, &mut |entry| {
                let row = entries.row(entry);
                let hash = hash_row(identity.key(identity.entry(row, &mut space)));
                self.enqueue(self.partition_of(hash), row, entries.parent(entry))
            })?;
        }
        // The file that was read last goes, too.
        Ok(old.waiting.spill()?)
    }

    /// Writes queues to disk that have more memory than is theirs now.
    fn shrink_queues(&mut self) -> Result<(), StorageError> {
        let bytes_max = self.bytes_max() as u64;
        let too_large = self.all.iter_mut().filter(|partition| partition.waiting.memory_bytes() > bytes_max);
        too_large.map(|partition| &mut partition.waiting).try_for_each(Waiting::spill)
    }

    /// The visited state with this hash that is accepted, and the hash of the state that it was found from.
    pub(super) fn find(
        &mut self,
        hash: u64,
        mut accepts: impl FnMut(&[u8]) -> Result<bool, SearchError>,
    ) -> Result<Option<(Vec<u8>, u64)>, SearchError> {
        let place = self.partition_of(hash);
        let visited = &mut self.all[place].visited;
        let mut reader = visited.reader(0..visited.len(), READ_BUFFERS)?;
        loop {
            let found = reader.next_rows()?;
            if found.is_empty() {
                return Ok(None);
            }
            for entry in found.iter() {
                let row = self.entries.row(entry);
                if hash_row(row) == hash && accepts(row)? {
                    return Ok(Some((row.to_vec(), self.entries.parent(entry))));
                }
            }
        }
    }

    /// Notes all partitions; everything is on disk then.
    pub(super) fn note(&mut self, manifest: &mut Manifest) -> Result<(), StorageError> {
        manifest.set_number(PARTITIONS, self.all.len() as u64);
        manifest.set_number(MADE, self.n_made);
        for (i, partition) in self.all.iter_mut().enumerate() {
            manifest.set_number(&format!("{DEPTH}-{i}"), u64::from(partition.depth));
            manifest.set_number(&format!("{PREFIX}-{i}"), partition.prefix);
            partition.visited.note_growing(manifest, &format!("visited-{i}"))?;
            partition.waiting.note(manifest, &format!("waiting-{i}"))?;
        }
        Ok(())
    }

    /// Takes up what was noted, in place of the single partition that there is.
    pub(super) fn take_up(&mut self, manifest: &Manifest) -> Result<(), StorageError> {
        self.all.clear();
        self.n_made = manifest.number(MADE)?;
        for i in 0..manifest.number(PARTITIONS)? {
            let depth = manifest.number(&format!("{DEPTH}-{i}"))? as u32;
            let mut partition = self.make(depth, manifest.number(&format!("{PREFIX}-{i}"))?);
            partition.visited.take_up(manifest, &format!("visited-{i}"))?;
            partition.visited.rest()?;
            partition.waiting.take_up(manifest, &format!("waiting-{i}"))?;
            self.depth = self.depth.max(depth);
            self.all.push(partition);
        }
        self.directory = vec![0; 1 << self.depth];
        for (place, partition) in self.all.iter().enumerate() {
            let open = self.depth - partition.depth;
            let first = (partition.prefix as usize) << open;
            self.directory[first..first + (1 << open)].fill(place as u32);
        }
        Ok(())
    }
}
