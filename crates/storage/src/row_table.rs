//! The in-memory visited set: every row once, in the order of arrival, shared by threads without locks on the way.
//!
//! Rows live in an arena of chunks and never move; a table of 4-byte slots finds them. A slot holds the number of a
//! row and, in the bits that the number leaves free, a part of the row's hash, so that most rows that differ are told
//! apart without touching them. A writer puts a new row into space of its own first and then publishes it by one
//! compare-and-swap on the slot, so a row is complete before anybody can find it.
//!
//! # Invariants
//! 1. A slot changes once between rebuilds: from empty to the entry of a row that is complete and never changes again.
//! 2. Rows with equal bytes are entered once: equal rows meet in the same slot or find each other's entry while probing.
//! 3. `used` counts the entries of the table and those that writers may still make under the read lock, and never
//!    passes [`LOAD_MAX`] of the slots; so probing ends.
//! 4. Everything allocated is reserved in the budget first.
//!
//! # Cost
//! Row + 4 bytes / load; the load is between 0.4 and 0.8 unless the budget makes the last table smaller than twice
//! the one before. The table is rebuilt from the rows, so the old one is given back before the new one is made.

mod arena;
mod slots;
pub(crate) mod zeroed;

pub use arena::{RowId, RowSpan};

use crate::hash::hash_row;
use arena::{Arena, Block};
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use slots::{Probe, Slots};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

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
    slots: RwLock<Slots>,
    used: AtomicU64,
}

impl<'b> RowTable<'b> {
    /// An empty table for rows of `width` bytes within `budget`.
    pub fn new(width: usize, budget: &'b MemoryBudget) -> Result<Self, TableFull> {
        let slots = Slots::new(SLOTS_AT_FIRST, budget)?;
        Ok(Self { width, budget, arena: Arena::new(width, budget), slots: RwLock::new(slots), used: AtomicU64::new(0) })
    }

    /// A writer; each thread has its own.
    pub fn writer(&self) -> RowWriter<'_, 'b> {
        RowWriter {
            table: self,
            block: Block::default(),
            spans: Vec::new(),
            hashes: Vec::new(),
            recent: Recent::new(),
            n_new: 0,
        }
    }

    /// A stored row.
    pub fn row(&self, id: RowId) -> &[u8] {
        self.arena.published(id)
    }

    /// The rows of a span.
    pub fn rows(&self, span: RowSpan) -> Rows<'_> {
        self.arena.rows(span)
    }

    /// All rows, while no writer is at work.
    pub fn spans(&self) -> impl Iterator<Item = RowSpan> {
        self.arena.filled_spans()
    }

    /// How many rows are stored.
    pub fn len(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that rows and slots take.
    pub fn memory_bytes(&self) -> u64 {
        let slots = self.slots.read().map_or(0, |slots| slots.memory_bytes());
        self.arena.memory_bytes() + slots
    }

    /// Promises `n` more entries, growing the table if it has too few slots for them.
    fn promise(&self, n: u64) -> Result<(), TableFull> {
        let used = self.used.fetch_add(n, Ordering::Relaxed) + n;
        let capacity = self.read_slots().capacity();
        if used <= capacity {
            return Ok(());
        }
        let grown = self.grow(used);
        if grown.is_err() {
            self.used.fetch_sub(n, Ordering::Relaxed);
        }
        grown
    }

    fn read_slots(&self) -> std::sync::RwLockReadGuard<'_, Slots> {
        // A writer that panicked leaves a table that is whole: entries are made by one compare-and-swap.
        self.slots.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Rebuilds the table with room for at least `wanted` entries.
    fn grow(&self, wanted: u64) -> Result<(), TableFull> {
        let mut slots = self.slots.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if wanted <= slots.capacity() {
            return Ok(());
        }
        let n_slots = self.next_size(slots.len(), wanted)?;
        slots.rebuild(n_slots, self.budget, |enter| {
            for span in self.arena.filled_spans() {
                span.ids().zip(self.arena.rows(span).iter()).for_each(|(id, row)| enter(hash_row(row), id));
            }
        })
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
        self.budget.release(self.read_slots().memory_bytes());
    }
}

