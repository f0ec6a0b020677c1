//! Reads a run as a stream of rows.
//!
//! # Cost
//! `buffers` blocks and one group of decoded rows. One read for each block that is not skipped; groups that are skipped are not decoded.

use super::group::{Group, Widths};
use super::index::Run;
use crate::block_file::BlockReader;
use crate::key::{Key, Value};
use crate::stream::{RowStream, first_not_below};
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;

/// The rows of a run, in order.
pub struct RunReader<'b, K: Key, V: Value = ()> {
    run: Run<'b, K>,
    widths: Widths,
    blocks: BlockReader<'b>,
    /// Where the next group begins in the current block, and how many rows of the block are in groups not taken yet.
    place: usize,
    rows_left: u32,
    /// The group that was decoded last, and what of it is still to come.
    keys: ReservedVec<'b, K>,
    values: ReservedVec<'b, V>,
    from: usize,
    to: usize,
    /// Rows below this key are to be left out; none if that is done.
    start: Option<K>,
    /// Rows from this key on do not come.
    end: Option<K>,
}

impl<'b, K: Key, V: Value> RunReader<'b, K, V> {
    /// All rows, with `buffers` blocks in memory.
    pub fn new(run: &Run<'b, K>, buffers: usize, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let file = run.file();
        let value_bytes = file.shape.value_bytes;
        let fits = if V::default().to_word().is_some() { V::BYTES == value_bytes } else { V::BYTES >= value_bytes };
        if !fits || (V::BYTES == 0 && value_bytes > 0) {
            let (expected, got) = (format!("values of {} bytes", V::BYTES), format!("values of {value_bytes}"));
            return Err(StorageError::Shape { file: file.name().to_owned(), expected, got });
        }
        Ok(Self {
            widths: run.widths(),
            blocks: BlockReader::new(file.clone(), file.row_blocks(), buffers, budget).keeping(run.kept()),
            run: run.clone(),
            place: 0,
            rows_left: 0,
            keys: ReservedVec::new(budget),
            values: ReservedVec::new(budget),
            from: 0,
            to: 0,
            start: None,
            end: None,
        })
    }

    /// Only the rows from `from` on and below `to` come. For a reader that has not begun; it begins to read.
    pub fn limit_to(&mut self, from: Option<K>, to: Option<K>) -> Result<(), StorageError> {
        (self.start, self.end) = (from, to);
        let first_block = from.map_or(0, |from| self.run.block_of(from));
        let end_block = to.map_or(u64::MAX, |to| self.run.block_of(to) + 1);
        self.blocks.jump(first_block, end_block);
        self.begin()
    }

    /// Begins to read, so that the first rows are there when they are asked for.
    pub fn begin(&mut self) -> Result<(), StorageError> {
        self.blocks.read_ahead()
    }

    /// Decodes the next group; false at the end.
    fn next_group(&mut self) -> Result<bool, StorageError> {
        (self.from, self.to) = (0, 0);
        while self.rows_left == 0 {
            if !self.next_block()? {
                return Ok(false);
            }
        }
        let Some((block, at)) = self.blocks.current() else {
            return Ok(false);
        };
        let group_rows = self.run.file().shape.group_rows;
        let group = Group::at(block.contents, self.place, self.widths, group_rows);
        let Some(group) = group.filter(|group| group.rows <= self.rows_left as usize) else {
            return Err(self.damaged(at, "a group of rows", "something else"));
        };
        if !group.decode(self.widths, &mut self.keys, &mut self.values)? {
            return Err(self.damaged(at, "rows as they are encoded", "something else"));
        }
        self.place += group.bytes;
        self.rows_left -= group.rows as u32;
        self.to = group.rows;
        if let Some(end) = self.end
            && self.keys[self.to - 1] >= end
        {
            self.to = first_not_below(&self.keys[..self.to], 0, end);
            self.rows_left = 0;
            self.blocks.jump(u64::MAX, 0);
        }
        Ok(true)
    }

    fn next_block(&mut self) -> Result<bool, StorageError> {
        let number = self.blocks.next_number();
        if !self.blocks.advance()? {
            return Ok(false);
        }
        self.place = 0;
        if let Some((block, at)) = self.blocks.current() {
            self.rows_left = block.items;
            let expected = self.run.rows_before(number + 1) - self.run.rows_before(number);
            if u64::from(block.items) != expected {
                return Err(self.damaged(at, &format!("{expected} rows in a block"), &block.items.to_string()));
            }
        }
        Ok(true)
    }

    fn damaged(&self, at: u64, expected: &str, got: &str) -> StorageError {
        let offset = at + self.place as u64;
        StorageError::corrupt(self.run.name(), offset, expected, got)
    }

    /// Goes on to the last group that begins at the key or before, without decoding those between.
    fn skip_groups(&mut self, key: K) -> Result<(), StorageError> {
        let next = self.blocks.next_number();
        if self.run.first_of(next).is_some_and(|first| first <= key) {
            let block = self.run.block_of(key);
            let end = self.end.map_or(u64::MAX, |end| self.run.block_of(end) + 1);
            self.blocks.jump(block, end);
            self.rows_left = 0;
            if !self.next_block()? {
                return Ok(());
            }
        }
        let Some((block, _)) = self.blocks.current() else {
            return Ok(());
        };
        let group_rows = self.run.file().shape.group_rows;
        let group_at = |place| Group::<K>::at(block.contents, place, self.widths, group_rows);
        // What is damaged is found when the group is decoded.
        while let Some(group) = group_at(self.place).filter(|group| (group.rows as u32) < self.rows_left) {
            let following = self.place + group.bytes;
            if group_at(following).is_none_or(|following| following.first > key) {
                break;
            }
            self.place = following;
            self.rows_left -= group.rows as u32;
        }
        Ok(())
    }
}

impl<K: Key, V: Value> RowStream<K, V> for RunReader<'_, K, V> {
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        if let Some(start) = self.start {
            self.skip_to(start)?;
        }
        while self.from == self.to {
            if !self.next_group()? {
                break;
            }
        }
        Ok((&self.keys[self.from..self.to], &self.values[self.from..self.to]))
    }

    fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.to - self.from, "only what there is can be consumed");
        self.from += n;
    }

    fn skip_to(&mut self, key: K) -> Result<(), StorageError> {
        let key = self.start.take().map_or(key, |start| start.max(key));
        if self.from < self.to && self.keys[self.to - 1] >= key {
            self.from = first_not_below(&self.keys[..self.to], self.from, key);
            return Ok(());
        }
        self.from = self.to;
        self.skip_groups(key)?;
        while self.next_group()? {
            if self.to > 0 && self.keys[self.to - 1] >= key {
                self.from = first_not_below(&self.keys[..self.to], 0, key);
                break;
            }
        }
        Ok(())
    }
}
