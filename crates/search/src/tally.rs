//! What a search for states counts, which goals it has met, and whether it goes on: seen by all threads of the search.

use crate::{Context, Exploration, Extent, Goal, LassoSearch, SearchError};
use lariat_base::{Event, Limit, Progress};
use lariat_graph::{Edges, Graph, Rows};
use lariat_storage::{Manifest, StorageError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Tally<'t> {
    pub(crate) graph: &'t dyn Graph,
    pub(crate) goals: &'t [Goal],
    pub(crate) context: &'t Context<'t>,
    extent: Extent,
    states: AtomicU64,
    transitions: AtomicU64,
    deadlocks: AtomicU64,
    accepting: AtomicU64,
    error_reached: AtomicBool,
    /// The level that is being expanded, and those of its states that wait.
    level: AtomicU64,
    frontier: AtomicU64,
    has_levels: AtomicBool,
    /// Whether states are expanded again that were counted before.
    is_again: AtomicBool,
    stopped: AtomicBool,
    limit: Mutex<Option<Limit>>,
    hits: Mutex<Vec<Option<Hit>>>,
}

/// A state that meets a goal.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) row: Vec<u8>,
    /// Its level, in searches that have levels.
    pub(crate) level: usize,
}

pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes what a search for a cycle counted, for [`Tally::restore`].
pub(crate) fn note_counts(found: &LassoSearch, manifest: &mut Manifest) {
    for (name, number) in [
        ("states", found.states),
        ("transitions", found.transitions),
        ("deadlocks", found.deadlocks),
        ("accepting", found.accepting),
        ("error-reached", u64::from(found.error_reached)),
    ] {
        manifest.set_number(name, number);
    }
}

impl<'t> Tally<'t> {
    pub(crate) fn new(graph: &'t dyn Graph, goals: &'t [Goal], extent: Extent, context: &'t Context<'t>) -> Self {
        Self {
            graph,
            goals,
            context,
            extent,
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            accepting: AtomicU64::new(0),
            error_reached: AtomicBool::new(false),
            level: AtomicU64::new(0),
            frontier: AtomicU64::new(0),
            has_levels: AtomicBool::new(false),
            is_again: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            limit: Mutex::new(None),
            hits: Mutex::new(goals.iter().map(|_| None).collect()),
        }
    }

