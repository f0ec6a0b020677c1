//! A queue of rows: first in, first out; what does not fit its share of memory is on disk.
//!
//! The queue is a chain of logs. Rows go to the last one, and are taken from the first; a log that was read to its end is removed from disk, and one that
//! never grew beyond its share was never there. Where the first log is also the last, rows go from one end to the other in memory.
//!
//! # Invariants
//! 1. The rows to come are those that the reader has left, then those of the logs in the middle, then those of the last log.
//!
//! # Cost
//! The memory of a log that grows, and that of a reader while rows are taken. Each row that is not taken soon is written and read once.

use crate::row_log::{RowLog, RowLogOptions, RowLogReader};
use crate::{Manifest, StorageError};
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use lariat_disk::Disk;
use std::collections::VecDeque;

/// A log has this many transfers at most, so that what was taken does not stay on disk for long.
const TRANSFERS_PER_LOG: u64 = 64;
/// Transfers that are in memory while rows are taken.
const READ_BUFFERS: usize = 2;

/// A queue of rows of one width.
pub struct RowQueue<'b> {
    disk: &'b dyn Disk,
    budget: &'b MemoryBudget,
    name: String,
    options: RowLogOptions,
    first: Option<RowLogReader<'b>>,
    middle: VecDeque<RowLog<'b>>,
    last: RowLog<'b>,
    /// Logs so far, by which files are named.
    n_logs: u64,
    rows: u64,
}

impl<'b> RowQueue<'b> {
    /// An empty queue, whose files are named after `name`.
    pub fn new(disk: &'b dyn Disk, name: &str, options: RowLogOptions, budget: &'b MemoryBudget) -> Self {
        let last = RowLog::new(disk, &format!("{name}-0"), options, budget);
        let (first, middle) = (None, VecDeque::new());
        Self { disk, budget, name: name.to_owned(), options, first, middle, last, n_logs: 1, rows: 0 }
    }

    /// How many rows wait.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether none do.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends a row.
    pub fn push(&mut self, row: &[u8]) -> Result<(), StorageError> {
        self.last.push(row)?;
        self.rows += 1;
        if self.last.bytes() > TRANSFERS_PER_LOG * (self.options.block_bytes * self.options.blocks_at_once) as u64 {
            let mut full = self.next_log();
            // Logs in the middle wait on disk.
            full.rest()?;
            self.middle.push_back(full);
        }
        Ok(())
    }

    /// Appends rows.
    pub fn extend(&mut self, rows: Rows<'_>) -> Result<(), StorageError> {
        rows.iter().try_for_each(|row| self.push(row))
    }

