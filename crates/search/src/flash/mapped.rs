//! *Mapping* and *merging*: one hash table on disk, with linear probing. New states go there one by one, or wait in a buffer and go there in the
//! order of their slots.

use super::buffer::Buffer;
use super::{Shares, States};
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_disk::Disk;
use lariat_storage::{Bits, Manifest, SlotFile, hash_row};

/// Of ten slots at most so many are occupied.
const LOAD_MAX: u64 = 7;
const ROLE: &str = "slots";

pub(super) struct Mapped<'s> {
    disk: &'s dyn Disk,
    budget: &'s MemoryBudget,
    row_bytes: usize,
    copies_bytes: usize,
    table: Table<'s>,
    buffer: Option<Buffer<'s>>,
    n_files: u64,
    n_bits: u64,
    has_spilled: bool,
}

/// The table, with a bit for each slot that says whether it has a state, and one that says whether that has a mark.
struct Table<'s> {
    slots: SlotFile<'s>,
    n_slots: u64,
    n_states: u64,
    occupied: Bits<'s>,
    marked: Bits<'s>,
}

impl<'s> Table<'s> {
    fn new(
        disk: &'s dyn Disk,
        number: u64,
        row_bytes: usize,
        n_slots: u64,
        budget: &'s MemoryBudget,
    ) -> Result<Self, SearchError> {
        Ok(Self {
            slots: SlotFile::new(disk, &format!("{ROLE}-{number}"), row_bytes, budget)?,
            n_slots,
            n_states: 0,
            occupied: Bits::new(n_slots, budget)?,
            marked: Bits::new(n_slots, budget)?,
        })
    }

    fn with_copies(self, copies_bytes: usize, budget: &'s MemoryBudget) -> Self {
        Self { slots: self.slots.with_copies(copies_bytes, budget), ..self }
    }

    /// The slot of a state, or the one where it would be.
    fn find(&mut self, row: &[u8], hash: u64) -> Result<(u64, bool), SearchError> {
        let mut slot = ((u128::from(hash) * u128::from(self.n_slots)) >> 64) as u64;
        while self.occupied.get(slot) {
            if self.slots.read(slot)? == row {
                return Ok((slot, true));
            }
            slot = (slot + 1) % self.n_slots;
        }
        Ok((slot, false))
    }

    /// Puts a state into its slot.
    fn put(&mut self, slot: u64, row: &[u8], is_marked: bool) -> Result<(), SearchError> {
        let is_blank = !self.occupied.any(self.slots.neighbours(slot));
        self.slots.write(slot, row, is_blank)?;
        self.occupied.set(slot);
        if is_marked {
            self.marked.set(slot);
        }
        self.n_states += 1;
        Ok(())
    }

    fn is_full(&self, more: u64) -> bool {
        (self.n_states + more) * 10 > self.n_slots * LOAD_MAX
    }
}

impl<'s> Mapped<'s> {
    /// With a buffer of so many bytes, or none.
    pub(super) fn new(
        disk: &'s dyn Disk,
        row_bytes: usize,
        shares: &Shares,
        buffer_bytes: Option<usize>,
        budget: &'s MemoryBudget,
    ) -> Result<Self, SearchError> {
        let buffer = buffer_bytes.map(|bytes| Buffer::new(disk, row_bytes, bytes, budget)).transpose()?;
        // Without a buffer its memory is there, too.
        let copies_bytes = shares.copies_bytes + if buffer.is_some() { 0 } else { shares.table_bytes };
        let table = Table::new(disk, 0, row_bytes, shares.slots_min, budget)?.with_copies(copies_bytes, budget);
        Ok(Self { disk, budget, row_bytes, copies_bytes, table, buffer, n_files: 1, n_bits: 0, has_spilled: false })
    }

