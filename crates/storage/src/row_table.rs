//! The visited set of depth-first searches in memory: every row once, with a number in the order of arrival.
//!
//! Rows live in an arena of chunks and never move; a table of 4-byte slots finds them. A slot holds the number of a
//! row and, in the bits that the number leaves free, a part of the row's hash, so that most rows that differ are told
//! apart without touching them.
//!
//! # Invariants
//! 1. Numbers have no gaps: row `i` is the `i`-th that was new.
//! 2. Rows with equal bytes are entered once.
//! 3. The table never has more entries than [`LOAD_MAX`] of the slots; so probing ends.
//! 4. Everything allocated is reserved in the budget first.
//!
//! # Cost
//! Row + 4 bytes / load; the load is between 0.4 and 0.8 unless the budget makes the last table smaller than twice
//! the one before. The table is rebuilt from the rows, so the old one is given back before the new one is made.

mod arena;
mod slots;
pub(crate) mod zeroed;

pub use arena::RowId;

use crate::hash::hash_row;
use arena::Arena;
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use slots::{Probe, Slots};

const SLOTS_AT_FIRST: usize = 1 << 12;
/// Entries to slots, at most, in percent.
const LOAD_MAX: u64 = 80;
/// Rows whose slots are fetched ahead of probing them.
const LOOKAHEAD: usize = 16;

/// Why a row could not be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFull {
    /// The memory budget is used up.
    Memory,
    /// There are no numbers left for rows.
    Numbers,
}

/// The visited set.
pub struct RowTable<'b> {
    width: usize,
    budget: &'b MemoryBudget,
    arena: Arena<'b>,
    slots: Slots,
    hashes: Vec<u64>,
    recent: Recent,
}

/// Rows that were met lately, by a part of their hash: successors of neighbours are often the same, and these are found without
/// touching the slots. 256 KiB, beside the budget.
struct Recent(Box<[(u32, u32)]>);

impl Recent {
    const LOG2: u32 = 15;

    fn new() -> Self {
        Self(vec![(0, 0); 1 << Self::LOG2].into_boxed_slice())
    }

    #[inline(always)]
    fn place(hash: u64) -> usize {
        (hash >> 20) as usize & ((1 << Self::LOG2) - 1)
    }

    /// A row that probably has this hash.
    #[inline(always)]
    fn get(&self, hash: u64) -> Option<RowId> {
        let (tag, number) = self.0[Self::place(hash)];
        (tag == hash as u32 && number != 0).then(|| RowId(number - 1))
    }

    #[inline(always)]
    fn put(&mut self, hash: u64, id: RowId) {
        self.0[Self::place(hash)] = (hash as u32, id.0 + 1);
    }
}

impl<'b> RowTable<'b> {
    /// An empty table for rows of `width` bytes within `budget`.
    pub fn new(width: usize, budget: &'b MemoryBudget) -> Result<Self, TableFull> {
        let slots = Slots::new(SLOTS_AT_FIRST, budget)?;
        Ok(Self { width, budget, arena: Arena::new(width, budget), slots, hashes: Vec::new(), recent: Recent::new() })
    }

    /// A stored row.
    #[inline]
    pub fn row(&self, id: RowId) -> &[u8] {
        self.arena.row(id)
    }

    /// The row with this number, if there is one.
    pub fn id(&self, index: usize) -> Option<RowId> {
        (index < self.len() as usize).then_some(RowId(index as u32))
    }

    /// All rows in the order of their numbers.
    pub fn rows(&self) -> impl Iterator<Item = (RowId, &[u8])> {
        self.arena.rows()
    }

