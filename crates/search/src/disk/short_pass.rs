//! A pass that leaves the buffers as they are: doubtful states in memory are compared with what was visited, and what is new stays in memory.
//!
//! Where the filter has few bits for each state, it takes many new ones for met, and their successors wait for a pass. In a graph that is deep
//! and narrow all that can be expanded is soon expanded, so passes are many, and each finds little. To write out the buffers, to merge, and
//! to publish would cost more than the comparison. It is done all the same now and then, so that a crash does not cost much.
//!
//! Where the graph is wide, what is new is written, and published. But the last of the doubtful states, which are still in memory, need not be.

use super::assumed::{Settling, is_out_of_memory};
use super::reading::Reading;
use super::visited::{Bounds, Candidates, Files, Visited};
use super::worker::Worker;
use super::{Search, Shared};
use crate::SearchError;
use lariat_storage::stream::{Merge, RowStream, SliceStream, Subtract, write_all};
use lariat_storage::{Key, ReservedVec, Run, RunPart, StorageError, splitters};
use std::sync::atomic::{AtomicU64, Ordering};

/// Short passes before one that publishes.
const SHORT_PASSES_MAX: u32 = 12;

/// Fewer keys are sorted by one thread.
const KEYS_TO_SHARE: usize = 1 << 15;

/// With fewer blocks of each run in memory, reading waits for the disk; that is worse than what a pass costs that writes, if more blocks than this are read.
const BUFFERS_ENOUGH: usize = 4;
const BLOCKS_FEW: u64 = 128;

/// What a short pass finds in a range.
pub(super) enum Found<'b, K: Key> {
    InMemory(ReservedVec<'b, K>),
    /// It was too much, or the graph is wide here.
    OnDisk(Run<'b, K>),
}

/// Sorted states of all workers that are in memory only.
pub(super) struct Buffers<'m, K> {
    pub(super) new: Vec<&'m [K]>,
    pub(super) doubtful: Vec<&'m [K]>,
    /// Those of the new ones that were assumed to be new.
    pub(super) assumed: &'m [K],
}

impl<K: Key> Found<'_, K> {
    fn len(&self) -> u64 {
        match self {
            Self::InMemory(keys) => keys.len() as u64,
            Self::OnDisk(run) => run.rows(),
        }
    }
}

impl<'m, K: Key> Buffers<'m, K> {
    /// Buffers that were sorted.
    pub(super) fn of(workers: &'m [Worker<'_, '_, K>], assumed: &'m [K]) -> Self {
        let new = workers.iter().flat_map(Worker::sorted_new).collect();
        let doubtful = workers.iter().map(Worker::doubtful_in_memory).collect();
        Self { new, doubtful, assumed }
    }
}

/// What a comparison says.
pub(super) struct Compared<'b, K: Key> {
    /// New states that were not assumed to be new.
    pub(super) found: Vec<Found<'b, K>>,
    /// Those that were and had been met, in increasing order.
    pub(super) wrong: Vec<ReservedVec<'b, K>>,
    /// How many states were compared with what is on disk.
    pub(super) n_compared: u64,
}

