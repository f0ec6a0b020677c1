//! Reads the blocks of a file, several ahead of whoever looks at them.
//!
//! After a jump one block is read ahead, then two, and so on: who jumps often does not want what comes next.
//!
//! # Cost
//! `buffers` blocks of memory: one is looked at, the others are on their way from disk. One read a block.

use super::{Block, BlockFile, BlockRange, block};
use crate::StorageError;
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, Pending};
use std::collections::VecDeque;

/// Blocks of a file, one after the other.
pub(crate) struct BlockReader<'b> {
    file: BlockFile,
    range: BlockRange,
    /// The block that comes next, counted in the range.
    next: u64,
    /// The block behind the last that comes.
    end: u64,
    /// The block to be read next from disk; those between are under way.
    next_read: u64,
    under_way: VecDeque<Pending<'b>>,
    /// The block that was taken last, and its number in the range.
    current: Option<(u64, AlignedBuffer<'b>)>,
    spare: Vec<AlignedBuffer<'b>>,
    buffers: usize,
    /// How many blocks may be under way now.
    ahead: usize,
    budget: &'b MemoryBudget,
}

impl<'b> BlockReader<'b> {
    /// All blocks of a range.
    pub(crate) fn new(file: BlockFile, range: BlockRange, buffers: usize, budget: &'b MemoryBudget) -> Self {
        let (buffers, end) = (buffers.max(1), range.blocks);
        let (under_way, spare) = (VecDeque::with_capacity(buffers), Vec::with_capacity(buffers));
        Self {
            file,
            range,
            next: 0,
            end,
            next_read: 0,
            under_way,
            current: None,
            spare,
            buffers,
            ahead: buffers,
            budget,
        }
    }

    /// The number of the block that comes next.
    pub(crate) fn next_number(&self) -> u64 {
        self.next
    }

    /// The blocks from `block` on, and none from `end` on, come next.
    pub(crate) fn jump(&mut self, block: u64, end: u64) {
        self.end = end.min(self.range.blocks);
        let skipped = block.checked_sub(self.next).filter(|skipped| *skipped <= self.under_way.len() as u64);
        match skipped {
            Some(skipped) => {
                for read in self.under_way.drain(..skipped as usize) {
                    self.spare.push(read.wait().buffer);
                }
            }
            None => {
                // Whatever becomes of blocks that nobody wants does not matter.
                self.spare.extend(self.under_way.drain(..).map(|read| read.wait().buffer));
                self.next_read = block;
                self.ahead = 1;
            }
        }
        self.next = block;
    }

    /// Takes the next block from disk. False if there is none.
    pub(crate) fn advance(&mut self) -> Result<bool, StorageError> {
        self.spare.extend(self.current.take().map(|(_, buffer)| buffer));
        if self.next >= self.end {
            return Ok(false);
        }
        self.read_ahead()?;
        let Some(read) = self.under_way.pop_front() else {
            return Ok(false);
        };
        let buffer = read.wait().buffer()?;
        let (at, extent) = self.place(self.next);
        block::check(&buffer[..extent], self.range.first + self.next, self.file.name(), at)?;
        self.current = Some((self.next, buffer));
        self.next += 1;
        self.ahead = (2 * self.ahead).min(self.buffers - 1).max(1);
        self.read_ahead()?;
        Ok(true)
    }

    /// Begins to read blocks that come next.
    pub(crate) fn read_ahead(&mut self) -> Result<(), StorageError> {
        let has_current = usize::from(self.current.is_some());
        while self.under_way.len() < self.ahead
            && self.under_way.len() + has_current < self.buffers
            && self.next_read < self.end
        {
            let buffer = match self.spare.pop() {
                Some(buffer) => buffer,
                None => AlignedBuffer::new(self.file.shape.block_bytes, self.budget)?,
            };
            let (at, extent) = self.place(self.next_read);
            self.under_way.push_back(self.file.file.read(buffer, at, extent));
            self.next_read += 1;
        }
        Ok(())
    }

    /// Where a block lies: its offset and its bytes.
    fn place(&self, block: u64) -> (u64, usize) {
        let size = self.file.shape.block_bytes as u64;
        let at = self.range.at + block * size;
        (at, size.min(self.range.end - at) as usize)
    }

    /// The block that was taken last, and its offset.
    pub(crate) fn current(&self) -> Option<(Block<'_>, u64)> {
        let (block, buffer) = self.current.as_ref()?;
        let (at, extent) = self.place(*block);
        Some((block::view(&buffer[..extent])?, at))
    }
}