    /// How many rows are stored.
    #[inline]
    pub fn len(&self) -> u64 {
        self.arena.len()
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that rows and slots take.
    pub fn memory_bytes(&self) -> u64 {
        self.arena.memory_bytes() + self.slots.memory_bytes()
    }

    /// Stores the rows that are not there yet, and calls `on_row` for every row with its place in `rows`, its number in the
    /// table, and whether it is new. After an error some of the rows may be stored.
    pub fn insert_each(&mut self, rows: Rows<'_>, mut on_row: impl FnMut(usize, RowId, bool)) -> Result<(), TableFull> {
        if self.len() + rows.len() as u64 > self.slots.capacity() {
            self.grow(self.len() + rows.len() as u64)?;
        }
        self.hashes.clear();
        for row in rows.iter() {
            let hash = hash_row(row);
            if self.hashes.len() < LOOKAHEAD {
                self.slots.prefetch(hash);
            }
            self.hashes.push(hash);
        }
        for (i, row) in rows.iter().enumerate() {
            if let Some(hash) = self.hashes.get(i + LOOKAHEAD) {
                self.slots.prefetch(*hash);
            }
            let hash = self.hashes[i];
            let (id, is_new) = match self.recent.get(hash) {
                Some(id) if self.arena.equals(id, row) => (id, false),
                _ => {
                    let (id, is_new) = self.insert_row(hash, row)?;
                    self.recent.put(hash, id);
                    (id, is_new)
                }
            };
            on_row(i, id, is_new);
        }
        Ok(())
    }

    /// The row's number, and whether it was not there.
    #[inline]
    fn insert_row(&mut self, hash: u64, row: &[u8]) -> Result<(RowId, bool), TableFull> {
        let mut probing = self.slots.probe(hash);
        loop {
            match self.slots.next(&mut probing) {
                Probe::Entry(id) => {
                    if self.arena.equals(id, row) {
                        return Ok((id, false));
                    }
                }
                Probe::Empty => {
                    let id = self.arena.push(row)?;
                    self.slots.enter(&probing, id);
                    return Ok((id, true));
                }
            }
        }
    }

    /// Rebuilds the table with room for at least `wanted` entries.
    #[cold]
    fn grow(&mut self, wanted: u64) -> Result<(), TableFull> {
        let n_slots = self.next_size(self.slots.len(), wanted)?;
        self.slots.rebuild(n_slots, self.budget, self.arena.rows().map(|(id, row)| (hash_row(row), id)))
    }

    /// Twice as many slots, or as many as leave room for the rows that they can enter.
    fn next_size(&self, n_slots: usize, wanted: u64) -> Result<usize, TableFull> {
        let room = self.budget.left() + Slots::bytes_for(n_slots);
        let rows_now = self.len().max(1);
        // slots * 4 + (slots * load - rows now) * width <= room
        let per_slot = 4.0 + LOAD_MAX as f64 / 100.0 * self.width as f64;
        let affordable = ((room + rows_now * self.width as u64) as f64 / per_slot) as u64;
        let needed = wanted * 100 / LOAD_MAX + 1;
        let doubled = (2 * n_slots as u64).max(needed + needed / 4);
        let size = doubled.min(affordable).min(slots::SLOTS_MAX);
        if size < needed + needed / 64 {
            return Err(if doubled > slots::SLOTS_MAX { TableFull::Numbers } else { TableFull::Memory });
        }
        Ok(size as usize)
    }
}

impl Drop for RowTable<'_> {
    fn drop(&mut self) {
        self.budget.release(self.slots.memory_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use lariat_base::rows::RowBuffer;
    use std::collections::BTreeSet;

    fn random_rows(random: &mut Random, width: usize, n: usize, values: usize) -> RowBuffer {
        let mut rows = RowBuffer::new(width);
        for _ in 0..n {
            let value = random.below(values) as u64;
            let mut row = vec![0; width];
            for (i, byte) in row.iter_mut().enumerate() {
                *byte = (value.wrapping_mul(0x1234_5678_9ABC_DEF1) >> (i % 8 * 7)) as u8;
            }
            rows.push(&row);
        }
        rows
    }

    #[test]
    fn stores_every_row_once_and_gives_all_back() {
        for width in [1, 2, 7, 8, 9, 16, 33] {
            let budget = MemoryBudget::new(64 << 20);
            let mut table = RowTable::new(width, &budget).unwrap();
            let mut random = Random::new(width as u64);
            let mut expected = BTreeSet::new();
            for _ in 0..200 {
                let rows = random_rows(&mut random, width, 500, 40_000);
                table
                    .insert_each(rows.as_rows(), |i, _, is_new| {
                        assert_eq!(expected.insert(rows.row(i).to_vec()), is_new);
                    })
                    .unwrap();
            }
            assert_eq!(table.len(), expected.len() as u64);
            assert!(table.rows().map(|(id, _)| id.index()).eq(0..expected.len()));
            assert_eq!(table.rows().map(|(_, row)| row.to_vec()).collect::<BTreeSet<_>>(), expected);
            assert_eq!(table.memory_bytes(), budget.used());
            drop(table);
            assert_eq!(budget.used(), 0);
        }
    }

    #[test]
    fn numbers_rows_without_gaps_and_finds_them_by_number() {
        let budget = MemoryBudget::new(64 << 20);
        let mut table = RowTable::new(7, &budget).unwrap();
        let mut random = Random::new(3);
        let mut n_rows = 0;
        for _ in 0..200 {
            let rows = random_rows(&mut random, 7, 300, 20_000);
            let mut seen = Vec::new();
            table.insert_each(rows.as_rows(), |i, id, is_new| seen.push((i, id, is_new))).unwrap();
            for (i, id, is_new) in seen {
                assert_eq!(table.row(id), rows.row(i));
                assert!(if is_new { id.index() == n_rows } else { id.index() < n_rows });
                n_rows += usize::from(is_new);
            }
        }
        assert_eq!(table.len(), n_rows as u64);
    }

    #[test]
    fn a_full_budget_is_an_answer_and_is_used_well() {
        let budget = MemoryBudget::new(2 << 20);
        let mut table = RowTable::new(8, &budget).unwrap();
        let mut n = 0u64;
        let full = loop {
            let mut rows = RowBuffer::new(8);
            for i in 0..100 {
                rows.push(&(n * 100 + i).to_le_bytes());
            }
            if let Err(full) = table.insert_each(rows.as_rows(), |_, _, _| {}) {
                break full;
            }
            n += 1;
        };
        assert_eq!(full, TableFull::Memory);
        assert!(budget.peak() <= budget.max());
        // 8 bytes for the row, 4 for a slot: at least three quarters of the budget hold states.
        assert!(table.len() * 12 > budget.max() * 3 / 4, "{} rows", table.len());
    }
}
