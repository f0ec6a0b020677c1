//! *Padding* and *slicing*: whenever the buffer is full, it becomes another hash table on disk, behind the others or between their slots.

use super::buffer::Buffer;
use super::{Shares, States};
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_disk::Disk;
use lariat_storage::{Bits, Manifest, ReservedVec, SlotFile, hash_row};

const ROLE: &str = "slots";
/// Of ten slots at most so many are occupied.
const LOAD_MAX: usize = 7;
/// A slot that nothing is put into.
const NOTHING: u32 = u32::MAX;

pub(super) struct Flushed<'s> {
    disk: &'s dyn Disk,
    budget: &'s MemoryBudget,
    row_bytes: usize,
    copies_bytes: usize,
    /// Whether slots of tables lie beside each other.
    is_sliced: bool,
    buffer: Buffer<'s>,
    slots: SlotFile<'s>,
    /// Slots of one table: m' of the paper.
    table_slots: u64,
    /// i of the paper.
    n_tables: u64,
    n_states: u64,
    /// By addresses: those of one table behind those of the one before, however slots lie on disk.
    occupied: Bits<'s>,
    marked: Bits<'s>,
    n_files: u64,
    n_bits: u64,
    has_spilled: bool,
}

impl<'s> Flushed<'s> {
    pub(super) fn new(
        disk: &'s dyn Disk,
        row_bytes: usize,
        shares: &Shares,
        is_sliced: bool,
        budget: &'s MemoryBudget,
    ) -> Result<Self, SearchError> {
        let buffer = Buffer::new(disk, row_bytes, shares.table_bytes, budget)?;
        let capacity = (shares.table_bytes / (3 * row_bytes + 48)).max(2);
        Ok(Self {
            disk,
            budget,
            row_bytes,
            copies_bytes: shares.copies_bytes,
            is_sliced,
            buffer,
            slots: SlotFile::new(disk, "slots-0", row_bytes, budget)?.with_copies(shares.copies_bytes, budget),
            table_slots: (capacity * 10).div_ceil(LOAD_MAX) as u64,
            n_tables: 0,
            n_states: 0,
            occupied: Bits::new(1, budget)?,
            marked: Bits::new(1, budget)?,
            n_files: 1,
            n_bits: 0,
            has_spilled: false,
        })
    }

    fn home(&self, hash: u64) -> u64 {
        ((u128::from(hash) * u128::from(self.table_slots)) >> 64) as u64
    }

    fn address(&self, table: u64, slot: u64) -> u64 {
        table * self.table_slots + slot
    }

    /// Where the slot of a table lies on disk, if there are so many tables.
    fn place(&self, table: u64, slot: u64, n_tables: u64) -> u64 {
        if self.is_sliced { slot * n_tables + table } else { self.address(table, slot) }
    }

    /// The address of a state on disk.
    fn find(&mut self, row: &[u8], hash: u64) -> Result<Option<u64>, SearchError> {
        // All tables are probed at once: slot after slot, until every sequence has come to an empty one.
        let mut left: Vec<u64> = (0..self.n_tables).collect();
        let mut slot = self.home(hash);
        while !left.is_empty() {
            let mut found = None;
            let mut i = 0;
            while i < left.len() {
                let (table, address) = (left[i], self.address(left[i], slot));
                if !self.occupied.get(address) {
                    left.swap_remove(i);
                    continue;
                }
                if self.slots.read(self.place(table, slot, self.n_tables))? == row {
                    found = Some(address);
                    break;
                }
                i += 1;
            }
            if found.is_some() {
                return Ok(found);
            }
            slot = (slot + 1) % self.table_slots;
        }
        Ok(None)
    }

    /// Writes the buffer as another table.
    fn flush(&mut self) -> Result<(), SearchError> {
        let leaving = self.buffer.take_all()?;
        let table = self.n_tables;
        self.occupied.grow((table + 1) * self.table_slots)?;
        self.marked.grow((table + 1) * self.table_slots)?;
        // For each slot of the new table which of the states it gets.
        let mut layout: ReservedVec<'_, u32> = ReservedVec::new(self.budget);
        layout.resize(self.table_slots as usize, NOTHING)?;
        for i in 0..leaving.len() {
            let (hash, _, _) = leaving.get(i);
            let mut slot = self.home(hash) as usize;
            while layout[slot] != NOTHING {
                slot = (slot + 1) % layout.len();
            }
            layout[slot] = i as u32;
        }
        if self.is_sliced {
            self.move_apart(&layout, |i| leaving.get(i).1)?;
        } else {
            let mut last_page = None;
            for (slot, i) in layout.iter().enumerate().filter(|(_, i)| **i != NOTHING) {
                let place = self.place(table, slot as u64, table + 1);
                let page = self.slots.neighbours(place);
                // The first slot of a page may share it with the table before.
                let is_blank = last_page.as_ref() != Some(&page) && !self.is_written(page.clone());
                last_page = Some(page);
                self.slots.write(place, leaving.get(*i as usize).1, is_blank)?;
            }
            self.slots.write_back()?;
        }
        for (slot, i) in layout.iter().enumerate().filter(|(_, i)| **i != NOTHING) {
            let address = self.address(table, slot as u64);
            self.occupied.set(address);
            if leaving.get(*i as usize).2 {
                self.marked.set(address);
            }
        }
        self.n_tables += 1;
        self.n_states += leaving.len() as u64;
        self.has_spilled = true;
        Ok(())
    }

