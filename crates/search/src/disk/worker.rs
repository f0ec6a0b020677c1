//! One thread's share of the search: it expands states, and sorts out what is new, what is doubtful, and what was met just now. `worker/buffers.rs` keeps what it finds.

mod buffers;

use super::Shared;
use super::frontier::Taken;
use super::garbage::remove_runs;
use crate::SearchError;
use crate::expansion::{BATCH_ROWS, batch_edges};
use lariat_graph::{Edges, Expander, RowBuffer, Rows};
use lariat_storage::{EndingRun, Key, KeyCache, ReservedVec, RowFilter, StorageError, hash_row};
use std::sync::Arc;

/// Successors whose bits of the filter are fetched ahead.
const LOOKAHEAD: usize = 16;
/// States that are left to a worker that has none, at most.
const LEFT_ROWS_MAX: usize = 1 << 12;
/// What a run is written for.
#[derive(Clone, Copy)]
enum Written {
    Expanded,
    Waiting,
    Doubtful,
}

pub(super) struct Worker<'w, 's, K: Key> {
    shared: &'w Shared<'s, K>,
    expander: Box<dyn Expander + 'w>,
    met_lately: KeyCache<'w, K>,
    /// None while the graph is wide; and between rounds that end with a pass.
    filter: Option<Arc<RowFilter<'s>>>,
    /// New states; the first `n_expanded` were expanded.
    new: ReservedVec<'w, K>,
    n_expanded: usize,
    /// Where stretches of them end that are sorted, from the first on.
    sorted_ends: Vec<usize>,
    /// States that it was given while its buffer of new ones was full, and are doubtful.
    delayed: Vec<K>,
    doubtful: ReservedVec<'w, K>,
    /// How many of them there may be.
    doubtful_max: usize,
    /// The run that was written last, as long as nobody knows it: it may still be on its way to disk.
    ending: Option<(Written, EndingRun<'s, K>)>,
    /// States that were taken together, and how many of them were expanded.
    taken: ReservedVec<'w, K>,
    n_done: usize,
    rows: RowBuffer,
    edges: Edges,
    labels: Vec<u64>,
    /// Successors that were not met lately, and their hashes.
    found: Vec<(u64, K)>,
}

impl<'w, 's: 'w, K: Key> Worker<'w, 's, K> {
    pub(super) fn new(shared: &'w Shared<'s, K>) -> Result<Self, SearchError> {
        let (budget, width) = (shared.context.budget, shared.graph.row_bytes());
        Ok(Self {
            shared,
            expander: shared.graph.expander(),
            met_lately: KeyCache::new(shared.shares.cache_bytes, budget)?,
            filter: None,
            new: ReservedVec::new(budget),
            n_expanded: 0,
            sorted_ends: Vec::new(),
            delayed: Vec::new(),
            doubtful: ReservedVec::new(budget),
            doubtful_max: 0,
            ending: None,
            taken: ReservedVec::with_capacity(shared.shares.stripe_keys.max(BATCH_ROWS), budget)
                .map_err(StorageError::from)?,
            n_done: 0,
            rows: RowBuffer::new(width),
            edges: batch_edges(shared.graph, shared.context),
            labels: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Takes the memory of the buffers, if it has not got it.
    pub(super) fn begin_round(&mut self) -> Result<(), SearchError> {
        let shares = &self.shared.shares;
        let budget = self.shared.context.budget;
        let memory = |error| SearchError::Storage(lariat_storage::StorageError::Memory(error));
        if self.doubtful.memory_bytes() == 0 {
            self.filter = self.shared.filter();
            let is_wide = self.filter.is_none();
            self.doubtful_max = if is_wide { shares.wide_keys } else { shares.doubtful_keys };
            let new_max = if is_wide { 0 } else { shares.new_keys };
            self.new = ReservedVec::with_capacity(new_max, budget).map_err(memory)?;
            self.doubtful = ReservedVec::with_capacity(self.doubtful_max, budget).map_err(memory)?;
        }
        Ok(())
    }

    /// Writes out everything, and gives the buffers' memory back.
    pub(super) fn end_round(&mut self) -> Result<(), SearchError> {
        self.write_expanded()?;
        self.write_waiting(0)?;
        self.sort_doubtful();
        self.write_doubtful()?;
        self.end_writing()?;
        let budget = self.shared.context.budget;
        self.new = ReservedVec::new(budget);
        self.doubtful = ReservedVec::new(budget);
        self.filter = None;
        Ok(())
    }

    /// Works until nobody has anything to expand, or the round is ended.
    pub(super) fn work(&mut self) -> Result<(), SearchError> {
        let result = self.begin_round().and_then(|()| self.expand_all()).and_then(|()| self.end_writing());
        if result.is_err() {
            self.shared.frontier.pause();
        }
        result
    }

    fn expand_all(&mut self) -> Result<(), SearchError> {
        loop {
            if self.shared.tally.is_over() {
                self.shared.frontier.pause();
            }
            if self.shared.frontier.is_paused() {
                return Ok(());
            }
            if !self.take_some()? {
                // What waits for others may be in the run that was written last.
                self.end_writing()?;
                if self.shared.frontier.wait() {
                    continue;
                }
                return Ok(());
            }
            self.expand_taken()?;
            if self.filter.as_ref().is_some_and(|filter| filter.is_crowded(self.shared.tally.states())) {
                self.shared.frontier.pause();
            }
            self.merge_alike()?;
        }
    }

    /// Expands the states that wait in memory, and not those that are found on the way.
    pub(super) fn expand_level(&mut self) -> Result<(), SearchError> {
        let mut n_left = self.n_waiting();
        while n_left > 0 && self.has_waiting() && !self.shared.tally.is_over() {
            self.taken.clear();
            n_left -= self.take_from_memory(n_left)?;
            self.expand_taken()?;
            if let Some(filter) = &self.filter {
                filter.grow_for(self.shared.tally.states());
            }
            self.merge_alike()?;
        }
        self.end_writing()
    }

    /// Merges runs of about the same size while there are many, so that passes have few to read.
    fn merge_alike(&mut self) -> Result<(), SearchError> {
        let shared = self.shared;
        // Nearly always there is nothing to do.
        while shared.visited_changed() {
            let Some(_merging) = shared.files.begin_merging() else { return Ok(()) };
            let Some((role, runs)) = shared.visited().take_alike() else { return Ok(()) };
            // Its memory is the merge's.
            self.end_writing()?;
            let merged = shared.files.merge(&runs)?;
            let done_with = shared.visited().put_merged(role, runs, merged)?;
            // That takes its time, in which others want to look at the runs.
            remove_runs(shared.files.disk, done_with)?;
        }
        Ok(())
    }

    /// Takes the next states: those in memory first, in the order in which they were found, since such neighbours have successors in
    /// common; then those on disk. Where the graph is wide it takes many neighbours at once, so that threads do not find the same successors.
    fn take_some(&mut self) -> Result<bool, SearchError> {
        self.taken.clear();
        if !self.has_waiting() {
            let n_max = if self.filter.is_none() { self.shared.shares.stripe_keys } else { BATCH_ROWS };
            let taken = self.shared.frontier.take(n_max, &mut self.taken, self.shared.context.budget)?;
            match taken {
                Taken::Some(done) => {
                    self.shared.visited().read(done);
                    return Ok(true);
                }
                Taken::Left(keys) => self.adopt(&keys)?,
                Taken::Nothing(done) => self.shared.visited().read(done),
            }
        }
        let n = self.take_from_memory(BATCH_ROWS)?;
        self.share_work();
        Ok(n > 0)
    }

    /// Takes up to so many states that wait in memory, and no more than a batch; how many.
    fn take_from_memory(&mut self, n_max: usize) -> Result<usize, SearchError> {
        let n = BATCH_ROWS.min(n_max).min(self.n_waiting());
        self.taken.extend_from_slice(&self.new[self.n_expanded..self.n_expanded + n]).map_err(StorageError::from)?;
        self.n_expanded += n;
        Ok(n)
    }

    /// Takes states that another worker found into its own buffer.
    pub(super) fn adopt(&mut self, keys: &[K]) -> Result<(), SearchError> {
        for key in keys {
            if !self.push_new(*key)? {
                self.delayed.push(*key);
            }
        }
        self.end_writing()
    }

    /// Leaves half of the states that wait to a worker that has nothing to do.
    fn share_work(&mut self) {
        let n_waiting = self.n_waiting();
        if n_waiting > 2 * BATCH_ROWS && self.shared.frontier.has_idle() {
            let from = self.new.len() - (n_waiting / 2).min(LEFT_ROWS_MAX);
            self.shared.frontier.leave(self.new[from..].to_vec());
            self.new.truncate(from);
        }
    }

    fn expand_taken(&mut self) -> Result<(), SearchError> {
        self.n_done = 0;
        while self.n_done < self.taken.len() {
            self.expand_batch()?;
        }
        Ok(())
    }

    fn expand_batch(&mut self) -> Result<(), SearchError> {
        let width = self.shared.graph.row_bytes();
        let mut rows = std::mem::replace(&mut self.rows, RowBuffer::new(width));
        rows.clear();
        let mut row = vec![0; width];
        let end = self.taken.len().min(self.n_done + BATCH_ROWS);
        for key in &self.taken[self.n_done..end] {
            key.write_row(&mut row);
            rows.push(&row);
        }
        self.n_done = end;
        let mut rest = rows.as_rows();
        let mut result = Ok(());
        while !rest.is_empty() && result.is_ok() {
            result = self.expand_rows(rest).map(|n| rest = rest.split_at(n).1);
        }
        self.rows = rows;
        result
    }

    /// Expands as many rows as have successors that fit a batch; how many.
    fn expand_rows(&mut self, rows: Rows<'_>) -> Result<usize, SearchError> {
        let shared = self.shared;
        self.edges.clear();
        self.expander.expand(rows, &mut self.edges)?;
        let rows = rows.split_at(self.edges.n_sources()).0;
        shared.tally.count_expanded(rows, &self.edges);
        if shared.tally.has_label_goals() {
            self.labels.clear();
            self.expander.labels(rows, &mut self.labels)?;
            shared.tally.check_labels(rows, &self.labels, 0);
        }
        shared.tally.progress();
        let empty = Edges::new(rows.width());
        let edges = std::mem::replace(&mut self.edges, empty);
        let found = self.find(edges.targets());
        self.edges = edges;
        found.map(|()| rows.len())
    }

    /// Sorts out states that were reached.
    pub(super) fn find(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        // Taken out for as long as it is asked.
        let Some(filter) = self.filter.take() else { return self.put_aside(rows) };
        let found = self.ask(&filter, rows);
        self.filter = Some(filter);
        found
    }

    /// All of them are doubtful.
    fn put_aside(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        for row in rows.iter() {
            let key = K::from_row(row);
            if !self.met_lately.meet(key) {
                self.push_doubtful(key)?;
            }
        }
        Ok(())
    }

    /// What the filter never met is new.
    fn ask(&mut self, filter: &RowFilter<'_>, rows: Rows<'_>) -> Result<(), SearchError> {
        self.found.clear();
        for row in rows.iter() {
            let key = K::from_row(row);
            if !self.met_lately.meet(key) {
                self.found.push((hash_row(row), key));
            }
        }
        self.found.iter().take(LOOKAHEAD).for_each(|(hash, _)| filter.prefetch(*hash));
        let mut n_new = 0;
        for i in 0..self.found.len() {
            if let Some((hash, _)) = self.found.get(i + LOOKAHEAD) {
                filter.prefetch(*hash);
            }
            let (hash, key) = self.found[i];
            if filter.meet(hash) {
                self.push_doubtful(key)?;
            } else {
                n_new += u64::from(self.push_new(key)?);
            }
        }
        self.shared.tally.add_states(n_new);
        Ok(())
    }
}
