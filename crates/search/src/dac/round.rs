//! Expanding states between two merges, by all threads: what is certainly due is expanded at once, the rest waits as a candidate.

use super::{Appendix, FLAG, OpenSet, Search, combine};
use super::shares::READ_BUFFERS;
use crate::SearchError;
use crate::expansion::{BATCH_ROWS, Work};
use crate::tally::{Tally, lock};
use lariat_base::MemoryBudget;
use lariat_graph::{Edges, RowBuffer, Rows};
use lariat_storage::stream::RowStream;
use lariat_storage::{
    CombiningCache, CountingFilter, ExternalSort, Key, PartsReader, RowFilter, RowQueue, SortedPieces, hash_row,
};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// What is sent along edges, and which targets are expanded without a merge: none, if nothing answers first.
pub(super) enum Rule<'f> {
    /// Targets that were never met are expanded, accepting ones only if that is asked for. An appendix counts edges.
    Forward { filter: Option<RowFilter<'f>>, enters_accepting: bool },
    /// Targets whose last predecessor was eliminated are eliminated. An appendix counts edges that are gone.
    Eliminate { counters: Option<CountingFilter<'f>> },
}

/// An edge, as it is counted in an appendix.
const EDGE: Appendix = 2;
/// A thread that waits for work looks up so often whether the search has stopped.
const PATIENCE: Duration = Duration::from_millis(5);
/// With fewer states waiting it is not worth waking a thread.
const ROWS_TO_WAKE: u64 = 64;

/// The states to be expanded, which all threads share.
struct Pool<'s, K: Key> {
    /// Those that were found in this round.
    queue: RowQueue<'s>,
    /// Those of earlier ones, in files: what is read, and what is to be read.
    reader: Option<PartsReader<'s, K, Appendix>>,
    open: Vec<OpenSet<'s, K>>,
    n_taken: u64,
    n_workers: usize,
    n_idle: usize,
    /// Whether the round ends here.
    has_ended: bool,
}

/// What a round leaves.
pub(super) struct Round<'s, K> {
    /// The candidates.
    pub(super) pieces: Vec<SortedPieces<'s, K, Appendix>>,
    /// States that were found and wait.
    pub(super) queue: RowQueue<'s>,
}

impl<'s, K: Key> Search<'s, K> {
    /// Expands states until none is left, or a merge is due, or the search is stopped.
    pub(super) fn round(&mut self, rule: &Rule<'s>) -> Result<Round<'s, K>, SearchError> {
        let (budget, width) = (self.tally.context.budget, self.tally.graph.row_bytes());
        let n_rows = self.open.iter().map(|open| open.parts.rows()).sum();
        self.tally.set_frontier(n_rows);
        let n_workers = lock(&self.expansion).n_threads();
        let pool = Mutex::new(Pool {
            queue: RowQueue::new(self.disk, &format!("queue-{}", self.next_number()), self.shares.queue, budget),
            reader: None,
            open: std::mem::take(&mut self.open),
            n_taken: 0,
            n_workers,
            n_idle: 0,
            has_ended: false,
        });
        let (condition, rows_max) = (Condvar::new(), self.shares.checkpoint_rows.max(self.n_expanded).max(1));
        let ends_when_full = self.options.candidates == super::Candidates::Ram;
        let mut workers = Vec::new();
        for thread in 0..n_workers {
            let name = format!("candidates-{thread}");
            workers.push(Collector {
                tally: self.tally,
                rule,
                pool: &pool,
                condition: &condition,
                rows_max,
                ends_when_full,
                row: vec![0; width],
                hashes: Vec::new(),
                fresh: RowBuffer::new(width),
                cache: CombiningCache::new(self.shares.cache_bytes, budget)?,
                found: ExternalSort::new(self.disk, &name, self.shares.sort, combine as fn(_, _) -> _, budget)?,
            });
        }
        lock(&self.expansion).expand_all(&mut workers, u64::MAX)?;
        let pieces = workers.into_iter().map(Collector::finish).collect::<Result<Vec<_>, SearchError>>()?;
        let mut pool = pool.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        pool.stop_reading()?;
        self.n_expanded += pool.n_taken;
        self.open = pool.open;
        Ok(Round { pieces, queue: pool.queue })
    }
}

impl<'s, K: Key> Pool<'s, K> {
    /// Appends states to a batch; false if none are here now.
    fn take(&mut self, batch: &mut RowBuffer, row: &mut [u8], budget: &'s MemoryBudget) -> Result<bool, SearchError> {
        // What was found last is expanded first, so that little waits.
        if !self.queue.is_empty() {
            self.queue.take_rows(BATCH_ROWS)?.iter().for_each(|row| batch.push(row));
        }
        while batch.is_empty() {
            if self.reader.is_none() {
                let Some(next) = self.open.first() else {
                    return Ok(false);
                };
                self.reader = Some(next.parts.reader((next.from, None), READ_BUFFERS, budget)?);
            }
            let Some(reader) = &mut self.reader else { return Ok(false) };
            let (keys, _) = reader.batch()?;
            let n = keys.len().min(BATCH_ROWS);
            for key in &keys[..n] {
                key.write_row(row);
                batch.push(row);
            }
            reader.consume(n);
            if n == 0 {
                self.reader = None;
                self.open.remove(0);
            }
        }
        self.n_taken += batch.len() as u64;
        Ok(true)
    }