/// How many keys there are in lists.
pub(super) fn n_keys<K>(lists: &[ReservedVec<'_, K>]) -> u64 {
    lists.iter().map(|keys| keys.len() as u64).sum()
}

impl<'s, K: Key> Search<'s, K> {
    /// Compares what is doubtful if that can be done in memory, or goes on with it if it need not be; false if neither can be done, or if nothing new is found.
    pub(super) fn short_pass(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<bool, SearchError> {
        let shared = &self.shared;
        let is_wide = shared.visited().is_wide;
        let is_allowed = is_wide || self.short_passes.get() < SHORT_PASSES_MAX;
        if !is_allowed
            || shared.tally.limit().is_some()
            || !shared.frontier.is_empty()
            || workers.iter().any(Worker::has_waiting)
        {
            return Ok(false);
        }
        if self.assume(workers)? {
            return Ok(true);
        }
        let Some(reading) = self.short_reading(workers) else { return Ok(false) };
        let found = match self.compare(workers, reading) {
            // Without the buffers there is enough.
            Err(error) if shared.is_assuming() && is_out_of_memory(&error) => {
                self.doubt_again(workers)?;
                return Ok(false);
            }
            found => found?,
        };
        let n_new: u64 = found.iter().map(Found::len).sum();
        self.take_found(found, workers)?;
        shared.tally.add_states(n_new);
        if is_wide && n_new > 0 {
            self.end_wide_level(workers)?;
        }
        Ok(n_new > 0)
    }

    /// How to read the runs, unless another pass is better.
    fn short_reading(&self, workers: &[Worker<'_, 's, K>]) -> Option<Reading> {
        let visited = self.shared.visited();
        let reading = self.shared.reading_of_short_pass(&visited)?;
        let waits = || visited.waits_for_blocks(reading, n_doubtful(workers, &visited));
        let is_good = visited.is_wide || self.shared.is_assuming() || !waits();
        is_good.then_some(reading)
    }

    /// Compares what is doubtful and what is assumed; new states that nobody has.
    fn compare(&self, workers: &mut [Worker<'_, 's, K>], reading: Reading) -> Result<Vec<Found<'s, K>>, SearchError> {
        let shared = &self.shared;
        shared.context.begin_phase("check");
        self.sort_buffers(workers)?;
        let mut assumed = self.assumed.borrow_mut();
        let mut visited = shared.visited();
        visited.passes.add(shared.files.n_runs());
        // Where the graph is wide, there is no room for them.
        let found_keys = if visited.is_wide { 0 } else { shared.shares.found_keys };
        let buffers = Buffers::of(workers, assumed.sorted());
        let n_assumed = buffers.assumed.len() as u64;
        let Compared { found, wrong, n_compared } =
            visited.find_new(&shared.files, &buffers, true, found_keys, reading)?;
        self.short_passes.set(self.short_passes.get() + 1);
        let doubtful = std::mem::take(&mut visited.doubtful);
        visited.forget(&shared.files, doubtful)?;
        drop(visited);
        workers.iter_mut().for_each(Worker::forget_doubtful);
        let n_found: u64 = found.iter().map(Found::len).sum();
        assumed.learn(n_compared, n_found + n_assumed - n_keys(&wrong));
        drop(assumed);
        self.settled(workers, &wrong)?;
        Ok(found)
    }

    /// Lets new states wait: in the buffers, or on disk.
    fn take_found(&self, found: Vec<Found<'s, K>>, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        for found in found {
            match found {
                // A worker whose buffer is full writes a run.
                Found::InMemory(keys) => self.deal(&keys, workers)?,
                Found::OnDisk(run) => {
                    self.shared.visited().waiting.push(run.clone());
                    self.shared.frontier.push(run);
                }
            }
        }
        Ok(())
    }

    /// Publishes a level of a wide stretch, and goes on with the filter where the stretch ends. All states are in runs.
    fn end_wide_level(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        let shared = &self.shared;
        let mut visited = shared.visited();
        if !visited.is_published_lately() || visited.has_much_garbage() {
            self.publish(&mut visited)?;
        }
        let is_wide = shared.will_be_wide(&mut visited);
        drop(visited);
        if !is_wide {
            self.each(workers, Worker::end_round)?;
            self.go_on(&mut shared.visited(), is_wide)?;
        }
        Ok(())
    }

    /// Sorts what workers have in memory, at the same time if it is much.
    pub(super) fn sort_buffers(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        if workers.iter().map(Worker::n_in_memory).sum::<usize>() < KEYS_TO_SHARE {
            workers.iter_mut().for_each(Worker::sort_buffers);
            return Ok(());
        }
        self.each(workers, |worker| {
            worker.sort_buffers();
            Ok(())
        })
    }
}

