//! Shortest paths: a breadth-first search over numbered states that notes by which state each was found.
//!
//! A log on disk has the states in the order in which they were found, each with its number and the place of the state that it was found from. The log is the
//! queue, too. A path is read backwards from place to place.
//!
//! # Cost
//! A bit a state in memory; a row and 16 bytes for each state that was found, on disk. A path of length n is n random reads at most: states of narrow levels lie near each other.

use crate::SearchError;
use crate::enumerate::States;
use crate::lasso::Halt;
use lariat_disk::FileKind;
use lariat_graph::{RowBuffer, Rows};
use lariat_storage::{LatestRows, Manifest, NumberArray, RowLog, RowLogOptions, StorageError};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The place that initial states were found from.
const NOWHERE: u64 = u64::MAX;
/// What comes before a row.
const HEADER_BYTES: usize = 16;
/// Transfers that a reader has in memory.
const READ_BUFFERS: usize = 2;
/// Levels of fewer bytes are expanded from memory.
const NEXT_LEVEL_BYTES: usize = 16 << 10;
/// Bytes of records that are kept in memory, for paths that have much in common.
const KNOWN_BYTES: usize = 1 << 17;
/// Blocks that are kept in memory, for paths through levels of few states.
const BLOCKS_KEPT: usize = 8;
/// States that are expanded together.
const BATCH_ROWS: usize = 64;

/// States in the order of their distance.
pub(crate) struct Tree<'s> {
    log: RowLog<'s>,
    width: usize,
    record: Vec<u8>,
    /// Where the level ends that is being expanded, and its distance.
    level_end: u64,
    level: u64,
    /// The first records of the level behind it: all of them if they are few, and then the log is not asked.
    next_level: Vec<u8>,
    /// Records that were read.
    known: HashMap<u64, (u64, Vec<u8>)>,
    latest: LatestRows<'s>,
    /// Whether it has come to a state that is not to be expanded.
    has_met_cut: bool,
}

/// A state that is expanded.
pub(crate) struct Expanded<'e> {
    pub(crate) row: &'e [u8],
    pub(crate) number: u64,
    /// Where it is in the tree.
    pub(crate) place: u64,
    /// Its distance from where the search began.
    pub(crate) level: u64,
    pub(crate) successors: &'e [u64],
}

/// Called with every state when it is expanded; false ends the search.
pub(crate) type See<'a, 's> = dyn FnMut(&mut States<'s>, Expanded<'_>) -> Result<bool, Halt> + 'a;

