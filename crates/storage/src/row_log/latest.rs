//! Reads single rows of a log one after the other, where the next one often lies near one of the last: their blocks are kept.
//!
//! # Cost
//! One random read for each row whose block is not among those asked for last; as many blocks of memory as are kept.

use super::RowLog;
use super::reader::row_in_block;
use crate::StorageError;
use lariat_disk::AlignedBuffer;

/// The blocks of a log that were asked for last. The log must not grow as long as they are of use.
pub struct LatestRows<'b> {
    /// The one that was asked for last is at the end.
    blocks: Vec<(u64, AlignedBuffer<'b>)>,
    blocks_max: usize,
}

impl<'b> LatestRows<'b> {
    /// Keeps so many blocks, or as many as there is memory for.
    pub fn new(blocks_max: usize) -> Self {
        Self { blocks: Vec::new(), blocks_max: blocks_max.max(1) }
    }

    /// Forgets all blocks, and gives their memory back.
    pub fn clear(&mut self) {
        self.blocks.clear();
    }

    /// A row of the log.
    pub fn row<'r>(&'r mut self, log: &'r mut RowLog<'b>, position: u64) -> Result<&'r [u8], StorageError> {
        debug_assert!(position < log.rows, "only rows that are there are read");
        let block = log.blocks.block_of(position);
        let (in_block, row_bytes) =
            ((position - log.blocks.first_row_of(block)) as usize, log.blocks.options.row_bytes);
        if log.tail.is_none() || block < log.tail_first {
            match self.blocks.iter().rposition(|(kept, _)| *kept == block) {
                Some(place) => self.blocks[place..].rotate_left(1),
                None => self.read(log, block)?,
            }
            let (_, bytes) = &self.blocks[self.blocks.len() - 1];
            return Ok(row_in_block(bytes, in_block, row_bytes));
        }
        let tail = log.tail.as_deref().unwrap_or_default();
        let at = (block - log.tail_first) as usize * log.blocks.options.block_bytes;
        Ok(row_in_block(&tail[at..], in_block, row_bytes))
    }

    /// Reads a block, in place of the one that was asked for longest ago if there is no room for another.
    #[cold]
    fn read(&mut self, log: &mut RowLog<'b>, block: u64) -> Result<(), StorageError> {
        log.settle()?;
        let Some(file) = &log.blocks.file else {
            return Err(StorageError::corrupt(&log.blocks.name, 0, "a file", "none"));
        };
        let bytes = log.blocks.options.block_bytes;
        let new = if self.blocks.len() < self.blocks_max {
            AlignedBuffer::new(bytes, log.budget).map(Some)
        } else {
            Ok(None)
        };
        let buffer = match new {
            Ok(Some(buffer)) => buffer,
            Err(refused) if self.blocks.is_empty() => return Err(refused.into()),
            _ => self.blocks.remove(0).1,
        };
        let buffer = file.read(buffer, log.blocks.at(block), bytes).wait().buffer()?;
        log.blocks.check(&buffer[..bytes], block, log.rows.min(log.blocks.first_row_of(block + 1)))?;
        self.blocks.push((block, buffer));
        Ok(())
    }
}
