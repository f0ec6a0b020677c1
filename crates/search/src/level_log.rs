//! All states of a breadth-first search in one log, level after level: the visited set, the queue and the way back in one file.

use crate::SearchError;
use crate::path::Levels;
use lariat_graph::Rows;
use lariat_storage::{RowLog, RowLogReader, StorageError};
use std::ops::Range;

/// Transfers that a reader has in memory.
pub(crate) const READ_BUFFERS: usize = 2;

pub(crate) struct LevelLog<'b> {
    pub(crate) log: RowLog<'b>,
    /// Where each level ends.
    ends: Vec<u64>,
}

impl<'b> LevelLog<'b> {
    pub(crate) fn new(log: RowLog<'b>) -> Self {
        Self { log, ends: Vec::new() }
    }

    /// Levels that have ended.
    pub(crate) fn n_levels(&self) -> usize {
        self.ends.len()
    }

    /// Ends a level, if it has any states; those are what it returns.
    pub(crate) fn end_level(&mut self) -> Range<u64> {
        let (start, end) = (self.ends.last().copied().unwrap_or(0), self.log.len());
        if start < end {
            self.ends.push(end);
        }
        start..end
    }

    pub(crate) fn rows_of(&self, level: usize) -> Range<u64> {
        let start = level.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[level]
    }

    pub(crate) fn reader(&mut self, rows: Range<u64>) -> Result<RowLogReader<'b>, StorageError> {
        self.log.reader(rows, READ_BUFFERS)
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
