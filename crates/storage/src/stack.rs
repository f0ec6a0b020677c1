//! A stack of rows: the top is in memory, the bottom may be on disk.
//!
//! When its memory is full, the lowest part of what is in memory goes to disk; when nothing is left in memory, the part that went last comes back.
//! Both are the same fraction of the memory, neither nothing nor all of it: after either, the stack can grow and shrink for a while before
//! the next transfer, so that a search that goes up and down at an edge does not move rows to and fro each time.
//!
//! # Paper
//! Wu et al., *An I/O efficient model checking algorithm for large-scale systems*: dynamic path management (DPM). `rho` is the fraction, `tableP` the
//! file, Mem-Disk [`RowStack::spill`], Disk-Mem [`RowStack::refill`]. Whole blocks are moved, so the fraction is rounded to blocks.
//!
//! # Invariants
//! 1. The block at the bottom of memory is block `n_spilled`; every block but the topmost is full.
//! 2. If there are rows at all, the topmost is in memory.
//!
//! # Cost
//! The blocks of its memory. One read and one write of each block for every `rho * memory` rows that the height changes, at most.
//!
//! # Format
//! `docs/formats.md`, plain blocks.

use crate::StorageError;
use crate::block_file::block;
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, Disk, DiskFile, FileKind, PAGE_BYTES, Pending};
use std::collections::VecDeque;
use std::sync::Arc;

/// Blocks of more bytes are not faster.
const BLOCK_BYTES_MAX: usize = 128 << 10;
/// With fewer blocks there would be no fraction.
const BLOCKS_MIN: usize = 4;

/// A stack of rows of one width.
pub struct RowStack<'b> {
    disk: &'b dyn Disk,
    budget: &'b MemoryBudget,
    name: String,
    file: Option<Arc<dyn DiskFile>>,
    row_bytes: usize,
    block_bytes: usize,
    rows_per_block: usize,
    blocks_max: usize,
    /// Blocks that go or come at once.
    blocks_moved: usize,
    n_spilled: u64,
    /// The blocks in memory, the lowest one first.
    blocks: VecDeque<AlignedBuffer<'b>>,
    /// Rows in the topmost block.
    top_rows: usize,
    spare: Vec<AlignedBuffer<'b>>,
}

impl<'b> RowStack<'b> {
    /// An empty stack that takes up to `memory_bytes`, or as much as a few blocks need, and moves the fraction `rho` of it at once.
    pub fn new(
        disk: &'b dyn Disk,
        name: &str,
        row_bytes: usize,
        memory_bytes: usize,
        rho: f64,
        budget: &'b MemoryBudget,
    ) -> Self {
        let least = block::bytes_for(row_bytes).next_multiple_of(PAGE_BYTES);
        let wanted = (memory_bytes / 32 / PAGE_BYTES * PAGE_BYTES).min(BLOCK_BYTES_MAX);
        let block_bytes = wanted.max(least);
        let blocks_max = (memory_bytes / block_bytes).max(BLOCKS_MIN);
        let moved = (blocks_max as f64 * rho).round() as usize;
        Self {
            disk,
            budget,
            name: name.to_owned(),
            file: None,
            row_bytes,
            block_bytes,
            rows_per_block: block::capacity(block_bytes) / row_bytes,
            blocks_max,
            blocks_moved: moved.clamp(1, blocks_max - 1),
            n_spilled: 0,
            blocks: VecDeque::new(),
            top_rows: 0,
            spare: Vec::new(),
        }
    }

