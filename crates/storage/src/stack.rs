//! A stack of rows: the top is in memory, the bottom may be on disk.
//!
//! When its memory is full, the lowest part of what is in memory goes to disk; when nothing is left in memory, the part that went last comes back.
//! Both are the same fraction of the memory, neither nothing nor all of it: after either, the stack can grow and shrink for a while before
//! the next transfer, so that a search that goes up and down at an edge does not move rows to and fro each time.
//!
//! # Paper
//! Wu et al., *An I/O efficient model checking algorithm for large-scale systems*: dynamic path management (DPM). `rho` is the fraction, `tableP` the
//! file, Mem-Disk `spill`, Disk-Mem `refill`. Whole blocks are moved, so the fraction is rounded to blocks.
//!
//! A search can publish a stack: what went to disk is never written again, so that only what is in memory must be written then ([`RowStack::note`]).
//!
//! # Invariants
//! 1. The block at the bottom of memory is block `n_spilled`; every block but the topmost is full.
//! 2. If there are rows at all, the topmost is in memory.
//! 3. What went to disk together is a file, which comes back as a whole, and is not changed before it is removed.
//!
//! # Cost
//! The blocks of its memory. One read and one write of each block for every `rho * memory` rows that the height changes, at most.
//!
//! # Format
//! `docs/formats.md`, plain blocks.

use crate::block_file::block;
use crate::{Manifest, ManifestFile, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, Disk, DiskFile, FileKind, PAGE_BYTES, Pending};
use std::collections::VecDeque;
use std::sync::Arc;

/// Blocks of more bytes are not faster.
const BLOCK_BYTES_MAX: usize = 128 << 10;
/// With fewer blocks there would be no fraction.
const BLOCKS_MIN: usize = 4;

/// Blocks that went to disk together.
struct Piece {
    file: Arc<dyn DiskFile>,
    blocks: usize,
}

