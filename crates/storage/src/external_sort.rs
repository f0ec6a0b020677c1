//! Sorts any number of rows within a share of memory.
//!
//! Rows are gathered in memory; what is full is sorted, made unique and written as a run, and in the end the runs are merged into one stream.
//! Where rows are equal their values are combined. Too many runs are merged before, so that no merge reads more than it has memory for.
//!
//! # Cost
//! Each row is written and read once, and once more for each factor of `runs_max` by which there are too many runs.

use crate::key::{Key, Value};
use crate::sort::{combine_duplicates, sort_rows, sort_rows_with_values};
use crate::stream::{Merge, RowStream, SliceStream, write_all};
use crate::tiers::take_smallest;
use crate::{ReservedVec, Run, RunOptions, RunReader, RunWriter, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::Disk;

/// Blocks that a reader has in memory.
const READ_BUFFERS: usize = 2;
/// The most runs that are read at once.
const RUNS_MAX: usize = 16;

/// How rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortOptions {
    /// Rows that are gathered in memory.
    pub rows_max: usize,
    /// Runs that are read at once, at least 2.
    pub runs_max: usize,
    /// Rows that a merge puts out at once.
    pub batch_rows: usize,
    /// The shape of runs.
    pub run: RunOptions,
}

impl SortOptions {
    /// Options for rows and values of these bytes, such that sorting takes `memory_bytes` if that is not very little.
    pub fn within<K: Key, V: Value>(row_bytes: usize, value_bytes: usize, memory_bytes: usize) -> Self {
        let of_row = size_of::<K>() + size_of::<V>();
        Self {
            rows_max: (memory_bytes / 2 / of_row).max(64),
            runs_max: RUNS_MAX,
            batch_rows: (memory_bytes / 256 / of_row).clamp(16, 1024),
            run: RunOptions::within(row_bytes, value_bytes, memory_bytes / 48),
        }
    }
}

/// Rows that are to be sorted.
pub struct ExternalSort<'b, K: Key, V: Value, F> {
    disk: &'b dyn Disk,
    budget: &'b MemoryBudget,
    name: String,
    options: SortOptions,
    combine: F,
    keys: ReservedVec<'b, K>,
    values: ReservedVec<'b, V>,
    runs: Vec<Run<'b, K>>,
    /// Runs so far, by which they are named.
    n_runs: u64,
}

impl<'b, K: Key, V: Value, F: Fn(V, V) -> V + Copy> ExternalSort<'b, K, V, F> {
    /// Begins to sort; runs are named after `name`.
    pub fn new(
        disk: &'b dyn Disk,
        name: &str,
        options: SortOptions,
        combine: F,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        Ok(Self {
            disk,
            budget,
            name: name.to_owned(),
            options,
            combine,
            keys: ReservedVec::with_capacity(options.rows_max, budget)?,
            values: ReservedVec::with_capacity(options.rows_max, budget)?,
            runs: Vec::new(),
            n_runs: 0,
        })
    }

    /// Takes a row.
    #[inline]
    pub fn push(&mut self, key: K, value: V) -> Result<(), StorageError> {
        if self.keys.len() == self.options.rows_max {
            self.make_room()?;
        }
        self.keys.push(key)?;
        Ok(self.values.push(value)?)
    }

    /// Sorts what is in memory, and writes it to disk unless that alone made half of it free.
    #[cold]
    fn make_room(&mut self) -> Result<(), StorageError> {
        self.sort();
        if self.keys.len() > self.options.rows_max / 2 { self.spill() } else { Ok(()) }
    }

    fn sort(&mut self) {
        if V::BYTES == 0 {
            sort_rows(&mut self.keys);
        } else {
            sort_rows_with_values(&mut self.keys, &mut self.values);
        }
        let n = combine_duplicates(&mut self.keys, &mut self.values, self.combine);
        self.keys.truncate(n);
        self.values.truncate(n);
    }

