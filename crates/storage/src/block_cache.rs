//! Single blocks of a file that is larger than memory: those used lately are kept, and those that are missing are read together.
//!
//! Which block makes room for another is decided by a clock: its hand passes over blocks that were used since it came by last. Whoever wants many
//! blocks asks for all of them at once ([`BlockCache::fetch`]), so that the disk has many transfers to do at the same time.
//!
//! # Invariants
//! 1. A block that was changed is written, with its checksum, before its frame is used for another.
//! 2. A block that was never written holds zeros, and is not read.
//!
//! # Cost
//! Two pages and some 40 bytes of memory for each frame, and 33 bits for each block of the file. One random read for each block that is missing, and one
//! random write for each that was changed.
//!
//! # Format
//! `docs/formats.md`, plain blocks: the file is of use only while it is open, unless it was written by somebody else.

use crate::block_file::block;
use crate::{Reservation, ReservedVec, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, DiskFile, PAGE_BYTES};
use std::sync::Arc;

/// Bytes of a block: a page, since single items are asked for.
pub(crate) const BLOCK_BYTES: usize = PAGE_BYTES;
/// What of it can be used.
pub(crate) const BLOCK_CAPACITY: usize = BLOCK_BYTES - block::HEADER_BYTES - crate::run::SLACK_BYTES;
/// Fewer frames would not be a cache.
const FRAMES_MIN: usize = 4;
/// What a frame takes beside its block: the allocator notes the length of a block that begins with a page on the page before, so each takes two.
const FRAME_BYTES: usize = 64 + PAGE_BYTES;

/// What a block's frame is noted as while it is in none, and a frame's block while it has none.
const NO_FRAME: u32 = 0;
const NO_BLOCK: u64 = u64::MAX;

struct Frame<'b> {
    block: u64,
    /// Given away only while a transfer uses it.
    buffer: Option<AlignedBuffer<'b>>,
    is_used: bool,
    is_changed: bool,
    /// The fetch that wanted it last; it stays until that is over.
    wanted_by: u64,
}

/// Blocks of a file in memory.
pub(crate) struct BlockCache<'b> {
    file: Arc<dyn DiskFile>,
    /// Where block 0 is.
    at: u64,
    frames: Vec<Frame<'b>>,
    frames_max: usize,
    /// For each block its frame plus one, 0 if it is in none: every item that is asked for is found through this.
    frame_of: ReservedVec<'b, u32>,
    /// A bit for each block that is on disk.
    written: ReservedVec<'b, u64>,
    hand: usize,
    n_fetches: u64,
    budget: &'b MemoryBudget,
    /// What its frames take beside their blocks, and the blocks of frames that are still to come.
    memory: Reservation<'b>,
}

impl<'b> BlockCache<'b> {
    /// A cache of up to `memory_bytes` for a file with `blocks` blocks from `at` on, all of them written or none.
    pub(crate) fn new(
        file: Arc<dyn DiskFile>,
        at: u64,
        blocks: u64,
        is_written: bool,
        memory_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let wanted = (memory_bytes / (BLOCK_BYTES + FRAME_BYTES)).max(FRAMES_MIN);
        let frames_max = usize::try_from(blocks).unwrap_or(usize::MAX).min(wanted).max(1);
        let mut written = ReservedVec::new(budget);
        written.resize(blocks.div_ceil(64) as usize, if is_written { u64::MAX } else { 0 })?;
        let mut frame_of = ReservedVec::new(budget);
        frame_of.resize(blocks as usize, NO_FRAME)?;
        let memory = Reservation::new((frames_max * (BLOCK_BYTES + FRAME_BYTES)) as u64, budget)?;
        Ok(Self {
            file,
            at,
            frames: Vec::with_capacity(frames_max),
            frames_max,
            frame_of,
            written,
            hand: 0,
            n_fetches: 0,
            budget,
            memory,
        })
    }

    /// How many blocks can be fetched at once.
    pub(crate) fn blocks_at_once(&self) -> usize {
        self.frames_max
    }

