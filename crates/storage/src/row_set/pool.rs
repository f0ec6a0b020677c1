//! Blocks of memory of one size, cut from large pages, that segments take and give back. All threads of a search share a pool.
//!
//! Segments grow and shrink by blocks, so that none needs memory in one piece, and what one gives back another takes. The memory
//! under the blocks comes in *slabs* that are large pages where the system has them: rows are looked for all over the memory, and with
//! small pages the processor would spend its time on finding out where those are.
//!
//! # Invariants
//! 1. A block has one owner, or is in `free`.
//! 2. Slabs, and the lists that say who has which block, are reserved in the budget as long as the pool lives.
//! 3. Every byte of a slab was written before a block of it is handed out.

#![expect(unsafe_code, reason = "slabs are asked for and advised about without a safe interface")]

use crate::row_table::zeroed::advise_large_pages;
use lariat_base::MemoryBudget;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

const LARGE_PAGE: usize = 2 << 20;
/// Slabs are small where the budget is.
const SLAB_MIN: usize = 64 << 10;

pub(super) struct Pool<'b> {
    budget: &'b MemoryBudget,
    block_bytes: usize,
    slab: Layout,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    slabs: Vec<NonNull<u8>>,
    free: Vec<NonNull<u8>>,
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
        let bytes = wanted.next_power_of_two().max(block_bytes);
        // Blocks are far smaller than memory, so there is such a layout; the smallest one makes every request fail.
        let layout = Layout::from_size_align(bytes, bytes.next_power_of_two().min(LARGE_PAGE));
        Self { budget, block_bytes, slab: layout.unwrap_or(Layout::new::<u64>()), blocks: Mutex::default() }
    }

    /// Appends `n` blocks to `out`, or none if there is no memory for all of them.
    pub(super) fn take(&self, n: usize, out: &mut Vec<NonNull<u8>>) -> bool {
        let mut blocks = self.lock();
        while blocks.free.len() < n {
            if !self.add_slab(&mut blocks) {
                return false;
            }
        }
        let first = blocks.free.len() - n;
        out.extend(blocks.free.drain(first..).rev());
        true
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

    fn add_slab(&self, blocks: &mut Blocks) -> bool {
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
        blocks.slabs.push(start);
        let n_blocks = self.slab.size() / self.block_bytes;
        // SAFETY: all of the block lies inside of the slab.
        blocks.free.extend((0..n_blocks).rev().map(|i| unsafe { start.add(i * self.block_bytes) }));
        true
    }

    /// Bytes taken from the budget.
    pub(super) fn memory_bytes(&self) -> u64 {
        let blocks = self.lock();
        (blocks.slabs.len() * self.slab.size()) as u64 + blocks.list_bytes
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        self.budget.release(self.memory_bytes());
        for slab in self.lock().slabs.drain(..) {
            // SAFETY: allocated by `add_slab` with this layout; sets borrow the pool, so none of its blocks are in use.
            unsafe { dealloc(slab.as_ptr(), self.slab) };
        }
    }
}