impl<'s, K: Key> Shared<'s, K> {
    /// How all runs can be read while the buffers keep their memory; none if they cannot, or a pass is due that writes. Where more is
    /// doubtful than fits into memory, such a pass is worth its price if it reads with more threads.
    pub(super) fn reading_of_short_pass(&self, visited: &Visited<'s, K>) -> Option<Reading> {
        let readers = &self.shares.readers;
        let runs = || visited.expanded.iter().chain(&visited.doubtful);
        let n_small = runs().filter(|run| run.blocks() <= 1).count();
        let n_runs = runs().count() - n_small + self.frontier.n_workers();
        // Some is for writing what is found, and for steps of merging.
        let left = self.files.memory_left().checked_sub(self.shares.writers_bytes)? / 4 * 3;
        if visited.is_wide {
            let reading = readers.reading_with_small(n_runs, n_small, left)?;
            let is_slow = reading.threads < readers.threads;
            return (!is_slow && !visited.is_merging_due(&self.files)).then_some(reading);
        }
        let found_bytes = (readers.threads * self.shares.found_keys * size_of::<K>()) as u64;
        let reading = readers.reading_with_small(n_runs, n_small, left.checked_sub(found_bytes)?)?;
        let is_slow = reading.threads < readers.threads && !visited.doubtful.is_empty();
        (!is_slow && !self.is_pass_due(visited)).then_some(reading)
    }
}

/// How many states are doubtful, those of workers and on disk.
fn n_doubtful<K: Key>(workers: &[Worker<'_, '_, K>], visited: &Visited<'_, K>) -> u64 {
    let in_memory = workers.iter().map(|worker| worker.doubtful_in_memory().len() as u64).sum::<u64>();
    in_memory + visited.doubtful.iter().map(Run::rows).sum::<u64>()
}

impl<'b, K: Key> Visited<'b, K> {
    /// Whether a pass would wait for the disk that has so little memory to read ahead.
    fn waits_for_blocks(&self, reading: Reading, n_doubtful: u64) -> bool {
        let n_blocks: u64 = self.expanded.iter().map(|run| run.blocks().min(n_doubtful)).sum();
        reading.buffers < BUFFERS_ENOUGH && n_blocks > BLOCKS_FEW
    }

    /// What of the buffers is new: their doubtful states, and those on disk if it is said so, and the assumed ones.
    pub(super) fn find_new(
        &self,
        files: &Files<'b>,
        buffers: &Buffers<'_, K>,
        with_doubtful_runs: bool,
        keys_max: usize,
        Reading { threads, buffers: blocks }: Reading,
    ) -> Result<Compared<'b, K>, SearchError> {
        let doubtful_runs = if with_doubtful_runs { self.doubtful.as_slice() } else { &[] };
        let on_disk = doubtful_runs.iter().map(Run::rows).sum::<u64>();
        let in_memory = || buffers.doubtful.iter().copied().chain([buffers.assumed]);
        let n_candidates = in_memory().fold(on_disk, |n, keys| n + keys.len() as u64);
        let group_rows = files.options.group_rows as u64;
        // A group of rows is read if a candidate falls into it.
        let groups_read = |part: &RunPart<K>| {
            let candidates = in_memory().map(|keys| within(keys, part.bounds).len() as u64);
            let n = candidates.fold(on_disk, u64::saturating_add);
            n.min(part.rows / group_rows + 1)
        };
        let splitters = splitters(&self.expanded, threads, groups_read);
        let n_compared = AtomicU64::new(0);
        let ranges = files.in_ranges_between(&splitters, |bounds| {
            let mut left = files.not_in_memory(doubtful_runs, buffers, bounds, blocks)?;
            let assumed = within(buffers.assumed, bounds);
            if !assumed.is_empty() {
                left = Box::new(Merge::new([left, slice(assumed, bounds)], unit, files.merge_rows, files.budget)?);
            }
            let counted: Candidates<'_, K> = Box::new(Counted { stream: left, n: &n_compared });
            let new = files.without(counted, n_candidates, &self.expanded, bounds, blocks)?;
            let mut settling = Settling::new(new, assumed, files.budget);
            let found = files.collect(&mut settling, keys_max)?;
            Ok((found, settling.wrong))
        })?;
        let (found, wrong) = ranges.into_iter().unzip();
        Ok(Compared { found, wrong, n_compared: n_compared.into_inner() })
    }

    /// What of the doubtful states in buffers is not among the new ones there.
    pub(super) fn find_not_in_memory(
        &self,
        files: &Files<'b>,
        buffers: &Buffers<'_, K>,
        n_doubtful: usize,
    ) -> Result<Vec<ReservedVec<'b, K>>, SearchError> {
        let threads = if n_doubtful >= KEYS_TO_SHARE { files.readers.threads } else { 1 };
        let splitters = splitters(&self.expanded, threads, |part| part.rows);
        files.in_ranges_between(&splitters, |bounds| {
            let mut new = files.not_in_memory(&[], buffers, bounds, 1)?;
            let mut found = ReservedVec::new(files.budget);
            loop {
                let (keys, _) = new.batch()?;
                let n = keys.len();
                if n == 0 {
                    return Ok(found);
                }
                found.extend_from_slice(keys)?;
                new.consume(n);
            }
        })
    }
}

