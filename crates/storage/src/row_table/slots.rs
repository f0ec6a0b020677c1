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
use std::sync::atomic::{AtomicU32, Ordering};

/// Row numbers have 32 bits.
pub(super) const SLOTS_MAX: u64 = u32::MAX as u64 - (1 << 20);

/// Row numbers run ahead of entries by the unused rest of each writer's block; this is enough for a thousand writers.
const NUMBERS_AHEAD_MAX: u64 = 1 << 18;

pub(super) struct Slots {
    entries: Box<[AtomicU32]>,
    id_bits: u32,
}

/// What a probe met.
pub(super) enum Probe {
    /// An entry that may be the row's.
    Entry(RowId),
    /// The row is not in the table, unless another thread enters it now.
    Empty,
}

pub(super) struct Probing<'s> {
    slots: &'s Slots,
    at: usize,
    tag: u32,
    /// Whether the slot at `at` was found empty and is to be looked at again.
    stay: bool,
}

impl Slots {
    pub(super) fn bytes_for(n_slots: usize) -> u64 {
        n_slots as u64 * 4
    }

    pub(super) fn new(n_slots: usize, budget: &MemoryBudget) -> Result<Self, TableFull> {
        let mut slots = Self { entries: Box::default(), id_bits: 0 };
        slots.rebuild(n_slots, budget, |_| {})?;
        Ok(slots)
    }

    /// Changes the size of the table; `fill` gives the entries anew. Where the budget refuses, nothing changes; where the
    /// system has no memory although the budget allows it, the table is left without slots.
    pub(super) fn rebuild(
        &mut self,
        n_slots: usize,
        budget: &MemoryBudget,
        fill: impl FnOnce(&mut dyn FnMut(u64, RowId)),
    ) -> Result<(), TableFull> {
        let more = Self::bytes_for(n_slots) - self.memory_bytes();
        budget.reserve(more).map_err(|_| TableFull::Memory)?;
        self.entries = Box::default();
        let Some(entries) = zeroed_numbers(n_slots) else {
            budget.release(Self::bytes_for(n_slots));
            return Err(TableFull::Memory);
        };
        self.entries = entries;
        self.id_bits = (64 - (n_slots as u64 + NUMBERS_AHEAD_MAX).leading_zeros()).min(32);
        self.fill(fill);
        Ok(())
    }

    fn fill(&self, fill: impl FnOnce(&mut dyn FnMut(u64, RowId))) {
        // Entries wait in a short queue while their slots are fetched.
        const WAITING: usize = 16;
        let mut waiting = [(0u64, RowId(0)); WAITING];
        let mut n = 0usize;
        fill(&mut |hash, id| {
            self.prefetch(hash);
            let (old_hash, old_id) = std::mem::replace(&mut waiting[n % WAITING], (hash, id));
            if n >= WAITING {
                self.enter_new(old_hash, old_id);
            }
            n += 1;
        });
        for i in n.saturating_sub(WAITING)..n {
            let (hash, id) = waiting[i % WAITING];
            self.enter_new(hash, id);
        }
    }

    /// Enters a row that is known not to be there.
    fn enter_new(&self, hash: u64, id: RowId) {
        let mut probe = self.probe(hash);
        while !(matches!(probe.next(), Probe::Empty) && probe.publish(id)) {}
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many entries may be made.
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
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch_address(&raw const self.entries[self.place(hash)]);
    }

    /// The row that the first slot names, if its tag fits: what a duplicate is most often found to be.
    #[inline(always)]
    pub(super) fn likely_entry(&self, hash: u64) -> Option<RowId> {
        let entry = self.entries[self.place(hash)].load(Ordering::Acquire);
        let id_mask = ((1u64 << self.id_bits) - 1) as u32;
        (entry != 0 && entry & !id_mask == self.tag(hash)).then(|| RowId((entry & id_mask) - 1))
    }

    #[inline(always)]
    pub(super) fn probe(&self, hash: u64) -> Probing<'_> {
        let place = self.place(hash);
        let before = if place == 0 { self.entries.len() - 1 } else { place - 1 };
        Probing { slots: self, at: before, tag: self.tag(hash), stay: false }
    }
}

impl Probing<'_> {
    /// The next entry with the right tag, or the empty slot that ends the search.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Probe {
        let id_mask = ((1u64 << self.slots.id_bits) - 1) as u32;
        loop {
            if !std::mem::take(&mut self.stay) {
                self.at += 1;
                if self.at == self.slots.entries.len() {
                    self.at = 0;
                }
            }
            // Acquire: the row behind an entry was written before the entry.
            let entry = self.slots.entries[self.at].load(Ordering::Acquire);
            if entry == 0 {
                self.stay = true;
                return Probe::Empty;
            }
            if entry & !id_mask == self.tag {
                return Probe::Entry(RowId((entry & id_mask) - 1));
            }
        }
    }

    /// Enters `id` into the empty slot found last; false if another thread was faster.
    #[inline(always)]
    pub(super) fn publish(&mut self, id: RowId) -> bool {
        let entry = self.tag | (id.0 + 1);
        // Release: whoever finds the entry finds the row complete.
        self.slots.entries[self.at].compare_exchange(0, entry, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}