    /// How many rows it has.
    pub fn len(&self) -> u64 {
        let full = self.n_spilled + self.blocks.len().saturating_sub(1) as u64;
        full * self.rows_per_block as u64 + self.top_rows as u64
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn place(&self, row: usize) -> usize {
        block::HEADER_BYTES + row * self.row_bytes
    }

    /// Puts a row on top.
    pub fn push(&mut self, row: &[u8]) -> Result<(), StorageError> {
        debug_assert_eq!(row.len(), self.row_bytes);
        if self.blocks.is_empty() || self.top_rows == self.rows_per_block {
            self.begin_block()?;
        }
        let place = self.place(self.top_rows);
        if let Some(top) = self.blocks.back_mut() {
            top[place..place + row.len()].copy_from_slice(row);
            self.top_rows += 1;
        }
        Ok(())
    }

    fn begin_block(&mut self) -> Result<(), StorageError> {
        if self.blocks.len() == self.blocks_max {
            self.spill()?;
        }
        let block = match self.spare.pop() {
            Some(block) => block,
            None => AlignedBuffer::new(self.block_bytes, self.budget)?,
        };
        self.blocks.push_back(block);
        self.top_rows = 0;
        Ok(())
    }

    /// The row on top.
    pub fn top(&self) -> Option<&[u8]> {
        let place = self.place(self.top_rows.checked_sub(1)?);
        Some(&self.blocks.back()?[place..place + self.row_bytes])
    }

    /// The row on top, to be changed.
    pub fn top_mut(&mut self) -> Option<&mut [u8]> {
        let place = self.place(self.top_rows.checked_sub(1)?);
        let row_bytes = self.row_bytes;
        Some(&mut self.blocks.back_mut()?[place..place + row_bytes])
    }

    /// Takes the row on top away; false if there is none.
    pub fn pop(&mut self) -> Result<bool, StorageError> {
        if self.blocks.is_empty() {
            return Ok(false);
        }
        self.top_rows -= 1;
        if self.top_rows == 0 {
            self.spare.extend(self.blocks.pop_back());
            if self.blocks.is_empty() && self.n_spilled > 0 {
                self.refill()?;
            }
            self.top_rows = if self.blocks.is_empty() { 0 } else { self.rows_per_block };
        }
        Ok(true)
    }

    /// Moves the lowest blocks in memory to disk.
    fn spill(&mut self) -> Result<(), StorageError> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(self.disk.create(&self.name, FileKind::Stack)?).clone(),
        };
        let used = self.rows_per_block * self.row_bytes;
        let mut writes = Vec::with_capacity(self.blocks_moved);
        for mut buffer in self.blocks.drain(..self.blocks_moved) {
            let number = self.n_spilled;
            block::seal(&mut buffer, number, used, self.rows_per_block as u32, false, self.block_bytes);
            writes.push(file.write(buffer, number * self.block_bytes as u64, self.block_bytes));
            self.n_spilled += 1;
        }
        for write in writes {
            self.spare.push(write.wait().buffer()?);
        }
        Ok(())
    }

    /// Brings the highest blocks on disk back.
    fn refill(&mut self) -> Result<(), StorageError> {
        let Some(file) = self.file.clone() else {
            return Ok(());
        };
        let first = self.n_spilled.saturating_sub(self.blocks_moved as u64);
        let mut reads: Vec<Pending<'b>> = Vec::with_capacity(self.blocks_moved);
        for number in first..self.n_spilled {
            let buffer = match self.spare.pop() {
                Some(buffer) => buffer,
                None => AlignedBuffer::new(self.block_bytes, self.budget)?,
            };
            reads.push(file.read(buffer, number * self.block_bytes as u64, self.block_bytes));
        }
        for (number, read) in (first..).zip(reads) {
            let buffer = read.wait().buffer()?;
            self.check(&buffer, number)?;
            self.blocks.push_back(buffer);
        }
        self.n_spilled = first;
        Ok(())
    }

    fn check(&self, buffer: &[u8], number: u64) -> Result<(), StorageError> {
        let at = number * self.block_bytes as u64;
        block::check(&buffer[..self.block_bytes], number, &self.name, at)?;
        let rows = block::view(&buffer[..self.block_bytes]).map_or(0, |block| block.items as usize);
        if rows != self.rows_per_block {
            return Err(StorageError::corrupt(&self.name, at, format_args!("{} rows", self.rows_per_block), rows));
        }
        Ok(())
    }

    /// Calls `visit` with every row, the lowest one first.
    pub fn for_each(&self, mut visit: impl FnMut(&[u8])) -> Result<(), StorageError> {
        let mut visit_block = |buffer: &[u8], rows: usize| {
            let contents = &buffer[block::HEADER_BYTES..][..rows * self.row_bytes];
            contents.chunks_exact(self.row_bytes).for_each(&mut visit);
        };
        if let Some(file) = &self.file {
            let mut buffer = AlignedBuffer::new(self.block_bytes, self.budget)?;
            for number in 0..self.n_spilled {
                let at = number * self.block_bytes as u64;
                buffer = file.read(buffer, at, self.block_bytes).wait().buffer()?;
                self.check(&buffer, number)?;
                visit_block(&buffer, self.rows_per_block);
            }
        }
        for (i, buffer) in self.blocks.iter().enumerate() {
            let is_top = i + 1 == self.blocks.len();
            visit_block(buffer, if is_top { self.top_rows } else { self.rows_per_block });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use lariat_disk::FaultyDisk;

    #[test]
    fn behaves_like_a_stack_in_memory() {
        let mut random = Random::new(3);
        for _ in 0..60 {
            let disk = FaultyDisk::default();
            let width = [2, 7, 16, 300, 3000][random.below(5)];
            let rho = [0.02, 0.3, 0.5, 0.98][random.below(4)];
            let budget = MemoryBudget::new(64 << 10);
            let mut found = RowStack::new(&disk, "stack", width, 24 << 10, rho, &budget);
            let mut expected: Vec<Vec<u8>> = Vec::new();
            for round in 0..30 {
                for _ in 0..random.below(60_000 / width) {
                    if (round % 2 == 0) != random.one_in(4) {
                        let row: Vec<u8> = (0..width).map(|_| random.below(256) as u8).collect();
                        found.push(&row).unwrap();
                        expected.push(row);
                    } else {
                        assert_eq!(found.pop().unwrap(), expected.pop().is_some());
                    }
                    assert_eq!(found.top(), expected.last().map(Vec::as_slice));
                }
                if let (Some(found), Some(expected)) = (found.top_mut(), expected.last_mut()) {
                    found[0] = 77;
                    expected[0] = 77;
                }
                assert_eq!((found.len(), found.is_empty()), (expected.len() as u64, expected.is_empty()));
                let mut rows = Vec::new();
                found.for_each(|row| rows.push(row.to_vec())).unwrap();
                assert_eq!(rows, expected);
            }
            assert!(budget.peak() <= 24 << 10 | 4 << 10, "{}", budget.peak());
        }
    }

    /// Going up and down by one row, wherever that begins, moves blocks once at most.
    #[test]
    fn an_edge_does_not_dither() {
        let budget = MemoryBudget::new(1 << 20);
        let disk = FaultyDisk::default();
        let mut stack = RowStack::new(&disk, "stack", 8, 16 << 10, 0.5, &budget);
        let transfers = || disk.counters().total().reads() + disk.counters().total().writes();
        let turn = |stack: &mut RowStack<'_>| {
            let before = transfers();
            for i in 0..100_u64 {
                stack.push(&i.to_le_bytes()).unwrap();
                stack.pop().unwrap();
            }
            assert!(transfers() - before <= 2, "{} transfers", transfers() - before);
        };
        for i in 0..20_000_u64 {
            turn(&mut stack);
            stack.push(&i.to_le_bytes()).unwrap();
        }
        assert!(transfers() > 10);
        while !stack.is_empty() {
            turn(&mut stack);
            stack.pop().unwrap();
        }
    }

    #[test]
    fn a_damaged_block_is_an_error() {
        let budget = MemoryBudget::new(1 << 20);
        let disk = FaultyDisk::default();
        let mut stack = RowStack::new(&disk, "stack", 8, 16 << 10, 0.5, &budget);
        (0..5000_u64).for_each(|i| stack.push(&i.to_le_bytes()).unwrap());
        let file = disk.open("stack", FileKind::Stack).unwrap();
        file.write(AlignedBuffer::new(1, &budget).unwrap(), 0, PAGE_BYTES).wait().result.unwrap();
        assert!(stack.for_each(|_| {}).is_err());
        let failure = std::iter::repeat_with(|| stack.pop()).find(|popped| !matches!(popped, Ok(true)));
        assert!(matches!(failure, Some(Err(StorageError::Corrupt { .. }))), "{failure:?}");
    }
}