/// A stream whose states are counted.
struct Counted<'c, S> {
    stream: S,
    n: &'c AtomicU64,
}

impl<K: Key, S: RowStream<K, ()>> RowStream<K, ()> for Counted<'_, S> {
    fn batch(&mut self) -> Result<(&[K], &[()]), StorageError> {
        self.stream.batch()
    }

    fn consume(&mut self, n: usize) {
        self.n.fetch_add(n as u64, Ordering::Relaxed);
        self.stream.consume(n);
    }
}

fn unit((): (), (): ()) {}

/// Sorted keys within bounds.
fn within<K: Key>(keys: &[K], (from, to): Bounds<K>) -> &[K] {
    let start = from.map_or(0, |from| keys.partition_point(|key| *key < from));
    let end = to.map_or(keys.len(), |to| keys.partition_point(|key| *key < to));
    &keys[start..end]
}

fn slice<K: Key>(keys: &[K], bounds: Bounds<K>) -> Candidates<'_, K> {
    Box::new(SliceStream::of_keys(within(keys, bounds)))
}

impl<'b> Files<'b> {
    /// Doubtful states, of runs and buffers, that are not among the new ones in buffers.
    fn not_in_memory<'r, K: Key>(
        &'r self,
        doubtful_runs: &[Run<'b, K>],
        buffers: &Buffers<'r, K>,
        bounds: Bounds<K>,
        blocks: usize,
    ) -> Result<Candidates<'r, K>, StorageError> {
        let on_disk: Candidates<'r, K> = Box::new(self.merged(doubtful_runs, bounds, blocks)?);
        let in_memory = buffers.doubtful.iter().map(|keys| slice(keys, bounds));
        let all: Vec<_> = std::iter::once(on_disk).chain(in_memory).collect();
        let mut left: Candidates<'r, K> = Box::new(Merge::new(all, unit, self.merge_rows, self.budget)?);
        for keys in &buffers.new {
            let step = Subtract::<K, (), (), _, _>::new(left, slice(keys, bounds), self.merge_rows, self.budget)?;
            left = Box::new(step);
        }
        Ok(left)
    }

    /// Reads a stream into memory, or writes it to a run if it is long.
    fn collect<K: Key>(
        &self,
        stream: &mut impl RowStream<K, ()>,
        keys_max: usize,
    ) -> Result<Found<'b, K>, StorageError> {
        let mut found = ReservedVec::new(self.budget);
        loop {
            let (keys, _) = stream.batch()?;
            let n = keys.len();
            if n == 0 {
                return Ok(Found::InMemory(found));
            }
            if found.len() + n > keys_max {
                break;
            }
            keys.iter().try_for_each(|key| found.push(*key))?;
            stream.consume(n);
        }
        let mut writer = self.begin()?;
        write_all(&mut SliceStream::of_keys(&found), &mut writer)?;
        write_all(stream, &mut writer)?;
        writer.finish().map(Found::OnDisk)
    }
}
