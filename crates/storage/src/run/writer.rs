//! Writes a run: rows come in order, are gathered into groups, and groups into blocks.
//!
//! # Cost
//! `buffers` times `blocks_at_once` blocks, two groups of rows, what the encoder needs for one, and the index.

use super::group::{Widths, put_group};
use super::index::{Index, Run, write_index};
use super::literals::AT_ONCE;
use super::repeats::{GROUP_ROWS_MAX, KeyEncoder};
use crate::block_file::{BlockFileKind, BlockWriter, Buffers, EndingFile, FileShape};
use crate::key::{Key, Value};
use crate::{Reservation, ReservedVec, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind, PAGE_BYTES};
use std::ops::Range;

/// A group that is cut to fill the rest of a block has at least this many rows.
const ROWS_TO_FILL: usize = 64;

/// The shape of a run and what its writer may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Bytes of a row's value; 0 for none.
    pub value_bytes: usize,
    /// Bytes of a block, which is what is read at once: whole pages.
    pub block_bytes: usize,
    /// The most rows that are compressed together, and that a reader has decoded. More compress better.
    pub group_rows: usize,
    /// The blocks that a writer has in memory.
    pub buffers: usize,
    /// Blocks that it writes at once; then it has that many times as many in memory.
    pub blocks_at_once: usize,
}

impl RunOptions {
    /// A shape for rows without values, for a budget that is not tight.
    pub fn new(row_bytes: usize) -> Self {
        // Rows that are decoded together should stay in the processor's second cache.
        let group_rows = ((128 << 10) / row_bytes.next_power_of_two().max(8)).max(64);
        Self { row_bytes, value_bytes: 0, block_bytes: 128 << 10, group_rows, buffers: 4, blocks_at_once: 1 }
    }

    /// The same with values.
    pub fn with_values(self, value_bytes: usize) -> Self {
        Self { value_bytes, ..self }
    }

    /// A shape such that a writer takes at most `memory_bytes`, if that is not very little, and a reader somewhat less. The index, which grows
    /// with the run, comes to it.
    pub fn within(row_bytes: usize, value_bytes: usize, memory_bytes: usize) -> Self {
        let best = Self::new(row_bytes).with_values(value_bytes);
        let least_block = (4 * (row_bytes + value_bytes)).next_multiple_of(PAGE_BYTES);
        let block_bytes =
            (memory_bytes / 8 / PAGE_BYTES * PAGE_BYTES).clamp(least_block, best.block_bytes.max(least_block));
        // Half is for blocks, half for groups: five keys and two values for each row, what its hash and tokens take, and the encoder's places.
        let of_row = 5 * row_bytes.next_power_of_two().max(8) + 2 * value_bytes + 16;
        let for_groups = (memory_bytes / 2).saturating_sub(24 << 10);
        let group_rows = (for_groups / of_row).clamp(ROWS_TO_FILL / 4, best.group_rows.min(GROUP_ROWS_MAX));
        Self {
            row_bytes,
            value_bytes,
            block_bytes,
            group_rows,
            buffers: best.buffers.min(memory_bytes / 2 / block_bytes).max(2),
            blocks_at_once: 1,
        }
    }
}

/// A run that is being written.
pub struct RunWriter<'b, K: Key, V: Value = ()> {
    blocks: BlockWriter<'b>,
    name: String,
    widths: Widths,
    group_rows: usize,
    encoder: KeyEncoder<K>,
    keys: ReservedVec<'b, K>,
    values: ReservedVec<'b, V>,
    /// A group that was encoded and has no place yet.
    encoded: Vec<u8>,
    /// Rows and bytes of the group that was encoded last.
    last_group: (usize, usize),
    index: Index<'b, K>,
    last: Option<K>,
    /// Rows in blocks that ended, in the current block, and bytes of that block.
    rows: u64,
    block_rows: u32,
    block_used: usize,
    _memory: Reservation<'b>,
}