fn word(record: &[u8], at: usize) -> u64 {
    record[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl<'s> Tree<'s> {
    /// An empty tree, in a file of that name, which takes about `memory_bytes`.
    pub(crate) fn new(states: &States<'s>, name: &str, memory_bytes: usize) -> Self {
        let width = states.graph.row_bytes();
        let options = RowLogOptions::in_pages(width + HEADER_BYTES, memory_bytes / 3, FileKind::Queue);
        let log = RowLog::new(states.disk, name, options, states.context.budget);
        Self {
            log,
            width,
            record: vec![0; width + HEADER_BYTES],
            level_end: 0,
            level: 0,
            next_level: Vec::new(),
            known: HashMap::new(),
            latest: LatestRows::new(BLOCKS_KEPT),
            has_met_cut: false,
        }
    }

    fn push(&mut self, number: u64, from: u64, row: &[u8]) -> Result<(), StorageError> {
        self.record[..8].copy_from_slice(&number.to_le_bytes());
        self.record[8..HEADER_BYTES].copy_from_slice(&from.to_le_bytes());
        self.record[HEADER_BYTES..].copy_from_slice(row);
        if self.next_level.len() < NEXT_LEVEL_BYTES {
            self.next_level.extend_from_slice(&self.record);
        }
        self.log.push(&self.record)
    }

    /// Searches from some states, until `see` returns false, which is called with every state when it is expanded. `visited` has no bits set at first.
    pub(crate) fn grow(
        &mut self,
        states: &mut States<'s>,
        from: Rows<'_>,
        visited: &mut NumberArray<'s>,
        see: &mut See<'_, 's>,
    ) -> Result<(), Halt> {
        let mut numbers = Vec::new();
        states.number(from, &mut numbers)?;
        for (row, number) in from.iter().zip(&numbers) {
            if visited.mark(*number)? {
                self.push(*number, NOWHERE, row)?;
            }
        }
        let mut next = 0;
        while next < self.log.len() {
            self.level_end = self.log.len();
            let level = std::mem::take(&mut self.next_level);
            let record_bytes = self.record.len();
            if level.len() == (self.level_end - next) as usize * record_bytes {
                for records in level.chunks(BATCH_ROWS * record_bytes) {
                    if !self.take(states, Rows::new(records, record_bytes), &mut next, visited, see)? {
                        return Ok(());
                    }
                }
            } else {
                let mut reader = self.log.reader(next..self.level_end, READ_BUFFERS)?;
                while next < self.level_end {
                    if !self.take(states, reader.take_rows(BATCH_ROWS)?, &mut next, visited, see)? {
                        return Ok(());
                    }
                }
            }
            self.level += 1;
        }
        Ok(())
    }

    /// Expands the states of some records, the first of which is at `next`.
    fn take(
        &mut self,
        states: &mut States<'s>,
        records: Rows<'_>,
        next: &mut u64,
        visited: &mut NumberArray<'s>,
        see: &mut See<'_, 's>,
    ) -> Result<bool, Halt> {
        let (mut batch, mut places) = (RowBuffer::new(self.width), Vec::with_capacity(records.len()));
        for record in records.iter() {
            let number = word(record, 0);
            if states.is_cut(number)? {
                self.has_met_cut = true;
            } else {
                batch.push(&record[HEADER_BYTES..]);
                places.push((number, *next));
            }
            *next += 1;
        }
        states.attend(self.log.len() - *next, Some(self.level))?;
        self.expand(states, batch.as_rows(), &places, visited, see)
    }

    fn expand(
        &mut self,
        states: &mut States<'s>,
        mut rows: Rows<'_>,
        places: &[(u64, u64)],
        visited: &mut NumberArray<'s>,
        see: &mut See<'_, 's>,
    ) -> Result<bool, Halt> {
        let mut done = 0;
        let mut numbers = Vec::new();
        while !rows.is_empty() {
            let successors = states.expand(rows)?;
            visited.fetch(successors.numbers)?;
            let n = successors.edges.n_sources();
            let mut ranges = Vec::with_capacity(n);
            for i in 0..n {
                let range = successors.edges.range_of(i);
                for edge in range.clone() {
                    if visited.mark(successors.numbers[edge])? {
                        self.push(successors.numbers[edge], places[done + i].1, successors.edges.targets().row(edge))?;
                    }
                }
                ranges.push(range);
            }
            numbers.clear();
            numbers.extend_from_slice(successors.numbers);
            for (i, range) in ranges.into_iter().enumerate() {
                let ((number, place), level) = (places[done + i], self.level);
                let expanded = Expanded { row: rows.row(i), number, place, level, successors: &numbers[range] };
                if !see(states, expanded)? {
                    return Ok(false);
                }
            }
            done += n;
            rows = rows.split_at(n).1;
        }
        Ok(true)
    }

    /// Whether it has come to a state that is not to be expanded; nothing is known of what lies behind it.
    pub(crate) fn has_met_cut(&self) -> bool {
        self.has_met_cut
    }

    /// Makes it survive a crash, and notes it under a role. It must not grow after that.
    pub(crate) fn note(&mut self, manifest: &mut Manifest, role: &str) -> Result<(), StorageError> {
        self.log.note(manifest, role)
    }

    /// The tree that was noted under a role, to read paths from.
    pub(crate) fn take_up(states: &States<'s>, role: &str, manifest: &Manifest) -> Result<Self, StorageError> {
        let mut tree = Self::new(states, role, 0);
        tree.log.take_up(manifest, role)?;
        Ok(tree)
    }

    /// The state at a place, and the place that it was found from; those that were asked for lately are in memory.
    fn record(&mut self, place: u64) -> Result<&(u64, Vec<u8>), StorageError> {
        if self.known.len() >= KNOWN_BYTES / self.record.len() {
            self.known.clear();
        }
        match self.known.entry(place) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let record = self.latest.row(&mut self.log, place)?;
                Ok(unknown.insert((word(record, 8), record[HEADER_BYTES..].to_vec())))
            }
        }
    }

    /// The states on the way to a place, from an initial one on, that of the place included.
    pub(crate) fn path_to(&mut self, place: u64) -> Result<RowBuffer, StorageError> {
        let mut path = RowBuffer::new(self.width);
        let mut next = place;
        while next != NOWHERE {
            let (from, row) = self.record(next)?;
            path.push(row);
            next = *from;
        }
        path.reverse();
        Ok(path)
    }

    /// The state at a place.
    pub(crate) fn row_at(&mut self, place: u64) -> Result<&[u8], StorageError> {
        Ok(&self.record(place)?.1)
    }

    /// Removes its file.
    pub(crate) fn remove(mut self) -> Result<(), StorageError> {
        self.latest.clear();
        self.log.clear()
    }
}

/// A shortest path of at least one edge from some states to the one with a number, which itself is left out.
pub(crate) fn shortest_path<'s>(
    states: &mut States<'s>,
    from: Rows<'_>,
    to: u64,
    visited: &mut NumberArray<'s>,
) -> Result<RowBuffer, Halt> {
    visited.clear();
    let mut tree = Tree::new(states, "path", states.memory(4));
    let mut last = None;
    tree.grow(states, from, visited, &mut |_, expanded| {
        if expanded.successors.contains(&to) {
            last = Some(expanded.place);
        }
        Ok(last.is_none())
    })?;
    let last = last.ok_or(Halt::Error(SearchError::PathLost))?;
    let path = tree.path_to(last)?;
    tree.remove()?;
    Ok(path)
}
