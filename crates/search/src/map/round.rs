//! Sending values between two merges, by all threads: states that were never met are expanded at once, other values wait as candidates.

use super::{Search, none};
use crate::SearchError;
use crate::expansion::Work;
use crate::pool::{Pool, Taken};
use crate::tally::{Tally, lock};
use lariat_graph::{Edges, RowBuffer, Rows};
use lariat_storage::{CombiningCache, ExternalSort, Key, RowFilter, RowQueue, SortedPieces, hash_row};
use std::sync::Mutex;

/// What a round leaves.
pub(super) struct Round<'s, K> {
    /// The largest values that were sent to states.
    pub(super) sent: Vec<SortedPieces<'s, K, K>>,
    /// States that were met for the first time, and the value with which they were queued.
    pub(super) fresh: Vec<SortedPieces<'s, K, K>>,
    /// Those of them that wait.
    pub(super) queue: RowQueue<'s>,
}

impl<'s, K: Key> Search<'s, K> {
    /// Expands states until none is left, or a merge is due, or the search is stopped.
    pub(super) fn round(&mut self, filter: &RowFilter<'s>) -> Result<Round<'s, K>, SearchError> {
        let (disk, budget) = (self.sets.disk(), self.sets.budget());
        let n_workers = lock(&self.expansion).n_threads();
        let queue = RowQueue::new(disk, &format!("queue-{}", self.sets.next_number()), self.shares.queue, budget);
        let rows_max = self.shares.checkpoint_rows.max(self.n_expanded);
        self.tally.set_again(self.iteration > 1);
        let open = std::mem::take(&mut self.open);
        let pool = Pool::new(self.tally, queue, open, n_workers, rows_max).with_queue_mark(self.iteration == 1);
        let mut workers = Vec::new();
        for thread in 0..n_workers {
            let sort = |what, options| {
                ExternalSort::new(disk, &format!("{what}-{thread}"), options, K::max as fn(_, _) -> _, budget)
            };
            workers.push(Sender {
                tally: self.tally,
                filter,
                pool: &pool,
                hit: &self.hit,
                is_first: self.iteration == 1,
                taken: Taken::new(),
                n_done: 0,
                queued: RowBuffer::new(self.shares.queue.row_bytes),
                cache: CombiningCache::new(self.shares.cache_bytes, budget)?,
                sent: sort("sent", self.shares.sort)?,
                fresh: sort("fresh", self.shares.fresh)?,
            });
        }
        lock(&self.expansion).expand_all(&mut workers, u64::MAX)?;
        let (mut sent, mut fresh) = (Vec::new(), Vec::new());
        for mut worker in workers {
            for (key, value) in worker.cache.drain() {
                worker.sent.push(key, value)?;
            }
            sent.push(worker.sent.into_pieces()?);
            fresh.push(worker.fresh.into_pieces()?);
        }
        let left = pool.finish()?;
        self.n_expanded += left.n_taken;
        self.open = left.open;
        Ok(Round { sent, fresh, queue: left.queue })
    }
}

/// One thread's work.
struct Sender<'w, 's, K: Key> {
    tally: &'s Tally<'s>,
    filter: &'w RowFilter<'s>,
    pool: &'w Pool<'s, K, K>,
    hit: &'w Mutex<Option<Vec<u8>>>,
    /// Whether this is the first iteration: all accepting states count, and marks say which states are expanded for the first time. Otherwise
    /// marks say which states count.
    is_first: bool,
    taken: Taken<K>,
    /// How many of the states that were taken have been expanded.
    n_done: usize,
    queued: RowBuffer,
    cache: CombiningCache<'s, K, K>,
    sent: ExternalSort<'s, K, K, fn(K, K) -> K>,
    fresh: ExternalSort<'s, K, K, fn(K, K) -> K>,
}

impl<K: Key> Sender<'_, '_, K> {
    fn send(&mut self, value: K, targets: Rows<'_>) -> Result<(), SearchError> {
        for target in targets.iter() {
            let key = K::from_row(target);
            if key == value && value != none() {
                lock(self.hit).get_or_insert_with(|| target.to_vec());
                self.tally.stop();
                return Ok(());
            }
            if self.filter.meet(hash_row(target)) {
                if let Some((key, value)) = self.cache.push(key, value, K::max) {
                    self.sent.push(key, value)?;
                }
            } else {
                self.fresh.push(key, value)?;
                let mut row = vec![0; self.queued.as_rows().width()];
                let (of_state, of_value) = row.split_at_mut(target.len());
                of_state.copy_from_slice(target);
                value.write(of_value);
                self.queued.push(&row);
            }
        }
        Ok(())
    }
}

impl<K: Key> Work for Sender<'_, '_, K> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        self.n_done = 0;
        self.pool.take(batch, &mut self.taken, false)
    }

    fn put(&mut self, from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        if self.is_first && !self.taken.mark {
            self.tally.uncount_expanded(from, edges, &vec![1; from.len()]);
        }
        let counts = self.is_first || self.taken.mark;
        for (i, row) in from.iter().enumerate() {
            let own = if counts && self.tally.graph.is_accepting(row) { K::from_row(row) } else { none() };
            let value = self.taken.values[self.n_done + i].max(own);
            self.send(value, edges.targets_of(i))?;
        }
        self.n_done += from.len();
        if !self.queued.is_empty() {
            self.pool.put(&self.queued)?;
            self.tally.found_new(self.queued.len() as u64);
            self.queued.clear();
        }
        Ok(())
    }
}