impl<'b, K: Key, V: Value> RunWriter<'b, K, V> {
    /// Begins a run.
    pub fn new(
        disk: &dyn Disk,
        name: &str,
        options: &RunOptions,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let RunOptions { row_bytes, value_bytes, block_bytes, group_rows, buffers, blocks_at_once } = *options;
        let buffers = Buffers { n: buffers, blocks_at_once };
        let kind = BlockFileKind::Run;
        let shape = FileShape { kind, row_bytes, value_bytes, block_bytes, group_rows };
        if row_bytes > K::BYTES
            || value_bytes > V::BYTES
            || (V::default().to_word().is_some() && value_bytes != V::BYTES)
        {
            let expected = format!("rows of up to {} bytes with values of up to {}", K::BYTES, V::BYTES);
            let got = format!("rows of {row_bytes} bytes with values of {value_bytes}");
            return Err(StorageError::Shape { file: name.to_owned(), expected, got });
        }
        // Encoded rows are hardly larger than plain ones: a group's literals have at most an eighth and some bytes more.
        let encoded_bytes =
            (group_rows * (row_bytes + row_bytes / 7 + value_bytes + 4) + AT_ONCE * K::VARINT_BYTES_MAX + 64) as u64;
        let memory = Reservation::new(KeyEncoder::<K>::memory_bytes(group_rows) + encoded_bytes, budget)?;
        Ok(Self {
            blocks: BlockWriter::new(disk, name, FileKind::Run, shape, buffers, budget)?,
            name: name.to_owned(),
            widths: Widths { row: row_bytes, value: value_bytes },
            group_rows,
            encoder: KeyEncoder::new(),
            keys: ReservedVec::with_capacity(group_rows, budget)?,
            values: ReservedVec::with_capacity(group_rows, budget)?,
            encoded: Vec::with_capacity(encoded_bytes as usize),
            last_group: (0, 0),
            index: Index::with_capacity(16, budget)?,
            last: None,
            rows: 0,
            block_rows: 0,
            block_used: 0,
            _memory: memory,
        })
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows + u64::from(self.block_rows) + self.keys.len() as u64
    }

    /// Bytes so far, but for what is not yet encoded.
    pub fn bytes(&self) -> u64 {
        self.blocks.bytes() + self.block_used as u64
    }

    /// Appends a row, which must be larger than all before.
    #[inline]
    pub fn push(&mut self, key: K, value: V) -> Result<(), StorageError> {
        self.keys.push(key)?;
        self.values.push(value)?;
        if self.keys.len() == self.group_rows { self.write_groups() } else { Ok(()) }
    }

    /// Appends rows, which must increase and be larger than all before. There are as many values as keys.
    pub fn push_batch(&mut self, keys: &[K], values: &[V]) -> Result<(), StorageError> {
        debug_assert_eq!(keys.len(), values.len(), "every row has a value");
        let (mut keys, mut values) = (keys, values);
        while !keys.is_empty() {
            let n = keys.len().min(self.group_rows - self.keys.len());
            self.keys.extend_from_slice(&keys[..n])?;
            self.values.extend_from_slice(&values[..n])?;
            (keys, values) = (&keys[n..], &values[n..]);
            if self.keys.len() == self.group_rows {
                self.write_groups()?;
            }
        }
        Ok(())
    }

    /// Writes the rows that were gathered: as one group, or as several where a block ends.
    fn write_groups(&mut self) -> Result<(), StorageError> {
        self.check_order()?;
        let mut from = 0;
        while from < self.keys.len() {
            let (room, left) = (self.blocks.capacity() - self.block_used, self.keys.len() - from);
            let n = left.min(self.rows_that_fit(room)).max(1);
            // A group that is cut should fill what is left of the block; if that is little, the block ends here.
            if n < ROWS_TO_FILL.min(left) && self.block_used > 0 {
                self.end_block(false)?;
                continue;
            }
            self.encoded.clear();
            let rows = from..from + n;
            put_group(
                &mut self.encoder,
                &self.keys[rows.clone()],
                &self.values[rows.clone()],
                self.widths,
                &mut self.encoded,
            );
            let size = self.encoded.len();
            self.last_group = (n, size);
            if size <= room {
                self.place_group(rows)?;
                from += n;
            } else if n == 1 && self.block_used == 0 {
                let (expected, got) =
                    ("a block that has room for a row".to_owned(), format!("{room} bytes for {size}"));
                return Err(StorageError::Shape { file: self.name.clone(), expected, got });
            } else if n == 1 {
                self.end_block(false)?;
            }
        }
        self.keys.clear();
        self.values.clear();
        Ok(())
    }

    /// About how many rows take so many bytes, judged by the group that was encoded last: fewer than it had if it had more bytes.
    fn rows_that_fit(&self, bytes: usize) -> usize {
        let (rows, size) = self.last_group;
        if size == 0 || bytes / 2 > size { usize::MAX } else { rows * bytes / size * 15 / 16 }
    }

