//! Rows in chunks of memory that never move, one behind the other.

use super::TableFull;
use super::zeroed::zeroed_bytes;
use crate::hash::rows_equal;
use lariat_base::MemoryBudget;

/// The number of a stored row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowId(pub(super) u32);

impl RowId {
    /// The number, for arrays that are kept beside the table.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Chunks are small where the budget is; where it is not they are large enough for large pages. Their number is bounded, because the
/// system bounds the number of its mappings.
const CHUNK_BYTES: std::ops::RangeInclusive<u64> = 64 << 10..=8 << 20;
const CHUNKS_MAX: u64 = 1 << 14;

pub(super) struct Arena<'b> {
    width: usize,
    budget: &'b MemoryBudget,
    rows_per_chunk_log2: u32,
    chunks: Vec<Box<[u8]>>,
    n_rows: u32,
}

impl<'b> Arena<'b> {
    pub(super) fn new(width: usize, budget: &'b MemoryBudget) -> Self {
        let chunk_bytes =
            (budget.max() / 256).clamp(*CHUNK_BYTES.start(), *CHUNK_BYTES.end()).max(budget.max() / CHUNKS_MAX);
        let rows_per_chunk_log2 = (chunk_bytes / width as u64).max(1).ilog2();
        Self { width, budget, rows_per_chunk_log2, chunks: Vec::new(), n_rows: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        u64::from(self.n_rows)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.chunks.len() as u64 * self.chunk_bytes() as u64
    }

    fn chunk_bytes(&self) -> usize {
        self.width << self.rows_per_chunk_log2
    }

    /// The chunk of a row, and where the row begins there.
    #[inline(always)]
    fn place(&self, number: u32) -> (usize, usize) {
        let in_chunk = number & ((1 << self.rows_per_chunk_log2) - 1);
        ((number >> self.rows_per_chunk_log2) as usize, in_chunk as usize * self.width)
    }

    #[inline(always)]
    pub(super) fn row(&self, id: RowId) -> &[u8] {
        let (chunk, start) = self.place(id.0);
        &self.chunks[chunk][start..start + self.width]
    }

    #[inline(always)]
    pub(super) fn equals(&self, id: RowId, row: &[u8]) -> bool {
        rows_equal(self.row(id), row)
    }

    /// All rows in the order of their numbers.
    pub(super) fn rows(&self) -> impl Iterator<Item = (RowId, &[u8])> {
        let rows = self.chunks.iter().flat_map(|chunk| chunk.chunks_exact(self.width));
        (0..self.n_rows).map(RowId).zip(rows)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, row: &[u8]) -> Result<RowId, TableFull> {
        let id = RowId(self.n_rows);
        let (chunk, start) = self.place(id.0);
        if chunk == self.chunks.len() {
            self.add_chunk()?;
        }
        self.chunks[chunk][start..start + self.width].copy_from_slice(row);
        self.n_rows += 1;
        Ok(id)
    }

    #[cold]
    fn add_chunk(&mut self) -> Result<(), TableFull> {
        let bytes = self.chunk_bytes();
        if self.len() + (1 << self.rows_per_chunk_log2) >= u64::from(u32::MAX) {
            return Err(TableFull::Numbers);
        }
        self.budget.reserve(bytes as u64).map_err(|_| TableFull::Memory)?;
        let Some(chunk) = zeroed_bytes(bytes) else {
            self.budget.release(bytes as u64);
            return Err(TableFull::Memory);
        };
        self.chunks.push(chunk);
        Ok(())
    }
}

impl Drop for Arena<'_> {
    fn drop(&mut self) {
        self.budget.release(self.memory_bytes());
    }
}
