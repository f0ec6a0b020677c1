//! Where rows of a log may be, by their hash, in five bytes a slot: the rows themselves are only on disk.
//!
//! A slot has a position and eight bits of the hash, which tell most other rows apart. Slots are probed one after the other from where the hash leads to, up to the
//! first that is empty. What a hash leads to may be another row still: who asks must look at the log.
//!
//! # Invariants
//! 1. A slot is empty if its position is 0, so positions are stored plus one.
//!
//! # Cost
//! 5 bytes / 0.8 for each row.

use crate::{ReservedVec, StorageError, TableFull};
use lariat_base::MemoryBudget;

const SLOT_BYTES: usize = 5;
/// The least number of slots.
const SLOTS_MIN: usize = 64;
/// The largest position that a slot can hold.
pub const POSITION_MAX: u64 = u32::MAX as u64 - 1;

/// Positions by hash.
pub struct PositionTable<'b> {
    slots: ReservedVec<'b, u8>,
    n_slots: usize,
    n_slots_max: usize,
    n_rows: usize,
    budget: &'b MemoryBudget,
}

impl<'b> PositionTable<'b> {
    /// An empty table that takes at most `memory_bytes`, or what a few rows need.
    pub fn new(memory_bytes: usize, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let n_slots_max = (memory_bytes / SLOT_BYTES).max(SLOTS_MIN);
        let mut table = Self { slots: ReservedVec::new(budget), n_slots: 0, n_slots_max, n_rows: 0, budget };
        table.allocate(SLOTS_MIN)?;
        Ok(table)
    }

    fn allocate(&mut self, n_slots: usize) -> Result<(), StorageError> {
        // The old memory goes before the new one comes.
        self.slots = ReservedVec::new(self.budget);
        (self.n_slots, self.n_rows) = (0, 0);
        self.slots.resize(n_slots * SLOT_BYTES, 0)?;
        self.n_slots = n_slots;
        Ok(())
    }

    /// How many rows it knows.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// The rows that it has room for now.
    pub fn capacity(&self) -> usize {
        self.n_slots / 5 * 4
    }

    /// The rows that it has room for if it is given all its memory.
    pub fn capacity_max(&self) -> usize {
        (self.n_slots_max / 5 * 4).min(POSITION_MAX as usize)
    }

    /// Forgets all rows, and gives the memory back.
    pub fn clear(&mut self) -> Result<(), StorageError> {
        self.allocate(SLOTS_MIN)
    }

    /// Whether another row needs [`PositionTable::begin_larger`] before.
    pub fn is_full(&self) -> bool {
        self.n_rows >= self.n_slots / 5 * 4
    }

    /// Forgets all rows and has room for twice as many; they must be inserted again, in any order. False, and nothing changes, if that is too many.
    pub fn begin_larger(&mut self) -> Result<bool, StorageError> {
        if self.n_slots == self.n_slots_max {
            return Ok(false);
        }
        self.allocate((2 * self.n_slots).min(self.n_slots_max))?;
        Ok(true)
    }

    #[inline]
    fn slot(&self, place: usize) -> (u32, u8) {
        let slot = &self.slots[place * SLOT_BYTES..(place + 1) * SLOT_BYTES];
        (u32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]), slot[4])
    }

    fn start(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.n_slots as u128) >> 64) as usize
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.n_slots { 0 } else { place + 1 }
    }

    /// Calls `see` with every position at which a row with this hash may be.
    #[inline]
    pub fn positions(&self, hash: u64, mut see: impl FnMut(u64)) {
        let mut place = self.start(hash);
        loop {
            let (position, tag) = self.slot(place);
            if position == 0 {
                return;
            }
            if tag == hash as u8 {
                see(u64::from(position) - 1);
            }
            place = self.after(place);
        }
    }

    /// Notes the position of a row, which must be new.
    pub fn insert(&mut self, hash: u64, position: u64) -> Result<(), TableFull> {
        if position > POSITION_MAX {
            return Err(TableFull::Numbers);
        }
        if self.is_full() {
            return Err(TableFull::Memory);
        }
        let mut place = self.start(hash);
        while self.slot(place).0 != 0 {
            place = self.after(place);
        }
        let slot = &mut self.slots[place * SLOT_BYTES..(place + 1) * SLOT_BYTES];
        slot[..4].copy_from_slice(&(position as u32 + 1).to_le_bytes());
        slot[4] = hash as u8;
        self.n_rows += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash_row;

    #[test]
    fn finds_every_position_and_few_others() {
        let budget = MemoryBudget::new(1 << 20);
        let mut table = PositionTable::new(100_000, &budget).unwrap();
        let hash = |i: u64| hash_row(&i.to_le_bytes());
        let mut n = 0;
        loop {
            if table.is_full() {
                assert_eq!(table.insert(hash(n), n), Err(TableFull::Memory));
                if !table.begin_larger().unwrap() {
                    break;
                }
                (0..n).for_each(|i| table.insert(hash(i), i).unwrap());
            }
            table.insert(hash(n), n).unwrap();
            n += 1;
        }
        assert_eq!((n as usize, table.len()), (16_000, 16_000));
        assert_eq!(budget.used(), 100_000);
        let mut n_others = 0;
        for i in 0..2 * n {
            let mut found = false;
            table.positions(hash(i), |position| {
                found |= position == i;
                n_others += u64::from(position != i);
            });
            assert_eq!(found, i < n, "row {i}");
        }
        // A question looks at about thirteen slots, and one in 256 has the same bits.
        assert!(n_others < n / 5, "{n_others} positions of other rows");
        assert_eq!(table.insert(0, POSITION_MAX + 1), Err(TableFull::Numbers));
    }
}
