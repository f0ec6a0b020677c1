//! A finished run, and its index: the first key of every block, and how many rows come before it.
//!
//! # Cost
//! One key and 8 bytes of memory for each block.

use super::group::Widths;
use crate::block_file::{BlockAllowance, BlockFile, BlockFileKind, BlockReader, BlockWriter, KeptBlocks, get_u64, put};
use crate::key::{Key, Value};
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};
use std::sync::{Arc, OnceLock};

/// In how many parts a run is cut to see where its rows are.
const CUTS_OF_RUN: usize = 32;

/// The first key of every block, and how many rows come before it; at the end the last key of all, and all rows.
pub(crate) type Index<'b, K> = ReservedVec<'b, (K, u64)>;

/// A finished run. Clones share the file and the index.
pub struct Run<'b, K>(Arc<Parts<'b, K>>);

impl<K> Clone for Run<'_, K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

struct Parts<'b, K> {
    file: BlockFile,
    index: Index<'b, K>,
    /// Its blocks that stay in memory, if any may.
    kept: OnceLock<Arc<KeptBlocks<'b>>>,
}

impl<'b, K: Key> Run<'b, K> {
    pub(crate) fn new(file: BlockFile, index: Index<'b, K>) -> Self {
        Self(Arc::new(Parts { file, index, kept: OnceLock::new() }))
    }

    /// Opens a run of rows with this many bytes, whose values have that many, and reads its index into memory.
    pub fn open(
        disk: &dyn Disk,
        name: &str,
        row_bytes: usize,
        value_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let file = BlockFile::open(disk, name, BlockFileKind::Run, FileKind::Run, budget)?;
        let (got_row, got_value) = (file.shape.row_bytes, file.shape.value_bytes);
        if (got_row, got_value) != (row_bytes, value_bytes) {
            let shape = |row, value| format!("rows of {row} bytes with values of {value}");
            let (expected, got) = (shape(row_bytes, value_bytes), shape(got_row, got_value));
            return Err(StorageError::Shape { file: name.to_owned(), expected, got });
        }
        let index = read_index(&file, budget)?;
        Ok(Self::new(file, index))
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        self.0.file.name()
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.0.file.footer.rows
    }

    /// The file's length.
    pub fn bytes(&self) -> u64 {
        self.0.file.footer.file_bytes
    }

    /// How many blocks of rows it has.
    pub fn blocks(&self) -> u64 {
        self.0.file.footer.blocks
    }

    /// The bytes of its blocks.
    pub fn block_bytes(&self) -> usize {
        self.0.file.shape.block_bytes
    }

    /// The first row and the last one.
    pub fn bounds(&self) -> Option<(K, K)> {
        Some((self.0.index.first()?.0, self.0.index.last()?.0))
    }

    /// Lets its blocks stay in memory when they are read, as far as that is allowed.
    pub fn keep_blocks(&self, allowance: &Arc<BlockAllowance>) {
        self.0.kept.get_or_init(|| KeptBlocks::new(self.blocks(), allowance));
    }

    pub(crate) fn kept(&self) -> Option<Arc<KeptBlocks<'b>>> {
        self.0.kept.get().cloned()
    }

    /// Bytes of memory for the index.
    pub fn memory_bytes(&self) -> u64 {
        self.0.index.memory_bytes()
    }

    /// Makes it survive a crash; its name does after [`Disk::sync_directory`].
    pub fn sync(&self) -> Result<(), StorageError> {
        Ok(self.0.file.file.sync()?)
    }

    /// The first keys of blocks, which cut the run into parts of about the same size: `n - 1` or fewer.
    pub fn splitters(&self, n: usize) -> Vec<K> {
        let blocks = self.blocks() as usize;
        let mut places: Vec<usize> = (1..n).map(|i| i * blocks / n).filter(|place| *place > 0).collect();
        places.dedup();
        places.into_iter().map(|place| self.0.index[place].0).collect()
    }

    /// About how many rows are below a key.
    pub fn rows_below(&self, key: K) -> u64 {
        let place = self.0.index.partition_point(|(first, _)| *first < key);
        if place == 0 { 0 } else { self.0.index[place - 1].1 }
    }

    pub(crate) fn file(&self) -> &BlockFile {
        &self.0.file
    }

    pub(crate) fn widths(&self) -> Widths {
        Widths { row: self.0.file.shape.row_bytes, value: self.0.file.shape.value_bytes }
    }

    /// The block in which a key is if it is in the run.
    pub(crate) fn block_of(&self, key: K) -> u64 {
        let firsts = &self.0.index[..self.blocks() as usize];
        firsts.partition_point(|(first, _)| *first <= key).saturating_sub(1) as u64
    }

    /// The rows before a block.
    pub(crate) fn rows_before(&self, block: u64) -> u64 {
        self.0.index.get(block as usize).map_or(self.rows(), |(_, before)| *before)
    }

    /// The first key of a block, if there is such a block.
    pub(crate) fn first_of(&self, block: u64) -> Option<K> {
        if block < self.blocks() { Some(self.0.index[block as usize].0) } else { None }
    }
}

/// A part of a run, between two of its blocks.
pub struct RunPart<K> {
    /// Its first key, and the first behind it; none at the ends of the run.
    pub bounds: (Option<K>, Option<K>),
    /// About how many rows it has.
    pub rows: u64,
    /// How many blocks, in 65,536ths.
    pub blocks: u64,
}

