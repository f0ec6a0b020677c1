//! Blocks of memory of one size, cut from large pages, that segments take and give back.
//!
//! Segments grow and shrink by blocks, so that none needs memory in one piece, and what one gives back another takes. The memory
//! under the blocks comes in *slabs* that are large pages where the system has them: rows are looked for all over the memory, and with
//! small pages the processor would spend its time on finding out where those are.
//!
//! # Invariants
//! 1. A block has one owner, or is in `free`.
//! 2. Slabs are reserved in the budget, and live as long as the pool.
//! 3. Every byte of a slab was written before a block of it is handed out.

#![expect(unsafe_code, reason = "slabs are asked for and advised about without a safe interface")]

use crate::row_table::zeroed::advise_large_pages;
use lariat_base::MemoryBudget;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

const LARGE_PAGE: usize = 2 << 20;
/// Slabs are small where the budget is.
const SLAB_MIN: usize = 64 << 10;

pub(super) struct Pool<'b> {
    budget: &'b MemoryBudget,
    block_bytes: usize,
    slab: Layout,
    slabs: Vec<NonNull<u8>>,
    free: Vec<NonNull<u8>>,
}

// SAFETY: slabs are plain memory that belongs to the pool, and to those who hold its blocks, which go from thread to thread with it.
unsafe impl Send for Pool<'_> {}
// SAFETY: shared references give nothing away.
unsafe impl Sync for Pool<'_> {}

impl<'b> Pool<'b> {
    /// A pool of blocks of `block_bytes`, a multiple of 64.
    pub(super) fn new(block_bytes: usize, budget: &'b MemoryBudget) -> Self {
        debug_assert!(block_bytes.is_multiple_of(64));
        let wanted = usize::try_from(budget.max() / 128).unwrap_or(LARGE_PAGE).clamp(SLAB_MIN, LARGE_PAGE);
        let bytes = wanted.next_power_of_two().max(block_bytes);
        // Blocks are far smaller than memory, so there is such a layout; the smallest one makes every request fail.
        let layout = Layout::from_size_align(bytes, bytes.next_power_of_two().min(LARGE_PAGE));
        Self { budget, block_bytes, slab: layout.unwrap_or(Layout::new::<u64>()), slabs: Vec::new(), free: Vec::new() }
    }

    /// Appends `n` blocks to `out`, or none if there is no memory for all of them.
    pub(super) fn take(&mut self, n: usize, out: &mut Vec<NonNull<u8>>) -> bool {
        while self.free.len() < n {
            if !self.add_slab() {
                return false;
            }
        }
        out.extend(self.free.drain(self.free.len() - n..).rev());
        true
    }

    /// Takes blocks of this pool back.
    pub(super) fn give_back(&mut self, blocks: impl Iterator<Item = NonNull<u8>>) {
        self.free.extend(blocks);
    }

    fn add_slab(&mut self) -> bool {
        if self.slab.size() < self.block_bytes || self.budget.reserve(self.slab.size() as u64).is_err() {
            return false;
        }
        // SAFETY: the size is not 0.
        let Some(start) = NonNull::new(unsafe { alloc(self.slab) }) else {
            self.budget.release(self.slab.size() as u64);
            return false;
        };
        // Before the first touch, which decides the size of the pages.
        advise_large_pages(start.as_ptr(), self.slab.size());
        // SAFETY: all of the slab, which nobody else has.
        unsafe { start.write_bytes(0, self.slab.size()) };
        self.slabs.push(start);
        let n_blocks = self.slab.size() / self.block_bytes;
        // SAFETY: all of the block lies inside of the slab.
        self.free.extend((0..n_blocks).rev().map(|i| unsafe { start.add(i * self.block_bytes) }));
        true
    }

    /// Bytes taken from the budget.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.slabs.len() * self.slab.size()) as u64
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        self.budget.release(self.memory_bytes());
        for slab in self.slabs.drain(..) {
            // SAFETY: allocated by `add_slab` with this layout; the set that owns the pool does not use its segments any more.
            unsafe { dealloc(slab.as_ptr(), self.slab) };
        }
    }
}
