//! Reads rows of a log in order, several transfers ahead.

use super::Blocks;
use crate::StorageError;
use crate::block_file::block;
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use lariat_disk::{AlignedBuffer, Pending};
use std::collections::VecDeque;
use std::ops::Range;

/// Rows of a log, a block at a time.
pub struct RowLogReader<'b> {
    blocks: Blocks,
    budget: &'b MemoryBudget,
    /// What is still to come.
    rows: Range<u64>,
    /// The blocks that come from memory, and the first one's number.
    tail: Option<(u64, AlignedBuffer<'b>)>,
    /// The blocks on disk that are to be read next, up to this one.
    next_read: u64,
    end_read: u64,
    buffers: usize,
    /// Transfers that were begun, each with its first block and its blocks.
    under_way: VecDeque<(Range<u64>, Pending<'b>)>,
    current: Option<(Range<u64>, AlignedBuffer<'b>)>,
    spare: Vec<AlignedBuffer<'b>>,
    /// Whether a manifest names the file.
    is_noted: bool,
}

impl<'b> RowLogReader<'b> {
    pub(super) fn new(
        blocks: Blocks,
        rows: Range<u64>,
        tail: Option<(u64, AlignedBuffer<'b>)>,
        buffers: usize,
        budget: &'b MemoryBudget,
    ) -> Self {
        let end = if rows.is_empty() { 0 } else { blocks.block_of(rows.end - 1) + 1 };
        let end_read = tail.as_ref().map_or(end, |(first, _)| end.min(*first));
        Self {
            next_read: blocks.block_of(rows.start),
            end_read,
            blocks,
            budget,
            rows,
            tail,
            buffers: buffers.max(1),
            under_way: VecDeque::new(),
            current: None,
            spare: Vec::new(),
            is_noted: false,
        }
    }

    pub(super) fn noted(mut self, is_noted: bool) -> Self {
        self.is_noted = is_noted;
        self
    }

    /// Whether a manifest names the file, so that it must stay until another one is published.
    pub fn is_noted(&self) -> bool {
        self.is_noted
    }

    /// How many rows are still to come.
    pub fn rows_left(&self) -> u64 {
        self.rows.end - self.rows.start
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.blocks.name
    }

    /// Whether there is a file.
    pub fn has_file(&self) -> bool {
        self.blocks.file.is_some()
    }

    /// The next rows, up to the end of a block; none at the end.
    pub fn next_rows(&mut self) -> Result<Rows<'_>, StorageError> {
        self.take_rows(usize::MAX)
    }

    /// The next rows, at most `n_max`, up to the end of a block; none at the end.
    pub fn take_rows(&mut self, n_max: usize) -> Result<Rows<'_>, StorageError> {
        let width = self.blocks.options.row_bytes;
        if self.rows.is_empty() {
            self.finish();
            return Ok(Rows::new(&[], width));
        }
        let (start, number) = (self.rows.start, self.blocks.block_of(self.rows.start));
        let end = self.blocks.first_row_of(number + 1).min(self.rows.end).min(start.saturating_add(n_max as u64));
        let from_tail = self.tail.as_ref().is_some_and(|(first, _)| number >= *first);
        if !from_tail && !self.current.as_ref().is_some_and(|(blocks, _)| blocks.contains(&number)) {
            self.next_transfer()?;
        }
        self.rows.start = end;
        let (first, buffer) = match (&self.tail, &self.current) {
            (Some((first, buffer)), _) if from_tail => (*first, buffer),
            (_, Some((blocks, buffer))) => (blocks.start, buffer),
            _ => return Ok(Rows::new(&[], width)),
        };
        let place = self.blocks.place(start, first);
        Ok(Rows::new(&buffer[place..place + (end - start) as usize * width], width))
    }

    /// Waits for the next transfer, checks its blocks, and begins others.
    fn next_transfer(&mut self) -> Result<(), StorageError> {
        self.spare.extend(self.current.take().map(|(_, buffer)| buffer));
        self.read_ahead()?;
        let Some((numbers, pending)) = self.under_way.pop_front() else {
            return Ok(());
        };
        let buffer = pending.wait().buffer()?;
        let size = self.blocks.options.block_bytes;
        for (number, bytes) in numbers.clone().zip(buffer.chunks(size)) {
            self.blocks.check(bytes, number, self.rows.end)?;
        }
        self.current = Some((numbers, buffer));
        self.read_ahead()
    }

    fn read_ahead(&mut self) -> Result<(), StorageError> {
        let options = self.blocks.options;
        let held = usize::from(self.current.is_some());
        while self.next_read < self.end_read && self.under_way.len() + held < self.buffers {
            let Some(file) = &self.blocks.file else {
                return Err(StorageError::corrupt(&self.blocks.name, 0, "a file", "none"));
            };
            let numbers = self.next_read..(self.next_read + options.blocks_at_once as u64).min(self.end_read);
            let buffer = match self.spare.pop() {
                Some(buffer) => buffer,
                None => AlignedBuffer::new(options.transfer_bytes(), self.budget)?,
            };
            let bytes = (numbers.end - numbers.start) as usize * options.block_bytes;
            let pending = file.read(buffer, self.blocks.at(numbers.start), bytes);
            self.next_read = numbers.end;
            self.under_way.push_back((numbers, pending));
        }
        Ok(())
    }

    /// Gives all memory back.
    fn finish(&mut self) {
        self.tail = None;
        self.current = None;
        self.spare.clear();
    }
}

/// The row at a place of a block that was checked.
pub(super) fn row_in_block(bytes: &[u8], place: usize, width: usize) -> &[u8] {
    let at = block::HEADER_BYTES + place * width;
    &bytes[at..at + width]
}
