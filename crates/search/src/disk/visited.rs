//! The runs of a search: what was visited, what waits to be expanded, and what is doubtful.

use super::garbage::Garbage;
use super::passes::Passes;
use super::reading::{READER_BUFFERS, Readers, Reading};
use super::shares::Shares;
use crate::SearchError;
use crate::crew::Crew;
use lariat_base::MemoryBudget;
use lariat_disk::Disk;
use lariat_storage::block_file::BlockAllowance;
use lariat_storage::stream::{Merge, RowStream, SliceStream, Subtract, write_all};
use lariat_storage::{EndingRun, Key, Run, RunOptions, RunReader, RunWriter, StorageError, splitters};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Doubtful states are compared when they take more than so many quarters of what is visited. To wait longer spares little, and the disk
/// would have to hold them.
const DOUBTFUL_QUARTERS: u64 = 3;
/// The same while the graph is wide: better once a level, as long as the disk space does not get out of hand.
const DOUBTFUL_QUARTERS_WIDE: u64 = 8;
/// Merging a row costs about as much as comparing so many candidates with it.
const SMALL_PART: u64 = 8;
/// Garbage of a larger part of what is visited is worth publishing, after which it can go.
const GARBAGE_PART: u64 = 4;
/// Runs that workers may still write when a round ends.
const RUNS_OF_ROUND_END: usize = 6;

/// Makes runs; shared by all threads.
pub(super) struct Files<'b> {
    pub(super) disk: &'b dyn Disk,
    pub(super) budget: &'b MemoryBudget,
    pub(super) crew: Crew,
    pub(super) options: RunOptions,
    pub(super) merge_rows: usize,
    pub(super) readers: Readers,
    pub(super) readers_max: usize,
    /// For blocks of visited runs, which passes read again and again.
    kept_blocks: Arc<BlockAllowance>,
    n_runs: AtomicU64,
    /// How many workers merge runs, and may.
    n_merging: AtomicUsize,
    merging_max: usize,
    merger_bytes: u64,
}

/// Somebody who merges runs while others expand states.
pub(super) struct MergingWorker<'f>(&'f AtomicUsize);

impl Drop for MergingWorker<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) struct Visited<'b, K: Key> {
    readers_max: usize,
    doubtful_bytes_min: u64,
    publish_after: Duration,
    /// Runs of states that were all expanded.
    pub(super) expanded: Vec<Run<'b, K>>,
    /// Runs of states that wait to be expanded, or are being read for that.
    pub(super) waiting: Vec<Run<'b, K>>,
    pub(super) doubtful: Vec<Run<'b, K>>,
    pub(super) garbage: Garbage,
    pub(super) passes: Passes,
    /// Whether all successors are doubtful now.
    pub(super) is_wide: bool,
    /// How many levels in a row would have been better off with a filter.
    pub(super) narrow_levels: u32,
    published_at: Instant,
}

/// States that may be new, in increasing order.
pub(super) type Candidates<'r, K> = Box<dyn RowStream<K, ()> + 'r>;

type Unit = fn((), ()) -> ();
fn unit((): (), (): ()) {}

impl<'b> Files<'b> {
    pub(super) fn new(shares: &Shares, disk: &'b dyn Disk, budget: &'b MemoryBudget, crew: Crew) -> Self {
        let Shares { run: options, merge_rows, readers, readers_max, merging_max, merger_bytes, .. } = *shares;
        let (n_runs, n_merging) = (AtomicU64::new(0), AtomicUsize::new(0));
        let kept_blocks = BlockAllowance::new(shares.kept_bytes);
        Self {
            disk,
            budget,
            crew,
            options,
            merge_rows,
            readers,
            readers_max,
            kept_blocks,
            n_runs,
            n_merging,
            merging_max,
            merger_bytes,
        }
    }

    /// How to read so many runs at once, with one of `n_shares` of the readers' memory.
    pub(super) fn reading(&self, n_runs: usize, n_shares: u64) -> Reading {
        self.readers.reading(n_runs, self.readers.bytes / n_shares).unwrap_or(Reading::ALONE)
    }

    /// The same where nothing else takes memory: with all that is left but some for writing.
    fn reading_alone(&self, n_runs: usize) -> Reading {
        let bytes = self.readers.bytes.max(self.memory_left() / 8 * 7);
        self.readers.reading(n_runs, bytes).unwrap_or(Reading::ALONE)
    }

    /// The memory that nobody has, but for what blocks will take that stay.
    pub(super) fn memory_left(&self) -> u64 {
        self.budget.left().saturating_sub(self.kept_blocks.left())
    }