/// A thread's way to put rows into the table.
pub struct RowWriter<'t, 'b> {
    table: &'t RowTable<'b>,
    block: Block,
    spans: Vec<RowSpan>,
    hashes: Vec<u64>,
    recent: Recent,
    n_new: u64,
}

/// Rows that a writer met lately, by a part of their hash: successors of neighbours are often the same, and these are found without
/// touching the slots. 256 KiB for each writer, beside the budget.
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

impl RowWriter<'_, '_> {
    /// Stores the rows that are not there yet, and calls `on_new` with the place in `rows` of each of those.
    /// After an error some of the rows may be stored.
    pub fn insert(&mut self, rows: Rows<'_>, mut on_new: impl FnMut(usize)) -> Result<(), TableFull> {
        self.insert_each(rows, |i, _, is_new| {
            if is_new {
                on_new(i);
            }
        })
    }

    /// Stores the rows that are not there yet, and calls `on_row` for every row with its place in `rows`, its number in the
    /// table, and whether it is new. Numbers are given without gaps where there is one writer only.
    pub fn insert_each(&mut self, rows: Rows<'_>, mut on_row: impl FnMut(usize, RowId, bool)) -> Result<(), TableFull> {
        if rows.is_empty() {
            return Ok(());
        }
        self.table.promise(rows.len() as u64)?;
        let before = self.n_new;
        let result = self.insert_promised(rows, &mut on_row);
        let unused = rows.len() as u64 - (self.n_new - before);
        self.table.used.fetch_sub(unused, Ordering::Relaxed);
        result
    }

    #[inline(always)]
    fn insert_promised(
        &mut self,
        rows: Rows<'_>,
        on_row: &mut impl FnMut(usize, RowId, bool),
    ) -> Result<(), TableFull> {
        let table = self.table;
        let slots = table.read_slots();
        if slots.len() == 0 {
            return Err(TableFull::Memory);
        }
        self.hashes.clear();
        self.hashes.extend(rows.iter().map(hash_row));
        for hash in self.hashes.iter().take(LOOKAHEAD) {
            slots.prefetch(*hash);
        }
        for i in 0..rows.len() {
            if let Some(hash) = self.hashes.get(i + LOOKAHEAD)
                && self.recent.get(*hash).is_none()
            {
                slots.prefetch(*hash);
            }
            if let Some(hash) = self.hashes.get(i + LOOKAHEAD / 2)
                && let Some(id) = self.recent.get(*hash).or_else(|| slots.likely_entry(*hash))
            {
                table.arena.prefetch(id);
            }
            let (hash, row) = (self.hashes[i], rows.row(i));
            let (id, is_new) = match self.recent.get(hash) {
                Some(id) if table.arena.equals(id, row) => (id, false),
                _ => self.insert_row(&slots, hash, row)?,
            };
            self.recent.put(hash, id);
            on_row(i, id, is_new);
        }
        Ok(())
    }

    /// The row's number, and whether it was not there.
    #[inline]
    fn insert_row(&mut self, slots: &Slots, hash: u64, row: &[u8]) -> Result<(RowId, bool), TableFull> {
        let arena = &self.table.arena;
        let mut probe = slots.probe(hash);
        let mut written = None;
        loop {
            match probe.next() {
                Probe::Entry(id) => {
                    if arena.equals(id, row) {
                        return Ok((id, false));
                    }
                }
                Probe::Empty => {
                    let id = match written {
                        Some(id) => id,
                        None => *written.insert(arena.write(&mut self.block, row)?),
                    };
                    if probe.publish(id) {
                        self.note_new(id);
                        return Ok((id, true));
                    }
                    // Another thread took the slot meanwhile, perhaps for the same row: look at it again.
                }
            }
        }
    }

    fn note_new(&mut self, id: RowId) {
        self.n_new += 1;
        self.table.arena.keep_written(&mut self.block);
        let rows_per_block = self.table.arena.rows_per_block();
        if !self.spans.last_mut().is_some_and(|span| span.extend(id, rows_per_block)) {
            self.spans.push(RowSpan::single(id));
        }
    }