    /// Whether rows were written to disk: they did not fit into memory.
    pub fn has_spilled(&self) -> bool {
        self.n_runs > 0
    }

    fn next_writer(&mut self) -> Result<RunWriter<'b, K, V>, StorageError> {
        let name = format!("{}-{}", self.name, self.n_runs);
        self.n_runs += 1;
        RunWriter::new(self.disk, &name, &self.options.run, self.budget)
    }

    /// Writes the sorted rows in memory as a run.
    fn spill(&mut self) -> Result<(), StorageError> {
        if self.keys.is_empty() {
            return Ok(());
        }
        let mut writer = self.next_writer()?;
        write_all(&mut SliceStream::new(&self.keys, &self.values), &mut writer)?;
        self.runs.push(writer.finish()?);
        self.keys.clear();
        self.values.clear();
        if self.runs.len() >= self.options.runs_max {
            self.merge_some()?;
        }
        Ok(())
    }

    /// Makes one run of some.
    fn merge_some(&mut self) -> Result<(), StorageError> {
        let runs = take_smallest(&mut self.runs, Run::rows);
        let mut writer = self.next_writer()?;
        let mut merged = merge(&runs, self.options.batch_rows, self.combine, self.budget)?;
        write_all(&mut merged, &mut writer)?;
        self.runs.push(writer.finish()?);
        drop(merged);
        remove(self.disk, runs)
    }

    /// All rows in order, each once.
    pub fn finish(mut self) -> Result<Sorted<'b, K, V, F>, StorageError> {
        self.sort();
        if self.runs.is_empty() {
            let Self { keys, values, .. } = self;
            return Ok(Sorted { disk: self.disk, runs: Vec::new(), rows: Rows::InMemory { keys, values, from: 0 } });
        }
        self.spill()?;
        let Self { disk, budget, options, combine, runs, .. } = self;
        let rows = Rows::Merged(Box::new(merge(&runs, options.batch_rows, combine, budget)?));
        Ok(Sorted { disk, runs, rows })
    }

    /// What was written, and what is still in memory, sorted: for those who merge both with something else.
    pub fn into_pieces(mut self) -> Result<SortedPieces<'b, K, V>, StorageError> {
        self.sort();
        Ok(SortedPieces { runs: self.runs, keys: self.keys, values: self.values })
    }
}

/// Rows in order, in runs and in memory. A row may be in several of them.
pub struct SortedPieces<'b, K, V> {
    /// Runs on disk.
    pub runs: Vec<Run<'b, K>>,
    /// Rows in memory.
    pub keys: ReservedVec<'b, K>,
    /// Their values.
    pub values: ReservedVec<'b, V>,
}

type MergedRuns<'b, K, V, F> = Merge<'b, K, V, RunReader<'b, K, V>, F>;

fn merge<'b, K: Key, V: Value, F: Fn(V, V) -> V + Copy>(
    runs: &[Run<'b, K>],
    batch_rows: usize,
    combine: F,
    budget: &'b MemoryBudget,
) -> Result<MergedRuns<'b, K, V, F>, StorageError> {
    let readers: Result<Vec<_>, _> = runs.iter().map(|run| RunReader::new(run, READ_BUFFERS, budget)).collect();
    Merge::new(readers?, combine, batch_rows, budget)
}

/// Removes the files of runs that nobody reads any more.
fn remove<K: Key>(disk: &dyn Disk, runs: Vec<Run<'_, K>>) -> Result<(), StorageError> {
    for run in runs {
        let name = run.name().to_owned();
        drop(run);
        disk.remove(&name)?;
    }
    Ok(())
}

/// Sorted rows as a stream.
pub struct Sorted<'b, K: Key, V: Value, F> {
    disk: &'b dyn Disk,
    runs: Vec<Run<'b, K>>,
    rows: Rows<'b, K, V, F>,
}

enum Rows<'b, K: Key, V: Value, F> {
    InMemory { keys: ReservedVec<'b, K>, values: ReservedVec<'b, V>, from: usize },
    Merged(Box<MergedRuns<'b, K, V, F>>),
}

