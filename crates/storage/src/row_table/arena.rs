//! Rows in chunks of memory that never move.
//!
//! Writers reserve *blocks* of consecutive rows and fill them from the front; which rows of a block are filled is noted per
//! block, so that the table can be rebuilt from the rows alone.

#![expect(unsafe_code, reason = "rows are written by one thread and read by others without a lock")]

use super::TableFull;
use super::zeroed::zeroed_bytes;
use crate::hash::rows_equal;
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The number of a stored row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowId(pub(super) u32);

impl RowId {
    /// The number, for arrays that are kept beside the table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Consecutive rows that are complete; only writers make spans, and what they cover never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSpan {
    first: u32,
    n_rows: u32,
}

impl RowSpan {
    pub(super) fn single(id: RowId) -> Self {
        Self { first: id.0, n_rows: 1 }
    }

    /// Takes the next row into the span, unless that is another block's.
    pub(super) fn extend(&mut self, id: RowId, rows_per_block: u32) -> bool {
        let next = self.first + self.n_rows == id.0 && self.first / rows_per_block == id.0 / rows_per_block;
        self.n_rows += u32::from(next);
        next
    }

    /// How many rows it covers.
    pub fn n_rows(self) -> usize {
        self.n_rows as usize
    }

    /// The numbers of its rows.
    pub fn ids(self) -> impl Iterator<Item = RowId> {
        (self.first..self.first + self.n_rows).map(RowId)
    }
}

/// The rows of a block that a writer has not used yet.
#[derive(Default)]
pub(super) struct Block {
    next: u32,
    end: u32,
}

/// Bytes of a chunk that one thread writes while others read parts that were published.
struct Chunk(Box<[UnsafeCell<u8>]>);

// SAFETY: a row is written by the one writer that owns its block, before it is published through an atomic slot or a
// `RowSpan`, and never after; readers touch published rows only. So no byte is written while another thread reads it.
unsafe impl Sync for Chunk {}
// SAFETY: a chunk is plain memory.
unsafe impl Send for Chunk {}

/// Chunks are small where the budget is; where it is not they are large enough for large pages. Their number is bounded, because the
/// system bounds the number of its mappings.
const CHUNK_BYTES: std::ops::RangeInclusive<u64> = 64 << 10..=8 << 20;
const CHUNKS_MAX: u64 = 1 << 14;
const BLOCK_ROWS_MAX: u32 = 256;

pub(super) struct Arena<'b> {
    width: usize,
    budget: &'b MemoryBudget,
    rows_per_chunk_log2: u32,
    rows_per_block: u32,
    chunks: Box<[OnceLock<Chunk>]>,
    /// For each block how many of its rows are filled.
    filled: Box<[OnceLock<Box<[AtomicU32]>>]>,
    /// The first row that no writer has reserved.
    next_row: Mutex<u64>,
}

impl<'b> Arena<'b> {
    pub(super) fn new(width: usize, budget: &'b MemoryBudget) -> Self {
        let chunk_bytes =
            (budget.max() / 256).clamp(*CHUNK_BYTES.start(), *CHUNK_BYTES.end()).max(budget.max() / CHUNKS_MAX);
        let rows = (chunk_bytes / width as u64).max(1);
        let rows_per_chunk_log2 = rows.ilog2();
        let rows_per_block = BLOCK_ROWS_MAX.min(1 << rows_per_chunk_log2);
        let bytes_of_chunk = (width as u64) << rows_per_chunk_log2;
        let by_budget = budget.max() / bytes_of_chunk + 1;
        let by_numbers = (1 << 32) >> rows_per_chunk_log2;
        let n_chunks = by_budget.min(by_numbers) as usize;
        Self {
            width,
            budget,
            rows_per_chunk_log2,
            rows_per_block,
            chunks: (0..n_chunks).map(|_| OnceLock::new()).collect(),
            filled: (0..n_chunks).map(|_| OnceLock::new()).collect(),
            next_row: Mutex::new(0),
        }
    }

    pub(super) fn rows_per_block(&self) -> u32 {
        self.rows_per_block
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.chunks.iter().filter(|c| c.get().is_some()).count() as u64 * self.chunk_cost()
    }

    fn chunk_cost(&self) -> u64 {
        let rows = 1u64 << self.rows_per_chunk_log2;
        rows * self.width as u64 + rows / u64::from(self.rows_per_block) * 4
    }

    /// Where a row begins. The row need not be complete.
    #[inline(always)]
    fn pointer(&self, id: u32) -> *mut u8 {
        let chunk = (id >> self.rows_per_chunk_log2) as usize;
        let row = (id & ((1 << self.rows_per_chunk_log2) - 1)) as usize;
        match self.chunks.get(chunk).and_then(OnceLock::get) {
            // Inside the chunk, since it has room for every row number below its end.
            Some(chunk) => UnsafeCell::raw_get(&raw const chunk.0[row * self.width]),
            None => unreachable!("row {id} was never reserved"),
        }
    }

