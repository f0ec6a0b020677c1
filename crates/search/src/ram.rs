//! Breadth-first search in memory, level by level, by any number of threads.
//!
//! Each level is a list of spans of rows in the visited set. Workers take span after span, expand its rows in a batch, and
//! insert the successors; what is new is the next level. Levels too small to share are expanded by one thread.
//!
//! Nothing is kept to remember by which edge a state was found. A path is rebuilt backwards instead: among the states of the level
//! before, one that has an edge to the state is looked for by expanding them again. That costs at most one more expansion of
//! each state, only where there is something to show, and saves a number per state everywhere else.
//!
//! # Invariants
//! 1. A state's level is its distance from the initial states, whatever the threads do: a level is complete before the
//!    next begins. So the first goal that is met is a nearest one.
//! 2. Every state is expanded once in the search itself.
//!
//! # Cost
//! Row + 4 bytes / load of the table per state; see [`lariat_storage::row_table`].

use crate::{Context, Exploration, Extent, Goal, SearchError};
use lariat_base::{Event, Limit, Progress};
use lariat_graph::{Edges, Expander, Graph, RowBuffer, Rows};
use lariat_storage::{RowSpan, RowTable, RowWriter, TableFull};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Levels with fewer rows than this for each thread are not worth waking threads for.
const ROWS_TO_SHARE: usize = 2048;
/// Expressions are evaluated recursively; the front end bounds their depth with this in mind.
const STACK_BYTES: usize = 64 << 20;

/// Searches breadth-first from the initial states.
pub fn explore(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
) -> Result<Exploration, SearchError> {
    let too_small = |_| SearchError::BudgetTooSmall;
    let table = RowTable::new(graph.row_bytes(), context.budget).map_err(too_small)?;
    let shared = Shared::new(graph, goals, extent, context, &table);
    let mut workers: Vec<Worker> = (0..context.threads.max(1)).map(|_| Worker::new(&shared)).collect();

    let mut initial = RowBuffer::new(graph.row_bytes());
    graph.initial(&mut initial);
    workers[0].insert(initial.as_rows(), 0)?;
    let mut levels = vec![take_level(&mut workers)];
    while !levels[levels.len() - 1].is_empty() && !shared.is_stopped() {
        expand_level(&shared, &mut workers, &levels[levels.len() - 1])?;
        shared.level.fetch_add(1, Ordering::Relaxed);
        levels.push(take_level(&mut workers));
    }
    let mut exploration = shared.result();
    exploration.levels = levels.iter().filter(|level| !level.is_empty()).count() as u64;
    for (i, hit) in shared.take_hits().into_iter().enumerate() {
        if let Some(hit) = hit {
            exploration.paths[i] = Some(rebuild_path(&shared, &levels, hit)?);
        }
    }
    Ok(exploration)
}

type Level = Vec<RowSpan>;

/// A state that meets a goal.
struct Hit {
    row: Vec<u8>,
    level: usize,
}

/// What all workers see.
struct Shared<'s> {
    graph: &'s dyn Graph,
    goals: &'s [Goal],
    extent: Extent,
    context: &'s Context<'s>,
    table: &'s RowTable<'s>,
    /// The level that is being expanded.
    level: AtomicU64,
    frontier: AtomicU64,
    transitions: AtomicU64,
    deadlocks: AtomicU64,
    accepting: AtomicU64,
    error_reached: AtomicBool,
    stopped: AtomicBool,
    limit: Mutex<Option<Limit>>,
    hits: Mutex<Vec<Option<Hit>>>,
    label_goals: bool,
}

