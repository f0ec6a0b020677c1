//! Sets of rows in memory with a size that is given: as the searches of the papers use them, chained or open.
//!
//! A set grows as long as its memory allows, then it is full and says so; what happens then is the search's business. Rows can be taken out
//! again, and the set emptied. It is not the fastest one that there is ([`crate::row_set`] is), and it is not meant to be.
//!
//! # Paper
//! Bao and Jones, *Time-efficient model checking with magnetic disk*, compare chained tables with open-addressed ones by double hashing.

mod chained;
mod open;

use crate::{StorageError, TableFull};
use chained::Chained;
use lariat_base::MemoryBudget;
use open::Open;

/// How rows are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Table {
    /// By chains of rows with the same bucket.
    #[default]
    Chained,
    /// By double hashing among slots that hold the rows.
    Open,
}

/// The rows that an empty table has room for.
const ROWS_MIN: usize = 64;
/// Rows that are looked for together.
const CHUNK_ROWS: usize = 32;

/// A set of rows of one width. They are told apart by their *key*, which is their first bytes, or all.
pub struct HashTable<'b> {
    key_bytes: usize,
    row_bytes: usize,
    memory_bytes: usize,
    budget: &'b MemoryBudget,
    rows: Kind<'b>,
}

enum Kind<'b> {
    Chained(Chained<'b>),
    Open(Open<'b>),
}

impl<'b> Kind<'b> {
    fn new(
        table: Table,
        capacity: usize,
        (key_bytes, row_bytes): (usize, usize),
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        Ok(match table {
            Table::Chained => Kind::Chained(Chained::new(capacity, (key_bytes, row_bytes), budget)?),
            Table::Open => Kind::Open(Open::new(capacity, (key_bytes, row_bytes), budget)?),
        })
    }

    fn table(&self) -> Table {
        match self {
            Kind::Chained(_) => Table::Chained,
            Kind::Open(_) => Table::Open,
        }
    }

    fn capacity(&self) -> usize {
        match self {
            Kind::Chained(rows) => rows.capacity(),
            Kind::Open(rows) => rows.capacity(),
        }
    }

    #[inline]
    fn insert(&mut self, hash: u64, row: &[u8]) -> Option<bool> {
        match self {
            Kind::Chained(rows) => rows.insert(hash, row),
            Kind::Open(rows) => rows.insert(hash, row),
        }
    }

    /// False if there is no room.
    #[inline]
    fn insert_distinct(&mut self, hash: u64, row: &[u8]) -> bool {
        match self {
            Kind::Chained(rows) => rows.insert_distinct(hash, row),
            Kind::Open(rows) => rows.insert_distinct(hash, row),
        }
    }

    fn for_each<E>(&self, visit: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Kind::Chained(rows) => rows.iter().try_for_each(visit),
            Kind::Open(rows) => rows.iter().try_for_each(visit),
        }
    }
}

impl<'b> HashTable<'b> {
    /// An empty set that takes at most `memory_bytes`, or what a few rows need.
    pub fn new(
        table: Table,
        row_bytes: usize,
        memory_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        Self::with_keys(table, (row_bytes, row_bytes), memory_bytes, budget)
    }

    /// The same for rows that are told apart by their first `key_bytes`. Hashes are those of keys, and rows that are looked for need not have more than the key.
    pub fn with_keys(
        table: Table,
        (key_bytes, row_bytes): (usize, usize),
        memory_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let rows = Kind::new(table, ROWS_MIN, (key_bytes, row_bytes), budget)?;
        Ok(Self { key_bytes, row_bytes, memory_bytes, budget, rows })
    }