    /// Allows a worker to merge, if there is memory for one more who does.
    pub(super) fn begin_merging(&self) -> Option<MergingWorker<'_>> {
        let merging = MergingWorker(&self.n_merging);
        let is_allowed = self.n_merging.fetch_add(1, Ordering::Relaxed) < self.merging_max;
        (is_allowed && self.budget.left() >= self.merger_bytes).then_some(merging)
    }

    /// Gives new runs higher numbers than runs that were there before.
    pub(super) fn go_on_after(&self, n_runs: u64) {
        self.n_runs.store(n_runs, Ordering::Relaxed);
    }

    /// How many runs were ever begun.
    pub(super) fn n_runs(&self) -> u64 {
        self.n_runs.load(Ordering::Relaxed)
    }

    pub(super) fn begin<K: Key>(&self) -> Result<RunWriter<'b, K>, StorageError> {
        let name = format!("run-{}", self.n_runs.fetch_add(1, Ordering::Relaxed));
        RunWriter::new(self.disk, &name, &self.options, self.budget)
    }

    /// Writes sorted keys, and does not wait for the last of them.
    pub(super) fn write<K: Key>(&self, keys: &[K]) -> Result<EndingRun<'b, K>, SearchError> {
        let mut writer = self.begin()?;
        write_all(&mut SliceStream::of_keys(keys), &mut writer)?;
        Ok(writer.end()?)
    }

    /// Merges runs to one.
    pub(super) fn merge<K: Key>(&self, runs: &[Run<'b, K>]) -> Result<Run<'b, K>, SearchError> {
        let mut writer = self.begin()?;
        write_all(&mut self.merged(runs, (None, None), READER_BUFFERS)?, &mut writer)?;
        Ok(writer.finish()?)
    }

    /// Writes a stream to a run, if there is anything in it.
    pub(super) fn write_unless_empty<K: Key>(
        &self,
        stream: &mut impl RowStream<K, ()>,
    ) -> Result<Option<Run<'b, K>>, StorageError> {
        if stream.batch()?.0.is_empty() {
            return Ok(None);
        }
        let mut writer = self.begin()?;
        write_all(stream, &mut writer)?;
        writer.finish().map(Some)
    }

    /// What is left of candidates, of which there are about `n_candidates`, without the rows of runs, within bounds. Runs that are small beside that are
    /// merged, so that candidates go through one comparison for all of them; the others follow, the largest first, which leaves few for the rest.
    pub(super) fn without<'r, K: Key>(
        &self,
        candidates: Candidates<'r, K>,
        n_candidates: u64,
        runs: &[Run<'b, K>],
        (from, to): Bounds<K>,
        buffers: usize,
    ) -> Result<Candidates<'r, K>, StorageError>
    where
        'b: 'r,
    {
        runs.iter().for_each(|run| run.keep_blocks(&self.kept_blocks));
        let (small, mut large): (Vec<_>, Vec<_>) =
            runs.iter().cloned().partition(|run| run.rows() < n_candidates / SMALL_PART);
        large.sort_by_key(|run| std::cmp::Reverse(run.rows()));
        let mut left = candidates;
        if !small.is_empty() {
            left = self.subtract(left, self.merged(&small, (from, to), buffers)?)?;
        }
        for run in &large {
            let mut reader = RunReader::new(run, buffers, self.budget)?;
            reader.limit_to(from, to)?;
            left = self.subtract(left, reader)?;
        }
        Ok(left)
    }

    fn subtract<'r, K: Key>(
        &self,
        candidates: Candidates<'r, K>,
        visited: impl RowStream<K, ()> + 'r,
    ) -> Result<Candidates<'r, K>, StorageError>
    where
        'b: 'r,
    {
        Ok(Box::new(Subtract::<K, (), (), _, _>::new(candidates, visited, self.merge_rows, self.budget)?))
    }

    /// Does something for ranges of keys, by as many threads. Each has about as much of the runs to read.
    pub(super) fn in_ranges<K: Key, T: Send>(
        &self,
        runs: &[Run<'_, K>],
        threads: usize,
        work: impl Fn(Bounds<K>) -> Result<T, StorageError> + Sync,
    ) -> Result<Vec<T>, SearchError> {
        self.in_ranges_between(&splitters(runs, threads, |part| part.blocks), work)
    }

    /// The same for ranges between keys.
    pub(super) fn in_ranges_between<K: Key, T: Send>(
        &self,
        splitters: &[K],
        work: impl Fn(Bounds<K>) -> Result<T, StorageError> + Sync,
    ) -> Result<Vec<T>, SearchError> {
        let ends: Vec<Option<K>> =
            std::iter::once(None).chain(splitters.iter().copied().map(Some)).chain(std::iter::once(None)).collect();
        self.crew.each(ends.windows(2), |ends| Ok(work((ends[0], ends[1]))?))
    }

    /// The union of runs, within bounds.
    pub(super) fn merged<K: Key>(
        &self,
        runs: &[Run<'b, K>],
        (from, to): Bounds<K>,
        buffers: usize,
    ) -> Result<Merge<'b, K, (), RunReader<'b, K>, Unit>, StorageError> {
        let readers = runs.iter().map(|run| {
            let mut reader = RunReader::new(run, buffers, self.budget)?;
            reader.limit_to(from, to)?;
            Ok(reader)
        });
        Merge::new(readers.collect::<Result<Vec<_>, StorageError>>()?, unit as Unit, self.merge_rows, self.budget)
    }
}

impl<'b, K: Key> Visited<'b, K> {
    pub(super) fn new(shares: &Shares) -> Self {
        Self {
            readers_max: shares.readers_max,
            doubtful_bytes_min: shares.doubtful_bytes_min,
            publish_after: shares.publish_after,
            published_at: Instant::now(),
            expanded: Vec::new(),
            waiting: Vec::new(),
            doubtful: Vec::new(),
            garbage: Garbage::default(),
            passes: Passes::default(),
            is_wide: false,
            narrow_levels: 0,
        }
    }

    /// Notes that waiting runs were read to their end.
    pub(super) fn read(&mut self, done: Vec<Run<'b, K>>) {
        for run in done {
            self.waiting.retain(|waiting| waiting.name() != run.name());
            self.expanded.push(run);
        }
    }

    fn bytes_of(runs: &[Run<'b, K>]) -> u64 {
        runs.iter().map(Run::bytes).sum()
    }

    /// Bytes of all visited states.
    pub(super) fn bytes(&self) -> u64 {
        Self::bytes_of(&self.expanded) + Self::bytes_of(&self.waiting)
    }

    /// Whether there is enough on disk to be compared or merged before the search goes on.
    pub(super) fn is_pass_due(&self) -> bool {
        let quarters = if self.is_wide { DOUBTFUL_QUARTERS_WIDE } else { DOUBTFUL_QUARTERS };
        self.n_runs() + RUNS_OF_ROUND_END >= self.readers_max
            || Self::bytes_of(&self.doubtful) > (self.bytes() / 4 * quarters).max(self.doubtful_bytes_min)
    }

    /// Whether a crash would cost much by now.
    pub(super) fn is_publishing_due(&self) -> bool {
        self.published_at.elapsed() >= self.publish_after
    }

    /// Whether something was published so lately that to publish the next level, too, would be a part of the time.
    pub(super) fn is_published_lately(&self) -> bool {
        self.published_at.elapsed() < self.publish_after / 20
    }

    /// All runs.
    pub(super) fn all(&self) -> Vec<&Run<'b, K>> {
        [&self.expanded, &self.waiting, &self.doubtful].into_iter().flatten().collect()
    }

    fn n_runs(&self) -> usize {
        self.expanded.len() + self.waiting.len() + self.doubtful.len()
    }

    /// Removes runs now, or later if what was published last names them.
    pub(super) fn forget(&mut self, files: &Files<'b>, runs: Vec<Run<'b, K>>) -> Result<(), SearchError> {
        self.garbage.add(files.disk, runs)
    }

    /// Whether files that only wait for something to be published take much of the disk.
    pub(super) fn has_much_garbage(&self) -> bool {
        self.garbage.bytes() > self.bytes() / GARBAGE_PART
    }

    /// Notes that all runs with smaller numbers are named by what was published, and removes what is not any more.
    pub(super) fn published(&mut self, files: &Files<'b>, n_runs: u64) -> Result<(), SearchError> {
        self.published_at = Instant::now();
        self.garbage.published(files.disk, n_runs)
    }

    /// Whether what was published last names the run, so that it was synced.
    pub(super) fn is_published(&self, run: &Run<'b, K>) -> bool {
        self.garbage.is_published(run)
    }

    /// Whether all threads can read all runs as they are, to compare what is doubtful.
    pub(super) fn can_check_now(&self, files: &Files<'b>) -> bool {
        files.reading_alone(self.n_runs()).threads == files.readers.threads
    }

    /// Compares all doubtful states with all visited ones; runs of those that are new.
    pub(super) fn check_doubtful(&mut self, files: &Files<'b>) -> Result<Vec<Run<'b, K>>, SearchError> {
        if self.doubtful.is_empty() {
            return Ok(Vec::new());
        }
        let visited: Vec<Run<'b, K>> = self.expanded.iter().chain(&self.waiting).cloned().collect();
        self.passes.add(files.n_runs());
        let doubtful = std::mem::take(&mut self.doubtful);
        let Reading { threads, buffers } = files.reading_alone(visited.len() + doubtful.len());
        let n_doubtful = doubtful.iter().map(Run::rows).sum();
        let new = files.in_ranges(&visited, threads, |bounds| {
            let candidates = Box::new(files.merged(&doubtful, bounds, buffers)?);
            files.write_unless_empty(&mut files.without(candidates, n_doubtful, &visited, bounds, buffers)?)
        })?;
        self.forget(files, doubtful)?;
        Ok(new.into_iter().flatten().collect())
    }
}

/// Keys from the first on and below the second.
pub(super) type Bounds<K> = (Option<K>, Option<K>);
