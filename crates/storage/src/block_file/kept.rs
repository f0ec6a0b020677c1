//! Blocks that stay in memory once they were read, for files that are read again and again.
//!
//! Nothing makes room for anything else: who reads all of a file in order, time after time, gains nothing from a cache that forgets what was not used lately, and a part of
//! it that stays is a part that is not read. What a file keeps is given back when the file is not used any more.
//!
//! # Cost
//! The blocks, and some 32 bytes for each block of a file.

use crate::StorageError;
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, PAGE_BYTES};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// How much may be kept of all files together.
pub struct BlockAllowance {
    left: AtomicU64,
}

impl BlockAllowance {
    /// So many bytes.
    pub fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self { left: AtomicU64::new(bytes) })
    }

    /// What may still be taken: memory that others should leave alone.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// What became of a block.
pub(crate) enum Kept<'b> {
    /// It was kept; this buffer is left.
    Yes(Option<AlignedBuffer<'b>>),
    /// It was not.
    No(AlignedBuffer<'b>),
}

/// The blocks of one file that were kept. They were checked when they were read.
pub(crate) struct KeptBlocks<'b> {
    blocks: Box<[OnceLock<AlignedBuffer<'b>>]>,
    allowance: Arc<BlockAllowance>,
}

impl<'b> KeptBlocks<'b> {
    /// None so far, of a file with so many.
    pub(crate) fn new(n_blocks: u64, allowance: &Arc<BlockAllowance>) -> Arc<Self> {
        let blocks = (0..n_blocks).map(|_| OnceLock::new()).collect();
        Arc::new(Self { blocks, allowance: allowance.clone() })
    }

    /// A block, if it was kept.
    pub(crate) fn get(&self, block: u64) -> Option<&AlignedBuffer<'b>> {
        self.blocks.get(usize::try_from(block).ok()?)?.get()
    }

    /// Keeps a block of so many bytes, if that is allowed; else its buffer is handed back. One that is much too large is, too, after a copy.
    pub(crate) fn keep(
        &self,
        block: u64,
        bytes: usize,
        buffer: AlignedBuffer<'b>,
        budget: &'b MemoryBudget,
    ) -> Result<Kept<'b>, StorageError> {
        let Some(place) = usize::try_from(block).ok().and_then(|block| self.blocks.get(block)) else {
            return Ok(Kept::No(buffer));
        };
        let is_small = bytes <= buffer.len() / 2;
        let taken = if is_small { bytes.next_multiple_of(PAGE_BYTES) } else { buffer.len() } as u64;
        if !self.allowance.take(taken) {
            return Ok(Kept::No(buffer));
        }
        let (kept, spare) = if is_small {
            let mut copy = AlignedBuffer::new(bytes, budget)?;
            copy[..bytes].copy_from_slice(&buffer[..bytes]);
            (copy, Some(buffer))
        } else {
            (buffer, None)
        };
        match place.set(kept) {
            Ok(()) => Ok(Kept::Yes(spare)),
            // Another reader has kept it meanwhile.
            Err(kept) => {
                self.allowance.give_back(taken);
                Ok(Kept::No(spare.unwrap_or(kept)))
            }
        }
    }
}

impl Drop for KeptBlocks<'_> {
    fn drop(&mut self) {
        let bytes = self.blocks.iter().filter_map(OnceLock::get).map(|buffer| buffer.len() as u64).sum();
        self.allowance.give_back(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_kept_as_is_allowed() {
        let budget = MemoryBudget::new(1 << 20);
        let allowed = 3 * PAGE_BYTES as u64;
        let allowance = BlockAllowance::new(allowed);
        let kept = KeptBlocks::new(4, &allowance);
        let keeps = |block: u64, bytes: usize| {
            let buffer = AlignedBuffer::new(2 * PAGE_BYTES, &budget).unwrap();
            matches!(kept.keep(block, bytes, buffer, &budget).unwrap(), Kept::Yes(_))
        };
        assert!(keeps(1, 2 * PAGE_BYTES) && !keeps(1, 1), "once");
        assert!(!keeps(9, 1), "there is no such block");
        assert!(!keeps(2, 2 * PAGE_BYTES) && keeps(3, 10), "a small one takes a page");
        assert!(!keeps(0, 1), "that is all");
        assert_eq!(kept.get(1).map(|buffer| buffer.len()), Some(2 * PAGE_BYTES));
        assert_eq!(kept.get(3).map(|buffer| buffer.len()), Some(PAGE_BYTES));
        assert!(kept.get(0).is_none());
        assert_eq!((allowance.left(), budget.used()), (0, allowed));
        drop(kept);
        assert_eq!((allowance.left(), budget.used()), (allowed, 0));
    }
}