    /// Begins another last log; the one before.
    fn next_log(&mut self) -> RowLog<'b> {
        let name = format!("{}-{}", self.name, self.n_logs);
        self.n_logs += 1;
        std::mem::replace(&mut self.last, RowLog::new(self.disk, &name, self.options, self.budget))
    }

    /// Takes the next rows, at most `n_max`; none if none wait. There may be more even if there are fewer than that.
    pub fn take_rows(&mut self, n_max: usize) -> Result<Rows<'_>, StorageError> {
        if self.first.as_ref().is_none_or(|first| first.rows_left() == 0) {
            self.end_first()?;
            let next = match self.middle.pop_front() {
                Some(next) => next,
                None => self.next_log(),
            };
            self.first = Some(next.into_reader(READ_BUFFERS)?);
        }
        let Some(first) = &mut self.first else {
            return Ok(Rows::new(&[], self.options.row_bytes));
        };
        let rows = first.take_rows(n_max)?;
        self.rows -= rows.len() as u64;
        Ok(rows)
    }

    /// Removes the log that was read to its end; one that a manifest names stays until the next one is published.
    fn end_first(&mut self) -> Result<(), StorageError> {
        match self.first.take() {
            Some(first) if first.has_file() && !first.is_noted() => {
                let name = first.name().to_owned();
                drop(first);
                Ok(self.disk.remove(&name)?)
            }
            _ => Ok(()),
        }
    }

    /// Writes everything to disk and gives the memory back; but rows that are being taken stay where they are.
    pub fn rest(&mut self) -> Result<(), StorageError> {
        if self.first.as_ref().is_some_and(|first| first.rows_left() == 0) {
            self.end_first()?;
        }
        self.last.rest()
    }

    /// Makes all rows survive a crash, and notes them under a role. Files of an earlier manifest that this one does not name are the caller's to remove
    /// when it is published.
    pub fn note(&mut self, manifest: &mut Manifest, role: &str) -> Result<(), StorageError> {
        self.copy_first()?;
        manifest.set_number(&format!("{role}-logs"), self.middle.len() as u64);
        for (i, log) in self.middle.iter_mut().enumerate() {
            log.note(manifest, &format!("{role}-{i}"))?;
        }
        self.last.note_growing(manifest, &format!("{role}-last"))?;
        manifest.set_number(&format!("{role}-named"), self.n_logs);
        Ok(())
    }

    /// Puts what is left of the log that is being read into one of its own, which is on disk as a whole.
    fn copy_first(&mut self) -> Result<(), StorageError> {
        let Some(first) = &mut self.first else { return Ok(()) };
        let name = format!("{}-{}", self.name, self.n_logs);
        let mut copy = RowLog::new(self.disk, &name, self.options, self.budget);
        self.n_logs += 1;
        loop {
            let rows = first.next_rows()?;
            if rows.is_empty() {
                break;
            }
            copy.extend(rows)?;
        }
        self.end_first()?;
        if !copy.is_empty() {
            copy.rest()?;
            self.middle.push_front(copy);
        }
        Ok(())
    }

    /// Takes up what was noted under a role. The queue must be empty.
    pub fn take_up(&mut self, manifest: &Manifest, role: &str) -> Result<(), StorageError> {
        self.n_logs = manifest.number(&format!("{role}-named"))?;
        for i in 0..manifest.number(&format!("{role}-logs"))? {
            let mut log = RowLog::new(self.disk, &self.name, self.options, self.budget);
            log.take_up(manifest, &format!("{role}-{i}"))?;
            self.rows += log.len();
            self.middle.push_back(log);
        }
        // Its name is new; the files that it may have are named already.
        self.next_log();
        self.last.take_up(manifest, &format!("{role}-last"))?;
        self.rows += self.last.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use lariat_disk::{FaultyDisk, FileKind};

    #[test]
    fn behaves_like_a_queue_in_memory() {
        let mut random = Random::new(2);
        for _ in 0..60 {
            let budget = MemoryBudget::new(64 << 10);
            let disk = FaultyDisk::default();
            let width = [1, 5, 16, 300][random.below(4)];
            let options = RowLogOptions::smallest(width, FileKind::Queue);
            let mut found = RowQueue::new(&disk, "queue", options, &budget);
            let mut expected: VecDeque<Vec<u8>> = VecDeque::new();
            for round in 0..40 {
                let most = if round % 8 < 4 { 4000 } else { 400 };
                for _ in 0..random.below(most) {
                    let row: Vec<u8> = (0..width).map(|_| random.below(256) as u8).collect();
                    found.push(&row).unwrap();
                    expected.push_back(row);
                }
                let mut to_take = random.below(2 * most);
                while to_take > 0 && !expected.is_empty() {
                    let rows = found.take_rows(1 + random.below(to_take)).unwrap();
                    assert!(!rows.is_empty());
                    to_take = to_take.saturating_sub(rows.len());
                    rows.iter().for_each(|row| assert_eq!(row, expected.pop_front().unwrap()));
                }
                assert_eq!(found.len(), expected.len() as u64);
                if random.one_in(4) {
                    found.rest().unwrap();
                }
            }
            while !found.is_empty() {
                found.take_rows(usize::MAX).unwrap().iter().for_each(|row| {
                    assert_eq!(row, expected.pop_front().unwrap());
                });
            }
            assert!(expected.is_empty() && found.take_rows(1).unwrap().is_empty());
            assert!(disk.list().unwrap().is_empty(), "what was read is removed");
        }
    }

    #[test]
    fn rows_that_are_taken_soon_never_go_to_disk() {
        let budget = MemoryBudget::new(1 << 20);
        let disk = FaultyDisk::default();
        let mut queue = RowQueue::new(&disk, "queue", RowLogOptions::within(8, 64 << 10, FileKind::Queue), &budget);
        for _ in 0..50 {
            (0..3000_u64).for_each(|i| queue.push(&i.to_le_bytes()).unwrap());
            while !queue.is_empty() {
                queue.take_rows(100).unwrap();
            }
        }
        assert_eq!(disk.counters().total().writes(), 0);
    }
}
