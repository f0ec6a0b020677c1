//! Rows in the order of arrival, and for each bucket a chain through them.
//!
//! # Cost
//! Row + 8 bytes, for as many buckets as rows.

use super::spread;
use crate::hash::rows_equal;
use crate::prefetch::prefetch_address;
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;

/// Set in a link: the row was taken out.
const GONE: u32 = 1 << 31;

pub(super) struct Chained<'b> {
    key_bytes: usize,
    row_bytes: usize,
    capacity: usize,
    rows: ReservedVec<'b, u8>,
    /// For each row the next one of its chain, counted from 1, and 0 at the end.
    links: ReservedVec<'b, u32>,
    /// For each bucket the row that its chain begins with.
    heads: ReservedVec<'b, u32>,
    n_gone: usize,
}

impl<'b> Chained<'b> {
    pub(super) fn empty(budget: &'b MemoryBudget) -> Self {
        let (rows, links, heads) = (ReservedVec::new(budget), ReservedVec::new(budget), ReservedVec::new(budget));
        Self { key_bytes: 1, row_bytes: 1, capacity: 0, rows, links, heads, n_gone: 0 }
    }

    pub(super) fn new(
        capacity: usize,
        (key_bytes, row_bytes): (usize, usize),
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let rows = ReservedVec::with_capacity(capacity * row_bytes, budget)?;
        let links = ReservedVec::with_capacity(capacity, budget)?;
        let mut heads = ReservedVec::with_capacity(capacity, budget)?;
        heads.resize(capacity, 0)?;
        Ok(Self { key_bytes, row_bytes, capacity, rows, links, heads, n_gone: 0 })
    }

    pub(super) fn capacity_within(memory_bytes: usize, row_bytes: usize) -> usize {
        (memory_bytes / (row_bytes + 8)).min(GONE as usize - 1)
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn len(&self) -> usize {
        self.links.len() - self.n_gone
    }

    #[inline]
    fn key(&self, i: usize) -> &[u8] {
        &self.rows[i * self.row_bytes..i * self.row_bytes + self.key_bytes]
    }

    #[inline]
    pub(super) fn find(&self, hash: u64, row: &[u8]) -> Option<usize> {
        let key = &row[..self.key_bytes];
        let mut next = *self.heads.get(spread(hash, self.heads.len()))?;
        while next != 0 {
            let i = next as usize - 1;
            let link = self.links[i];
            if link & GONE == 0 && rows_equal(self.key(i), key) {
                return Some(i);
            }
            next = link & !GONE;
        }
        None
    }

    /// None if the table is full.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, row: &[u8]) -> Option<bool> {
        if self.find(hash, row).is_some() {
            return Some(false);
        }
        if self.insert_distinct(hash, row) { Some(true) } else { None }
    }

    /// False if the table is full.
    #[inline]
    pub(super) fn insert_distinct(&mut self, hash: u64, row: &[u8]) -> bool {
        if self.links.len() == self.capacity {
            return false;
        }
        let bucket = spread(hash, self.heads.len());
        let pushed = self.rows.extend_from_slice(row).and_then(|()| self.links.push(self.heads[bucket]));
        self.heads[bucket] = self.links.len() as u32;
        pushed.is_ok()
    }

    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(head) = self.heads.get(spread(hash, self.heads.len())) {
            prefetch_address(head);
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, hash: u64, row: &[u8]) -> bool {
        let found = self.find(hash, row);
        if let Some(i) = found {
            self.links[i] |= GONE;
            self.n_gone += 1;
        }
        found.is_some()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.rows
            .chunks_exact(self.row_bytes)
            .zip(self.links.iter())
            .filter_map(|(row, link)| if link & GONE == 0 { Some(row) } else { None })
    }
}
