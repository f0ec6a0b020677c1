//! A file of rows of one width in the order in which they came: it grows at its end, is read from anywhere, and never changes otherwise.
//!
//! Rows lie in checksummed blocks, as many in each as fit. The last blocks are in memory until they are full, and are written together;
//! a log that stays smaller than that has no file at all. A [`RowLogReader`] reads a range of rows in order and does not mind if the log
//! grows meanwhile; [`RowLog::find_rows`] reads single rows, many reads at once.
//!
//! # Invariants
//! 1. Row `i` is in block `i / rows per block`, and a block that is full is never written again.
//! 2. The blocks from `tail_first` on are in memory, and only they, unless the log rests.
//!
//! # Cost
//! Two tails of memory while it grows, none while it rests. One sequential write for each tail.
//!
//! # Format
//! `docs/formats.md`, plain blocks.

mod find;
mod latest;
mod note;
mod reader;

pub use find::RowFinder;
pub use latest::LatestRows;
pub use reader::RowLogReader;

use crate::StorageError;
use crate::block_file::block;
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use lariat_disk::{AlignedBuffer, Disk, DiskFile, FileKind, PAGE_BYTES, Pending};
use std::ops::Range;
use std::sync::Arc;

/// The shape of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLogOptions {
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Bytes of a block, which is what is checked together: whole pages.
    pub block_bytes: usize,
    /// Blocks that are written, and read in order, at once.
    pub blocks_at_once: usize,
    /// What its transfers are counted as.
    pub kind: FileKind,
}

/// Transfers of more bytes are not faster.
const TRANSFER_BYTES_MAX: usize = 256 << 10;

impl RowLogOptions {
    /// A shape such that a log that grows takes `memory_bytes`, if that is not very little, and a reader with two buffers as much.
    pub fn within(row_bytes: usize, memory_bytes: usize, kind: FileKind) -> Self {
        let least = Self::smallest(row_bytes, kind);
        let bytes = (memory_bytes / 2).min(TRANSFER_BYTES_MAX) / PAGE_BYTES * PAGE_BYTES;
        Self { block_bytes: bytes.max(least.block_bytes), ..least }
    }

    /// The same memory, in blocks as small as can be: for single rows that are read anywhere.
    pub fn in_pages(row_bytes: usize, memory_bytes: usize, kind: FileKind) -> Self {
        let least = Self::smallest(row_bytes, kind);
        let blocks_at_once = (memory_bytes / 2).min(TRANSFER_BYTES_MAX) / least.block_bytes;
        Self { blocks_at_once: blocks_at_once.max(1), ..least }
    }

    /// One block of one page, or as many as a row needs.
    pub fn smallest(row_bytes: usize, kind: FileKind) -> Self {
        let block_bytes = block::bytes_for(row_bytes).next_multiple_of(PAGE_BYTES);
        Self { row_bytes, block_bytes, blocks_at_once: 1, kind }
    }

    fn rows_per_block(&self) -> usize {
        block::capacity(self.block_bytes) / self.row_bytes
    }

    fn transfer_bytes(&self) -> usize {
        self.block_bytes * self.blocks_at_once
    }
}

/// Where blocks are, and how rows lie in them.
#[derive(Clone)]
struct Blocks {
    options: RowLogOptions,
    rows_per_block: usize,
    name: String,
    /// None before the first write.
    file: Option<Arc<dyn DiskFile>>,
}

impl Blocks {
    fn block_of(&self, row: u64) -> u64 {
        row / self.rows_per_block as u64
    }

    fn first_row_of(&self, block: u64) -> u64 {
        block * self.rows_per_block as u64
    }

    fn at(&self, block: u64) -> u64 {
        block * self.options.block_bytes as u64
    }

    /// Where a row lies in a buffer that begins with a block.
    fn place(&self, row: u64, first_block: u64) -> usize {
        let block = self.block_of(row);
        let in_block = (row - self.first_row_of(block)) as usize * self.options.row_bytes;
        (block - first_block) as usize * self.options.block_bytes + block::HEADER_BYTES + in_block
    }