/// A stack of rows of one width.
pub struct RowStack<'b> {
    disk: &'b dyn Disk,
    budget: &'b MemoryBudget,
    name: String,
    /// What is on disk, the lowest one first, and how many files there were.
    pieces: Vec<Piece>,
    n_files: u64,
    /// Whether files stay when they are not needed: a manifest may name them.
    keeps_files: bool,
    row_bytes: usize,
    block_bytes: usize,
    rows_per_block: usize,
    blocks_max: usize,
    /// Blocks that go at once, and the fraction that they are.
    blocks_moved: usize,
    rho: f64,
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
            pieces: Vec::new(),
            n_files: 0,
            keeps_files: false,
            row_bytes,
            block_bytes,
            rows_per_block: block::capacity(block_bytes) / row_bytes,
            blocks_max,
            blocks_moved: moved.clamp(1, blocks_max - 1),
            rho,
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
            self.spill(self.blocks_moved)?;
        }
        let block = match self.spare.pop() {
            Some(block) => Ok(block),
            None => AlignedBuffer::new(self.block_bytes, self.budget),
        };
        match block {
            Ok(block) => {
                if self.blocks.is_empty() && self.spare.is_empty() {
                    // With a second one it can always go on, whatever others take.
                    self.spare.extend(AlignedBuffer::new(self.block_bytes, self.budget));
                }
                self.blocks.push_back(block);
            }
            // Others have taken the memory meanwhile: it makes do with what it has.
            Err(_) if self.blocks.len() > 1 => {
                self.spill(self.blocks_moved.min(self.blocks.len() - 1))?;
                self.blocks.extend(self.spare.pop());
            }
            Err(error) => return Err(error.into()),
        }
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

    /// The blocks that are in memory.
    pub fn memory_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The bytes of a block.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Moves the fraction `rho` of what is in memory to disk, if that is a block, and gives its memory back: for stacks that share memory.
    pub fn spill_lowest(&mut self) -> Result<(), StorageError> {
        let n = (self.blocks.len() as f64 * self.rho).round() as usize;
        let n = n.max(1).min(self.blocks.len().saturating_sub(1));
        if n > 0 {
            self.spill(n)?;
        }
        self.spare.clear();
        Ok(())
    }

    /// Files stay when they are not needed any more, since a manifest may name them; who publishes it removes them.
    pub fn keep_files(&mut self) {
        self.keeps_files = true;
    }

    fn next_file(&mut self) -> Result<Arc<dyn DiskFile>, StorageError> {
        let name = format!("{}-{}", self.name, self.n_files);
        self.n_files += 1;
        Ok(self.disk.create(&name, FileKind::Stack)?)
    }

    /// Moves the lowest blocks in memory to disk.
    fn spill(&mut self, n_blocks: usize) -> Result<(), StorageError> {
        let file = self.next_file()?;
        let used = self.rows_per_block * self.row_bytes;
        let mut writes = Vec::with_capacity(n_blocks);
        for (place, mut buffer) in self.blocks.drain(..n_blocks).enumerate() {
            block::seal(&mut buffer, self.n_spilled, used, self.rows_per_block as u32, false, self.block_bytes);
            writes.push(file.write(buffer, (place * self.block_bytes) as u64, self.block_bytes));
            self.n_spilled += 1;
        }
        for write in writes {
            self.spare.push(write.wait().buffer()?);
        }
        self.pieces.push(Piece { file, blocks: n_blocks });
        Ok(())
    }

    /// Brings the blocks back that went last.
    fn refill(&mut self) -> Result<(), StorageError> {
        let Some(piece) = self.pieces.pop() else {
            return Ok(());
        };
        let mut reads: Vec<Pending<'b>> = Vec::with_capacity(piece.blocks);
        for place in 0..piece.blocks {
            let buffer = match self.spare.pop() {
                Some(buffer) => buffer,
                None => AlignedBuffer::new(self.block_bytes, self.budget)?,
            };
            reads.push(piece.file.read(buffer, (place * self.block_bytes) as u64, self.block_bytes));
        }
        self.n_spilled -= piece.blocks as u64;
        for (number, read) in (self.n_spilled..).zip(reads) {
            let buffer = read.wait().buffer()?;
            self.check(&buffer, number, &piece.file, self.rows_per_block)?;
            self.blocks.push_back(buffer);
        }
        if !self.keeps_files {
            let name = piece.file.name().to_owned();
            drop(piece);
            self.disk.remove(&name)?;
        }
        Ok(())
    }

    /// Writes what is in memory to a file of its own, and notes all files under a role.
    pub fn note(&mut self, manifest: &mut Manifest, role: &str) -> Result<(), StorageError> {
        manifest.set_number(&format!("{role}-block-bytes"), self.block_bytes as u64);
        manifest.set_number(&format!("{role}-top-rows"), self.top_rows as u64);
        for piece in &self.pieces {
            piece.file.sync()?;
            add_file(manifest, role, &piece.file, piece.blocks);
        }
        if !self.blocks.is_empty() {
            let file = self.next_file()?;
            let last = self.blocks.len() - 1;
            for (place, buffer) in self.blocks.iter().enumerate() {
                let rows = if place == last { self.top_rows } else { self.rows_per_block };
                let mut copy = AlignedBuffer::new(self.block_bytes, self.budget)?;
                copy[..self.block_bytes].copy_from_slice(&buffer[..self.block_bytes]);
                let number = self.n_spilled + place as u64;
                block::seal(&mut copy, number, rows * self.row_bytes, rows as u32, false, self.block_bytes);
                file.write(copy, (place * self.block_bytes) as u64, self.block_bytes).wait().result?;
            }
            file.sync()?;
            add_file(manifest, &format!("{role}-top"), &file, self.blocks.len());
        }
        manifest.set_number(&format!("{role}-files"), self.n_files);
        Ok(())
    }

    /// Takes up what was noted under a role, in place of what the stack has, which must be nothing.
    pub fn take_up(&mut self, manifest: &Manifest, role: &str) -> Result<(), StorageError> {
        let number = |what: &str| manifest.number(&format!("{role}-{what}"));
        self.n_files = number("files")?;
        let memory_bytes = self.blocks_max * self.block_bytes;
        self.block_bytes = number("block-bytes")? as usize;
        self.rows_per_block = block::capacity(self.block_bytes) / self.row_bytes;
        self.blocks_max = (memory_bytes / self.block_bytes).max(BLOCKS_MIN);
        self.blocks_moved = ((self.blocks_max as f64 * self.rho).round() as usize).clamp(1, self.blocks_max - 1);
        for file in manifest.files_of(role) {
            let blocks = file.rows as usize;
            self.pieces.push(Piece { file: self.disk.open(&file.name, FileKind::Stack)?, blocks });
            self.n_spilled += blocks as u64;
        }
        for top in manifest.files_of(&format!("{role}-top")) {
            let file = self.disk.open(&top.name, FileKind::Stack)?;
            for place in 0..top.rows {
                let buffer = AlignedBuffer::new(self.block_bytes, self.budget)?;
                let buffer = file.read(buffer, place * self.block_bytes as u64, self.block_bytes).wait().buffer()?;
                let rows = if place + 1 == top.rows { number("top-rows")? as usize } else { self.rows_per_block };
                self.check(&buffer, self.n_spilled + place, &file, rows)?;
                self.blocks.push_back(buffer);
            }
            self.top_rows = number("top-rows")? as usize;
        }
        Ok(())
    }

    fn check(&self, buffer: &[u8], number: u64, file: &Arc<dyn DiskFile>, expected: usize) -> Result<(), StorageError> {
        block::check(&buffer[..self.block_bytes], number, file.name(), 0)?;
        let rows = block::view(&buffer[..self.block_bytes]).map_or(0, |block| block.items as usize);
        if rows != expected {
            return Err(StorageError::corrupt(file.name(), 0, format_args!("{expected} rows"), rows));
        }
        Ok(())
    }

    /// Calls `visit` with every row, the lowest one first.
    pub fn for_each(&self, mut visit: impl FnMut(&[u8])) -> Result<(), StorageError> {
        let mut visit_block = |buffer: &[u8], rows: usize| {
            let contents = &buffer[block::HEADER_BYTES..][..rows * self.row_bytes];
            contents.chunks_exact(self.row_bytes).for_each(&mut visit);
        };
        let mut number = 0;
        for piece in &self.pieces {
            let mut buffer = AlignedBuffer::new(self.block_bytes, self.budget)?;
            for place in 0..piece.blocks {
                let at = (place * self.block_bytes) as u64;
                buffer = piece.file.read(buffer, at, self.block_bytes).wait().buffer()?;
                self.check(&buffer, number, &piece.file, self.rows_per_block)?;
                visit_block(&buffer, self.rows_per_block);
                number += 1;
            }
        }
        for (i, buffer) in self.blocks.iter().enumerate() {
            let is_top = i + 1 == self.blocks.len();
            visit_block(buffer, if is_top { self.top_rows } else { self.rows_per_block });
        }
        Ok(())
    }
}