    /// Makes room for more states, by copying the table to a larger one if it has to.
    fn make_room(&mut self, more: u64) -> Result<(), SearchError> {
        if !self.table.is_full(more) {
            return Ok(());
        }
        let mut n_slots = 2 * self.table.n_slots;
        while (self.table.n_states + more) * 10 > n_slots * LOAD_MAX {
            n_slots *= 2;
        }
        let mut larger = Table::new(self.disk, self.n_files, self.row_bytes, n_slots, self.budget)?;
        self.n_files += 1;
        self.table.slots.write_back()?;
        // In the order of slots, which is that of hashes, so that pages are read and written one after the other.
        for slot in (0..self.table.n_slots).filter(|slot| self.table.occupied.get(*slot)) {
            let row = self.table.slots.read(slot)?.to_vec();
            let (place, _) = larger.find(&row, hash_row(&row))?;
            larger.put(place, &row, self.table.marked.get(slot))?;
        }
        self.table = larger.with_copies(self.copies_bytes, self.budget);
        self.has_spilled = true;
        Ok(())
    }

    /// Writes the buffer to the table.
    fn flush(&mut self) -> Result<(), SearchError> {
        let Some(buffer) = &mut self.buffer else { return Ok(()) };
        let leaving = buffer.take_all()?;
        self.make_room(leaving.len() as u64)?;
        for i in 0..leaving.len() {
            let (hash, row, is_marked) = leaving.get(i);
            let (slot, _) = self.table.find(row, hash)?;
            self.table.put(slot, row, is_marked)?;
        }
        self.table.slots.write_back()?;
        self.has_spilled = true;
        Ok(())
    }
}

impl States for Mapped<'_> {
    fn insert(&mut self, row: &[u8], hash: u64) -> Result<bool, SearchError> {
        if self.buffer.as_ref().is_some_and(|buffer| buffer.contains(row, hash)) {
            return Ok(false);
        }
        let (mut slot, is_there) = self.table.find(row, hash)?;
        if is_there {
            return Ok(false);
        }
        if self.buffer.as_ref().is_some_and(Buffer::is_full) {
            self.flush()?;
        }
        match &mut self.buffer {
            Some(buffer) => buffer.insert(row, hash),
            None => {
                if self.table.is_full(1) {
                    self.make_room(1)?;
                    slot = self.table.find(row, hash)?.0;
                }
                self.table.put(slot, row, false)?;
                // As published: every new state is a write.
                self.table.slots.write_back()?;
            }
        }
        Ok(true)
    }

    fn mark(&mut self, row: &[u8], hash: u64) -> Result<bool, SearchError> {
        if let Some(buffer) = &mut self.buffer
            && buffer.contains(row, hash)
        {
            return Ok(buffer.mark(row, hash));
        }
        let (slot, is_there) = self.table.find(row, hash)?;
        Ok(is_there && !self.table.marked.set(slot))
    }

    fn len(&self) -> u64 {
        self.table.n_states + self.buffer.as_ref().map_or(0, |buffer| buffer.len() as u64)
    }

    fn has_spilled(&mut self) -> bool {
        std::mem::take(&mut self.has_spilled)
    }

    fn note(&mut self, manifest: &mut Manifest) -> Result<(), SearchError> {
        let table = &mut self.table;
        table.slots.note(manifest, ROLE)?;
        manifest.set_number("slots", table.n_slots);
        manifest.set_number("states", table.n_states);
        manifest.set_number("slot-files", self.n_files);
        self.n_bits += 1;
        manifest.set_number("bits", self.n_bits);
        table.occupied.note(manifest, "occupied", self.disk, &format!("occupied-{}", self.n_bits))?;
        table.marked.note(manifest, "marked", self.disk, &format!("marked-{}", self.n_bits))?;
        match &mut self.buffer {
            Some(buffer) => Ok(buffer.note(manifest)?),
            None => Ok(()),
        }
    }

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), SearchError> {
        self.n_files = manifest.number("slot-files")?;
        if let Some(slots) = SlotFile::open(manifest, ROLE, self.disk, self.row_bytes, self.budget)? {
            self.table.slots = slots.with_copies(self.copies_bytes, self.budget);
        }
        self.table.n_slots = manifest.number("slots")?;
        self.table.n_states = manifest.number("states")?;
        self.n_bits = manifest.number("bits")?;
        self.table.occupied.take_up(manifest, "occupied", self.disk)?;
        self.table.marked.take_up(manifest, "marked", self.disk)?;
        if let Some(buffer) = &mut self.buffer {
            for (row, is_marked) in buffer.take_up::<SearchError>(manifest)? {
                let hash = hash_row(&row);
                self.insert(&row, hash)?;
                if is_marked {
                    self.mark(&row, hash)?;
                }
            }
        }
        Ok(())
    }
}
