//! What a search counts, and which goals it has met.

use crate::{Context, Exploration, Extent, Goal};
use lariat_base::{Event, Limit, Progress};
use lariat_graph::Graph;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct Tally<'t> {
    graph: &'t dyn Graph,
    goals: &'t [Goal],
    extent: Extent,
    context: &'t Context<'t>,
    states: AtomicU64,
    expanded: AtomicU64,
    transitions: AtomicU64,
    deadlocks: AtomicU64,
    accepting: AtomicU64,
    error_reached: AtomicBool,
    stopped: AtomicBool,
    limit: Mutex<Option<Limit>>,
    /// For each goal a state that meets it.
    hits: Mutex<Vec<Option<Vec<u8>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'t> Tally<'t> {
    pub(super) fn new(graph: &'t dyn Graph, goals: &'t [Goal], extent: Extent, context: &'t Context<'t>) -> Self {
        Self {
            graph,
            goals,
            extent,
            context,
            states: AtomicU64::new(0),
            expanded: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            accepting: AtomicU64::new(0),
            error_reached: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            limit: Mutex::new(None),
            hits: Mutex::new(vec![None; goals.len()]),
        }
    }

    pub(super) fn add_states(&self, n: u64) {
        self.states.fetch_add(n, Ordering::Relaxed);
    }

    /// Counts states that were expanded, and tells who listens.
    pub(super) fn add_expanded(&self, states: u64, transitions: u64, accepting: u64) {
        let expanded = self.expanded.fetch_add(states, Ordering::Relaxed) + states;
        let transitions = self.transitions.fetch_add(transitions, Ordering::Relaxed) + transitions;
        self.accepting.fetch_add(accepting, Ordering::Relaxed);
        let known = self.states.load(Ordering::Relaxed);
        self.context.observer.event(&Event::Progress(Progress {
            states: known,
            transitions,
            level: None,
            depth: None,
            frontier: known.saturating_sub(expanded),
            memory_used: self.context.budget.used(),
            memory_budget: self.context.budget.max(),
        }));
    }

    /// Whether labels of states must be asked for.
    pub(super) fn has_label_goals(&self) -> bool {
        self.goals.iter().any(|goal| matches!(goal, Goal::Label(_)))
    }

    pub(super) fn labels(&self, row: &[u8], labels: u64) {
        for goal in self.goals {
            if let Goal::Label(label) = goal
                && labels >> label & 1 == 1
            {
                self.hit(*goal, row);
            }
        }
    }

    /// A state without successors.
    pub(super) fn dead_end(&self, row: &[u8]) {
        if self.graph.is_error(row) {
            self.error_reached.store(true, Ordering::Relaxed);
            self.hit(Goal::Error, row);
        } else {
            self.deadlocks.fetch_add(1, Ordering::Relaxed);
            self.hit(Goal::Deadlock, row);
        }
    }

    fn hit(&self, goal: Goal, row: &[u8]) {
        if !self.goals.contains(&goal) {
            return;
        }
        let mut hits = lock(&self.hits);
        for (wanted, hit) in self.goals.iter().zip(hits.iter_mut()) {
            if *wanted == goal && hit.is_none() {
                *hit = Some(row.to_vec());
            }
        }
        if self.extent == Extent::UntilGoals && hits.iter().all(Option::is_some) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn stop_for(&self, limit: Limit) {
        lock(&self.limit).get_or_insert(limit);
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn result(&self) -> Exploration {
        Exploration {
            states: self.states.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            levels: 0,
            deadlocks: self.deadlocks.load(Ordering::Relaxed),
            accepting: self.accepting.load(Ordering::Relaxed),
            error_reached: self.error_reached.load(Ordering::Relaxed),
            paths: lock(&self.hits).iter().map(|hit| hit.as_ref().map(|row| vec![row.clone()])).collect(),
            limit: *lock(&self.limit),
            complete: !self.is_stopped(),
            stored_bytes: 0,
        }
    }
}