    /// How many rows are in the set.
    pub fn len(&self) -> usize {
        match &self.rows {
            Kind::Chained(rows) => rows.len(),
            Kind::Open(rows) => rows.len(),
        }
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows that it has room for if it is given all its memory.
    pub fn capacity_max(&self) -> usize {
        match &self.rows {
            Kind::Chained(_) => Chained::capacity_within(self.memory_bytes, self.row_bytes),
            Kind::Open(_) => Open::capacity_within(self.memory_bytes, self.row_bytes),
        }
        .max(ROWS_MIN)
    }

    /// Whether it has been given all its memory.
    pub fn is_largest(&self) -> bool {
        self.rows.capacity() >= self.capacity_max()
    }

    /// Empties the set and makes room for as many rows as are expected, or as can be.
    pub fn reset(&mut self, rows_expected: usize) -> Result<(), StorageError> {
        let (table, capacity) = (self.rows.table(), rows_expected.clamp(ROWS_MIN, self.capacity_max()));
        // The old memory goes before the new one comes.
        self.rows = Kind::Chained(Chained::empty(self.budget));
        self.rows = Kind::new(table, capacity, (self.key_bytes, self.row_bytes), self.budget)?;
        Ok(())
    }

    /// Adds a row; false if it is there already.
    #[inline]
    pub fn insert(&mut self, hash: u64, row: &[u8]) -> Result<bool, TableFull> {
        match self.rows.insert(hash, row) {
            Some(is_new) => Ok(is_new),
            None if self.grow() => self.insert(hash, row),
            None => Err(TableFull::Memory),
        }
    }

    /// Doubles the room, if old and new fit the memory together.
    #[cold]
    fn grow(&mut self) -> bool {
        let capacity = self.rows.capacity();
        if 3 * capacity > self.capacity_max() {
            return false;
        }
        let widths = (self.key_bytes, self.row_bytes);
        let Ok(mut larger) = Kind::new(self.rows.table(), 2 * capacity, widths, self.budget) else {
            return false;
        };
        let hash = |row: &[u8]| crate::hash_row(&row[..self.key_bytes]);
        let moved = self.rows.for_each(|row| larger.insert(hash(row), row).map(|_| ()).ok_or(()));
        if moved.is_ok() {
            self.rows = larger;
        }
        moved.is_ok()
    }

    /// Fetches what looking for a row with this hash reads first.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        match &self.rows {
            Kind::Chained(rows) => rows.prefetch(hash),
            Kind::Open(rows) => rows.prefetch(hash),
        }
    }

    /// Whether the set has a row.
    #[inline]
    pub fn contains(&self, hash: u64, row: &[u8]) -> bool {
        match &self.rows {
            Kind::Chained(rows) => rows.find(hash, row).is_some(),
            Kind::Open(rows) => rows.find(hash, row).is_some(),
        }
    }

    /// Adds rows of which none is in the set, and none comes twice. False if there is not room for all.
    pub fn insert_distinct<'r>(&mut self, rows: impl Iterator<Item = &'r [u8]>) -> bool {
        let mut rows = rows.fuse();
        loop {
            let mut chunk: [(u64, &[u8]); CHUNK_ROWS] = [(0, &[]); CHUNK_ROWS];
            let n = self.fetch_ahead(&mut rows, &mut chunk);
            if n == 0 {
                return true;
            }
            for (hash, row) in &chunk[..n] {
                while !self.rows.insert_distinct(*hash, row) {
                    if !self.grow() {
                        return false;
                    }
                }
            }
        }
    }

    /// Takes out those of some rows that are in the set.
    pub fn remove_all<'r>(&mut self, rows: impl Iterator<Item = &'r [u8]>) {
        let mut rows = rows.fuse();
        loop {
            let mut chunk: [(u64, &[u8]); CHUNK_ROWS] = [(0, &[]); CHUNK_ROWS];
            let n = self.fetch_ahead(&mut rows, &mut chunk);
            if n == 0 {
                return;
            }
            for (hash, row) in &chunk[..n] {
                self.remove(*hash, row);
            }
        }
    }

    /// Takes some rows, with their hashes, and fetches what looking for them reads first: memory is slow, but it is not slower for many rows at once.
    fn fetch_ahead<'r>(
        &self,
        rows: &mut impl Iterator<Item = &'r [u8]>,
        chunk: &mut [(u64, &'r [u8]); CHUNK_ROWS],
    ) -> usize {
        let mut n = 0;
        for (place, row) in chunk.iter_mut().zip(rows) {
            let hash = crate::hash_row(&row[..self.key_bytes]);
            self.prefetch(hash);
            *place = (hash, row);
            n += 1;
        }
        n
    }

    /// Takes a row out; false if it was not there.
    #[inline]
    pub fn remove(&mut self, hash: u64, row: &[u8]) -> bool {
        match &mut self.rows {
            Kind::Chained(rows) => rows.remove(hash, row),
            Kind::Open(rows) => rows.remove(hash, row),
        }
    }

    /// Calls `visit` with every row, until there is an error.
    pub fn for_each<E>(&self, visit: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.rows.for_each(visit)
    }
}