    pub(crate) fn has_label_goals(&self) -> bool {
        self.goals.iter().any(|goal| matches!(goal, Goal::Label(_)))
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Ends the search before it has seen everything.
    pub(crate) fn stop_for(&self, limit: Limit) {
        lock(&self.limit).get_or_insert(limit);
        self.stop();
    }

    /// Ends the search, because goals were met or because there is an error.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Why the search ends before it has seen everything, if it does.
    pub(crate) fn limit(&self) -> Option<Limit> {
        *lock(&self.limit)
    }

    fn counters(&self) -> [(&'static str, &AtomicU64); 4] {
        [
            ("states", &self.states),
            ("transitions", &self.transitions),
            ("deadlocks", &self.deadlocks),
            ("accepting", &self.accepting),
        ]
    }

    /// Notes everything that a later search must know.
    pub(crate) fn note(&self, manifest: &mut Manifest) {
        for (name, counter) in self.counters() {
            manifest.set_number(name, counter.load(Ordering::Relaxed));
        }
        manifest.set_number("error-reached", u64::from(self.error_reached.load(Ordering::Relaxed)));
        for (i, hit) in lock(&self.hits).iter().enumerate() {
            if let Some(hit) = hit {
                let digits: String = hit.row.iter().map(|byte| format!("{byte:02x}")).collect();
                manifest.set_text(&format!("goal-{i}"), &digits);
                manifest.set_number(&format!("goal-level-{i}"), hit.level as u64);
            }
        }
    }

    /// Takes up what was noted.
    pub(crate) fn restore(&self, manifest: &Manifest) -> Result<(), StorageError> {
        for (name, counter) in self.counters() {
            counter.store(manifest.number(name)?, Ordering::Relaxed);
        }
        self.error_reached.store(manifest.number("error-reached")? == 1, Ordering::Relaxed);
        for (i, hit) in lock(&self.hits).iter_mut().enumerate() {
            let digits = manifest.text(&format!("goal-{i}")).unwrap_or_default();
            let bytes = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
            let row: Vec<u8> = bytes.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
            let level = manifest.number(&format!("goal-level-{i}")).unwrap_or(0) as usize;
            *hit = (!row.is_empty()).then_some(Hit { row, level });
        }
        if !self.goals.is_empty() {
            self.stop_if_met(&lock(&self.hits));
        }
        Ok(())
    }

    /// Whether the search is to stop, for whatever reason.
    pub(crate) fn is_over(&self) -> bool {
        if let Some(limit) = self.context.stop.reason() {
            self.stop_for(limit);
        }
        self.is_stopped()
    }

    /// A budget that is used up ends the search with what it knows; other errors end it without.
    pub(crate) fn memory_is_a_limit(&self, result: Result<(), SearchError>) -> Result<(), SearchError> {
        match result {
            Err(SearchError::Storage(StorageError::Memory(_))) => {
                self.stop_for(Limit::Memory);
                Ok(())
            }
            other => other,
        }
    }

    pub(crate) fn begin_level(&self, level: usize, rows: u64) {
        self.has_levels.store(true, Ordering::Relaxed);
        self.level.store(level as u64, Ordering::Relaxed);
        self.set_frontier(rows);
    }

    pub(crate) fn set_frontier(&self, rows: u64) {
        self.frontier.store(rows, Ordering::Relaxed);
    }

    pub(crate) fn level(&self) -> usize {
        self.level.load(Ordering::Relaxed) as usize
    }

    pub(crate) fn states(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }

    pub(crate) fn transitions(&self) -> u64 {
        self.transitions.load(Ordering::Relaxed)
    }

    pub(crate) fn add_states(&self, n: u64) {
        self.states.fetch_add(n, Ordering::Relaxed);
    }

    /// Takes back that states were found.
    pub(crate) fn remove_states(&self, n: u64) {
        self.states.fetch_sub(n, Ordering::Relaxed);
    }

    /// Counts states that were found, and wait; not those that were counted before.
    pub(crate) fn found_new(&self, n: u64) {
        if !self.is_again.load(Ordering::Relaxed) {
            self.add_states(n);
        }
    }

    /// Corrects the number of states.
    pub(crate) fn set_states(&self, n: u64) {
        self.states.store(n, Ordering::Relaxed);
    }

    /// Corrects what expanded states counted.
    pub(crate) fn set_expanded(&self, transitions: u64, deadlocks: u64, accepting: u64) {
        self.transitions.store(transitions, Ordering::Relaxed);
        self.deadlocks.store(deadlocks, Ordering::Relaxed);
        self.accepting.store(accepting, Ordering::Relaxed);
    }

    /// From now on states are expanded for the first time, or were counted before.
    pub(crate) fn set_again(&self, is_again: bool) {
        self.is_again.store(is_again, Ordering::Relaxed);
    }

    /// Counts states of the current level that were expanded.
    pub(crate) fn count_expanded(&self, rows: Rows<'_>, edges: &Edges) {
        if self.is_again.load(Ordering::Relaxed) {
            return;
        }
        self.transitions.fetch_add(edges.targets().len() as u64, Ordering::Relaxed);
        if self.graph.has_acceptance() {
            let accepting = rows.iter().filter(|row| self.graph.is_accepting(row)).count();
            self.accepting.fetch_add(accepting as u64, Ordering::Relaxed);
        }
        for (i, row) in rows.iter().enumerate() {
            if edges.range_of(i).is_empty() {
                self.dead_end(row);
            }
        }
        let waiting = self.frontier.load(Ordering::Relaxed).saturating_sub(rows.len() as u64);
        self.set_frontier(waiting);
    }

    /// Takes back what states counted that were expanded `times` too often.
    pub(crate) fn uncount_expanded(&self, rows: Rows<'_>, edges: &Edges, times: &[u64]) {
        for (i, (row, times)) in rows.iter().zip(times).enumerate() {
            let n_edges = edges.range_of(i).len() as u64;
            self.transitions.fetch_sub(times * n_edges, Ordering::Relaxed);
            if self.graph.has_acceptance() && self.graph.is_accepting(row) {
                self.accepting.fetch_sub(*times, Ordering::Relaxed);
            }
            if n_edges == 0 && !self.graph.is_error(row) {
                self.deadlocks.fetch_sub(*times, Ordering::Relaxed);
            }
        }
    }

    fn dead_end(&self, row: &[u8]) {
        if self.graph.is_error(row) {
            self.error_reached.store(true, Ordering::Relaxed);
            self.hit(Goal::Error, row, self.level());
        } else {
            self.deadlocks.fetch_add(1, Ordering::Relaxed);
            self.hit(Goal::Deadlock, row, self.level());
        }
    }

    /// Notes which states of a level meet a goal by their labels.
    pub(crate) fn check_labels(&self, rows: Rows<'_>, labels: &[u64], level: usize) {
        for (row, labels) in rows.iter().zip(labels) {
            for goal in self.goals {
                if let Goal::Label(label) = goal
                    && labels >> label & 1 == 1
                {
                    self.hit(*goal, row, level);
                }
            }
        }
    }

    fn hit(&self, goal: Goal, row: &[u8], level: usize) {
        if !self.goals.contains(&goal) {
            return;
        }
        let mut hits = lock(&self.hits);
        for (wanted, hit) in self.goals.iter().zip(hits.iter_mut()) {
            if *wanted == goal && hit.is_none() {
                *hit = Some(Hit { row: row.to_vec(), level });
            }
        }
        self.stop_if_met(&hits);
    }

    fn stop_if_met(&self, hits: &[Option<Hit>]) {
        if self.extent != Extent::Everything && hits.iter().all(Option::is_some) {
            self.stop();
        }
    }

    pub(crate) fn take_hits(&self) -> Vec<Option<Hit>> {
        std::mem::take(&mut *lock(&self.hits))
    }

    /// Tells who listens how far the search has come.
    pub(crate) fn progress(&self) {
        let has_levels = self.has_levels.load(Ordering::Relaxed);
        self.context.observer.event(&Event::Progress(Progress {
            states: self.states(),
            transitions: self.transitions(),
            level: has_levels.then(|| self.level.load(Ordering::Relaxed)),
            depth: None,
            frontier: self.frontier.load(Ordering::Relaxed),
            memory_used: self.context.budget.used(),
            memory_budget: self.context.budget.max(),
        }));
    }

    /// What was found, without levels, paths and bytes.
    pub(crate) fn result(&self) -> Exploration {
        Exploration {
            states: self.states(),
            transitions: self.transitions.load(Ordering::Relaxed),
            levels: 0,
            deadlocks: self.deadlocks.load(Ordering::Relaxed),
            accepting: self.accepting.load(Ordering::Relaxed),
            error_reached: self.error_reached.load(Ordering::Relaxed),
            paths: self.goals.iter().map(|_| None).collect(),
            limit: *lock(&self.limit),
            complete: !self.is_stopped(),
            stored_bytes: 0,
        }
    }
}
