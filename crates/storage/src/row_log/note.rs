//! Logs that survive a crash: noted in a manifest, and taken up again.
//!
//! A block that is full is never written again, so it needs to be synced once. One that is not full will be, in its place, and a crash could
//! leave some pages of the old one and some of the new one. A log that goes on growing therefore has its last block noted as a file of
//! its own, the *end*, which is written once.

use super::{Noted, RowLog, seal_all};
use crate::block_file::block;
use crate::{Manifest, ManifestFile, StorageError};
use lariat_disk::{AlignedBuffer, DiskFile};

impl RowLog<'_> {
    /// Writes everything to disk so that it survives a crash, and notes the file under a role. The log must not grow after that.
    pub fn note(&mut self, manifest: &mut Manifest, role: &str) -> Result<(), StorageError> {
        self.rest()?;
        manifest.set_number(&block_bytes_key(role), self.blocks.options.block_bytes as u64);
        if let Some(file) = &self.blocks.file {
            if self.noted.rows != Some(self.rows) || self.noted.end.is_some() {
                file.sync()?;
            }
            let (role, name) = (role.to_owned(), self.blocks.name.clone());
            manifest.add_file(ManifestFile { role, name, rows: self.rows, bytes: self.bytes() });
        }
        self.noted = Noted { rows: Some(self.rows), end: None };
        Ok(())
    }

    /// The same for a log that goes on growing.
    pub fn note_growing(&mut self, manifest: &mut Manifest, role: &str) -> Result<(), StorageError> {
        let full_blocks = self.blocks.block_of(self.rows);
        let full_rows = self.blocks.first_row_of(full_blocks);
        let has_end = full_rows < self.rows;
        if self.noted.rows != Some(self.rows) || has_end != self.noted.end.is_some() {
            let is_resting = self.tail.is_none();
            self.save_full_blocks(full_blocks)?;
            let end = if has_end { Some(self.save_end(full_blocks)?) } else { None };
            self.noted = Noted { rows: Some(self.rows), end };
            if is_resting {
                self.tail = None;
            }
        }
        manifest.set_number(&block_bytes_key(role), self.blocks.options.block_bytes as u64);
        if self.blocks.file.is_some() {
            let (role, name, bytes) = (role.to_owned(), self.blocks.name.clone(), self.blocks.at(full_blocks));
            manifest.add_file(ManifestFile { role, name, rows: full_rows, bytes });
        }
        if let Some(name) = self.noted.end.clone() {
            let (rows, bytes) = (self.rows - full_rows, self.blocks.options.block_bytes as u64);
            manifest.add_file(ManifestFile { role: end_role(role), name, rows, bytes });
        }
        Ok(())
    }

    /// Writes the blocks before this one, and syncs; the tail begins with it then.
    fn save_full_blocks(&mut self, full_blocks: u64) -> Result<(), StorageError> {
        self.settle()?;
        if let Some(mut tail) = self.tail.take() {
            if full_blocks > self.tail_first {
                let file = self.file()?;
                let bytes = seal_all(&self.blocks, &mut tail, self.tail_first, self.blocks.first_row_of(full_blocks));
                tail = file.write(tail, self.blocks.at(self.tail_first), bytes).wait().buffer()?;
                if self.blocks.first_row_of(full_blocks) < self.rows {
                    tail.copy_within(bytes..bytes + self.blocks.options.block_bytes, 0);
                }
                self.tail_first = full_blocks;
            }
            self.tail = Some(tail);
        }
        Ok(self.blocks.file.as_ref().map_or(Ok(()), |file| file.sync())?)
    }

    /// Writes the last block, which is not full, to a file of its own; its name.
    fn save_end(&mut self, number: u64) -> Result<String, StorageError> {
        if self.tail.is_none() {
            self.wake()?;
        }
        let bytes = self.blocks.options.block_bytes;
        let rows = self.rows - self.blocks.first_row_of(number);
        let mut copy = AlignedBuffer::new(bytes, self.budget)?;
        if let Some(tail) = &self.tail {
            copy[..bytes].copy_from_slice(&tail[..bytes]);
        }
        block::seal(&mut copy, number, rows as usize * self.blocks.options.row_bytes, rows as u32, false, bytes);
        let name = format!("{}-end-{}", self.blocks.name, self.rows);
        let file = self.disk.create(&name, self.blocks.options.kind)?;
        file.write(copy, 0, bytes).wait().result?;
        file.sync()?;
        Ok(name)
    }

    /// Takes up what was noted under a role: as many rows as there were then. The log must be empty.
    pub fn take_up(&mut self, manifest: &Manifest, role: &str) -> Result<(), StorageError> {
        if let Ok(bytes) = manifest.number(&block_bytes_key(role)) {
            self.blocks.options.block_bytes = bytes as usize;
            self.blocks.rows_per_block = self.blocks.options.rows_per_block();
        }
        for noted in manifest.files_of(role) {
            let file = self.disk.open(&noted.name, self.blocks.options.kind)?;
            (self.blocks.name, self.blocks.file) = (noted.name.clone(), Some(file));
            (self.rows, self.tail_first) = (noted.rows, self.blocks.block_of(noted.rows));
        }
        let mut end = None;
        for noted in manifest.files_of(&end_role(role)) {
            let file = self.disk.open(&noted.name, self.blocks.options.kind)?;
            self.take_up_end(&*file, noted)?;
            end = Some(noted.name.clone());
        }
        self.noted = Noted { rows: Some(self.rows), end };
        Ok(())
    }

    fn take_up_end(&mut self, file: &dyn DiskFile, noted: &ManifestFile) -> Result<(), StorageError> {
        let (number, bytes) = (self.blocks.block_of(self.rows), self.blocks.options.block_bytes);
        let tail = AlignedBuffer::new(self.blocks.options.transfer_bytes(), self.budget)?;
        let tail = file.read(tail, 0, bytes).wait().buffer()?;
        block::check(&tail[..bytes], number, &noted.name, 0)?;
        let rows = block::view(&tail[..bytes]).map_or(0, |block| u64::from(block.items));
        if rows != noted.rows {
            return Err(StorageError::corrupt(&noted.name, 0, format_args!("{} rows", noted.rows), rows));
        }
        self.rows += rows;
        (self.tail_first, self.tail) = (number, Some(tail));
        Ok(())
    }

    pub(super) fn is_noted(&self) -> bool {
        self.noted.rows.is_some()
    }

    /// Ends a log that nobody needs any more. Its file is removed; but if a manifest names it, that is up to whoever publishes the next one.
    pub fn discard(mut self) -> Result<(), StorageError> {
        if self.is_noted() { self.settle() } else { self.clear() }
    }
}

fn block_bytes_key(role: &str) -> String {
    format!("{role}-block-bytes")
}

fn end_role(role: &str) -> String {
    format!("{role}-end")
}