    /// Checks that a block which was read is the one, and has the row before `end`.
    fn check(&self, bytes: &[u8], number: u64, end: u64) -> Result<(), StorageError> {
        let at = self.at(number);
        block::check(bytes, number, &self.name, at)?;
        let expected = (end - self.first_row_of(number)).min(self.rows_per_block as u64);
        let rows = block::view(bytes).map_or(0, |block| u64::from(block.items));
        if rows < expected {
            return Err(StorageError::corrupt(&self.name, at, format_args!("{expected} rows"), rows));
        }
        Ok(())
    }
}

/// A file of rows that grows at its end.
pub struct RowLog<'b> {
    disk: &'b dyn Disk,
    budget: &'b MemoryBudget,
    blocks: Blocks,
    rows: u64,
    /// The blocks from this one on are in the tail.
    tail_first: u64,
    tail: Option<AlignedBuffer<'b>>,
    /// The tail that was written last, and whose memory is the next one's.
    under_way: Option<Pending<'b>>,
    noted: Noted,
}

/// What a manifest says of a log.
#[derive(Default)]
struct Noted {
    /// The rows that there were.
    rows: Option<u64>,
    /// The file that has the block which was not full then.
    end: Option<String>,
}

impl<'b> RowLog<'b> {
    /// An empty log. Its file is made when something is written.
    pub fn new(disk: &'b dyn Disk, name: &str, options: RowLogOptions, budget: &'b MemoryBudget) -> Self {
        let rows_per_block = options.rows_per_block();
        assert!(rows_per_block > 0, "a block of {} bytes has no room for a row", options.block_bytes);
        let blocks = Blocks { options, rows_per_block, name: name.to_owned(), file: None };
        Self { disk, budget, blocks, rows: 0, tail_first: 0, tail: None, under_way: None, noted: Noted::default() }
    }

    /// How many rows it has.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows of a block.
    pub fn rows_per_block(&self) -> usize {
        self.blocks.rows_per_block
    }

    /// The bytes of all its blocks, those in memory included.
    pub fn bytes(&self) -> u64 {
        self.blocks.at(self.rows.div_ceil(self.blocks.rows_per_block as u64))
    }

    /// Appends a row.
    #[inline]
    pub fn push(&mut self, row: &[u8]) -> Result<(), StorageError> {
        debug_assert_eq!(row.len(), self.blocks.options.row_bytes);
        if self.tail.is_none() {
            self.wake()?;
        }
        let block = self.blocks.block_of(self.rows);
        if block - self.tail_first == self.blocks.options.blocks_at_once as u64 {
            self.write_tail()?;
        }
        let place = self.blocks.place(self.rows, self.tail_first);
        if let Some(tail) = &mut self.tail {
            tail[place..place + row.len()].copy_from_slice(row);
            self.rows += 1;
        }
        Ok(())
    }

    /// Appends rows.
    pub fn extend(&mut self, rows: Rows<'_>) -> Result<(), StorageError> {
        rows.iter().try_for_each(|row| self.push(row))
    }

    /// Takes memory for the tail, and reads the block that was not full when the log went to rest.
    #[cold]
    fn wake(&mut self) -> Result<(), StorageError> {
        let mut tail = AlignedBuffer::new(self.blocks.options.transfer_bytes(), self.budget)?;
        self.tail_first = self.blocks.block_of(self.rows);
        if self.blocks.first_row_of(self.tail_first) < self.rows
            && let Some(file) = &self.blocks.file
        {
            let bytes = self.blocks.options.block_bytes;
            tail = file.read(tail, self.blocks.at(self.tail_first), bytes).wait().buffer()?;
            self.blocks.check(&tail[..bytes], self.tail_first, self.rows)?;
        }
        self.tail = Some(tail);
        Ok(())
    }

    /// The file, made if it is not there.
    fn file(&mut self) -> Result<Arc<dyn DiskFile>, StorageError> {
        if let Some(file) = &self.blocks.file {
            return Ok(file.clone());
        }
        let file = self.disk.create(&self.blocks.name, self.blocks.options.kind)?;
        self.blocks.file = Some(file.clone());
        Ok(file)
    }