    fn check_order(&mut self) -> Result<(), StorageError> {
        let fault = match (self.last, self.keys.first()) {
            (Some(last), Some(first)) if last >= *first => Some(0),
            _ => self.keys.windows(2).position(|pair| pair[0] >= pair[1]).map(|place| place + 1),
        };
        if let Some(place) = fault {
            let row = self.rows + u64::from(self.block_rows) + place as u64;
            return Err(StorageError::Order { file: self.name.clone(), row });
        }
        Ok(())
    }

    /// Puts the encoded group, which has these rows, into the block.
    fn place_group(&mut self, rows: Range<usize>) -> Result<(), StorageError> {
        if self.block_used == 0 {
            self.index.push((self.keys[rows.start], self.rows))?;
        }
        let end = self.block_used + self.encoded.len();
        self.blocks.contents_mut()[self.block_used..end].copy_from_slice(&self.encoded);
        self.block_used = end;
        self.block_rows += rows.len() as u32;
        self.last = Some(self.keys[rows.end - 1]);
        Ok(())
    }

    fn end_block(&mut self, is_last: bool) -> Result<(), StorageError> {
        self.blocks.end_block(self.block_used, self.block_rows, is_last)?;
        self.rows += u64::from(self.block_rows);
        (self.block_used, self.block_rows) = (0, 0);
        Ok(())
    }

    /// Ends the run. It survives a crash after [`Run::sync`].
    pub fn finish(self) -> Result<Run<'b, K>, StorageError> {
        self.end()?.wait()
    }

    /// The same without waiting for what is on its way to disk.
    pub fn end(mut self) -> Result<EndingRun<'b, K>, StorageError> {
        self.write_groups()?;
        if self.block_used > 0 {
            self.end_block(true)?;
        }
        if let Some(last) = self.last {
            self.index.push((last, self.rows))?;
        }
        let (blocks, index_at) = (self.blocks.blocks(), self.blocks.bytes());
        write_index(&mut self.blocks, &self.index, self.widths.row)?;
        let file = self.blocks.end(self.rows, blocks, index_at);
        Ok(EndingRun { file, index: self.index })
    }
}

/// A run of which everything is written or on its way to disk.
pub struct EndingRun<'b, K: Key> {
    file: EndingFile<'b>,
    index: ReservedVec<'b, (K, u64)>,
}

impl<'b, K: Key> EndingRun<'b, K> {
    /// Waits until everything is written.
    pub fn wait(self) -> Result<Run<'b, K>, StorageError> {
        Ok(Run::new(self.file.wait()?, self.index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Wide;
    use crate::run::RunReader;
    use crate::stream::RowStream;
    use lariat_disk::FaultyDisk;

    /// Writes and reads rows, and tells the most memory that each took.
    fn peaks<K: Key>(options: &RunOptions) -> (u64, u64) {
        let (writing, reading) = (MemoryBudget::new(1 << 30), MemoryBudget::new(1 << 30));
        let disk = FaultyDisk::default();
        let mut writer = RunWriter::<K, u32>::new(&disk, "run", options, &writing).unwrap();
        for i in 0..50_000_u32 {
            let row = (u64::from(i) << 8 | u64::from(i.wrapping_mul(77) & 255)).to_le_bytes();
            writer.push(K::from_row(&row[..5]), i).unwrap();
        }
        writer.finish().unwrap();
        let run = Run::<K>::open(&disk, "run", options.row_bytes, options.value_bytes, &reading).unwrap();
        let mut reader = RunReader::<K, u32>::new(&run, options.buffers, &reading).unwrap();
        loop {
            let n = reader.batch().unwrap().0.len();
            if n == 0 {
                return (writing.peak(), reading.peak());
            }
            reader.consume(n);
        }
    }

    #[test]
    fn what_fits_a_share_of_the_budget_takes_no_more() {
        for memory in [128 << 10, 256 << 10, 1 << 20, 16 << 20] {
            let shares = [
                peaks::<u64>(&RunOptions::within(5, 4, memory)),
                peaks::<u128>(&RunOptions::within(16, 4, memory)),
                peaks::<Wide<16>>(&RunOptions::within(121, 4, memory)),
            ];
            for (writing, reading) in shares {
                assert!(writing <= memory as u64 && reading <= memory as u64, "{memory}: {writing}, {reading}");
                assert!(writing >= memory.min(1 << 20) as u64 / 8, "{memory}: {writing} of it are used");
            }
        }
    }
}