    /// The rows that this writer has stored since it was asked last; each span lies in one stretch of memory.
    pub fn take_spans(&mut self) -> Vec<RowSpan> {
        std::mem::take(&mut self.spans)
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
            let table = RowTable::new(width, &budget).unwrap();
            let mut writer = table.writer();
            let mut random = Random::new(width as u64);
            let mut expected = BTreeSet::new();
            for _ in 0..200 {
                let rows = random_rows(&mut random, width, 500, 40_000);
                let mut new = Vec::new();
                writer.insert(rows.as_rows(), |i| new.push(i)).unwrap();
                for (i, row) in rows.as_rows().iter().enumerate() {
                    assert_eq!(expected.insert(row.to_vec()), new.contains(&i));
                }
            }
            assert_eq!(table.len(), expected.len() as u64);
            let spans = writer.take_spans();
            let stored: Vec<_> = spans.iter().flat_map(|s| table.rows(*s).iter()).map(<[u8]>::to_vec).collect();
            assert_eq!(stored.len(), expected.len());
            assert_eq!(stored.into_iter().collect::<BTreeSet<_>>(), expected);
            let numbered = table.spans().flat_map(|span| span.ids().zip(table.rows(span).iter()));
            let numbered: Vec<_> = numbered.map(|(id, row)| (id.index(), row.to_vec())).collect();
            assert!(numbered.iter().map(|(id, _)| *id).eq(0..expected.len()));
            assert_eq!(numbered.into_iter().map(|(_, row)| row).collect::<BTreeSet<_>>(), expected);
        }
    }

    #[test]
    fn a_single_writer_numbers_rows_without_gaps_and_finds_them_by_number() {
        let budget = MemoryBudget::new(64 << 20);
        let table = RowTable::new(7, &budget).unwrap();
        let mut writer = table.writer();
        let mut random = Random::new(3);
        let mut n_rows = 0;
        for _ in 0..200 {
            let rows = random_rows(&mut random, 7, 300, 20_000);
            let mut seen = Vec::new();
            writer.insert_each(rows.as_rows(), |i, id, is_new| seen.push((i, id, is_new))).unwrap();
            for (i, id, is_new) in seen {
                assert_eq!(table.row(id), rows.row(i));
                assert!(if is_new { id.index() == n_rows } else { id.index() < n_rows });
                n_rows += usize::from(is_new);
            }
        }
        assert_eq!(table.len(), n_rows as u64);
    }

    #[test]
    fn threads_never_store_a_row_twice() {
        for round in 0..20 {
            let budget = MemoryBudget::new(64 << 20);
            let table = RowTable::new(9, &budget).unwrap();
            let n_new: u64 = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| {
                        let table = &table;
                        // All threads insert the same rows in the same order: as many collisions as there can be.
                        scope.spawn(move || {
                            let mut random = Random::new(round);
                            let mut writer = table.writer();
                            for _ in 0..100 {
                                let rows = random_rows(&mut random, 9, 200, 60_000);
                                writer.insert(rows.as_rows(), |_| {}).unwrap();
                            }
                            let spans = writer.take_spans();
                            spans.iter().map(|s| table.rows(*s).len() as u64).sum::<u64>()
                        })
                    })
                    .collect();
                threads.into_iter().map(|t| t.join().unwrap()).sum()
            });
            let mut random = Random::new(round);
            let mut expected = BTreeSet::new();
            for _ in 0..100 {
                expected.extend(random_rows(&mut random, 9, 200, 60_000).as_rows().iter().map(<[u8]>::to_vec));
            }
            assert_eq!((n_new, table.len()), (expected.len() as u64, expected.len() as u64));
        }
    }

    #[test]
    fn a_full_budget_is_an_answer_and_is_used_well() {
        let budget = MemoryBudget::new(2 << 20);
        let table = RowTable::new(8, &budget).unwrap();
        let mut writer = table.writer();
        let mut n = 0u64;
        let full = loop {
            let mut rows = RowBuffer::new(8);
            for i in 0..100 {
                rows.push(&(n * 100 + i).to_le_bytes());
            }
            if let Err(full) = writer.insert(rows.as_rows(), |_| {}) {
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