    /// Begins to write the tail, all blocks of which are full or hold the last rows, and takes the memory of the last one.
    #[cold]
    fn write_tail(&mut self) -> Result<(), StorageError> {
        let file = self.file()?;
        let next = match self.under_way.take() {
            Some(pending) => pending.wait().buffer()?,
            None => AlignedBuffer::new(self.blocks.options.transfer_bytes(), self.budget)?,
        };
        if let Some(mut tail) = self.tail.replace(next) {
            let bytes = seal_all(&self.blocks, &mut tail, self.tail_first, self.rows);
            self.under_way = Some(file.write(tail, self.blocks.at(self.tail_first), bytes));
        }
        self.tail_first = self.blocks.block_of(self.rows);
        Ok(())
    }

    /// Waits until everything but the tail is on disk.
    fn settle(&mut self) -> Result<(), StorageError> {
        match self.under_way.take() {
            Some(pending) => Ok(pending.wait().result?),
            None => Ok(()),
        }
    }

    /// Writes everything to disk and gives the memory back, until the next row comes.
    pub fn rest(&mut self) -> Result<(), StorageError> {
        self.settle()?;
        let Some(mut tail) = self.tail.take() else {
            return Ok(());
        };
        if self.blocks.first_row_of(self.tail_first) < self.rows {
            let file = self.file()?;
            let bytes = seal_all(&self.blocks, &mut tail, self.tail_first, self.rows);
            file.write(tail, self.blocks.at(self.tail_first), bytes).wait().result?;
        }
        Ok(())
    }

    /// Reads rows in order, with `buffers` buffers, each for what is written at once.
    pub fn reader(&mut self, rows: Range<u64>, buffers: usize) -> Result<RowLogReader<'b>, StorageError> {
        debug_assert!(rows.end <= self.rows, "only rows that are there are read");
        self.settle()?;
        let last_block = self.blocks.block_of(rows.end.max(1) - 1);
        if self.tail.is_none() && self.blocks.first_row_of(last_block + 1) > self.rows {
            // A block that is not full will be written again: nobody reads it meanwhile.
            self.wake()?;
        }
        let is_in_tail = rows.start < rows.end && last_block >= self.tail_first;
        let tail = match &self.tail {
            Some(tail) if is_in_tail => {
                // The tail grows, and its blocks are written again, so the reader has its own.
                let bytes = self.blocks.at(last_block + 1 - self.tail_first) as usize;
                let mut copy = AlignedBuffer::new(bytes, self.budget)?;
                copy[..bytes].copy_from_slice(&tail[..bytes]);
                Some(copy)
            }
            _ => None,
        };
        let in_tail = tail.map(|tail| (self.tail_first, tail));
        Ok(RowLogReader::new(self.blocks.clone(), rows, in_tail, buffers, self.budget))
    }

    /// Reads all rows in order, without copying those in memory. The file, if there is one, is the caller's to remove.
    pub fn into_reader(mut self, buffers: usize) -> Result<RowLogReader<'b>, StorageError> {
        self.settle()?;
        let in_tail = self.tail.take().map(|tail| (self.tail_first, tail));
        let is_noted = self.is_noted();
        Ok(RowLogReader::new(self.blocks, 0..self.rows, in_tail, buffers, self.budget).noted(is_noted))
    }

    /// Forgets all rows, and removes the file. Nobody may be reading it.
    pub fn clear(&mut self) -> Result<(), StorageError> {
        self.settle()?;
        self.tail = None;
        (self.rows, self.tail_first, self.noted) = (0, 0, Noted::default());
        if self.blocks.file.take().is_some() {
            self.disk.remove(&self.blocks.name)?;
        }
        Ok(())
    }
}

/// Completes all blocks of a tail that have rows; the bytes that they take.
fn seal_all(blocks: &Blocks, tail: &mut [u8], first: u64, rows: u64) -> usize {
    let (size, per_block) = (blocks.options.block_bytes, blocks.rows_per_block as u64);
    let mut bytes = 0;
    for (number, buffer) in (first..).zip(tail.chunks_mut(size)) {
        let n = rows.saturating_sub(blocks.first_row_of(number)).min(per_block);
        if n == 0 {
            break;
        }
        block::seal(buffer, number, n as usize * blocks.options.row_bytes, n as u32, false, size);
        bytes += size;
    }
    bytes
}

#[cfg(test)]
mod tests;
