//! All states of a breadth-first search in one log, level after level: the visited set, the queue and the way back in one file.
//!
//! With hash compaction the log has signatures, and a queue beside it has the states that wait to be expanded.
//!
//! # Invariants
//! 1. The states of level `i` are those up to `ends[i]`; what comes behind the last end belongs to the level that is being found.
//! 2. The states from `taken` on wait to be expanded, and are in the queue if there is one.

use crate::SearchError;
use crate::compact::Identity;
use crate::path::Levels;
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};
use lariat_graph::{RowBuffer, Rows};
use lariat_storage::{Manifest, RowLog, RowLogOptions, RowLogReader, RowQueue, StorageError};
use std::ops::Range;

/// Transfers that a reader has in memory.
pub(crate) const READ_BUFFERS: usize = 2;
/// Ends of levels are saved as rows of eight bytes.
const END_BYTES: usize = 8;

/// Roles in a manifest.
const STATES: &str = "states";
const ENDS: &str = "ends";
const WAITING: &str = "waiting";
const TAKEN: &str = "taken";

pub(crate) struct LevelLog<'b> {
    /// The keys of all states.
    pub(crate) log: RowLog<'b>,
    /// Where each level ends; the first so many are saved.
    ends: Vec<u64>,
    saved: RowLog<'b>,
    /// How many states were taken to be expanded, and what reads the others of their level.
    taken: u64,
    level: Option<RowLogReader<'b>>,
    waiting: Option<RowQueue<'b>>,
}

impl<'b> LevelLog<'b> {
    /// An empty log of this shape, which is for whole states.
    pub(crate) fn new(
        disk: &'b dyn Disk,
        name: &str,
        shape: RowLogOptions,
        identity: Identity,
        budget: &'b MemoryBudget,
    ) -> Self {
        let keys = RowLogOptions { row_bytes: identity.key_bytes(), ..shape };
        let ends = RowLogOptions::smallest(END_BYTES, FileKind::Other);
        let queue = || RowQueue::new(disk, "waiting", RowLogOptions { kind: FileKind::Queue, ..shape }, budget);
        Self {
            log: RowLog::new(disk, name, keys, budget),
            ends: Vec::new(),
            saved: RowLog::new(disk, "ends", ends, budget),
            taken: 0,
            level: None,
            waiting: identity.is_compact().then(queue),
        }
    }

    /// Appends a state, and its key.
    pub(crate) fn push(&mut self, key: &[u8], row: &[u8]) -> Result<(), StorageError> {
        self.log.push(key)?;
        match &mut self.waiting {
            Some(waiting) => waiting.push(row),
            None => Ok(()),
        }
    }

    /// Levels that have ended.
    pub(crate) fn n_levels(&self) -> usize {
        self.ends.len()
    }

    /// Ends the level that was found, and begins to take its states; how many it has.
    pub(crate) fn begin_level(&mut self) -> Result<u64, StorageError> {
        debug_assert_eq!(self.n_left(), 0, "a level is taken as a whole");
        let (start, end) = (self.ends.last().copied().unwrap_or(0), self.log.len());
        if start < end {
            self.ends.push(end);
        }
        self.begin_reading()?;
        Ok(end - start)
    }

    fn begin_reading(&mut self) -> Result<(), StorageError> {
        self.level = None;
        if self.waiting.is_none() && self.n_left() > 0 {
            self.level = Some(self.reader(self.taken..self.taken + self.n_left())?);
        }
        Ok(())
    }

    /// States of the level that were not taken yet.
    pub(crate) fn n_left(&self) -> u64 {
        self.ends.last().map_or(0, |end| end.saturating_sub(self.taken))
    }

    /// Takes states of the level, at most `n_max`; none if there are none left.
    pub(crate) fn take(&mut self, n_max: usize, batch: &mut RowBuffer) -> Result<(), StorageError> {
        let n_max = n_max.min(usize::try_from(self.n_left()).unwrap_or(usize::MAX));
        if n_max == 0 {
            self.level = None;
            return Ok(());
        }
        let rows = match (&mut self.waiting, &mut self.level) {
            (Some(waiting), _) => waiting.take_rows(n_max)?,
            (None, Some(level)) => level.take_rows(n_max)?,
            (None, None) => return Ok(()),
        };
        self.taken += rows.len() as u64;
        batch.extend(rows);
        Ok(())
    }

    pub(crate) fn rows_of(&self, level: usize) -> Range<u64> {
        let start = level.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[level]
    }

    pub(crate) fn reader(&mut self, rows: Range<u64>) -> Result<RowLogReader<'b>, StorageError> {
        self.log.reader(rows, READ_BUFFERS)
    }

    /// Notes everything; whoever has taken states must have put their successors.
    pub(crate) fn note(&mut self, manifest: &mut Manifest) -> Result<(), StorageError> {
        for end in &self.ends[self.saved.len() as usize..] {
            self.saved.push(&end.to_le_bytes())?;
        }
        self.saved.note_growing(manifest, ENDS)?;
        self.log.note_growing(manifest, STATES)?;
        manifest.set_number(TAKEN, self.taken);
        self.waiting.as_mut().map_or(Ok(()), |waiting| waiting.note(manifest, WAITING))
    }

    /// Takes up what was noted.
    pub(crate) fn take_up(&mut self, manifest: &Manifest) -> Result<(), StorageError> {
        self.saved.take_up(manifest, ENDS)?;
        let mut reader = self.saved.reader(0..self.saved.len(), READ_BUFFERS)?;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                break;
            }
            let end = |row: &[u8]| row.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            self.ends.extend(rows.iter().map(end));
        }
        drop(reader);
        self.log.take_up(manifest, STATES)?;
        self.taken = manifest.number(TAKEN)?;
        if let Some(waiting) = &mut self.waiting {
            waiting.take_up(manifest, WAITING)?;
        }
        self.begin_reading()
    }
}

impl Levels for LevelLog<'_> {
    fn visit(
        &mut self,
        level: usize,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<bool, SearchError>,
    ) -> Result<(), SearchError> {
        let mut reader = self.reader(self.rows_of(level))?;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() || !visit(rows)? {
                return Ok(());
            }
        }
    }
}
