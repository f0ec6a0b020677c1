//! The slots of the row table: open addressing, linear probing, one 32-bit entry each.
//!
//! ```text
//! bit  31            id_bits            0
//!      [ part of hash |  row number + 1 ]      0: empty
//! ```
//!
//! The place of a row is the high part of `hash * n_slots`, so tables can have any size.

use super::zeroed::zeroed_numbers;
use super::{LOAD_MAX, RowId, TableFull};
use crate::prefetch::prefetch_address;
use lariat_base::MemoryBudget;

/// Row numbers have 32 bits.
pub(super) const SLOTS_MAX: u64 = u32::MAX as u64 - (1 << 20);

pub(super) struct Slots {
    entries: Box<[u32]>,
    id_bits: u32,
}

/// What a probe met.
pub(super) enum Probe {
    /// An entry that may be the row's.
    Entry(RowId),
    /// The row is not in the table.
    Empty,
}

/// Where a row is looked for.
pub(super) struct Probing {
    at: usize,
    tag: u32,
}

impl Slots {
    pub(super) fn bytes_for(n_slots: usize) -> u64 {
        n_slots as u64 * 4
    }

    pub(super) fn new(n_slots: usize, budget: &MemoryBudget) -> Result<Self, TableFull> {
        let mut slots = Self { entries: Box::default(), id_bits: 0 };
        slots.rebuild(n_slots, budget, std::iter::empty())?;
        Ok(slots)
    }

    /// Changes the size of the table; the entries are given anew. Where the budget refuses, nothing changes; where the
    /// system has no memory although the budget allows it, the table is left without slots, and without room.
    pub(super) fn rebuild(
        &mut self,
        n_slots: usize,
        budget: &MemoryBudget,
        entries: impl Iterator<Item = (u64, RowId)>,
    ) -> Result<(), TableFull> {
        let more = Self::bytes_for(n_slots) - self.memory_bytes();
        budget.reserve(more).map_err(|_| TableFull::Memory)?;
        self.entries = Box::default();
        let Some(zeroed) = zeroed_numbers(n_slots) else {
            budget.release(Self::bytes_for(n_slots));
            return Err(TableFull::Memory);
        };
        self.entries = zeroed;
        self.id_bits = (64 - (n_slots as u64).leading_zeros()).min(32);
        self.fill(entries);
        Ok(())
    }

    fn fill(&mut self, entries: impl Iterator<Item = (u64, RowId)>) {
        // Entries wait in a short queue while their slots are fetched.
        const WAITING: usize = 16;
        let mut waiting = [(0u64, RowId(0)); WAITING];
        let mut n = 0usize;
        for (hash, id) in entries {
            self.prefetch(hash);
            let (old_hash, old_id) = std::mem::replace(&mut waiting[n % WAITING], (hash, id));
            if n >= WAITING {
                self.enter_new(old_hash, old_id);
            }
            n += 1;
        }
        for i in n.saturating_sub(WAITING)..n {
            let (hash, id) = waiting[i % WAITING];
            self.enter_new(hash, id);
        }
    }

    /// Enters a row that is known not to be there.
    fn enter_new(&mut self, hash: u64, id: RowId) {
        let mut probing = self.probe(hash);
        while let Probe::Entry(_) = self.next(&mut probing) {}
        self.enter(&probing, id);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many entries may be made.
    #[inline]
    pub(super) fn capacity(&self) -> u64 {
        self.entries.len() as u64 * LOAD_MAX / 100
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        Self::bytes_for(self.entries.len())
    }

    #[inline(always)]
    fn place(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.entries.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn tag(&self, hash: u64) -> u32 {
        // A shift by 32 would be undefined; with 32 id bits there is no tag.
        ((u64::from(hash as u32) << self.id_bits) & 0xFFFF_FFFF) as u32
    }

    #[inline(always)]
    fn id_mask(&self) -> u32 {
        ((1u64 << self.id_bits) - 1) as u32
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch_address(&raw const self.entries[self.place(hash)]);
    }

    #[inline(always)]
    pub(super) fn probe(&self, hash: u64) -> Probing {
        let place = self.place(hash);
        let before = if place == 0 { self.entries.len() - 1 } else { place - 1 };
        Probing { at: before, tag: self.tag(hash) }
    }

    /// The next entry with the right tag, or the empty slot that ends the search.
    #[inline(always)]
    pub(super) fn next(&self, probing: &mut Probing) -> Probe {
        let mask = self.id_mask();
        loop {
            probing.at += 1;
            if probing.at == self.entries.len() {
                probing.at = 0;
            }
            let entry = self.entries[probing.at];
            if entry == 0 {
                return Probe::Empty;
            }
            if entry & !mask == probing.tag {
                return Probe::Entry(RowId((entry & mask) - 1));
            }
        }
    }

    /// Enters a row into the empty slot found last.
    #[inline(always)]
    pub(super) fn enter(&mut self, probing: &Probing, id: RowId) {
        self.entries[probing.at] = probing.tag | (id.0 + 1);
    }
}
