//! Rows in slots, found by double hashing: a step that depends on the row leads from one slot to the next.
//!
//! The number of slots is a prime, so that every step leads through all of them.
//!
//! # Cost
//! (Row + 1 byte) / 0.9: more rows than that would make it slow to find that a row is not there.

use super::spread;
use crate::hash::rows_equal;
use crate::prefetch::prefetch_address;
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;

/// The first byte of a slot.
const EMPTY: u8 = 0;
const FULL: u8 = 1;
/// The row was taken out; rows that were put further on because of it are still found.
const GONE: u8 = 2;

pub(super) struct Open<'b> {
    key_bytes: usize,
    slot_bytes: usize,
    n_slots: usize,
    capacity: usize,
    slots: ReservedVec<'b, u8>,
    /// Slots that are not empty.
    n_used: usize,
    n_gone: usize,
}

impl<'b> Open<'b> {
    pub(super) fn new(
        capacity: usize,
        (key_bytes, row_bytes): (usize, usize),
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let n_slots = prime_from(slots_for(capacity));
        let slot_bytes = row_bytes + 1;
        let mut slots = ReservedVec::with_capacity(n_slots * slot_bytes, budget)?;
        slots.resize(n_slots * slot_bytes, EMPTY)?;
        Ok(Self { key_bytes, slot_bytes, n_slots, capacity, slots, n_used: 0, n_gone: 0 })
    }

    pub(super) fn capacity_within(memory_bytes: usize, row_bytes: usize) -> usize {
        // Primes are nearer to each other than that.
        let n_slots = (memory_bytes / (row_bytes + 1)).saturating_sub(400);
        n_slots / 10 * 9
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn len(&self) -> usize {
        self.n_used - self.n_gone
    }

    #[inline]
    fn slot(&self, slot: usize) -> &[u8] {
        &self.slots[slot * self.slot_bytes..(slot + 1) * self.slot_bytes]
    }

    #[inline]
    fn step(&self, hash: u64) -> usize {
        1 + (hash & 0xFFFF_FFFF) as usize % (self.n_slots - 1)
    }

    #[inline]
    fn after(&self, place: usize, step: usize) -> usize {
        let next = place + step;
        if next >= self.n_slots { next - self.n_slots } else { next }
    }

    /// The slot that has the row, or the empty one where its search ended.
    #[inline]
    fn probe(&self, hash: u64, row: &[u8]) -> Result<usize, usize> {
        let key = &row[..self.key_bytes];
        let mut place = spread(hash, self.n_slots);
        let step = self.step(hash);
        loop {
            let slot = self.slot(place);
            match slot[0] {
                EMPTY => return Err(place),
                FULL if rows_equal(&slot[1..=self.key_bytes], key) => return Ok(place),
                _ => {}
            }
            place = self.after(place, step);
        }
    }

    #[inline]
    pub(super) fn find(&self, hash: u64, row: &[u8]) -> Option<usize> {
        self.probe(hash, row).ok()
    }

    /// None if the table is full.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, row: &[u8]) -> Option<bool> {
        match self.probe(hash, row) {
            Ok(_) => Some(false),
            Err(place) if self.fill(place, row) => Some(true),
            Err(_) => None,
        }
    }

    /// False if the table is full.
    #[inline]
    pub(super) fn insert_distinct(&mut self, hash: u64, row: &[u8]) -> bool {
        let mut place = spread(hash, self.n_slots);
        let step = self.step(hash);
        while self.slots[place * self.slot_bytes] != EMPTY {
            place = self.after(place, step);
        }
        self.fill(place, row)
    }

    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch_address(&self.slots[spread(hash, self.n_slots) * self.slot_bytes]);
    }

    /// Puts a row into an empty slot; false if the table is full.
    fn fill(&mut self, place: usize, row: &[u8]) -> bool {
        if self.n_used == self.capacity {
            return false;
        }
        let slot = &mut self.slots[place * self.slot_bytes..(place + 1) * self.slot_bytes];
        slot[0] = FULL;
        slot[1..].copy_from_slice(row);
        self.n_used += 1;
        true
    }

    #[inline]
    pub(super) fn remove(&mut self, hash: u64, row: &[u8]) -> bool {
        let found = self.find(hash, row);
        if let Some(place) = found {
            self.slots[place * self.slot_bytes] = GONE;
            self.n_gone += 1;
        }
        found.is_some()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.slots.chunks_exact(self.slot_bytes).filter(|slot| slot[0] == FULL).map(|slot| &slot[1..])
    }
}

/// Slots such that a tenth of them stays empty.
fn slots_for(capacity: usize) -> usize {
    capacity.div_ceil(9) * 10 + 1
}

/// The first prime from `n` on.
fn prime_from(n: usize) -> usize {
    let is_prime = |n: &usize| (2..).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (n.max(3)..).find(is_prime).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_primes() {
        assert_eq!([0, 3, 4, 8, 90, 1000].map(prime_from), [3, 3, 5, 11, 97, 1009]);
    }
}
