//! Reads the blocks of a file, several ahead of whoever looks at them.
//!
//! After a jump one block is read ahead, then two, and so on: who jumps often does not want what comes next.
//!
//! # Cost
//! `buffers` blocks of memory: one is looked at, the others are on their way from disk. One read a block, unless it was kept ([`KeptBlocks`]).

use super::{Block, BlockFile, BlockRange, Kept, KeptBlocks, block};
use crate::StorageError;
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, PAGE_BYTES, Pending};
use std::collections::VecDeque;
use std::sync::Arc;

/// A block that comes.
enum Coming<'b> {
    Kept,
    Read(Pending<'b>),
}

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
    under_way: VecDeque<Coming<'b>>,
    /// The number in the range of the block that was taken last, and the block, unless it was kept.
    current: Option<(u64, Option<AlignedBuffer<'b>>)>,
    kept: Option<Arc<KeptBlocks<'b>>>,
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
            kept: None,
            spare,
            buffers,
            ahead: buffers,
            budget,
        }
    }

    /// The same with blocks that stay in memory.
    pub(crate) fn keeping(self, kept: Option<Arc<KeptBlocks<'b>>>) -> Self {
        Self { kept, ..self }
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
                self.spare.extend(self.under_way.drain(..skipped as usize).filter_map(Coming::into_buffer));
            }
            None => {
                // Whatever becomes of blocks that nobody wants does not matter.
                self.spare.extend(self.under_way.drain(..).filter_map(Coming::into_buffer));
                self.next_read = block;
                self.ahead = 1;
            }
        }
        self.next = block;
    }

    /// Takes the next block from disk. False if there is none.
    pub(crate) fn advance(&mut self) -> Result<bool, StorageError> {
        self.spare.extend(self.current.take().and_then(|(_, buffer)| buffer));
        if self.next >= self.end {
            return Ok(false);
        }
        self.read_ahead()?;
        let buffer = match self.under_way.pop_front() {
            None => return Ok(false),
            Some(Coming::Kept) => None,
            Some(Coming::Read(read)) => {
                let buffer = read.wait().buffer()?;
                let (at, extent) = self.place(self.next);
                block::check(&buffer[..extent], self.range.first + self.next, self.file.name(), at)?;
                self.keep(extent, buffer)?
            }
        };
        self.current = Some((self.next, buffer));
        self.next += 1;
        self.ahead = (2 * self.ahead).min(self.buffers - 1).max(1);
        self.read_ahead()?;
        Ok(true)
    }

    /// Keeps the block that comes next, which has so many bytes; its buffer if it is not kept.
    fn keep(&mut self, bytes: usize, buffer: AlignedBuffer<'b>) -> Result<Option<AlignedBuffer<'b>>, StorageError> {
        let Some(kept) = &self.kept else { return Ok(Some(buffer)) };
        Ok(match kept.keep(self.next, bytes, buffer, self.budget)? {
            Kept::No(buffer) => Some(buffer),
            Kept::Yes(spare) => {
                self.spare.extend(spare);
                None
            }
        })
    }

    /// Begins to read blocks that come next.
    pub(crate) fn read_ahead(&mut self) -> Result<(), StorageError> {
        let has_current = usize::from(self.current.is_some());
        while self.under_way.len() < self.ahead
            && self.under_way.len() + has_current < self.buffers
            && self.next_read < self.end
        {
            if self.kept.as_ref().is_some_and(|kept| kept.get(self.next_read).is_some()) {
                self.under_way.push_back(Coming::Kept);
                self.next_read += 1;
                continue;
            }
            let buffer = match self.spare.pop() {
                Some(buffer) => buffer,
                None => AlignedBuffer::new(self.buffer_bytes(), self.budget)?,
            };
            let (at, extent) = self.place(self.next_read);
            self.under_way.push_back(Coming::Read(self.file.file.read(buffer, at, extent)));
            self.next_read += 1;
        }
        Ok(())
    }

    /// The bytes of a buffer: a block, or all of a file that has less.
    fn buffer_bytes(&self) -> usize {
        let all = usize::try_from(self.range.end - self.range.at).unwrap_or(usize::MAX);
        self.file.shape.block_bytes.min(all.next_multiple_of(PAGE_BYTES))
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
        let buffer = match buffer {
            Some(buffer) => buffer,
            None => self.kept.as_ref()?.get(*block)?,
        };
        Some((block::view(&buffer[..extent])?, at))
    }
}

impl<'b> Coming<'b> {
    /// The buffer that it takes, when nobody fills it any more.
    fn into_buffer(self) -> Option<AlignedBuffer<'b>> {
        match self {
            Self::Kept => None,
            Self::Read(read) => Some(read.wait().buffer),
        }
    }
}