    #[inline(always)]
    pub(super) fn published(&self, id: RowId) -> &[u8] {
        // SAFETY: ids come from slots that were read with Acquire after the writer's Release, or from the writer that made the
        // row, which hands them on after its Release; so the row is complete, and it never changes; its `width` bytes lie in
        // one chunk, which lives as long as the arena.
        unsafe { std::slice::from_raw_parts(self.pointer(id.0), self.width) }
    }

    #[inline(always)]
    pub(super) fn equals(&self, id: RowId, row: &[u8]) -> bool {
        rows_equal(self.published(id), row)
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, id: RowId) {
        crate::prefetch::prefetch_address(self.pointer(id.0));
    }

    pub(super) fn rows(&self, span: RowSpan) -> Rows<'_> {
        // SAFETY: a span covers complete rows of one block, which lies in one chunk; they never change.
        let bytes = unsafe { std::slice::from_raw_parts(self.pointer(span.first), span.n_rows as usize * self.width) };
        Rows::new(bytes, self.width)
    }

    /// Puts a row into the next free place of the block, without giving the place away yet.
    #[inline(always)]
    pub(super) fn write(&self, block: &mut Block, row: &[u8]) -> Result<RowId, TableFull> {
        if block.next == block.end {
            *block = self.reserve_block()?;
        }
        debug_assert_eq!(row.len(), self.width);
        // SAFETY: the place belongs to this writer's block and was not published, so nobody else touches it; it has
        // `width` bytes, as `row` has.
        unsafe { std::ptr::copy_nonoverlapping(row.as_ptr(), self.pointer(block.next), self.width) };
        Ok(RowId(block.next))
    }

    /// Gives the place of the row written last to that row for good.
    #[inline(always)]
    pub(super) fn keep_written(&self, block: &mut Block) {
        let in_chunk = block.next & ((1 << self.rows_per_chunk_log2) - 1);
        let chunk = (block.next >> self.rows_per_chunk_log2) as usize;
        if let Some(filled) = self.filled[chunk].get() {
            // Only this writer changes the count; the table's lock makes it visible to whoever rebuilds the table.
            let count = in_chunk % self.rows_per_block + 1;
            filled[(in_chunk / self.rows_per_block) as usize].store(count, Ordering::Relaxed);
        }
        block.next += 1;
    }

    fn reserve_block(&self) -> Result<Block, TableFull> {
        let mut next_row = self.next_row.lock().unwrap_or_else(PoisonError::into_inner);
        let first = *next_row;
        let chunk = (first >> self.rows_per_chunk_log2) as usize;
        if first + u64::from(self.rows_per_block) >= u64::from(u32::MAX) {
            return Err(TableFull::Numbers);
        }
        if chunk >= self.chunks.len() {
            return Err(TableFull::Memory);
        }
        if self.chunks[chunk].get().is_none() {
            self.allocate_chunk(chunk)?;
        }
        *next_row += u64::from(self.rows_per_block);
        Ok(Block { next: first as u32, end: first as u32 + self.rows_per_block })
    }

    fn allocate_chunk(&self, chunk: usize) -> Result<(), TableFull> {
        self.budget.reserve(self.chunk_cost()).map_err(|_| TableFull::Memory)?;
        let n_bytes = self.width << self.rows_per_chunk_log2;
        let Some(bytes) = zeroed_bytes(n_bytes) else {
            self.budget.release(self.chunk_cost());
            return Err(TableFull::Memory);
        };
        let n_blocks = (1usize << self.rows_per_chunk_log2) / self.rows_per_block as usize;
        let filled = (0..n_blocks).map(|_| AtomicU32::new(0)).collect();
        // Nobody else sets them: the lock on `next_row` is held.
        let _ = self.filled[chunk].set(filled);
        let _ = self.chunks[chunk].set(Chunk(bytes));
        Ok(())
    }

    /// All rows that are complete. No writer may be at work.
    pub(super) fn filled_spans(&self) -> impl Iterator<Item = RowSpan> {
        self.filled.iter().enumerate().filter_map(|(chunk, filled)| Some((chunk, filled.get()?))).flat_map(
            move |(chunk, filled)| {
                filled.iter().enumerate().filter_map(move |(block, count)| {
                    let n_rows = count.load(Ordering::Relaxed);
                    let first = ((chunk << self.rows_per_chunk_log2) + block * self.rows_per_block as usize) as u32;
                    (n_rows > 0).then_some(RowSpan { first, n_rows })
                })
            },
        )
    }
}

impl Drop for Arena<'_> {
    fn drop(&mut self) {
        self.budget.release(self.memory_bytes());
    }
}