    fn is_written(&self, block: u64) -> bool {
        self.written[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// Forgets everything: all blocks hold zeros.
    pub(crate) fn clear(&mut self) {
        self.written.fill(0);
        self.frame_of.fill(NO_FRAME);
        for frame in &mut self.frames {
            (frame.is_used, frame.is_changed, frame.block) = (false, false, NO_BLOCK);
        }
    }

    /// Has blocks in memory until others are fetched, as many as there is room for: [`BlockCache::blocks_at_once`] in the beginning.
    pub(crate) fn fetch(&mut self, blocks: impl Iterator<Item = u64>) -> Result<(), StorageError> {
        self.n_fetches += 1;
        let mut missing = Vec::new();
        for block in blocks {
            match self.frame_of(block) {
                Some(frame) => self.frames[frame].wanted_by = self.n_fetches,
                None => missing.push(block),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        missing.sort_unstable();
        missing.dedup();
        self.read(&missing)
    }

    /// Reads blocks, and writes those whose frames they take if they were changed.
    #[cold]
    fn read(&mut self, missing: &[u64]) -> Result<(), StorageError> {
        let mut frames = Vec::with_capacity(missing.len());
        let mut writes = Vec::new();
        for block in missing {
            // What there is no room for is read when it is asked for.
            let Some(frame) = self.free_frame()? else { break };
            let Frame { block: old, is_changed, .. } = self.frames[frame];
            if old != NO_BLOCK {
                self.frame_of[old as usize] = NO_FRAME;
            }
            if is_changed && let Some(mut buffer) = self.frames[frame].buffer.take() {
                block::seal(&mut buffer, old, BLOCK_CAPACITY, 0, false, BLOCK_BYTES);
                writes.push((frame, self.file.write(buffer, self.at + old * BLOCK_BYTES as u64, BLOCK_BYTES)));
                self.written[(old / 64) as usize] |= 1 << (old % 64);
            }
            let wanted = &mut self.frames[frame];
            (wanted.block, wanted.is_changed, wanted.wanted_by) = (*block, false, self.n_fetches);
            frames.push(frame);
        }
        for (frame, write) in writes {
            self.frames[frame].buffer = Some(write.wait().buffer()?);
        }
        let mut reads = Vec::new();
        for (frame, block) in frames.iter().zip(missing) {
            let is_written = self.is_written(*block);
            match self.frames[*frame].buffer.take() {
                Some(buffer) if is_written => {
                    reads.push((*frame, self.file.read(buffer, self.at + block * BLOCK_BYTES as u64, BLOCK_BYTES)));
                }
                Some(mut buffer) => {
                    buffer.fill(0);
                    self.frames[*frame].buffer = Some(buffer);
                }
                None => {}
            }
        }
        for (frame, read) in reads {
            let buffer = read.wait().buffer()?;
            let block = self.frames[frame].block;
            block::check(&buffer[..BLOCK_BYTES], block, self.file.name(), self.at + block * BLOCK_BYTES as u64)?;
            self.frames[frame].buffer = Some(buffer);
        }
        for (frame, block) in frames.iter().zip(missing) {
            self.frame_of[*block as usize] = *frame as u32 + 1;
        }
        Ok(())
    }

    /// A frame that nobody wants now.
    fn free_frame(&mut self) -> Result<Option<usize>, StorageError> {
        if self.frames.len() < self.frames_max {
            self.memory.shrink(BLOCK_BYTES as u64);
            match AlignedBuffer::new(BLOCK_BYTES, self.budget) {
                Ok(buffer) => {
                    let buffer = Some(buffer);
                    self.frames.push(Frame {
                        block: NO_BLOCK,
                        buffer,
                        is_used: false,
                        is_changed: false,
                        wanted_by: 0,
                    });
                    return Ok(Some(self.frames.len() - 1));
                }
                Err(error) if self.frames.is_empty() => return Err(error.into()),
                // Others have taken the memory meanwhile: the cache stays as small as it is.
                Err(_) => self.frames_max = self.frames.len(),
            }
        }
        // Twice around: the first time all may have been used.
        for _ in 0..2 * self.frames.len() {
            let place = self.hand;
            self.hand = (self.hand + 1) % self.frames.len();
            let frame = &mut self.frames[place];
            if frame.wanted_by != self.n_fetches && !std::mem::take(&mut frame.is_used) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The contents of a block; it is read if it is missing.
    #[inline]
    pub(crate) fn contents(&mut self, block: u64) -> Result<&[u8], StorageError> {
        Ok(&self.frame(block, false)?[block::HEADER_BYTES..])
    }

    /// The contents of a block, to be changed.
    #[inline]
    pub(crate) fn contents_mut(&mut self, block: u64) -> Result<&mut [u8], StorageError> {
        Ok(&mut self.frame(block, true)?[block::HEADER_BYTES..block::HEADER_BYTES + BLOCK_CAPACITY])
    }

    #[inline]
    fn frame_of(&self, block: u64) -> Option<usize> {
        (self.frame_of[block as usize] as usize).checked_sub(1)
    }

    /// The frame of a block that was in none.
    #[cold]
    fn fetched(&mut self, block: u64) -> Result<usize, StorageError> {
        self.fetch(std::iter::once(block))?;
        let missing = || StorageError::corrupt(self.file.name(), block * BLOCK_BYTES as u64, "a block", "none");
        self.frame_of(block).ok_or_else(missing)
    }

    #[inline]
    fn frame(&mut self, block: u64, is_changed: bool) -> Result<&mut [u8], StorageError> {
        let place = match self.frame_of(block) {
            Some(place) => place,
            None => self.fetched(block)?,
        };
        let frame = &mut self.frames[place];
        frame.is_used = true;
        frame.is_changed |= is_changed;
        match &mut frame.buffer {
            Some(buffer) => Ok(buffer),
            // A transfer failed, and the block with it.
            None => Err(StorageError::corrupt(self.file.name(), block * BLOCK_BYTES as u64, "a block", "none")),
        }
    }
}
