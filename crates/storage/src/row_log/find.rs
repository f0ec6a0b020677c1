//! Reads single rows anywhere in a log, many reads at once.
//!
//! # Cost
//! One random read for each block that a row is asked of, but for those in memory; `reads_at_once` blocks of memory, and what copies of blocks may take.

use super::RowLog;
use super::reader::row_in_block;
use crate::StorageError;
use crate::block_copies::BlockCopies;
use lariat_disk::{AlignedBuffer, Pending};
use std::collections::VecDeque;
use std::ops::Range;

/// What reading single rows needs.
pub struct RowFinder<'b> {
    reads_at_once: usize,
    spare: Vec<AlignedBuffer<'b>>,
    /// Reads that were begun: the block, and which of the positions are in it.
    under_way: VecDeque<(u64, Range<usize>, Pending<'b>)>,
    copies: Option<BlockCopies<'b>>,
}

impl<'b> RowFinder<'b> {
    /// For so many reads at once.
    pub fn new(reads_at_once: usize) -> Self {
        Self { reads_at_once: reads_at_once.max(1), spare: Vec::new(), under_way: VecDeque::new(), copies: None }
    }

    /// The same for rows of one log, with copies of its blocks of so many bytes in all.
    pub fn with_copies(self, log: &RowLog<'b>, memory_bytes: usize) -> Self {
        let copies = BlockCopies::within(memory_bytes, log.blocks.options.block_bytes, log.budget);
        Self { copies: Some(copies), ..self }
    }

    /// Calls `see` with each place of `positions` and the row there. The positions must not decrease.
    pub fn find(
        &mut self,
        log: &mut RowLog<'b>,
        positions: &[u64],
        mut see: impl FnMut(usize, &[u8]),
    ) -> Result<(), StorageError> {
        debug_assert!(positions.is_sorted(), "positions in order make each block one read");
        log.settle()?;
        let mut next = 0;
        while next < positions.len() {
            let block = log.blocks.block_of(positions[next]);
            let end_of_block = log.blocks.first_row_of(block + 1);
            let end = next + positions[next..].partition_point(|position| *position < end_of_block);
            match &log.tail {
                Some(tail) if block >= log.tail_first => {
                    let at = (block - log.tail_first) as usize * log.blocks.options.block_bytes;
                    see_rows(log, &tail[at..], block, next..end, positions, &mut see);
                }
                _ => {
                    if let Some(copy) = self.copies.as_ref().and_then(|copies| copies.get(block)) {
                        see_rows(log, copy, block, next..end, positions, &mut see);
                        next = end;
                        continue;
                    }
                    if self.under_way.len() == self.reads_at_once {
                        self.end_read(log, positions, &mut see)?;
                    }
                    self.begin_read(log, block, next..end)?;
                }
            }
            next = end;
        }
        while !self.under_way.is_empty() {
            self.end_read(log, positions, &mut see)?;
        }
        Ok(())
    }

    fn begin_read(&mut self, log: &RowLog<'b>, block: u64, places: Range<usize>) -> Result<(), StorageError> {
        let Some(file) = &log.blocks.file else {
            return Err(StorageError::corrupt(&log.blocks.name, 0, "a file", "none"));
        };
        let bytes = log.blocks.options.block_bytes;
        let buffer = match self.spare.pop() {
            Some(buffer) => buffer,
            None => AlignedBuffer::new(bytes, log.budget)?,
        };
        self.under_way.push_back((block, places, file.read(buffer, log.blocks.at(block), bytes)));
        Ok(())
    }

    fn end_read(
        &mut self,
        log: &RowLog<'b>,
        positions: &[u64],
        see: &mut impl FnMut(usize, &[u8]),
    ) -> Result<(), StorageError> {
        let Some((block, places, pending)) = self.under_way.pop_front() else {
            return Ok(());
        };
        let buffer = pending.wait().buffer()?;
        let last = positions[places.end - 1];
        log.blocks.check(&buffer[..log.blocks.options.block_bytes], block, last + 1)?;
        see_rows(log, &buffer, block, places, positions, see);
        if let Some(copies) = &mut self.copies {
            copies.put(block, &buffer[..log.blocks.options.block_bytes]);
        }
        self.spare.push(buffer);
        Ok(())
    }
}

fn see_rows(
    log: &RowLog<'_>,
    block_bytes: &[u8],
    block: u64,
    places: Range<usize>,
    positions: &[u64],
    see: &mut impl FnMut(usize, &[u8]),
) {
    let first = log.blocks.first_row_of(block);
    for place in places {
        let in_block = (positions[place] - first) as usize;
        see(place, row_in_block(block_bytes, in_block, log.blocks.options.row_bytes));
    }
}
