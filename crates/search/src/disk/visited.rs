//! The runs of a search: what was visited, what waits to be expanded, and what is doubtful.

use super::shares::{READER_BUFFERS, Shares};
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_disk::Disk;
use lariat_storage::stream::{Merge, RowStream, SliceStream, Subtract, write_all};
use lariat_storage::{Key, Run, RunOptions, RunReader, RunWriter, StorageError};
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs of about the same size are merged when there are this many.
const RUNS_TO_MERGE: usize = 8;
/// Runs that workers may still write when a round ends.
const RUNS_OF_ROUND_END: usize = 6;

/// Makes runs; shared by all threads.
pub(super) struct Files<'b> {
    disk: &'b dyn Disk,
    budget: &'b MemoryBudget,
    options: RunOptions,
    merge_rows: usize,
    threads: usize,
    n_runs: AtomicU64,
}

pub(super) struct Visited<'b, K: Key> {
    readers_max: usize,
    doubtful_bytes_min: u64,
    /// Runs of states that were all expanded.
    pub(super) expanded: Vec<Run<'b, K>>,
    /// Runs of states that wait to be expanded, or are being read for that.
    pub(super) waiting: Vec<Run<'b, K>>,
    pub(super) doubtful: Vec<Run<'b, K>>,
    /// Files that nobody needs any more.
    garbage: Vec<String>,
}

type Unit = fn((), ()) -> ();
fn unit((): (), (): ()) {}

impl<'b> Files<'b> {
    pub(super) fn new(shares: &Shares, disk: &'b dyn Disk, budget: &'b MemoryBudget) -> Self {
        let Shares { run: options, merge_rows, pass_threads: threads, .. } = *shares;
        Self { disk, budget, options, merge_rows, threads, n_runs: AtomicU64::new(0) }
    }

    fn begin<K: Key>(&self) -> Result<RunWriter<'b, K>, StorageError> {
        let name = format!("run-{}", self.n_runs.fetch_add(1, Ordering::Relaxed));
        RunWriter::new(self.disk, &name, &self.options, self.budget)
    }

    /// Writes sorted keys.
    pub(super) fn write<K: Key>(&self, keys: &[K]) -> Result<Run<'b, K>, SearchError> {
        let mut writer = self.begin()?;
        write_all(&mut SliceStream::of_keys(keys), &mut writer)?;
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

    /// The union of runs, within bounds.
    fn merged<K: Key>(
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
            expanded: Vec::new(),
            waiting: Vec::new(),
            doubtful: Vec::new(),
            garbage: Vec::new(),
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
            || Self::bytes_of(&self.doubtful) > self.bytes().max(self.doubtful_bytes_min)
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
        let new = in_ranges(&visited, files.threads, |bounds| {
            let candidates = files.merged(&doubtful, bounds)?;
            let visited = files.merged(&visited, bounds)?;
            files.write_unless_empty(&mut Subtract::new(candidates, visited, files.merge_rows, files.budget)?)
        })?;
        self.garbage.extend(doubtful.iter().map(|run| run.name().to_owned()));
        Ok(new)
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
            runs.extend(in_ranges(&sources, files.threads, merged)?);
            self.garbage.extend(sources.iter().map(|run| run.name().to_owned()));
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

    pub(super) fn remove_garbage(&mut self, files: &Files<'b>) -> Result<(), SearchError> {
        for name in self.garbage.drain(..) {
            files.disk.remove(&name).map_err(StorageError::Disk)?;
        }
        Ok(())
    }
}

/// Keys from the first on and below the second.
type Bounds<K> = (Option<K>, Option<K>);

/// Does something for ranges of keys that are about equally many, by as many threads.
fn in_ranges<'b, K: Key>(
    runs: &[Run<'b, K>],
    threads: usize,
    work: impl Fn(Bounds<K>) -> Result<Option<Run<'b, K>>, StorageError> + Sync,
) -> Result<Vec<Run<'b, K>>, SearchError> {
    let largest = runs.iter().max_by_key(|run| run.rows());
    let splitters = largest.map_or(Vec::new(), |run| run.splitters(threads.max(1)));
    let ends: Vec<Option<K>> =
        std::iter::once(None).chain(splitters.into_iter().map(Some)).chain(std::iter::once(None)).collect();
    let ranges: Vec<Bounds<K>> = ends.windows(2).map(|ends| (ends[0], ends[1])).collect();
    if let [whole] = ranges[..] {
        return Ok(work(whole)?.into_iter().collect());
    }
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = ranges.into_iter().map(|bounds| scope.spawn(move || work(bounds))).collect();
        let broken = |_| SearchError::Thread("it panicked".to_owned());
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join().map_err(broken)).collect();
        let mut runs = Vec::new();
        for result in results {
            runs.extend(result??);
        }
        Ok(runs)
    })
}
