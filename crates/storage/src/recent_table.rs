//! A set of rows in memory that knows which came first: when it is full, the oldest ones are taken out together.
//!
//! Rows lie in a ring in the order in which they came. They are found through chains of rows whose hashes lead to the same bucket.
//!
//! # Cost
//! A row, and 8 bytes; all of it is taken from the budget when the table is made, and from the system when it is used.

use crate::{ReservedVec, StorageError, hash_row};
use lariat_base::MemoryBudget;

/// What no row has for its number: its place and one more.
const NOTHING: u32 = 0;
/// What a row takes beside itself: its link, and its share of the buckets.
const BESIDE_BYTES: usize = 8;

/// Rows of one width, in the order in which they came.
pub struct RecentTable<'b> {
    row_bytes: usize,
    capacity: usize,
    rows: ReservedVec<'b, u8>,
    links: ReservedVec<'b, u32>,
    buckets: ReservedVec<'b, u32>,
    /// The place of the oldest row, and how many there are.
    first: usize,
    len: usize,
}

impl<'b> RecentTable<'b> {
    /// An empty set that takes about `memory_bytes`, or what a few rows need.
    pub fn new(row_bytes: usize, memory_bytes: usize, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let capacity = (memory_bytes / (row_bytes + BESIDE_BYTES)).clamp(2, u32::MAX as usize / 2);
        Ok(Self {
            row_bytes,
            capacity,
            rows: ReservedVec::of_zeros(capacity * row_bytes, budget)?,
            links: ReservedVec::of_zeros(capacity, budget)?,
            buckets: ReservedVec::of_zeros(capacity, budget)?,
            first: 0,
            len: 0,
        })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether another row needs [`RecentTable::take_oldest`] before.
    pub fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    fn bucket(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.buckets.len() as u128) >> 64) as usize
    }

    fn row(&self, place: usize) -> &[u8] {
        &self.rows[place * self.row_bytes..(place + 1) * self.row_bytes]
    }

    fn find(&self, hash: u64, row: &[u8]) -> Option<usize> {
        let mut number = self.buckets[self.bucket(hash)];
        while number != NOTHING {
            let place = number as usize - 1;
            if self.row(place) == row {
                return Some(place);
            }
            number = self.links[place];
        }
        None
    }

    /// Whether a row is there.
    pub fn contains(&self, hash: u64, row: &[u8]) -> bool {
        self.find(hash, row).is_some()
    }

    /// Adds a row that is not there. The table must not be full.
    pub fn insert(&mut self, hash: u64, row: &[u8]) {
        assert!(self.len < self.capacity, "a full table was given another row");
        let place = (self.first + self.len) % self.capacity;
        let at = place * self.row_bytes;
        self.rows[at..at + self.row_bytes].copy_from_slice(row);
        let bucket = self.bucket(hash);
        self.links[place] = self.buckets[bucket];
        self.buckets[bucket] = place as u32 + 1;
        self.len += 1;
    }

    /// Shows all rows, the oldest one first.
    pub fn for_each<E>(&self, mut see: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        (0..self.len).map(|i| (self.first + i) % self.capacity).try_for_each(|place| see(self.row(place)))
    }

    /// Takes the oldest rows out, `n` at most, and shows each.
    pub fn take_oldest<E>(&mut self, n: usize, mut see: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        for _ in 0..n.min(self.len) {
            let place = self.first;
            see(self.row(place))?;
            let bucket = self.bucket(hash_row(self.row(place)));
            let mut number = self.buckets[bucket];
            if number == place as u32 + 1 {
                self.buckets[bucket] = self.links[place];
            } else {
                // The oldest row is the last one of its chain.
                while number != NOTHING && self.links[number as usize - 1] != place as u32 + 1 {
                    number = self.links[number as usize - 1];
                }
                if number != NOTHING {
                    self.links[number as usize - 1] = self.links[place];
                }
            }
            self.first = (self.first + 1) % self.capacity;
            self.len -= 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use std::collections::VecDeque;

    #[test]
    fn behaves_like_a_queue_that_can_be_asked() {
        let mut random = Random::new(5);
        for memory in [100, 1000, 20_000] {
            let budget = MemoryBudget::new(1 << 20);
            let mut table = RecentTable::new(3, memory, &budget).unwrap();
            assert!(budget.used() <= memory as u64);
            let mut expected: VecDeque<Vec<u8>> = VecDeque::new();
            for _ in 0..20_000 {
                let row = random.below(3000).to_le_bytes()[..3].to_vec();
                let (hash, is_there) = (hash_row(&row), expected.contains(&row));
                assert_eq!(table.contains(hash, &row), is_there);
                if is_there {
                    continue;
                }
                if table.is_full() {
                    let n = 1 + random.below(table.len());
                    table
                        .take_oldest(
                            n,
                            |row| if expected.pop_front().as_deref() == Some(row) { Ok(()) } else { Err(()) },
                        )
                        .unwrap();
                }
                table.insert(hash, &row);
                expected.push_back(row);
                assert_eq!(table.len(), expected.len());
            }
            let mut rows = expected.iter();
            table.for_each(|row| if rows.next().map(Vec::as_slice) == Some(row) { Ok(()) } else { Err(()) }).unwrap();
        }
    }
}
