//! The runs of a search: what was visited, what waits to be expanded, and what is doubtful.

use super::shares::{READER_BUFFERS, Shares};
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_disk::Disk;
use lariat_storage::stream::{Merge, RowStream, SliceStream, Subtract, write_all};
use lariat_storage::{Key, Run, RunOptions, RunReader, RunWriter, StorageError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Runs of about the same size are merged when there are this many.
const RUNS_TO_MERGE: usize = 8;
/// Runs are about of the same size if their numbers of rows have logarithms with the same third.
const TIER_LOG2: u32 = 3;
/// Fewer rows than this are merged by one thread.
const ROWS_TO_SHARE: u64 = 4 << 20;
/// Doubtful states are compared when they take a larger part of what is visited. To wait longer spares little, and the disk would have to
/// hold them.
const DOUBTFUL_PART: u64 = 3;
/// Garbage of a larger part of what is visited is worth publishing, after which it can go.
const GARBAGE_PART: u64 = 4;
/// Runs that workers may still write when a round ends.
const RUNS_OF_ROUND_END: usize = 6;

/// Makes runs; shared by all threads.
pub(super) struct Files<'b> {
    pub(super) disk: &'b dyn Disk,
    pub(super) budget: &'b MemoryBudget,
    options: RunOptions,
    pub(super) merge_rows: usize,
    threads: usize,
    readers_max: usize,
    n_runs: AtomicU64,
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
    /// Files that nobody needs any more but what was published last, and their bytes.
    garbage: Vec<String>,
    garbage_bytes: u64,
    /// Files made before this number are named by what was published last, and must stay until the next time.
    published: u64,
    published_at: Instant,
}

/// What a run that may be merged is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Expanded,
    Doubtful,
}

/// States that may be new, in increasing order.
pub(super) type Candidates<'r, K> = Box<dyn RowStream<K, ()> + 'r>;

