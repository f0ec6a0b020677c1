//! *Compressing*: states in a file in the order in which they came, and in memory for each its position, found by its hash.

use super::{Shares, States};
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};
use lariat_storage::{
    Bits, Manifest, PositionTable, RowFinder, RowLog, RowLogOptions, StorageError, TableFull, hash_row,
};

pub(super) struct Compressed<'s> {
    disk: &'s dyn Disk,
    states: RowLog<'s>,
    finder: RowFinder<'s>,
    positions: PositionTable<'s>,
    /// By positions.
    marked: Bits<'s>,
    n_bits: u64,
    n_published: u64,
    /// Publishing is worth it when so many states came, and a quarter of all.
    states_to_publish: u64,
}

impl<'s> Compressed<'s> {
    pub(super) fn new(
        disk: &'s dyn Disk,
        row_bytes: usize,
        shares: &Shares,
        budget: &'s MemoryBudget,
    ) -> Result<Self, SearchError> {
        let shape = RowLogOptions::in_pages(row_bytes, shares.table_bytes / 16, FileKind::Table);
        let states = RowLog::new(disk, "states", shape, budget);
        Ok(Self {
            disk,
            finder: RowFinder::new(1).with_copies(&states, shares.copies_bytes),
            states,
            positions: PositionTable::new(shares.table_bytes, budget)?,
            marked: Bits::new(1, budget)?,
            n_bits: 0,
            n_published: 0,
            states_to_publish: shares.states_to_publish,
        })
    }

    fn find(&mut self, row: &[u8], hash: u64) -> Result<Option<u64>, SearchError> {
        let mut candidates = Vec::new();
        self.positions.positions(hash, |position| candidates.push(position));
        candidates.sort_unstable();
        let mut found = None;
        self.finder.find(&mut self.states, &candidates, |i, there| {
            if there == row {
                found = Some(candidates[i]);
            }
        })?;
        Ok(found)
    }

    /// Enters all states again, in a table that is larger if there is one.
    fn enter_all(&mut self) -> Result<(), SearchError> {
        let mut reader = self.states.reader(0..self.states.len(), 2)?;
        let mut position = 0;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows.iter() {
                self.positions.insert(hash_row(row), position).map_err(full)?;
                position += 1;
            }
        }
    }
}

fn full(_: TableFull) -> SearchError {
    SearchError::Storage(StorageError::Memory(lariat_base::BudgetExceeded { requested: 5, left: 0 }))
}

impl States for Compressed<'_> {
    fn insert(&mut self, row: &[u8], hash: u64) -> Result<bool, SearchError> {
        if self.find(row, hash)?.is_some() {
            return Ok(false);
        }
        if self.positions.is_full() {
            if !self.positions.begin_larger()? {
                return Err(full(TableFull::Memory));
            }
            self.enter_all()?;
        }
        let position = self.states.len();
        self.positions.insert(hash, position).map_err(full)?;
        self.states.push(row)?;
        self.marked.grow(position + 1)?;
        Ok(true)
    }

    fn mark(&mut self, row: &[u8], hash: u64) -> Result<bool, SearchError> {
        Ok(self.find(row, hash)?.is_some_and(|position| !self.marked.set(position)))
    }

    fn len(&self) -> u64 {
        self.states.len()
    }

    fn has_spilled(&mut self) -> bool {
        self.states.len() >= self.n_published + self.states_to_publish.max(self.n_published / 4)
    }

    fn note(&mut self, manifest: &mut Manifest) -> Result<(), SearchError> {
        self.states.note_growing(manifest, "states")?;
        self.n_bits += 1;
        manifest.set_number("bits", self.n_bits);
        self.marked.note(manifest, "marked", self.disk, &format!("marked-{}", self.n_bits))?;
        self.n_published = self.states.len();
        Ok(())
    }

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), SearchError> {
        self.states.take_up(manifest, "states")?;
        self.n_bits = manifest.number("bits")?;
        self.marked.take_up(manifest, "marked", self.disk)?;
        self.n_published = self.states.len();
        while (self.positions.capacity() as u64) < self.states.len() {
            if !self.positions.begin_larger()? {
                return Err(full(TableFull::Memory));
            }
        }
        self.enter_all()
    }
}