/// Keys that cut runs, all of them together, into `n` parts that are about the same work: `n - 1` or fewer. What the work on a part of a run is says `work`.
pub fn splitters<K: Key>(runs: &[Run<'_, K>], n: usize, work: impl Fn(&RunPart<K>) -> u64) -> Vec<K> {
    // Of the work on a part, half is before its middle: a cut has half of the work on either side of it.
    let mut cuts: Vec<(K, u64)> = Vec::new();
    for run in runs {
        let keys = run.splitters(CUTS_OF_RUN);
        let n_parts = keys.len() as u64 + 1;
        let (rows, blocks) = (run.rows() / n_parts, (run.blocks() << 16) / n_parts);
        let mut from = None;
        for to in keys.into_iter().map(Some).chain(std::iter::once(None)) {
            let work = work(&RunPart { bounds: (from, to), rows, blocks });
            let ends = [from, to].into_iter().flatten();
            // Counted twice, so that halves are whole.
            let of_each = 2 * work / ends.clone().count().max(1) as u64;
            cuts.extend(ends.map(|key| (key, of_each)));
            from = to;
        }
    }
    cuts.sort_unstable();
    let all: u64 = cuts.iter().map(|(_, work)| work).sum();
    let (mut before, mut splitters) = (0, Vec::new());
    for (key, work) in cuts {
        let middle = 2 * before + work;
        if all > 0 && middle * n as u64 >= 2 * all * (splitters.len() as u64 + 1) && splitters.last() != Some(&key) {
            splitters.push(key);
        }
        before += work;
    }
    splitters.truncate(n.saturating_sub(1));
    splitters
}

/// Writes the index behind the rows.
pub(crate) fn write_index<K: Key>(
    writer: &mut BlockWriter<'_>,
    index: &Index<'_, K>,
    row_bytes: usize,
) -> Result<(), StorageError> {
    let entry = row_bytes + 8;
    let per_block = writer.capacity() / entry;
    let n_chunks = index.len().div_ceil(per_block);
    for (i, entries) in index.chunks(per_block).enumerate() {
        let contents = writer.contents_mut();
        for (bytes, (key, before)) in contents.chunks_exact_mut(entry).zip(entries) {
            key.write_row(&mut bytes[..row_bytes]);
            put(bytes, row_bytes, &before.to_le_bytes());
        }
        writer.end_block(entries.len() * entry, entries.len() as u32, i + 1 == n_chunks)?;
    }
    Ok(())
}

fn read_index<'b, K: Key>(file: &BlockFile, budget: &'b MemoryBudget) -> Result<Index<'b, K>, StorageError> {
    let row_bytes = file.shape.row_bytes;
    let entry = row_bytes + 8;
    let n_entries = if file.footer.rows == 0 { 0 } else { file.footer.blocks as usize + 1 };
    let wrong = |at, expected: &str, got: u64| StorageError::corrupt(file.name(), at, expected, got);
    let mut index = Index::with_capacity(n_entries, budget)?;
    let mut blocks = BlockReader::new(file.clone(), file.index_blocks(), 1, budget);
    while blocks.advance()? {
        let Some((block, at)) = blocks.current() else {
            break;
        };
        let entries = block.contents.chunks_exact(entry).take(block.items as usize);
        if entries.len() != block.items as usize || index.len() + entries.len() > n_entries {
            return Err(wrong(at, "an entry for each block", u64::from(block.items)));
        }
        for bytes in entries {
            index.push((<K as Value>::read(&bytes[..row_bytes]), get_u64(bytes, row_bytes)))?;
        }
    }
    let increasing = |pair: &[(K, u64)]| pair[0].1 < pair[1].1 && pair[0].0 <= pair[1].0;
    let at = file.footer.index_at;
    if index.len() != n_entries {
        return Err(wrong(at, "an entry for each block", index.len() as u64));
    }
    if !index.windows(2).all(increasing) || index.last().is_some_and(|(_, rows)| *rows != file.footer.rows) {
        return Err(wrong(at, "keys and rows that increase up to the file's", index.len() as u64));
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunOptions, RunWriter, hash_row};
    use lariat_disk::FaultyDisk;

    #[test]
    fn runs_are_cut_where_half_of_all_is_read() {
        let (budget, disk) = (MemoryBudget::new(1 << 22), FaultyDisk::default());
        let options = RunOptions { block_bytes: 4096, group_rows: 40, buffers: 2, ..RunOptions::new(8) };
        let write = |name: &str, keys: std::ops::Range<u64>| {
            let mut writer = RunWriter::<u64>::new(&disk, name, &options, &budget).unwrap();
            keys.for_each(|i| writer.push(i * 1_000_000 + hash_row(&i.to_le_bytes()) % 1_000_000, ()).unwrap());
            writer.finish().unwrap()
        };
        let by_blocks = |part: &RunPart<u64>| part.blocks;
        let runs = [write("low", 0..60_000), write("high", 60_000..100_000), write("few", 99_000..99_010)];
        for n in [2, 3, 5] {
            let cuts = splitters(&runs, n, by_blocks);
            assert_eq!(cuts.len(), n - 1);
            for (i, cut) in cuts.iter().enumerate() {
                let expected = 100_000.0 * (i + 1) as f64 / n as f64;
                assert!(((cut / 1_000_000) as f64 - expected).abs() < 4_000.0, "{cut} for {expected}");
            }
        }
        assert!(splitters(&runs, 1, by_blocks).is_empty() && splitters(&runs[2..], 2, by_blocks).is_empty());
        assert!(splitters::<u64>(&[], 4, by_blocks).is_empty());
        // Nothing is done but in one stretch.
        let in_stretch = |part: &RunPart<u64>| {
            let (from, to) = part.bounds;
            u64::from(to.is_none_or(|to| to > 20_000_000_000) && from.is_none_or(|from| from < 40_000_000_000))
        };
        let cuts = splitters(&runs[..1], 2, in_stretch);
        assert!(cuts.len() == 1 && (27..33).contains(&(cuts[0] / 1_000_000_000)), "{cuts:?}");
    }
}
