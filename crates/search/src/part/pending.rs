//! The states that wait for their partition's turn: the newest in memory, the others on disk.

use super::partition::Entries;
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_graph::Rows;
use lariat_storage::{Manifest, ReservedVec, RowQueue, StorageError, hash_row};

pub(super) struct Waiting<'b> {
    entries: Entries,
    /// What is in memory; the first `front` bytes were taken.
    pending: ReservedVec<'b, u8>,
    front: usize,
    queue: RowQueue<'b>,
    budget: &'b MemoryBudget,
}

impl<'b> Waiting<'b> {
    pub(super) fn new(entries: Entries, queue: RowQueue<'b>, budget: &'b MemoryBudget) -> Self {
        Self { entries, pending: ReservedVec::new(budget), front: 0, queue, budget }
    }

    pub(super) fn len(&self) -> u64 {
        self.queue.len() + ((self.pending.len() - self.front) / self.entries.bytes()) as u64
    }

    /// Appends an entry; `bytes_max` of them are in memory.
    pub(super) fn push(&mut self, row: &[u8], parent: u64, bytes_max: usize) -> Result<(), StorageError> {
        if self.pending.len() + self.entries.bytes() > bytes_max {
            self.make_room(bytes_max)?;
        }
        if self.pending.memory_bytes() == 0 {
            self.pending = ReservedVec::with_capacity(bytes_max.max(self.entries.bytes()), self.budget)?;
        }
        self.pending.extend_from_slice(row)?;
        if self.entries.has_parents {
            self.pending.extend_from_slice(&parent.to_le_bytes())?;
        }
        Ok(())
    }

    /// Drops duplicates, and writes the rest to disk if that did not make half of the memory free.
    #[cold]
    fn make_room(&mut self, bytes_max: usize) -> Result<(), StorageError> {
        self.drop_duplicates()?;
        if self.pending.len() > bytes_max / 2 { self.spill() } else { Ok(()) }
    }

    /// Writes what is in memory to disk, and gives the memory back.
    pub(super) fn spill(&mut self) -> Result<(), StorageError> {
        self.queue.extend(Rows::new(&self.pending[self.front..], self.entries.bytes()))?;
        self.pending = ReservedVec::new(self.budget);
        self.front = 0;
        self.queue.rest()
    }

    /// Notes everything under a role; it is all on disk then.
    pub(super) fn note(&mut self, manifest: &mut Manifest, role: &str) -> Result<(), StorageError> {
        self.spill()?;
        self.queue.note(manifest, role)?;
        self.queue.rest()
    }

    /// Takes up what was noted under a role.
    pub(super) fn take_up(&mut self, manifest: &Manifest, role: &str) -> Result<(), StorageError> {
        self.queue.take_up(manifest, role)?;
        self.queue.rest()
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.pending.memory_bytes()
    }

    /// Keeps the first of entries with the same state, of those in memory.
    fn drop_duplicates(&mut self) -> Result<(), StorageError> {
        let size = self.entries.bytes();
        let n = (self.pending.len() - self.front) / size;
        // A table of the places of entries, counted from 1, which keeps a fifth empty.
        let n_places = n + n / 4 + 1;
        let mut places: ReservedVec<'b, u32> = ReservedVec::new(self.budget);
        places.resize(n_places, 0)?;
        let mut n_kept = 0;
        for i in 0..n {
            let from = self.front + i * size;
            let row = &self.pending[from..from + self.entries.row_bytes];
            let mut place = ((u128::from(hash_row(row)) * n_places as u128) >> 64) as usize;
            let mut is_new = true;
            while places[place] != 0 {
                let other = (places[place] as usize - 1) * size;
                if self.pending[other..other + row.len()] == *row {
                    is_new = false;
                    break;
                }
                place = if place + 1 == n_places { 0 } else { place + 1 };
            }
            if is_new {
                self.pending.copy_within(from..from + size, n_kept * size);
                n_kept += 1;
                places[place] = n_kept as u32;
            }
        }
        self.pending.truncate(n_kept * size);
        self.front = 0;
        Ok(())
    }

    /// Takes up to `n_max` entries, the oldest first; there may be more even if there are fewer than that.
    pub(super) fn take(
        &mut self,
        n_max: usize,
        see: &mut dyn FnMut(&[u8]) -> Result<(), SearchError>,
    ) -> Result<(), SearchError> {
        if !self.queue.is_empty() {
            return self.queue.take_rows(n_max)?.iter().try_for_each(see);
        }
        let size = self.entries.bytes();
        let end = self.pending.len().min(self.front.saturating_add(n_max.saturating_mul(size)));
        self.pending[self.front..end].chunks_exact(size).try_for_each(see)?;
        self.front = end;
        if end == self.pending.len() {
            self.pending.clear();
            self.front = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use lariat_disk::{FaultyDisk, FileKind};
    use lariat_storage::RowLogOptions;
    use std::collections::BTreeMap;

    #[test]
    fn every_state_comes_out_and_duplicates_mostly_do_not() {
        let mut random = Random::new(9);
        let (mut n_in, mut n_out) = (0, 0);
        for round in 0..200 {
            let budget = MemoryBudget::new(1 << 20);
            let disk = FaultyDisk::default();
            let entries = Entries { row_bytes: 7, has_parents: round % 2 == 0 };
            let options = RowLogOptions::smallest(entries.bytes(), FileKind::Queue);
            let mut waiting = Waiting::new(entries, RowQueue::new(&disk, "queue", options, &budget), &budget);
            let mut expected: BTreeMap<Vec<u8>, Vec<u64>> = BTreeMap::new();
            let mut found: BTreeMap<Vec<u8>, Vec<u64>> = BTreeMap::new();
            let values = 1 + random.below(if round % 4 < 2 { 300 } else { 3000 });
            for i in 0..3000 {
                let row = (random.below(values) as u64).wrapping_mul(0x1234_5678_9ABC_DEF1).to_le_bytes()[..7].to_vec();
                waiting.push(&row, i, 4000).unwrap();
                n_in += 1;
                expected.entry(row).or_default().push(i);
                let n_taken = if random.one_in(500) { random.below(100) } else { 0 };
                if n_taken > 0 || i == 2999 {
                    while waiting.len() > 0 && (i == 2999 || random.one_in(2)) {
                        let take = &mut |entry: &[u8]| {
                            n_out += 1;
                            found.entry(entries.row(entry).to_vec()).or_default().push(entries.parent(entry));
                            Ok(())
                        };
                        waiting.take(if random.one_in(9) { usize::MAX } else { n_taken.max(1) }, take).unwrap();
                    }
                }
            }
            assert_eq!(waiting.len(), 0);
            assert!(found.keys().eq(expected.keys()));
            if entries.has_parents {
                for (row, parents) in &found {
                    assert!(parents.iter().all(|parent| expected[row].contains(parent)));
                }
            }
        }
        assert!(n_out < n_in * 9 / 10, "{n_out} of {n_in}");
    }
}