    /// Notes how far the set that is being read was read.
    fn stop_reading(&mut self) -> Result<(), SearchError> {
        let Some(mut reader) = self.reader.take() else { return Ok(()) };
        match reader.batch()?.0.first() {
            Some(next) => self.open[0].from = Some(*next),
            None => drop(self.open.remove(0)),
        }
        Ok(())
    }
}

/// One thread's work: states come from the pool, and what is certainly due goes there; candidates are its own.
struct Collector<'w, 's, K: Key> {
    tally: &'s Tally<'s>,
    rule: &'w Rule<'s>,
    pool: &'w Mutex<Pool<'s, K>>,
    condition: &'w Condvar,
    rows_max: u64,
    ends_when_full: bool,
    row: Vec<u8>,
    hashes: Vec<u64>,
    fresh: RowBuffer,
    cache: CombiningCache<'s, K, Appendix>,
    found: ExternalSort<'s, K, Appendix, fn(Appendix, Appendix) -> Appendix>,
}

impl<'s, K: Key> Collector<'_, 's, K> {
    fn finish(mut self) -> Result<SortedPieces<'s, K, Appendix>, SearchError> {
        for (key, value) in self.cache.drain() {
            self.found.push(key, value)?;
        }
        Ok(self.found.into_pieces()?)
    }

    /// Sends the targets of edges along; those that are certainly due gather in `fresh`.
    fn send(&mut self, targets: Rows<'_>) -> Result<(), SearchError> {
        self.hashes.clear();
        for target in targets.iter() {
            let hash = hash_row(target);
            self.rule.prefetch(hash);
            self.hashes.push(hash);
        }
        for (target, hash) in targets.iter().zip(&self.hashes) {
            let is_due = self.rule.is_due(target, *hash, self.tally);
            if is_due {
                self.fresh.push(target);
            }
            let value = EDGE | if is_due { FLAG } else { 0 };
            if let Some((key, value)) = self.cache.push(K::from_row(target), value, combine) {
                self.found.push(key, value)?;
            }
        }
        Ok(())
    }
}

impl<K: Key> Work for Collector<'_, '_, K> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        let mut pool = lock(self.pool);
        pool.has_ended |= pool.n_taken >= self.rows_max || (self.ends_when_full && self.found.has_spilled());
        while !pool.has_ended && !pool.take(batch, &mut self.row, self.tally.context.budget)? {
            pool.n_idle += 1;
            if pool.n_idle == pool.n_workers {
                pool.has_ended = true;
                break;
            }
            // Others may still find something.
            let waited = self.condition.wait_timeout(pool, PATIENCE);
            pool = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
            if self.tally.is_over() {
                return Ok(());
            }
            if !pool.has_ended {
                pool.n_idle -= 1;
            }
        }
        if pool.has_ended {
            self.condition.notify_all();
        }
        Ok(())
    }

    fn put(&mut self, _from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        self.send(edges.targets())?;
        if !self.fresh.is_empty() {
            let mut pool = lock(self.pool);
            pool.queue.extend(self.fresh.as_rows())?;
            if pool.n_idle > 0 && pool.queue.len() >= ROWS_TO_WAKE {
                self.condition.notify_one();
            }
            drop(pool);
            if matches!(self.rule, Rule::Forward { .. }) {
                self.tally.found_new(self.fresh.len() as u64);
            }
            self.fresh.clear();
        }
        Ok(())
    }
}

impl Rule<'_> {
    fn prefetch(&self, hash: u64) {
        if let Rule::Forward { filter: Some(filter), .. } = self {
            filter.prefetch(hash);
        }
    }

    /// Whether a target is certainly to be expanded now, and by whoever asks.
    fn is_due(&self, target: &[u8], hash: u64, tally: &Tally) -> bool {
        match self {
            Rule::Forward { filter: Some(filter), enters_accepting } => {
                !filter.meet(hash) && (*enters_accepting || !tally.graph.is_accepting(target))
            }
            Rule::Eliminate { counters: Some(counters) } => counters.subtract(hash),
            _ => false,
        }
    }
}