    /// Whether a page of padded tables has a state.
    fn is_written(&self, page: std::ops::Range<u64>) -> bool {
        self.occupied.any(page)
    }

    /// Copies all slices to a new file, with room between them for one more, and that one.
    fn move_apart<'r>(&mut self, layout: &[u32], row_of: impl Fn(usize) -> &'r [u8]) -> Result<(), SearchError> {
        let name = format!("{ROLE}-{}", self.n_files);
        self.n_files += 1;
        let (before, n_tables) = (self.n_tables, self.n_tables + 1);
        let mut slots = SlotFile::new(self.disk, &name, self.row_bytes, self.budget)?;
        let mut last_page = None;
        let mut row = vec![0; self.row_bytes];
        for (slot, i) in (0..).zip(layout) {
            for table in 0..n_tables {
                if table < before {
                    if !self.occupied.get(self.address(table, slot)) {
                        continue;
                    }
                    row.copy_from_slice(self.slots.read(self.place(table, slot, before))?);
                } else if *i == NOTHING {
                    continue;
                } else {
                    row.copy_from_slice(row_of(*i as usize));
                }
                let place = self.place(table, slot, n_tables);
                let page = slots.neighbours(place);
                let is_blank = last_page.as_ref() != Some(&page);
                last_page = Some(page);
                slots.write(place, &row, is_blank)?;
            }
        }
        slots.write_back()?;
        self.slots = slots.with_copies(self.copies_bytes, self.budget);
        Ok(())
    }
}

impl States for Flushed<'_> {
    fn insert(&mut self, row: &[u8], hash: u64) -> Result<bool, SearchError> {
        if self.buffer.contains(row, hash) || self.find(row, hash)?.is_some() {
            return Ok(false);
        }
        if self.buffer.is_full() || (self.buffer.len() + 1) * 10 > self.table_slots as usize * LOAD_MAX + 10 {
            self.flush()?;
        }
        self.buffer.insert(row, hash);
        Ok(true)
    }

    fn mark(&mut self, row: &[u8], hash: u64) -> Result<bool, SearchError> {
        if self.buffer.contains(row, hash) {
            return Ok(self.buffer.mark(row, hash));
        }
        match self.find(row, hash)? {
            Some(address) => Ok(!self.marked.set(address)),
            None => Ok(false),
        }
    }

    fn len(&self) -> u64 {
        self.n_states + self.buffer.len() as u64
    }

    fn has_spilled(&mut self) -> bool {
        std::mem::take(&mut self.has_spilled)
    }

    fn note(&mut self, manifest: &mut Manifest) -> Result<(), SearchError> {
        self.slots.note(manifest, ROLE)?;
        manifest.set_number("slots", self.table_slots);
        manifest.set_number("tables", self.n_tables);
        manifest.set_number("states", self.n_states);
        manifest.set_number("slot-files", self.n_files);
        self.n_bits += 1;
        manifest.set_number("bits", self.n_bits);
        self.occupied.note(manifest, "occupied", self.disk, &format!("occupied-{}", self.n_bits))?;
        self.marked.note(manifest, "marked", self.disk, &format!("marked-{}", self.n_bits))?;
        Ok(self.buffer.note(manifest)?)
    }

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), SearchError> {
        self.n_files = manifest.number("slot-files")?;
        if let Some(slots) = SlotFile::open(manifest, ROLE, self.disk, self.row_bytes, self.budget)? {
            self.slots = slots.with_copies(self.copies_bytes, self.budget);
        }
        self.table_slots = manifest.number("slots")?;
        self.n_tables = manifest.number("tables")?;
        self.n_states = manifest.number("states")?;
        self.n_bits = manifest.number("bits")?;
        self.occupied.take_up(manifest, "occupied", self.disk)?;
        self.marked.take_up(manifest, "marked", self.disk)?;
        for (row, is_marked) in self.buffer.take_up::<SearchError>(manifest)? {
            let hash = hash_row(&row);
            self.insert(&row, hash)?;
            if is_marked {
                self.mark(&row, hash)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use lariat_disk::FaultyDisk;
    use std::collections::BTreeMap;

    #[test]
    fn states_and_marks_are_found_again() {
        for (seed, is_sliced) in (0..40).map(|seed| (seed, seed % 2 == 1)) {
            let (budget, disk, mut random) = (MemoryBudget::new(1 << 22), FaultyDisk::default(), Random::new(seed));
            let shares = Shares {
                stack_bytes: 0,
                table_bytes: 66 * (2 + random.below(40)),
                copies_bytes: random.below(2) * 20_000,
                slots_min: 1,
                states_to_publish: 1,
            };
            let mut states = Flushed::new(&disk, 6, &shares, is_sliced, &budget).unwrap();
            let mut expected: BTreeMap<u32, bool> = BTreeMap::new();
            for step in 0..3000 {
                let number = random.below(1200) as u32;
                let mut row = number.to_le_bytes().to_vec();
                row.extend([7, 7]);
                let hash = hash_row(&row);
                let is_new = !expected.contains_key(&number);
                assert_eq!(states.insert(&row, hash).unwrap(), is_new, "seed {seed}, step {step}: {number}");
                let marked = expected.entry(number).or_insert(false);
                if random.one_in(3) {
                    assert_eq!(states.mark(&row, hash).unwrap(), !*marked);
                    *marked = true;
                }
                assert_eq!(states.len(), expected.len() as u64);
            }
            assert!(states.n_tables > 3);
        }
    }
}