impl<'s> Shared<'s> {
    fn new(
        graph: &'s dyn Graph,
        goals: &'s [Goal],
        extent: Extent,
        context: &'s Context<'s>,
        table: &'s RowTable<'s>,
    ) -> Self {
        Self {
            graph,
            goals,
            extent,
            context,
            table,
            level: AtomicU64::new(0),
            frontier: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            accepting: AtomicU64::new(0),
            error_reached: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            limit: Mutex::new(None),
            hits: Mutex::new(goals.iter().map(|_| None).collect()),
            label_goals: goals.iter().any(|goal| matches!(goal, Goal::Label(_))),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn stop_for(&self, limit: Limit) {
        lock(&self.limit).get_or_insert(limit);
        self.stopped.store(true, Ordering::Relaxed);
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
        if self.extent == Extent::UntilGoals && hits.iter().all(Option::is_some) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    fn take_hits(&self) -> Vec<Option<Hit>> {
        std::mem::take(&mut *lock(&self.hits))
    }

    fn progress(&self) {
        self.context.observer.event(&Event::Progress(Progress {
            states: self.table.len(),
            transitions: self.transitions.load(Ordering::Relaxed),
            level: Some(self.level.load(Ordering::Relaxed)),
            depth: None,
            frontier: self.frontier.load(Ordering::Relaxed),
            memory_used: self.context.budget.used(),
            memory_budget: self.context.budget.max(),
        }));
    }

    fn result(&self) -> Exploration {
        let limit = *lock(&self.limit);
        Exploration {
            states: self.table.len(),
            transitions: self.transitions.load(Ordering::Relaxed),
            levels: 0,
            deadlocks: self.deadlocks.load(Ordering::Relaxed),
            accepting: self.accepting.load(Ordering::Relaxed),
            error_reached: self.error_reached.load(Ordering::Relaxed),
            paths: self.goals.iter().map(|_| None).collect(),
            limit,
            complete: !self.is_stopped(),
            stored_bytes: self.table.memory_bytes(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread's share of the search; it keeps its buffers from level to level.
struct Worker<'w> {
    shared: &'w Shared<'w>,
    expander: Box<dyn Expander + 'w>,
    writer: RowWriter<'w, 'w>,
    edges: Edges,
    new: Vec<usize>,
    new_rows: RowBuffer,
    labels: Vec<u64>,
}

impl<'w> Worker<'w> {
    fn new(shared: &'w Shared<'w>) -> Self {
        Self {
            shared,
            expander: shared.graph.expander(),
            writer: shared.table.writer(),
            edges: Edges::new(shared.graph.row_bytes()),
            new: Vec::new(),
            new_rows: RowBuffer::new(shared.graph.row_bytes()),
            labels: Vec::new(),
        }
    }

    /// Takes spans from the level until there are none, or the search is stopped.
    fn expand_spans(&mut self, level: &[RowSpan], next: &AtomicUsize) -> Result<(), SearchError> {
        while !self.shared.is_stopped() {
            let Some(span) = level.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
            if let Some(limit) = self.shared.context.stop.reason() {
                self.shared.stop_for(limit);
                return Ok(());
            }
            self.expand_batch(self.shared.table.rows(*span))?;
            self.shared.frontier.fetch_sub(span.n_rows() as u64, Ordering::Relaxed);
            self.shared.progress();
        }
        Ok(())
    }

    fn expand_batch(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        self.edges.clear();
        self.expander.expand(rows, &mut self.edges)?;
        self.shared.transitions.fetch_add(self.edges.targets().len() as u64, Ordering::Relaxed);
        if self.shared.graph.has_acceptance() {
            let n_accepting = rows.iter().filter(|row| self.shared.graph.is_accepting(row)).count();
            self.shared.accepting.fetch_add(n_accepting as u64, Ordering::Relaxed);
        }
        for (i, row) in rows.iter().enumerate() {
            if self.edges.range_of(i).is_empty() {
                self.dead_end(row);
            }
        }
        let edges = std::mem::replace(&mut self.edges, Edges::new(rows.width()));
        let level = self.shared.level.load(Ordering::Relaxed) as usize;
        let inserted = self.insert(edges.targets(), level + 1);
        self.edges = edges;
        inserted
    }

    fn dead_end(&self, row: &[u8]) {
        let shared = self.shared;
        let level = shared.level.load(Ordering::Relaxed) as usize;
        if shared.graph.is_error(row) {
            shared.error_reached.store(true, Ordering::Relaxed);
            shared.hit(Goal::Error, row, level);
        } else {
            shared.deadlocks.fetch_add(1, Ordering::Relaxed);
            shared.hit(Goal::Deadlock, row, level);
        }
    }

    /// Stores rows of a level, and asks of those that are new whether they meet a goal.
    fn insert(&mut self, rows: Rows<'_>, level: usize) -> Result<(), SearchError> {
        self.new.clear();
        let Self { writer, new, .. } = self;
        let stored = writer.insert(rows, |i| new.push(i));
        if self.shared.label_goals {
            self.check_labels(rows, level)?;
        }
        match stored {
            Ok(()) => {}
            Err(TableFull::Memory) => self.shared.stop_for(Limit::Memory),
            Err(TableFull::Numbers) => self.shared.stop_for(Limit::StateNumbers),
        }
        Ok(())
    }

    fn check_labels(&mut self, rows: Rows<'_>, level: usize) -> Result<(), SearchError> {
        let shared = self.shared;
        self.new_rows.clear();
        self.new.iter().for_each(|i| self.new_rows.push(rows.row(*i)));
        self.labels.clear();
        self.expander.labels(self.new_rows.as_rows(), &mut self.labels)?;
        for (row, labels) in self.new_rows.as_rows().iter().zip(&self.labels) {
            for goal in shared.goals {
                if let Goal::Label(label) = goal
                    && labels >> label & 1 == 1
                {
                    shared.hit(*goal, row, level);
                }
            }
        }
        Ok(())
    }
}

/// The rows that all workers have stored since the last call.
fn take_level(workers: &mut [Worker]) -> Level {
    workers.iter_mut().flat_map(|worker| worker.writer.take_spans()).collect()
}

fn expand_level(shared: &Shared, workers: &mut [Worker], level: &Level) -> Result<(), SearchError> {
    let n_rows: usize = level.iter().map(|span| span.n_rows()).sum();
    shared.frontier.store(n_rows as u64, Ordering::Relaxed);
    let next = AtomicUsize::new(0);
    if workers.len() == 1 || n_rows < ROWS_TO_SHARE * workers.len() {
        return workers[0].expand_spans(level, &next);
    }
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for worker in workers.iter_mut() {
            let next = &next;
            let builder = std::thread::Builder::new().name("lariat-ram".to_owned()).stack_size(STACK_BYTES);
            let thread = builder
                .spawn_scoped(scope, move || worker.expand_spans(level, next))
                .map_err(|error| SearchError::Thread(error.to_string()))?;
            threads.push(thread);
        }
        let broken = |_| SearchError::Thread("it panicked".to_owned());
        threads.into_iter().try_for_each(|thread| thread.join().map_err(broken)?)
    })
}

/// The path to a hit, found backwards level by level.
fn rebuild_path(shared: &Shared, levels: &[Level], hit: Hit) -> Result<Vec<Vec<u8>>, SearchError> {
    shared.context.observer.event(&Event::Phase("path"));
    let mut expander = shared.graph.expander();
    let mut path = vec![hit.row];
    for level in levels[..hit.level].iter().rev() {
        let target = &path[path.len() - 1];
        let source = find_predecessor(shared, &mut *expander, level, target)?.ok_or(SearchError::PathLost)?;
        path.push(source);
    }
    path.reverse();
    Ok(path)
}

fn find_predecessor(
    shared: &Shared,
    expander: &mut dyn Expander,
    level: &Level,
    target: &[u8],
) -> Result<Option<Vec<u8>>, SearchError> {
    let mut edges = Edges::new(target.len());
    for span in level {
        let rows = shared.table.rows(*span);
        edges.clear();
        expander.expand(rows, &mut edges)?;
        if let Some(place) = edges.targets().iter().position(|row| row == target) {
            let source = (0..edges.n_sources()).find(|i| edges.range_of(*i).contains(&place));
            return Ok(source.map(|i| rows.row(i).to_vec()));
        }
    }
    Ok(None)
}
