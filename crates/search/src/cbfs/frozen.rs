//! States whose positions have left memory: sorted sets on disk, which batches are compared with in order.

use super::Shares;
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_disk::Disk;
use lariat_storage::stream::RowStream;
use lariat_storage::{
    ExternalSort, Key, Manifest, PartsInput, PartsWriter, RowLogReader, RunOptions, RunParts, SortOptions,
    StorageError, for_row_width, take_smallest,
};

/// Sets, at most: a batch is compared with each.
const SETS_MAX: usize = 8;
/// Blocks that a reader has in memory.
const READ_BUFFERS: usize = 2;
/// The role of sets in a manifest, and what the names of their files begin with.
const FROZEN: &str = "frozen";

/// The sets, whatever the width of keys is.
pub(super) trait Frozen<'s>: Send {
    /// Adds all keys of a reader, none of which is there. The memory of the table is free.
    fn add(&mut self, keys: &mut RowLogReader<'s>) -> Result<(), SearchError>;

    /// Marks which keys are there, of those that are not marked.
    fn mark_old<'k>(&mut self, key: &dyn Fn(usize) -> &'k [u8], is_old: &mut [bool]) -> Result<(), SearchError>;

    /// Notes all sets.
    fn note(&self, manifest: &mut Manifest) -> Result<(), StorageError>;

    /// What was noted is published.
    fn published(&mut self);

    /// Takes up what was noted.
    fn take_up(&mut self, manifest: &Manifest) -> Result<(), StorageError>;
}

/// No sets, of keys of this width.
pub(super) fn new<'s>(
    disk: &'s dyn Disk,
    key_bytes: usize,
    shares: &Shares,
    budget: &'s MemoryBudget,
) -> Box<dyn Frozen<'s> + 's> {
    for_row_width!(key_bytes, K => {
        let run = RunOptions::within(key_bytes, 0, shares.frozen_bytes);
        let sort = SortOptions::within::<K, ()>(key_bytes, 0, shares.table_bytes / 4 * 3);
        let batch_rows = sort.batch_rows;
        Box::new(Sets::<K> {
            writer: PartsWriter {
                disk,
                budget,
                threads: 1,
                options: run,
                batch_rows,
                buffers: READ_BUFFERS,
                rows_to_share: u64::MAX,
            },
            sort,
            key_bytes,
            sets: Vec::new(),
            n_made: 0,
            n_published: 0,
            order: Vec::new(),
        })
    })
}

struct Sets<'s, K: Key> {
    writer: PartsWriter<'s>,
    sort: SortOptions,
    key_bytes: usize,
    /// Each with the number in its name.
    sets: Vec<(u64, RunParts<'s, K>)>,
    n_made: u64,
    /// Sets made before are named by what was published.
    n_published: u64,
    /// Keys that are looked for, in order.
    order: Vec<u32>,
}

type Unit = fn((), ()) -> ();
fn unit((): (), (): ()) {}

impl<'s, K: Key> Sets<'s, K> {
    fn write(&mut self, inputs: &[PartsInput<'_, 's, K>]) -> Result<(), StorageError> {
        let set = self.writer.write_union::<K, (), ()>(&format!("{FROZEN}-{}", self.n_made), inputs, unit, &[])?;
        self.sets.push((self.n_made, set));
        self.n_made += 1;
        Ok(())
    }

    fn merge(&mut self) -> Result<(), StorageError> {
        let small = take_smallest(&mut self.sets, |(_, set)| set.rows());
        let inputs: Vec<PartsInput<'_, 's, K>> = small.iter().map(|(_, set)| PartsInput::Parts(set)).collect();
        self.write(&inputs)?;
        drop(inputs);
        for (number, set) in small {
            if number >= self.n_published {
                set.remove(self.writer.disk)?;
            }
        }
        Ok(())
    }
}

impl<'s, K: Key> Frozen<'s> for Sets<'s, K> {
    fn add(&mut self, keys: &mut RowLogReader<'s>) -> Result<(), SearchError> {
        let PartsWriter { disk, budget, .. } = self.writer;
        let mut sort = ExternalSort::<K, (), Unit>::new(disk, "freezing", self.sort, unit as Unit, budget)?;
        loop {
            let rows = keys.next_rows()?;
            if rows.is_empty() {
                break;
            }
            for row in rows.iter() {
                sort.push(K::from_row(row), ())?;
            }
        }
        let pieces = sort.into_pieces()?;
        let runs = pieces.runs.iter().map(PartsInput::Run);
        let inputs: Vec<PartsInput<'_, 's, K>> = runs.chain([PartsInput::Rows(&pieces.keys, &pieces.values)]).collect();
        self.write(&inputs)?;
        drop(inputs);
        for run in pieces.runs {
            let name = run.name().to_owned();
            drop(run);
            disk.remove(&name).map_err(StorageError::from)?;
        }
        if self.sets.len() > SETS_MAX {
            self.merge()?;
        }
        Ok(())
    }

    fn mark_old<'k>(&mut self, key: &dyn Fn(usize) -> &'k [u8], is_old: &mut [bool]) -> Result<(), SearchError> {
        self.order.clear();
        if !self.sets.is_empty() {
            self.order.extend((0..is_old.len() as u32).filter(|i| !is_old[*i as usize]));
        }
        // As the integers that keys are.
        self.order.sort_unstable_by(|a, b| key(*a as usize).iter().rev().cmp(key(*b as usize).iter().rev()));
        for (_, set) in self.sets.iter().rev() {
            self.order.retain(|i| !is_old[*i as usize]);
            let mut reader = set.reader::<()>((None, None), READ_BUFFERS, self.writer.budget)?;
            for i in &self.order {
                let wanted = K::from_row(key(*i as usize));
                reader.skip_to(wanted)?;
                match reader.batch()?.0.first() {
                    Some(found) => is_old[*i as usize] = *found == wanted,
                    None => break,
                }
            }
        }
        Ok(())
    }

    fn note(&self, manifest: &mut Manifest) -> Result<(), StorageError> {
        manifest.set_number(FROZEN, self.sets.len() as u64);
        manifest.set_number(&format!("{FROZEN}-made"), self.n_made);
        for (i, (number, set)) in self.sets.iter().enumerate() {
            if *number >= self.n_published {
                set.sync()?;
            }
            set.note(manifest, &format!("{FROZEN}-{i}"));
            manifest.set_number(&format!("{FROZEN}-{i}"), *number);
        }
        Ok(())
    }

    fn published(&mut self) {
        self.n_published = self.n_made;
    }

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), StorageError> {
        let PartsWriter { disk, budget, .. } = self.writer;
        for i in 0..manifest.number(FROZEN)? {
            let role = format!("{FROZEN}-{i}");
            let set = RunParts::open(manifest, &role, disk, (self.key_bytes, 0), budget)?;
            self.sets.push((manifest.number(&role)?, set));
        }
        self.n_made = manifest.number(&format!("{FROZEN}-made"))?;
        self.n_published = self.n_made;
        Ok(())
    }
}
