//! A pass that leaves the buffers as they are: doubtful states in memory are compared with what was visited, and what is new stays in memory.
//!
//! Where the filter has few bits for each state, it takes many new ones for met, and their successors wait for a pass. In a graph that is deep
//! and narrow all that can be expanded is soon expanded, so passes are many, and each finds little. To write out the buffers, to merge, and
//! to publish would cost more than the comparison. It is done all the same now and then, so that a crash does not cost much.
//!
//! Where the graph is wide, what is new is written, and published. But the last of the doubtful states, which are still in memory, need not be.

use super::reading::Reading;
use super::visited::{Bounds, Candidates, Files, Visited};
use super::worker::Worker;
use super::{Search, Shared};
use crate::SearchError;
use lariat_storage::stream::{Merge, RowStream, SliceStream, Subtract, write_all};
use lariat_storage::{Key, ReservedVec, Run, RunPart, StorageError, splitters};

/// Short passes before one that publishes.
const SHORT_PASSES_MAX: u32 = 12;

/// Fewer keys are sorted by one thread.
const KEYS_TO_SHARE: usize = 1 << 15;

/// With fewer blocks of each run in memory, reading waits for the disk; that is worse than what a pass costs that writes, if more blocks than this are read.
const BUFFERS_ENOUGH: usize = 4;
const BLOCKS_FEW: u64 = 128;

/// What a short pass finds in a range.
enum Found<'b, K: Key> {
    InMemory(ReservedVec<'b, K>),
    /// It was too much, or the graph is wide here.
    OnDisk(Run<'b, K>),
}

/// Sorted states of all workers that are in memory only.
struct Buffers<'m, K> {
    new: Vec<&'m [K]>,
    doubtful: Vec<&'m [K]>,
}

impl<'s, K: Key> Search<'s, K> {
    /// Compares what is doubtful if that can be done in memory; false if it cannot, or if nothing new is found.
    pub(super) fn short_pass(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<bool, SearchError> {
        let shared = &self.shared;
        let mut visited = shared.visited();
        let is_allowed = visited.is_wide || self.short_passes.get() < SHORT_PASSES_MAX;
        if !is_allowed
            || shared.tally.limit().is_some()
            || !shared.frontier.is_empty()
            || workers.iter().any(Worker::has_waiting)
        {
            return Ok(false);
        }
        let Some(reading) = shared.reading_of_short_pass(&visited) else { return Ok(false) };
        if !visited.is_wide && visited.waits_for_blocks(reading, n_doubtful(workers, &visited)) {
            return Ok(false);
        }
        shared.context.begin_phase("check");
        self.sort_buffers(workers)?;
        let new = workers.iter().flat_map(Worker::sorted_new).collect();
        let doubtful = workers.iter().map(Worker::doubtful_in_memory).collect();
        visited.passes.add(shared.files.n_runs());
        // Where the graph is wide, there is no room for them.
        let found_keys = if visited.is_wide { 0 } else { shared.shares.found_keys };
        let found = visited.find_new(&shared.files, &Buffers { new, doubtful }, found_keys, reading)?;
        self.short_passes.set(self.short_passes.get() + 1);
        let doubtful = std::mem::take(&mut visited.doubtful);
        visited.forget(&shared.files, doubtful)?;
        workers.iter_mut().for_each(Worker::forget_doubtful);
        let mut n_new = 0;
        for found in found {
            match found {
                Found::InMemory(keys) => {
                    n_new += keys.len() as u64;
                    let of_each = keys.len().div_ceil(workers.len()).max(1);
                    // A worker whose buffer is full writes a run.
                    drop(visited);
                    keys.chunks(of_each).zip(&mut *workers).try_for_each(|(keys, worker)| worker.adopt(keys))?;
                    visited = shared.visited();
                }
                Found::OnDisk(run) => {
                    n_new += run.rows();
                    visited.waiting.push(run.clone());
                    shared.frontier.push(run);
                }
            }
        }
        shared.tally.add_states(n_new);
        if visited.is_wide && n_new > 0 {
            // All states are in runs.
            if !visited.is_published_lately() || visited.has_much_garbage() {
                self.publish(&mut visited)?;
            }
            let is_wide = shared.will_be_wide(&mut visited);
            if !is_wide {
                drop(visited);
                self.each(workers, Worker::end_round)?;
                self.go_on(&mut shared.visited(), is_wide)?;
            }
        }
        Ok(n_new > 0)
    }

    /// Sorts what workers have in memory, at the same time if it is much.
    fn sort_buffers(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
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
    fn reading_of_short_pass(&self, visited: &Visited<'s, K>) -> Option<Reading> {
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

    fn find_new(
        &self,
        files: &Files<'b>,
        buffers: &Buffers<'_, K>,
        keys_max: usize,
        Reading { threads, buffers: blocks }: Reading,
    ) -> Result<Vec<Found<'b, K>>, SearchError> {
        let on_disk = self.doubtful.iter().map(Run::rows).sum::<u64>();
        let n_doubtful = buffers.doubtful.iter().fold(on_disk, |n, keys| n + keys.len() as u64);
        let group_rows = files.options.group_rows as u64;
        // A group of rows is read if a candidate falls into it.
        let groups_read = |part: &RunPart<K>| {
            let candidates = buffers.doubtful.iter().map(|keys| within(keys, part.bounds).len() as u64);
            let n = candidates.fold(on_disk, u64::saturating_add);
            n.min(part.rows / group_rows + 1)
        };
        let splitters = splitters(&self.expanded, threads, groups_read);
        files.in_ranges_between(&splitters, |bounds| {
            let on_disk: Candidates<'_, K> = Box::new(files.merged(&self.doubtful, bounds, blocks)?);
            let in_memory = buffers.doubtful.iter().map(|keys| slice(keys, bounds));
            let all: Vec<_> = std::iter::once(on_disk).chain(in_memory).collect();
            let unit: fn((), ()) = |(), ()| ();
            let mut left: Candidates<'_, K> = Box::new(Merge::new(all, unit, files.merge_rows, files.budget)?);
            for keys in &buffers.new {
                let step = Subtract::<K, (), (), _, _>::new(left, slice(keys, bounds), files.merge_rows, files.budget)?;
                left = Box::new(step);
            }
            files.collect(files.without(left, n_doubtful, &self.expanded, bounds, blocks)?, keys_max)
        })
    }
}

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
    /// Reads a stream into memory, or writes it to a run if it is long.
    fn collect<K: Key>(&self, mut stream: Candidates<'_, K>, keys_max: usize) -> Result<Found<'b, K>, StorageError> {
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
        write_all(&mut stream, &mut writer)?;
        writer.finish().map(Found::OnDisk)
    }
}
