//! The rows and the lines of a segment, in blocks of a pool.
//!
//! # Invariants
//! 1. `starts` are blocks of the pool that the owner passes, whose size fits, and which nobody else has.

#![expect(unsafe_code, reason = "blocks are plain memory")]

use super::line::Line;
use super::pool::Pool;
use std::ptr::NonNull;

/// Rows, one after the other in each block.
pub(super) struct RowBlocks {
    width: u32,
    /// A block has room for as many rows as this power of two.
    rows_log: u32,
    starts: Vec<NonNull<u8>>,
}

/// Lines, one after the other in each block.
#[derive(Default)]
pub(super) struct LineBlocks {
    starts: Vec<NonNull<u8>>,
}

// SAFETY: the blocks belong to this value alone.
unsafe impl Send for RowBlocks {}
// SAFETY: shared references only read.
unsafe impl Sync for RowBlocks {}
// SAFETY: the blocks belong to this value alone.
unsafe impl Send for LineBlocks {}
// SAFETY: shared references only read.
unsafe impl Sync for LineBlocks {}

/// By how many blocks a list of them grows at least.
const LIST_GROWTH: usize = 16;

/// Gives `starts` so many blocks; false if there is no memory for them.
fn resize(starts: &mut Vec<NonNull<u8>>, n_blocks: usize, pool: &Pool<'_>) -> bool {
    if n_blocks < starts.len() {
        pool.give_back(starts.drain(n_blocks..));
    }
    if n_blocks > starts.capacity() {
        let capacity = n_blocks.next_multiple_of(LIST_GROWTH);
        if !pool.reserve_list((capacity - starts.capacity()) * size_of::<NonNull<u8>>()) {
            return false;
        }
        starts.reserve_exact(capacity - starts.len());
    }
    pool.take(n_blocks - starts.len(), starts)
}

/// A block of rows is no larger than this, unless [`ROWS_LOG_MIN`] asks for it.
const ROW_BLOCK_BYTES: usize = 16 << 10;
/// A block has room for at least and at most as many rows as these powers of two: the list of blocks is not to weigh much, nor what is
/// empty in the last one of each segment.
const ROWS_LOG_MIN: u32 = 3;
const ROWS_LOG_MAX: u32 = 8;

impl RowBlocks {
    pub(super) fn new(width: usize) -> Self {
        Self { width: width as u32, rows_log: Self::rows_log(width), starts: Vec::new() }
    }

    fn rows_log(width: usize) -> u32 {
        (ROW_BLOCK_BYTES / width).max(1).ilog2().clamp(ROWS_LOG_MIN, ROWS_LOG_MAX)
    }

    pub(super) fn block_bytes(width: usize) -> usize {
        (width << Self::rows_log(width)).next_multiple_of(64)
    }

    #[inline(always)]
    fn width(&self) -> usize {
        self.width as usize
    }

    /// Rows that there is room for.
    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.starts.len() << self.rows_log
    }

    /// The place of a row in its block.
    #[inline(always)]
    fn place_in_block(&self, place: usize) -> usize {
        place & ((1 << self.rows_log) - 1)
    }

    /// Makes room for `n_rows`, and not for many more; false if there is no memory for them.
    pub(super) fn resize(&mut self, n_rows: usize, pool: &Pool<'_>) -> bool {
        resize(&mut self.starts, n_rows.div_ceil(1 << self.rows_log), pool)
    }

    #[inline(always)]
    fn address(&self, place: usize) -> *mut u8 {
        // SAFETY: the row lies in its block, which has room for so many rows.
        unsafe { self.starts[place >> self.rows_log].as_ptr().add(self.place_in_block(place) * self.width()) }
    }

    /// Where a row is, for fetching it ahead of its use.
    #[inline(always)]
    pub(super) fn glance(&self, place: usize) -> *const u8 {
        self.address(place)
    }

    #[inline(always)]
    pub(super) fn row(&self, place: usize) -> &[u8] {
        // SAFETY: all of the row lies in its block, every byte of which was written before, and which is not changed while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.address(place), self.width()) }
    }

    #[inline(always)]
    pub(super) fn write(&mut self, place: usize, row: &[u8]) {
        assert!(row.len() == self.width());
        // SAFETY: all of the row lies in its block, which is borrowed by nobody, so that `row` is elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), self.address(place), self.width()) };
    }

    /// Copies a row to another place.
    #[inline(always)]
    pub(super) fn copy(&mut self, from: usize, to: usize) {
        // SAFETY: both rows lie in their blocks, which are borrowed by nobody.
        unsafe { std::ptr::copy(self.address(from), self.address(to), self.width()) };
    }
}

impl LineBlocks {
    pub(super) const LINES: usize = 1 << 4;

    pub(super) fn block_bytes() -> usize {
        Self::LINES * size_of::<Line>()
    }

    /// Makes room for `n_lines`; false if there is no memory for them.
    pub(super) fn resize(&mut self, n_lines: usize, pool: &Pool<'_>) -> bool {
        resize(&mut self.starts, n_lines.div_ceil(Self::LINES), pool)
    }

    #[inline(always)]
    fn address(&self, i: usize) -> *mut Line {
        // SAFETY: the line lies in its block, which has room for `LINES` lines, and begins at a multiple of their size.
        unsafe { self.starts[i / Self::LINES].as_ptr().cast::<Line>().add(i % Self::LINES) }
    }

    /// Where it is noted where a line is, for fetching that ahead of its use.
    #[inline(always)]
    pub(super) fn glance(&self, i: usize) -> *const NonNull<u8> {
        &raw const self.starts[i / Self::LINES]
    }

    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> &Line {
        // SAFETY: the line lies in its block, every byte of which was written before; any bytes are a line.
        unsafe { &*self.address(i) }
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, i: usize) -> &mut Line {
        // SAFETY: as for `get`, and borrowed by nobody else.
        unsafe { &mut *self.address(i) }
    }
}