impl<K: Key, V: Value, F> Sorted<'_, K, V, F> {
    /// Removes the files that it was read from.
    pub fn remove_files(self) -> Result<(), StorageError> {
        drop(self.rows);
        remove(self.disk, self.runs)
    }
}

impl<K: Key, V: Value, F: Fn(V, V) -> V + Copy> RowStream<K, V> for Sorted<'_, K, V, F> {
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        match &mut self.rows {
            Rows::InMemory { keys, values, from } => Ok((&keys[*from..], &values[*from..])),
            Rows::Merged(merged) => merged.batch(),
        }
    }

    fn consume(&mut self, n: usize) {
        match &mut self.rows {
            Rows::InMemory { from, .. } => *from += n,
            Rows::Merged(merged) => merged.consume(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wide;
    use lariat_base::Random;
    use lariat_disk::FaultyDisk;
    use std::collections::BTreeMap;

    fn check<K: Key, V: Value>(width: usize, combine: fn(V, V) -> V, random: &mut Random) {
        let budget = MemoryBudget::new(1 << 24);
        let disk = FaultyDisk::default();
        let options = SortOptions {
            rows_max: 1 + random.below(100),
            runs_max: 2 + random.below(6),
            batch_rows: 1 + random.below(40),
            run: RunOptions { block_bytes: 4096, group_rows: 50, buffers: 2, ..RunOptions::new(width) }
                .with_values(V::BYTES),
        };
        let n = [0, 1, 50, 500, 5000][random.below(5)];
        let bytes = 1 + random.below(3);
        let mut expected: BTreeMap<K, V> = BTreeMap::new();
        let mut sort = ExternalSort::new(&disk, "sort", options, combine, &budget).unwrap();
        for _ in 0..n {
            let key = K::from_row(&random.next_u64().to_le_bytes()[..bytes.min(width)]);
            let value = V::from_word(random.below(1000) as u64);
            expected.entry(key).and_modify(|old| *old = combine(*old, value)).or_insert(value);
            sort.push(key, value).unwrap();
        }
        let mut sorted = sort.finish().unwrap();
        let mut found: BTreeMap<K, V> = BTreeMap::new();
        loop {
            let (keys, values) = sorted.batch().unwrap();
            let n = keys.len();
            if n == 0 {
                break;
            }
            for (key, value) in keys.iter().zip(values) {
                assert!(found.last_key_value().is_none_or(|(last, _)| last < key));
                found.insert(*key, *value);
            }
            sorted.consume(n);
        }
        assert_eq!(found, expected);
        sorted.remove_files().unwrap();
        assert!(disk.list().unwrap().is_empty());
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn sorts_like_a_map_does() {
        let mut random = Random::new(6);
        for _ in 0..100 {
            check::<u64, ()>(3, |(), ()| (), &mut random);
            check::<u64, u32>(8, u32::wrapping_add, &mut random);
            check::<u128, ()>(12, |(), ()| (), &mut random);
            check::<Wide<3>, u64>(20, u64::max, &mut random);
        }
    }

    #[test]
    fn takes_its_share_of_memory() {
        for memory in [1 << 20, 4 << 20] {
            let budget = MemoryBudget::new(memory as u64);
            let disk = FaultyDisk::default();
            let options = SortOptions::within::<u128, ()>(16, 0, memory);
            let mut sort = ExternalSort::new(&disk, "sort", options, |(), ()| (), &budget).unwrap();
            let mut random = Random::new(1);
            for _ in 0..2_000_000 {
                sort.push(u128::from(random.next_u64()), ()).unwrap();
            }
            let mut sorted = sort.finish().unwrap();
            let mut rows = 0;
            while let n @ 1.. = sorted.batch().unwrap().0.len() {
                rows += n;
                sorted.consume(n);
            }
            assert_eq!(rows, 2_000_000);
        }
    }
}
