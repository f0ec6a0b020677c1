//! Blocks of memory of one size, cut from large pages, that segments take and give back. All threads of a search share a pool.
//!
//! Segments grow and shrink by blocks, so that none needs memory in one piece, and what one gives back another takes. The memory
//! under the blocks comes in *slabs* that become large pages where the system has them: rows are looked for all over the memory, and
//! with small pages the processor would spend its time on finding out where those are. A slab becomes one when all of its blocks were
//! handed out; until then it takes as much memory as was needed of it.
//!
//! # Invariants
//! 1. A block has one owner, or is in `free`, or in the part of the newest slab that was never handed out.
//! 2. Slabs, and the lists that say who has which block, are reserved in the budget as long as the pool lives.
//! 3. A block that was never handed out is zero.

#![expect(unsafe_code, reason = "blocks are parts of slabs")]

use crate::pages::{LARGE_PAGE, Pages};
use crate::row_table::zeroed::advise_large_pages;
use lariat_base::MemoryBudget;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Slabs are small where the budget is.
const SLAB_MIN: usize = 64 << 10;

pub(super) struct Pool<'b> {
    budget: &'b MemoryBudget,
    block_bytes: usize,
    slab_bytes: usize,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    slabs: Vec<Pages>,
    /// Blocks that were given back.
    free: Vec<NonNull<u8>>,
    /// Blocks of the newest slab that were never handed out.
    n_fresh: usize,
    /// Whether slabs ask for large pages from the start, since they cannot become ones later.
    large_at_once: bool,
    /// Bytes of the lists of those who have blocks.
    list_bytes: u64,
}

// SAFETY: slabs are plain memory that belongs to the pool, and blocks to those who took them, on whatever thread.
unsafe impl Send for Blocks {}

impl<'b> Pool<'b> {
    /// A pool of blocks of `block_bytes`, a multiple of 64.
    pub(super) fn new(block_bytes: usize, budget: &'b MemoryBudget) -> Self {
        debug_assert!(block_bytes.is_multiple_of(64));
        let wanted = usize::try_from(budget.max() / 128).unwrap_or(LARGE_PAGE).clamp(SLAB_MIN, LARGE_PAGE);
        let slab_bytes = wanted.next_power_of_two().max(block_bytes).next_multiple_of(4096);
        Self { budget, block_bytes, slab_bytes, blocks: Mutex::default() }
    }

    fn blocks_per_slab(&self) -> usize {
        self.slab_bytes / self.block_bytes
    }

    /// Appends `n` blocks to `out`, or none if there is no memory for all of them.
    pub(super) fn take(&self, n: usize, out: &mut Vec<NonNull<u8>>) -> bool {
        let mut blocks = self.lock();
        let n_before = out.len();
        while out.len() < n_before + n {
            let block = match blocks.free.pop() {
                Some(block) => Some(block),
                None => self.fresh(&mut blocks),
            };
            let Some(block) = block else {
                blocks.free.extend(out.drain(n_before..));
                return false;
            };
            out.push(block);
        }
        true
    }

    /// The next block of the newest slab, or of a new one; none if there is no memory.
    fn fresh(&self, blocks: &mut Blocks) -> Option<NonNull<u8>> {
        if blocks.n_fresh == 0 {
            self.add_slab(blocks)?;
        }
        let i = self.blocks_per_slab() - blocks.n_fresh;
        blocks.n_fresh -= 1;
        // SAFETY: all of the block lies inside of the slab.
        blocks.slabs.last().map(|slab| unsafe { slab.start().add(i * self.block_bytes) })
    }

    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes blocks of this pool back.
    pub(super) fn give_back(&self, blocks: impl Iterator<Item = NonNull<u8>>) {
        self.lock().free.extend(blocks);
    }

    /// Takes memory for a list of blocks from the budget, until the pool goes; false if there is none.
    pub(super) fn reserve_list(&self, bytes: usize) -> bool {
        let is_reserved = self.budget.reserve(bytes as u64).is_ok();
        self.lock().list_bytes += if is_reserved { bytes as u64 } else { 0 };
        is_reserved
    }

    fn add_slab(&self, blocks: &mut Blocks) -> Option<()> {
        let is_large = self.slab_bytes == LARGE_PAGE;
        if let Some(full) = blocks.slabs.last()
            && is_large
            && !blocks.large_at_once
        {
            blocks.large_at_once = !full.merge_large();
        }
        self.budget.reserve(self.slab_bytes as u64).ok()?;
        let Some(slab) = (if is_large { Pages::large() } else { Pages::new(self.slab_bytes) }) else {
            self.budget.release(self.slab_bytes as u64);
            return None;
        };
        if blocks.large_at_once {
            // Before the first touch, which decides the size of the pages.
            advise_large_pages(slab.start().as_ptr(), self.slab_bytes);
        }
        blocks.slabs.push(slab);
        blocks.n_fresh = self.blocks_per_slab();
        Some(())
    }

    /// Bytes of memory that the blocks that were ever handed out take, and the lists of those who have them.
    pub(super) fn memory_bytes(&self) -> u64 {
        let blocks = self.lock();
        (blocks.slabs.len() * self.slab_bytes - blocks.n_fresh * self.block_bytes) as u64 + blocks.list_bytes
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        let blocks = self.lock();
        self.budget.release((blocks.slabs.len() * self.slab_bytes) as u64 + blocks.list_bytes);
    }
}
