//! A file of slots for rows that are read and written anywhere: a hash table on disk without its logic.
//!
//! Slots lie in pages with a checksum, as many as fit. A page is read and written as a whole; the one that was used last stays in memory, and is
//! written when another one is wanted. Copies of others may stay, so that they need not be read again. Which slots have a row the caller knows, and tells of a page that was never written.
//!
//! # Cost
//! One page of memory, and what copies may take. One read for each page that is wanted, was written and has no copy, one write for each that was changed.
//!
//! # Format
//! `docs/formats.md`, plain blocks; a block is a page, or as many as a row needs.

use crate::block_copies::BlockCopies;
use crate::block_file::block;
use crate::{Manifest, ManifestFile, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, Disk, DiskFile, FileKind, PAGE_BYTES};
use std::ops::Range;
use std::sync::Arc;

/// A file of slots.
pub struct SlotFile<'b> {
    disk: &'b dyn Disk,
    name: String,
    /// None before the first write.
    file: Option<Arc<dyn DiskFile>>,
    row_bytes: usize,
    page_bytes: usize,
    rows_per_page: u64,
    buffer: Option<AlignedBuffer<'b>>,
    /// The page in memory, and whether it was changed.
    page: Option<(u64, bool)>,
    copies: BlockCopies<'b>,
}

impl<'b> SlotFile<'b> {
    /// An empty file for rows of a width. It is made when something is written.
    pub fn new(
        disk: &'b dyn Disk,
        name: &str,
        row_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let page_bytes = block::bytes_for(row_bytes).next_multiple_of(PAGE_BYTES);
        let rows_per_page = (block::capacity(page_bytes) / row_bytes) as u64;
        let buffer = Some(AlignedBuffer::new(page_bytes, budget)?);
        let copies = BlockCopies::within(0, page_bytes, budget);
        let name = name.to_owned();
        Ok(Self { disk, name, file: None, row_bytes, page_bytes, rows_per_page, buffer, page: None, copies })
    }

    /// The same with copies of pages of so many bytes in all.
    pub fn with_copies(self, memory_bytes: usize, budget: &'b MemoryBudget) -> Self {
        Self { copies: BlockCopies::within(memory_bytes, self.page_bytes, budget), ..self }
    }

    /// The file that was noted under a role.
    pub fn open(
        manifest: &Manifest,
        role: &str,
        disk: &'b dyn Disk,
        row_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Option<Self>, StorageError> {
        match manifest.files_of(role).next() {
            Some(noted) => {
                let file = Some(disk.open(&noted.name, FileKind::Table)?);
                Ok(Some(Self { file, ..Self::new(disk, &noted.name, row_bytes, budget)? }))
            }
            None => Ok(None),
        }
    }

    /// The slots that are in one page with a slot.
    pub fn neighbours(&self, slot: u64) -> Range<u64> {
        let first = slot / self.rows_per_page * self.rows_per_page;
        first..first + self.rows_per_page
    }

    /// Brings the page of a slot into memory. A page that was never written is blank.
    fn turn_to(&mut self, slot: u64, is_blank: bool) -> Result<(), StorageError> {
        let wanted = slot / self.rows_per_page;
        if self.page.is_some_and(|(page, _)| page == wanted) {
            return Ok(());
        }
        self.write_back()?;
        self.page = None;
        let at = wanted * self.page_bytes as u64;
        if let (false, Some(copy), Some(buffer)) = (is_blank, self.copies.get(wanted), &mut self.buffer) {
            buffer[..self.page_bytes].copy_from_slice(copy);
            self.page = Some((wanted, false));
            return Ok(());
        }
        if let Some(buffer) = self.buffer.take() {
            if let (false, Some(file)) = (is_blank, &self.file) {
                let completed = file.read(buffer, at, self.page_bytes).wait();
                self.buffer = Some(completed.buffer);
                completed.result?;
                if let Some(buffer) = &self.buffer {
                    block::check(&buffer[..self.page_bytes], wanted, &self.name, at)?;
                    self.copies.put(wanted, &buffer[..self.page_bytes]);
                }
            } else {
                let mut buffer = buffer;
                buffer[..self.page_bytes].fill(0);
                self.buffer = Some(buffer);
            }
        }
        self.page = Some((wanted, false));
        Ok(())
    }

    fn place(&self, slot: u64) -> usize {
        block::HEADER_BYTES + (slot % self.rows_per_page) as usize * self.row_bytes
    }

    /// The row in a slot that has one.
    pub fn read(&mut self, slot: u64) -> Result<&[u8], StorageError> {
        self.turn_to(slot, false)?;
        let place = self.place(slot);
        Ok(self.buffer.as_ref().map_or(&[], |buffer| &buffer[place..place + self.row_bytes]))
    }

    /// Puts a row into a slot; `is_blank` if no slot of its page has one.
    pub fn write(&mut self, slot: u64, row: &[u8], is_blank: bool) -> Result<(), StorageError> {
        self.turn_to(slot, is_blank)?;
        let place = self.place(slot);
        if let Some(buffer) = &mut self.buffer {
            buffer[place..place + self.row_bytes].copy_from_slice(row);
        }
        self.page = self.page.map(|(page, _)| (page, true));
        Ok(())
    }

    /// Writes the page in memory, if it was changed.
    pub fn write_back(&mut self) -> Result<(), StorageError> {
        if let Some((page, true)) = self.page
            && let Some(mut buffer) = self.buffer.take()
        {
            let file = match &self.file {
                Some(file) => file.clone(),
                None => self.file.insert(self.disk.create(&self.name, FileKind::Table)?).clone(),
            };
            let used = self.rows_per_page as usize * self.row_bytes;
            block::seal(&mut buffer, page, used, self.rows_per_page as u32, false, self.page_bytes);
            let written = file.write(buffer, page * self.page_bytes as u64, self.page_bytes).wait();
            written.result?;
            self.copies.put(page, &written.buffer[..self.page_bytes]);
            self.buffer = Some(written.buffer);
            self.page = Some((page, false));
        }
        Ok(())
    }

    /// Makes everything survive a crash, and notes the file under a role.
    pub fn note(&mut self, manifest: &mut Manifest, role: &str) -> Result<(), StorageError> {
        self.write_back()?;
        if let Some(file) = &self.file {
            file.sync()?;
            let (role, name) = (role.to_owned(), self.name.clone());
            manifest.add_file(ManifestFile { role, name, rows: 0, bytes: file.len() });
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
    fn rows_are_where_they_were_put() {
        let mut random = Random::new(7);
        for width in [1, 7, 300, 5000] {
            let (budget, disk) = (MemoryBudget::new(1 << 20), FaultyDisk::default());
            let copies = random.below(2) * 100_000;
            let mut file = SlotFile::new(&disk, "slots", width, &budget).unwrap().with_copies(copies, &budget);
            let mut expected: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
            for _ in 0..2000 {
                let slot = random.below(500) as u64;
                if expected.contains_key(&slot) {
                    assert_eq!(file.read(slot).unwrap(), expected[&slot]);
                    continue;
                }
                let row = vec![random.below(256) as u8; width];
                let is_blank = expected.range(file.neighbours(slot)).next().is_none();
                file.write(slot, &row, is_blank).unwrap();
                expected.insert(slot, row);
            }
            let mut manifest = Manifest::new();
            file.note(&mut manifest, "slots").unwrap();
            let mut again = SlotFile::open(&manifest, "slots", &disk, width, &budget).unwrap().unwrap();
            expected.iter().for_each(|(slot, row)| assert_eq!(again.read(*slot).unwrap(), row));
        }
    }
}
