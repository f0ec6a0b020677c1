//! Writes a block file, behind the back of whoever fills the blocks.
//!
//! Several blocks may go to disk in one transfer, header and footer with them: every transfer has its price, whatever its size.
//!
//! # Invariants
//! 1. Behind the first `filled` bytes of the buffer there is room for a block.
//!
//! # Cost
//! `buffers` times `blocks_at_once` blocks of memory: one of these buffers is filled, the others are on their way to disk.

use super::{BlockFile, EDGE_BYTES, FileShape, block, header::Footer};
use crate::StorageError;
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, Disk, DiskFile, FileKind, Pending};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a writer has in memory.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    /// Buffers, of which one is filled.
    pub(crate) n: usize,
    /// Blocks of each, which are written together.
    pub(crate) blocks_at_once: usize,
}

/// A block file that is being written.
pub(crate) struct BlockWriter<'b> {
    file: Arc<dyn DiskFile>,
    shape: FileShape,
    filling: AlignedBuffer<'b>,
    /// Bytes of it that are complete.
    filled: usize,
    under_way: VecDeque<Pending<'b>>,
    buffers: Buffers,
    /// Where the next block lies in the file.
    at: u64,
    number: u64,
    budget: &'b MemoryBudget,
}

impl<'b> BlockWriter<'b> {
    /// Makes a file and writes its header.
    pub(crate) fn new(
        disk: &dyn Disk,
        name: &str,
        file_kind: FileKind,
        shape: FileShape,
        buffers: Buffers,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        if !shape.is_possible() {
            let (expected, got) = ("a possible shape".to_owned(), format!("{shape:?}"));
            return Err(StorageError::Shape { file: name.to_owned(), expected, got });
        }
        let mut filling = AlignedBuffer::new(shape.block_bytes * buffers.blocks_at_once.max(1), budget)?;
        let file = disk.create(name, file_kind)?;
        shape.write(&mut filling[..EDGE_BYTES]);
        let under_way = VecDeque::with_capacity(buffers.n);
        let mut writer = Self { file, shape, filling, filled: 0, under_way, buffers, at: 0, number: 0, budget };
        writer.complete(EDGE_BYTES)?;
        Ok(writer)
    }

    /// How much a block can hold.
    pub(crate) fn capacity(&self) -> usize {
        block::capacity(self.shape.block_bytes)
    }

    /// Where the contents of the current block are written to.
    pub(crate) fn contents_mut(&mut self) -> &mut [u8] {
        block::contents_mut(&mut self.filling[self.filled..], self.shape.block_bytes)
    }

    /// Blocks that were ended.
    pub(crate) fn blocks(&self) -> u64 {
        self.number
    }

    /// Bytes of the file so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.at
    }

    /// Ends the current block, of which `used` bytes were written. The last block before the index and before the footer is as short as it
    /// can be.
    pub(crate) fn end_block(&mut self, used: usize, items: u32, is_last: bool) -> Result<(), StorageError> {
        let extent =
            block::seal(&mut self.filling[self.filled..], self.number, used, items, is_last, self.shape.block_bytes);
        self.number += 1;
        self.complete(extent)
    }

    /// So many more bytes of the buffer are complete; they are written if there is no room for another block behind them.
    fn complete(&mut self, bytes: usize) -> Result<(), StorageError> {
        self.filled += bytes;
        self.at += bytes as u64;
        if self.filled + self.shape.block_bytes > self.filling.len() { self.send() } else { Ok(()) }
    }

    /// Hands what is complete to the disk, and takes another buffer.
    fn send(&mut self) -> Result<(), StorageError> {
        let bytes = std::mem::take(&mut self.filled);
        let at = self.at - bytes as u64;
        let next = match self.under_way.len() + 1 >= self.buffers.n {
            false => Some(AlignedBuffer::new(self.filling.len(), self.budget)?),
            true => self.under_way.pop_front().map(|oldest| oldest.wait().buffer()).transpose()?,
        };
        match next {
            Some(next) => {
                let full = std::mem::replace(&mut self.filling, next);
                self.under_way.push_back(self.file.write(full, at, bytes));
            }
            None => {
                // The only buffer there is: give an empty one in its place, wait, and take it back.
                let empty = AlignedBuffer::new(1, self.budget)?;
                let full = std::mem::replace(&mut self.filling, empty);
                self.filling = self.file.write(full, at, bytes).wait().buffer()?;
            }
        }
        Ok(())
    }

    /// Writes the footer and waits for everything. `rows` are in `blocks` blocks that end at `index_at`.
    pub(crate) fn finish(self, rows: u64, blocks: u64, index_at: u64) -> Result<BlockFile, StorageError> {
        self.end(rows, blocks, index_at).wait()
    }

    /// The same without waiting.
    pub(crate) fn end(mut self, rows: u64, blocks: u64, index_at: u64) -> EndingFile<'b> {
        let file_bytes = self.at + EDGE_BYTES as u64;
        let footer = Footer { rows, blocks, index_at, index_blocks: self.number - blocks, file_bytes };
        footer.write(&mut self.filling[self.filled..self.filled + EDGE_BYTES]);
        self.filled += EDGE_BYTES;
        self.at = file_bytes;
        let last = self.file.write(self.filling, self.at - self.filled as u64, self.filled);
        self.under_way.push_back(last);
        let file = BlockFile { file: self.file, shape: self.shape, footer };
        EndingFile { file, under_way: self.under_way }
    }
}

/// A block file of which everything is written or on its way to disk.
pub(crate) struct EndingFile<'b> {
    file: BlockFile,
    under_way: VecDeque<Pending<'b>>,
}

impl EndingFile<'_> {
    /// Waits until everything is written.
    pub(crate) fn wait(self) -> Result<BlockFile, StorageError> {
        for write in self.under_way {
            write.wait().result?;
        }
        Ok(self.file)
    }
}