fn number_of(name: &str) -> u64 {
    name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

type Unit = fn((), ()) -> ();
fn unit((): (), (): ()) {}

impl<'b> Files<'b> {
    pub(super) fn new(shares: &Shares, disk: &'b dyn Disk, budget: &'b MemoryBudget) -> Self {
        let Shares { run: options, merge_rows, pass_threads: threads, readers_max, .. } = *shares;
        Self { disk, budget, options, merge_rows, threads, readers_max, n_runs: AtomicU64::new(0) }
    }

    /// How many threads can read so many runs at once.
    fn threads_for(&self, n_runs: usize) -> usize {
        (self.readers_max / n_runs.max(1)).clamp(1, self.threads)
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

    /// Writes sorted keys.
    pub(super) fn write<K: Key>(&self, keys: &[K]) -> Result<Run<'b, K>, SearchError> {
        let mut writer = self.begin()?;
        write_all(&mut SliceStream::of_keys(keys), &mut writer)?;
        Ok(writer.finish()?)
    }

    /// Merges runs to one.
    pub(super) fn merge<K: Key>(&self, runs: &[Run<'b, K>]) -> Result<Run<'b, K>, SearchError> {
        let mut writer = self.begin()?;
        write_all(&mut self.merged(runs, (None, None))?, &mut writer)?;
        Ok(writer.finish()?)
    }

    /// Writes a stream to a run, if there is anything in it.
    fn write_unless_empty<K: Key>(
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

    /// What is left of candidates without the rows of runs, within bounds. The largest run comes first: it leaves few for the others.
    pub(super) fn without<'r, K: Key>(
        &self,
        candidates: Candidates<'r, K>,
        runs: &[Run<'b, K>],
        (from, to): Bounds<K>,
    ) -> Result<Candidates<'r, K>, StorageError>
    where
        'b: 'r,
    {
        let mut runs: Vec<&Run<'b, K>> = runs.iter().collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.rows()));
        runs.into_iter().try_fold(candidates, |left, run| {
            let mut reader = RunReader::new(run, READER_BUFFERS, self.budget)?;
            reader.limit_to(from, to)?;
            let left: Candidates<'r, K> =
                Box::new(Subtract::<K, (), (), _, _>::new(left, reader, self.merge_rows, self.budget)?);
            Ok(left)
        })
    }

    /// The union of runs, within bounds.
    pub(super) fn merged<K: Key>(
        &self,
        runs: &[Run<'b, K>],
        (from, to): Bounds<K>,
    ) -> Result<Merge<'b, K, (), RunReader<'b, K>, Unit>, StorageError> {
        let readers = runs.iter().map(|run| {
            let mut reader = RunReader::new(run, READER_BUFFERS, self.budget)?;
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
            garbage: Vec::new(),
            garbage_bytes: 0,
            published: 0,
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
        self.n_runs() + RUNS_OF_ROUND_END >= self.readers_max
            || Self::bytes_of(&self.doubtful) > (self.bytes() / DOUBTFUL_PART).max(self.doubtful_bytes_min)
    }

    /// Whether a crash would cost much by now.
    pub(super) fn is_publishing_due(&self) -> bool {
        self.published_at.elapsed() >= self.publish_after
    }

    fn n_runs(&self) -> usize {
        self.expanded.len() + self.waiting.len() + self.doubtful.len()
    }

    /// Compares all doubtful states with all visited ones; runs of those that are new.
    pub(super) fn check_doubtful(&mut self, files: &Files<'b>) -> Result<Vec<Run<'b, K>>, SearchError> {
        if self.doubtful.is_empty() {
            return Ok(Vec::new());
        }
        let visited: Vec<Run<'b, K>> = self.expanded.iter().chain(&self.waiting).cloned().collect();
        let doubtful = std::mem::take(&mut self.doubtful);
        let threads = files.threads_for(visited.len() + doubtful.len());
        let new = in_ranges(&visited, threads, |bounds| {
            let candidates = Box::new(files.merged(&doubtful, bounds)?);
            files.write_unless_empty(&mut files.without(candidates, &visited, bounds)?)
        })?;
        self.forget(files, doubtful)?;
        Ok(new.into_iter().flatten().collect())
    }

    /// Takes runs of about the same size that are worth merging, if there are enough of them, and says what they are.
    pub(super) fn take_alike(&mut self) -> Option<(Role, Vec<Run<'b, K>>)> {
        [Role::Expanded, Role::Doubtful].into_iter().find_map(|role| {
            let runs = self.list(role);
            let size = |run: &Run<'b, K>| run.rows().max(1).ilog2() / TIER_LOG2;
            let enough = |tier: u32| runs.iter().filter(|run| size(run) == tier).count() >= RUNS_TO_MERGE;
            let tier = runs.iter().map(size).filter(|tier| enough(*tier)).min()?;
            let (alike, others) = std::mem::take(runs).into_iter().partition(|run| size(run) == tier);
            *runs = others;
            Some((role, alike))
        })
    }

    fn list(&mut self, role: Role) -> &mut Vec<Run<'b, K>> {
        match role {
            Role::Expanded => &mut self.expanded,
            Role::Doubtful => &mut self.doubtful,
        }
    }

    /// Puts what runs were merged to in their place.
    pub(super) fn put_merged(
        &mut self,
        files: &Files<'b>,
        role: Role,
        sources: Vec<Run<'b, K>>,
        merged: Run<'b, K>,
    ) -> Result<(), SearchError> {
        if role == Role::Expanded && sources.iter().map(Run::rows).sum::<u64>() != merged.rows() {
            return Err(SearchError::StateTwice);
        }
        self.list(role).push(merged);
        self.forget(files, sources)
    }

    /// Removes runs now, or later if what was published last names them.
    pub(super) fn forget(&mut self, files: &Files<'b>, runs: Vec<Run<'b, K>>) -> Result<(), SearchError> {
        for run in runs {
            let name = run.name().to_owned();
            if self.is_published(&run) {
                self.garbage.push(name);
                self.garbage_bytes += run.bytes();
            } else {
                drop(run);
                files.disk.remove(&name).map_err(StorageError::Disk)?;
            }
        }
        Ok(())
    }

    /// Whether files that only wait for something to be published take much of the disk.
    pub(super) fn has_much_garbage(&self) -> bool {
        self.garbage_bytes > self.bytes() / GARBAGE_PART
    }

    /// Merges runs of about the same size where there are many, and more if there are more runs than can be read at once. `reading`
    /// is the run that is being read: it stays as it is.
    pub(super) fn merge(&mut self, files: &Files<'b>, reading: Option<&str>) -> Result<(), SearchError> {
        let is_read = |run: &Run<'b, K>| Some(run.name()) == reading;
        let (being_read, waiting) = std::mem::take(&mut self.waiting).into_iter().partition::<Vec<_>, _>(is_read);
        let runs_max = self.readers_max.saturating_sub(being_read.len()) / 3;
        let rows = |runs: &[Run<'b, K>]| runs.iter().map(Run::rows).sum::<u64>();
        let rows_before = rows(&self.expanded) + rows(&waiting);
        let expanded = std::mem::take(&mut self.expanded);
        self.expanded = self.merge_list(files, expanded, runs_max)?;
        self.waiting = self.merge_list(files, waiting, runs_max)?;
        if rows(&self.expanded) + rows(&self.waiting) != rows_before {
            return Err(SearchError::StateTwice);
        }
        self.waiting.extend(being_read);
        if self.doubtful.len() > runs_max {
            let doubtful = std::mem::take(&mut self.doubtful);
            self.doubtful = self.merge_list(files, doubtful, 1)?;
        }
        Ok(())
    }

    /// Merges the smaller ones of some runs until they are few.
    fn merge_list(
        &mut self,
        files: &Files<'b>,
        mut runs: Vec<Run<'b, K>>,
        runs_max: usize,
    ) -> Result<Vec<Run<'b, K>>, SearchError> {
        loop {
            runs.sort_by_key(Run::rows);
            let n = self.runs_to_merge(&runs, runs_max.max(files.threads));
            if n <= files.threads {
                return Ok(runs);
            }
            let sources: Vec<Run<'b, K>> = runs.drain(..n).collect();
            let merged = |bounds| files.write_unless_empty(&mut files.merged(&sources, bounds)?);
            // Every thread makes a run, and few runs are better than a little time.
            let rows: u64 = sources.iter().map(Run::rows).sum();
            let threads = if rows < ROWS_TO_SHARE { 1 } else { files.threads_for(sources.len()) };
            runs.extend(in_ranges(&sources, threads, merged)?.into_iter().flatten());
            self.forget(files, sources)?;
        }
    }

    /// How many of the smallest runs to merge: those in front of the first one that is larger than all before it together, if they are
    /// enough, or as many as leave few.
    fn runs_to_merge(&self, runs: &[Run<'b, K>], runs_max: usize) -> usize {
        let mut rows = 0;
        let alike = runs.iter().take_while(|run| {
            let fits = rows == 0 || run.rows() <= 2 * rows;
            rows += run.rows();
            fits
        });
        let alike = alike.count();
        let too_many = if runs.len() > runs_max { runs.len() - runs_max / 2 } else { 0 };
        let n = if alike >= RUNS_TO_MERGE { alike.max(too_many) } else { too_many };
        n.min(self.readers_max)
    }

    /// Notes that all runs with smaller numbers are named by what was published.
    pub(super) fn published(&mut self, n_runs: u64) {
        self.published = n_runs;
        self.published_at = Instant::now();
    }

    /// Whether what was published last names the run, so that it was synced.
    pub(super) fn is_published(&self, run: &Run<'b, K>) -> bool {
        number_of(run.name()) < self.published
    }

    pub(super) fn remove_garbage(&mut self, files: &Files<'b>) -> Result<(), SearchError> {
        self.garbage_bytes = 0;
        for name in self.garbage.drain(..) {
            files.disk.remove(&name).map_err(StorageError::Disk)?;
        }
        Ok(())
    }
}

/// Keys from the first on and below the second.
pub(super) type Bounds<K> = (Option<K>, Option<K>);

/// Does something for ranges of keys that are about equally many, by as many threads.
pub(super) fn in_ranges<K: Key, T: Send>(
    runs: &[Run<'_, K>],
    threads: usize,
    work: impl Fn(Bounds<K>) -> Result<T, StorageError> + Sync,
) -> Result<Vec<T>, SearchError> {
    let largest = runs.iter().max_by_key(|run| run.rows());
    let splitters = largest.map_or(Vec::new(), |run| run.splitters(threads.max(1)));
    let ends: Vec<Option<K>> =
        std::iter::once(None).chain(splitters.into_iter().map(Some)).chain(std::iter::once(None)).collect();
    let ranges: Vec<Bounds<K>> = ends.windows(2).map(|ends| (ends[0], ends[1])).collect();
    if let [whole] = ranges[..] {
        return Ok(vec![work(whole)?]);
    }
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = ranges.into_iter().map(|bounds| scope.spawn(move || work(bounds))).collect();
        let broken = |_| SearchError::Thread("it panicked".to_owned());
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join().map_err(broken)).collect();
        results.into_iter().map(|result| Ok(result??)).collect()
    })
}