fn add_file(manifest: &mut Manifest, role: &str, file: &Arc<dyn DiskFile>, blocks: usize) {
    let name = file.name().to_owned();
    manifest.add_file(ManifestFile { role: role.to_owned(), name, rows: blocks as u64, bytes: file.len() });
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
                if random.one_in(5) {
                    found.spill_lowest().unwrap();
                }
                if random.one_in(8) {
                    found.keep_files();
                    let mut manifest = Manifest::new();
                    found.note(&mut manifest, "stack").unwrap();
                    drop(found);
                    found = RowStack::new(&disk, "stack", width, 24 << 10, rho, &budget);
                    found.take_up(&manifest, "stack").unwrap();
                }
                let mut rows = Vec::new();
                found.for_each(|row| rows.push(row.to_vec())).unwrap();
                assert_eq!(rows, expected);
            }
            assert!(budget.peak() <= 24 << 10 | 4 << 10, "{}", budget.peak());
        }
    }

    #[test]
    fn goes_on_in_less_memory_when_others_have_taken_it() {
        let (budget, disk) = (MemoryBudget::new(1 << 20), FaultyDisk::default());
        let mut stack = RowStack::new(&disk, "stack", 8, 512 << 10, 0.5, &budget);
        stack.push(&0_u64.to_le_bytes()).unwrap();
        budget.reserve(budget.left()).unwrap();
        for i in 1..200_000_u64 {
            stack.push(&i.to_le_bytes()).unwrap();
        }
        for i in (0..200_000_u64).rev() {
            assert_eq!(stack.top(), Some(&i.to_le_bytes()[..]));
            assert!(stack.pop().unwrap());
        }
        assert!(stack.is_empty());
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
        let file = disk.open("stack-0", FileKind::Stack).unwrap();
        file.write(AlignedBuffer::new(1, &budget).unwrap(), 0, PAGE_BYTES).wait().result.unwrap();
        assert!(stack.for_each(|_| {}).is_err());
        let failure = std::iter::repeat_with(|| stack.pop()).find(|popped| !matches!(popped, Ok(true)));
        assert!(matches!(failure, Some(Err(StorageError::Corrupt { .. }))), "{failure:?}");
    }
}
