//! Expanding states between two merges, by all threads: what is certainly due is expanded at once, the rest waits as a candidate.

use super::{Appendix, FLAG, Search, combine};
use crate::SearchError;
use crate::expansion::Work;
use crate::pool::{Pool, Taken};
use crate::tally::{Tally, lock};
use lariat_graph::{Edges, RowBuffer, Rows};
use lariat_storage::{CombiningCache, CountingFilter, ExternalSort, Key, RowFilter, RowQueue, SortedPieces, hash_row};

/// What is sent along edges, and which targets are expanded without a merge: none, if nothing answers first.
pub(super) enum Rule<'f> {
    /// Targets that were never met are expanded, accepting ones only if that is asked for. An appendix counts edges.
    Forward { filter: Option<RowFilter<'f>>, enters_accepting: bool },
    /// Targets whose last predecessor was eliminated are eliminated. An appendix counts edges that are gone.
    Eliminate { counters: Option<CountingFilter<'f>> },
}

/// An edge, as it is counted in an appendix.
const EDGE: Appendix = 2;

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
        let (disk, budget, width) = (self.sets.disk(), self.sets.budget(), self.tally.graph.row_bytes());
        let n_workers = lock(&self.expansion).n_threads();
        let queue = RowQueue::new(disk, &format!("queue-{}", self.sets.next_number()), self.shares.queue, budget);
        let rows_max = self.shares.checkpoint_rows.max(self.n_expanded);
        let pool = Pool::new(self.tally, queue, std::mem::take(&mut self.open), n_workers, rows_max);
        let ends_when_full = self.options.candidates == super::Candidates::Ram;
        let mut workers = Vec::new();
        for thread in 0..n_workers {
            let name = format!("candidates-{thread}");
            workers.push(Collector {
                tally: self.tally,
                rule,
                pool: &pool,
                ends_when_full,
                taken: Taken::new(),
                hashes: Vec::new(),
                fresh: RowBuffer::new(width),
                cache: CombiningCache::new(self.shares.cache_bytes, budget)?,
                found: ExternalSort::new(disk, &name, self.shares.sort, combine as fn(_, _) -> _, budget)?,
            });
        }
        lock(&self.expansion).expand_all(&mut workers, u64::MAX)?;
        let pieces = workers.into_iter().map(Collector::finish).collect::<Result<Vec<_>, SearchError>>()?;
        let left = pool.finish()?;
        self.n_expanded += left.n_taken;
        self.open = left.open;
        Ok(Round { pieces, queue: left.queue })
    }
}

/// One thread's work: states come from the pool, and what is certainly due goes there; candidates are its own.
struct Collector<'w, 's, K: Key> {
    tally: &'s Tally<'s>,
    rule: &'w Rule<'s>,
    pool: &'w Pool<'s, K, Appendix>,
    ends_when_full: bool,
    taken: Taken<Appendix>,
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
        self.pool.take(batch, &mut self.taken, self.ends_when_full && self.found.has_spilled())
    }

    fn put(&mut self, _from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        self.send(edges.targets())?;
        if !self.fresh.is_empty() {
            self.pool.put(&self.fresh)?;
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