/// A number below `n` from the high bits of a hash.
#[inline(always)]
fn spread(hash: u64, n: usize) -> usize {
    ((u128::from(hash) * n as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash_row;
    use lariat_base::Random;
    use std::collections::BTreeSet;

    fn rows(table: &HashTable<'_>) -> BTreeSet<Vec<u8>> {
        let mut rows = Vec::new();
        let mut push = |row: &[u8]| -> Result<(), ()> {
            rows.push(row.to_vec());
            Ok(())
        };
        table.for_each(&mut push).unwrap();
        let n = rows.len();
        let rows: BTreeSet<Vec<u8>> = rows.into_iter().collect();
        assert_eq!(rows.len(), n, "every row once");
        rows
    }

    #[test]
    fn behaves_like_a_set_until_it_is_full() {
        let mut random = Random::new(4);
        for round in 0..200 {
            let kind = [Table::Chained, Table::Open][round % 2];
            let width = [1, 2, 8, 13, 40][random.below(5)];
            let memory = 4000 + random.below(60_000);
            let budget = MemoryBudget::new(memory.max(8000) as u64);
            let mut found = HashTable::new(kind, width, memory, &budget).unwrap();
            for _ in 0..3 {
                let mut expected = BTreeSet::new();
                let values = 1 + random.below(8000);
                for _ in 0..8000 {
                    let value = (random.below(values) as u64).wrapping_mul(0x1234_5678_9ABC_DEF1).to_le_bytes();
                    let row: Vec<u8> = (0..width).map(|i| value[(i + 5) % 8]).collect();
                    let hash = hash_row(&row);
                    match random.below(8) {
                        0 => assert_eq!(found.remove(hash, &row), expected.remove(&row)),
                        1 => assert_eq!(found.contains(hash, &row), expected.contains(&row)),
                        _ => match found.insert(hash, &row) {
                            Ok(is_new) => assert_eq!(is_new, expected.insert(row)),
                            Err(full) => {
                                assert_eq!(full, TableFull::Memory);
                                break;
                            }
                        },
                    }
                    assert_eq!(found.len(), expected.len());
                }
                assert_eq!(rows(&found), expected);
                found.reset(random.below(10_000)).unwrap();
                assert!(found.is_empty() && rows(&found).is_empty());
            }
        }
    }

    #[test]
    fn many_rows_at_once_are_like_one_after_the_other() {
        let row = |i: u64| hash_row(&i.to_le_bytes()).to_le_bytes();
        for (kind, memory) in
            [(Table::Chained, 1 << 20), (Table::Open, 1 << 20), (Table::Chained, 9000), (Table::Open, 9000)]
        {
            let budget = MemoryBudget::new(1 << 20);
            let mut table = HashTable::new(kind, 8, memory, &budget).unwrap();
            let all: Vec<[u8; 8]> = (0..3000).map(row).collect();
            let fits = table.insert_distinct(all.iter().map(<[u8; 8]>::as_slice));
            assert_eq!(fits, memory == 1 << 20, "{kind:?}");
            let n = table.len();
            assert!(if fits { n == 3000 } else { n < 1000 }, "{kind:?}: {n} rows");
            assert_eq!(rows(&table), all[..n].iter().map(|row| row.to_vec()).collect());
            table.remove_all(all.iter().step_by(3).map(<[u8; 8]>::as_slice));
            let left = all[..n].iter().enumerate().filter(|(i, _)| i % 3 != 0);
            assert_eq!(rows(&table), left.map(|(_, row)| row.to_vec()).collect());
        }
    }

    #[test]
    fn a_table_that_is_told_what_comes_uses_its_memory() {
        for (kind, bytes_per_row) in [(Table::Chained, 25), (Table::Open, 20)] {
            let budget = MemoryBudget::new(1 << 20);
            let mut table = HashTable::new(kind, 16, 1 << 20, &budget).unwrap();
            table.reset(usize::MAX).unwrap();
            let rows = (0..).take_while(|i: &u128| {
                let row = i.to_le_bytes();
                table.insert(hash_row(&row), &row).is_ok()
            });
            let n = rows.count();
            assert_eq!((n, table.len()), (table.capacity_max(), n));
            assert!(n * bytes_per_row > 1 << 20, "{kind:?}: {n} rows");
        }
    }
}
