//! Breadth-first search in memory, level by level, by any number of threads.
//!
//! The visited set has several parts for every thread, each with a lock; the hash of a row decides its part. A worker takes rows of the
//! level in batches, expands them, and collects the successors by their parts until there are many for each: a lock is taken for
//! hundreds of rows, and what they need is fetched while others are looked up. A part that another worker has is put off. What a worker finds to be new it queues for the next level in the order in which it found it: states found
//! one after the other have successors in common, which are then met while the first of them is still known. Levels too small to share
//! are expanded by one thread.
//!
//! Nothing is kept to remember by which edge a state was found; paths are rebuilt backwards (`path.rs`).
//!
//! # Invariants
//! 1. A state's level is its distance from the initial states, whatever the threads do: a level is complete before the
//!    next begins. So the first goal that is met is a nearest one.
//! 2. Every state is expanded once in the search itself.
//!
//! # Cost
//! Row - 1 + 2.8 bytes / load of the visited set per state; see [`lariat_storage::row_set`].

use crate::disk::Handed;
use crate::expansion::most_edge_bytes;
use crate::path::{Levels, rebuild_paths};
use crate::tally::{Tally, lock};
use crate::team::with_team;
use crate::{Context, Exploration, Extent, Goal, SearchError};
use lariat_base::Limit;
use lariat_graph::{Edges, Expander, Graph, RowBuffer, Rows};
use lariat_storage::{
    LevelQueue, LevelQueueWriter, Manifest, NewRows, PARTS_MAX, Recent, RowPools, RowSet, TableFull, part_of,
};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

/// Levels with fewer rows than this for each thread are not worth waking threads for.
const ROWS_TO_SHARE: u64 = 256;
/// The queue takes at most this part of the memory in use, or these bytes. A level as wide as that is followed by others, so the queue
/// has given its memory back before the visited set is at its largest.
const QUEUE_SHARE: u64 = 4;
const QUEUE_BYTES_MIN: u64 = 1 << 20;
/// Rows that are expanded together.
const BATCH_ROWS: usize = 512;
/// Their successors take no more bytes than this, unless those of one row do.
const BATCH_BYTES: usize = 4 << 20;
/// Parts of the visited set for each thread, if there are several threads.
const PARTS_PER_THREAD: usize = 4;
/// Rows that a worker collects for each part before it stores them, in the mean: fewer where a level is small, so that all workers are
/// done with it at the same time.
const ROWS_TO_STORE: Range<usize> = 64..1024;
/// A worker stores so many times in a level, at least, as long as there are that many rows.
const STORES_PER_LEVEL: u64 = 8;
/// But no more bytes of them than this altogether.
const BYTES_TO_STORE: usize = 512 << 10;

/// Searches breadth-first from the initial states.
pub fn explore(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_or_hand_over(graph, goals, extent, context, None)
}

/// Who goes on with a search whose memory is used up.
pub type Successor<'s> = &'s mut dyn FnMut(&dyn Handed) -> Result<(), SearchError>;

/// The same, but if the memory is used up all states are handed over.
pub fn explore_or_hand_over(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
    successor: Option<Successor<'_>>,
) -> Result<Exploration, SearchError> {
    let n_threads = context.threads.max(1);
    let keeps_levels = successor.is_some() || !goals.is_empty();
    let queue = LevelQueue::new(graph.row_bytes(), n_threads, context.budget);
    let pools = RowPools::new(graph.row_bytes(), context.budget);
    let shared = Shared::new(Tally::new(graph, goals, extent, context), &queue, &pools, keeps_levels)?;
    let mut workers: Vec<Worker> = (0..n_threads).map(|me| Worker::new(&shared, me)).collect();

    let mut initial = RowBuffer::new(graph.row_bytes());
    graph.initial(&mut initial);
    workers[0].find(initial.as_rows(), 0)?;
    workers[0].store_found(0)?;
    if shared.tally.limit() == Some(Limit::Memory) {
        // Whoever goes on from here would miss initial states.
        return Err(SearchError::BudgetTooSmall);
    }
    queue.finish(&mut workers[0].queue);
    let mut n_levels = 0;
    let mut counted = Manifest::new();
    shared.tally.note(&mut counted);
    with_team("lariat-ram", &mut workers, Worker::work_on_level, |team| {
        loop {
            let n_rows = shared.parts.iter().map(|part| lock(part).seal_level()).sum();
            if n_rows == 0 || shared.is_stopped() {
                return Ok(());
            }
            shared.tally.begin_level(n_levels, n_rows);
            counted = Manifest::new();
            shared.tally.note(&mut counted);
            n_levels += 1;
            queue.next_level();
            shared.queue_bytes_max.store(QUEUE_BYTES_MIN.max(context.budget.used() / QUEUE_SHARE), Ordering::Relaxed);
            let is_shared = n_threads > 1 && n_rows >= ROWS_TO_SHARE * n_threads as u64;
            if is_shared { team.work_together(n_rows)? } else { team.work_alone(n_rows)? }
        }
    })?;
    drop(workers);
    if let (Some(successor), Some(Limit::Memory)) = (successor, shared.tally.limit()) {
        // The number of states is what is there now.
        counted.set_number("states", shared.tally.states());
        successor(&Ended { shared: &shared, level: n_levels.saturating_sub(1), counted })?;
        return Ok(shared.tally.result());
    }
    let mut exploration = shared.tally.result();
    exploration.levels = n_levels as u64;
    exploration.stored_bytes = pools.memory_bytes();
    exploration.paths = rebuild_paths(&shared.tally, &mut VisitedLevels(&shared))?;
    Ok(exploration)
}

/// A search whose memory is used up, while a level was being expanded.
struct Ended<'e> {
    shared: &'e Shared<'e>,
    level: usize,
    /// What was counted before that level.
    counted: Manifest,
}

impl Handed for Ended<'_> {
    fn row_bytes(&self) -> usize {
        self.shared.tally.graph.row_bytes()
    }

    fn visit(
        &self,
        expanded: bool,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<(), SearchError>,
    ) -> Result<(), SearchError> {
        self.shared.parts.iter().try_for_each(|part| lock(part).for_rows_before(self.level, expanded, &mut *visit))
    }

    fn note(&self, manifest: &mut Manifest) {
        manifest.copy_from(&self.counted);
    }
}

/// What all workers see.
struct Shared<'s> {
    tally: Tally<'s>,
    queue: &'s LevelQueue<'s>,
    /// The visited set.
    parts: Vec<Mutex<RowSet<'s>>>,
    /// Bytes that the queue may take.
    queue_bytes_max: AtomicU64,
    label_goals: bool,
}

impl<'s> Shared<'s> {
    fn new(
        tally: Tally<'s>,
        queue: &'s LevelQueue<'s>,
        pools: &'s RowPools<'s>,
        keeps_levels: bool,
    ) -> Result<Self, SearchError> {
        let n_parts = match tally.context.threads {
            0 | 1 => 1,
            n => (n * PARTS_PER_THREAD).min(PARTS_MAX),
        };
        let part = |part| RowSet::new(part, n_parts, keeps_levels, pools).map(Mutex::new);
        let parts = (0..n_parts).map(part).collect::<Result<_, TableFull>>();
        Ok(Self {
            label_goals: tally.has_label_goals(),
            tally,
            queue,
            parts: parts.map_err(|_| SearchError::BudgetTooSmall)?,
            queue_bytes_max: AtomicU64::new(QUEUE_BYTES_MIN),
        })
    }

    fn is_stopped(&self) -> bool {
        self.tally.is_stopped()
    }
}

/// Rows that are to be stored in the same part, in the order in which they were found.
struct Found {
    rows: RowBuffer,
    hashes: Vec<u64>,
    /// For each row whether it is to be queued.
    queued: Vec<bool>,
}

impl Found {
    fn clear(&mut self) {
        self.rows.clear();
        self.hashes.clear();
        self.queued.clear();
    }
}

/// One thread's share of the search; it keeps its buffers from level to level.
struct Worker<'w> {
    shared: &'w Shared<'w>,
    me: usize,
    recent: Recent,
    expander: Box<dyn Expander + 'w>,
    edges: Edges,
    /// For each part what is to be stored there.
    found: Vec<Found>,
    /// The parts of all rows that are to be stored, in the order in which they were found.
    order: Vec<u32>,
    /// How many of them are stored together.
    n_to_store: usize,
    queue: LevelQueueWriter,
    new_rows: RowBuffer,
    labels: Vec<u64>,
}

impl<'w> Worker<'w> {
    fn new(shared: &'w Shared<'w>, me: usize) -> Self {
        let width = shared.tally.graph.row_bytes();
        let found = |_| Found { rows: RowBuffer::new(width), hashes: Vec::new(), queued: Vec::new() };
        Self {
            shared,
            me,
            recent: Recent::new(width),
            expander: shared.tally.graph.expander(),
            edges: Edges::bounded(width, BATCH_BYTES).within(most_edge_bytes(shared.tally.context, BATCH_BYTES)),
            found: shared.parts.iter().map(found).collect(),
            order: Vec::new(),
            n_to_store: 1,
            queue: LevelQueueWriter::new(me),
            new_rows: RowBuffer::new(width),
            labels: Vec::new(),
        }
    }

    /// Works on the level of so many rows, with others or alone, until it is complete, or the search is stopped.
    fn work_on_level(&mut self, n_rows: u64) -> Result<(), SearchError> {
        self.n_to_store = self.rows_to_store(n_rows);
        let result = self.expand_rows();
        if result.is_err() {
            self.shared.tally.stop();
        }
        self.shared.queue.finish(&mut self.queue);
        result
    }

    /// How many rows are collected in a level of so many rows before they are stored.
    fn rows_to_store(&self, n_rows: u64) -> usize {
        let n_parts = self.shared.parts.len();
        let (least, most) = (ROWS_TO_STORE.start * n_parts, ROWS_TO_STORE.end * n_parts);
        let share = n_rows / (self.shared.tally.context.threads.max(1) as u64 * STORES_PER_LEVEL);
        let bytes_max = BYTES_TO_STORE / self.shared.tally.graph.row_bytes().max(1);
        usize::try_from(share).unwrap_or(most).clamp(least, most).min(bytes_max).max(1)
    }

    /// The numbers of all parts, in an order that differs between workers.
    fn part_numbers(&self) -> impl Iterator<Item = usize> + use<> {
        let n_parts = self.shared.parts.len();
        let first = self.me * PARTS_PER_THREAD;
        (first..first + n_parts).map(move |part| part % n_parts)
    }

    /// Expands rows of the level until there are none left, or the search is stopped.
    fn expand_rows(&mut self) -> Result<(), SearchError> {
        self.expand_queued()?;
        self.expand_pending()?;
        self.store_found(self.shared.tally.level() + 1)
    }

    /// Expands rows from the queue, in the order in which they were found.
    fn expand_queued(&mut self) -> Result<(), SearchError> {
        let shared = self.shared;
        let mut next = shared.queue.take(self.me, None);
        while let Some(chunk) = next {
            let rows = shared.queue.rows(&chunk);
            for batch in rows.bytes().chunks(BATCH_ROWS * rows.width()) {
                if !self.expand_unless_stopped(Rows::new(batch, rows.width()))? {
                    return Ok(());
                }
            }
            next = shared.queue.take(self.me, Some(chunk));
        }
        Ok(())
    }

    /// Expands rows that the queue had no room for.
    fn expand_pending(&mut self) -> Result<(), SearchError> {
        let shared = self.shared;
        let mut batch = RowBuffer::new(shared.tally.graph.row_bytes());
        for part in self.part_numbers() {
            loop {
                batch.clear();
                lock(&shared.parts[part]).take_pending(BATCH_ROWS, &mut batch);
                if batch.is_empty() {
                    break;
                }
                if !self.expand_unless_stopped(batch.as_rows())? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// False if the search is to stop.
    fn expand_unless_stopped(&mut self, mut rows: Rows<'_>) -> Result<bool, SearchError> {
        let tally = &self.shared.tally;
        while !rows.is_empty() {
            if tally.is_over() {
                return Ok(false);
            }
            let n_rows = self.expand_batch(rows)?;
            tally.progress();
            rows = rows.split_at(n_rows).1;
        }
        Ok(true)
    }

    /// Expands rows from the first on, as many as make a batch of successors; returns how many.
    fn expand_batch(&mut self, rows: Rows<'_>) -> Result<usize, SearchError> {
        self.edges.clear();
        self.expander.expand(rows, &mut self.edges)?;
        let (rows, _) = rows.split_at(self.edges.n_sources());
        self.shared.tally.count_expanded(rows, &self.edges);
        let edges = std::mem::replace(&mut self.edges, Edges::new(rows.width()));
        let found = self.find(edges.targets(), self.shared.tally.level() + 1);
        self.edges = edges;
        found.map(|()| rows.len())
    }

    /// Collects a batch of rows of a level, and stores what was collected if it is enough.
    fn find(&mut self, rows: Rows<'_>, level: usize) -> Result<(), SearchError> {
        let n_parts = self.found.len();
        for row in rows.iter() {
            let (part, hash) = part_of(row, n_parts);
            if !self.recent.meet(hash, row) {
                let found = &mut self.found[part];
                found.rows.push(row);
                found.hashes.push(hash);
                self.order.push(part as u32);
            }
        }
        if self.order.len() < self.n_to_store { Ok(()) } else { self.store_found(level) }
    }

    /// Stores the rows of a level that were collected, queues those that are new, and asks whether they meet a goal.
    fn store_found(&mut self, level: usize) -> Result<(), SearchError> {
        let shared = self.shared;
        let bytes_max = shared.queue_bytes_max.load(Ordering::Relaxed);
        let has_room = shared.queue.reserve(&mut self.queue, self.order.len(), bytes_max);
        for waits in [false, true] {
            self.part_numbers().try_for_each(|part| self.store_part(part, waits, has_room, level))?;
        }
        let mut nexts = vec![0; self.found.len()];
        for part in self.order.drain(..) {
            let (found, next) = (&self.found[part as usize], &mut nexts[part as usize]);
            if found.queued[*next] {
                shared.queue.push(&mut self.queue, found.rows.row(*next));
            }
            *next += 1;
        }
        self.found.iter_mut().for_each(Found::clear);
        Ok(())
    }

    /// Stores the rows that belong to a part, if they are not yet, unless another worker has it and this one does not wait.
    fn store_part(&mut self, part: usize, waits: bool, has_room: bool, level: usize) -> Result<(), SearchError> {
        let shared = self.shared;
        let found = &mut self.found[part];
        if found.hashes.len() == found.queued.len() {
            return Ok(());
        }
        let mut visited = match shared.parts[part].try_lock() {
            Ok(visited) => visited,
            Err(TryLockError::WouldBlock) if !waits => return Ok(()),
            Err(_) => lock(&shared.parts[part]),
        };
        found.queued.resize(found.hashes.len(), false);
        self.new_rows.clear();
        let labelled = shared.label_goals.then_some(&mut self.new_rows);
        let mut new = NextLevel { has_room, queued: &mut found.queued, labelled };
        let before = visited.len();
        let stored = visited.insert_hashed(found.rows.as_rows(), &found.hashes, &mut new);
        shared.tally.add_states(visited.len() - before);
        drop(visited);
        self.inserted(stored, level)
    }

    fn inserted(&mut self, stored: Result<(), TableFull>, level: usize) -> Result<(), SearchError> {
        if self.shared.label_goals {
            self.check_labels(level)?;
        }
        match stored {
            Ok(()) => {}
            Err(TableFull::Memory) => self.shared.tally.stop_for(Limit::Memory),
            Err(TableFull::Numbers) => self.shared.tally.stop_for(Limit::StateNumbers),
        }
        Ok(())
    }

    fn check_labels(&mut self, level: usize) -> Result<(), SearchError> {
        self.labels.clear();
        self.expander.labels(self.new_rows.as_rows(), &mut self.labels)?;
        self.shared.tally.check_labels(self.new_rows.as_rows(), &self.labels, level);
        Ok(())
    }
}

/// What is noted of new rows.
struct NextLevel<'i> {
    /// Whether the queue has room for all that was collected.
    has_room: bool,
    queued: &'i mut [bool],
    /// Rows whose labels are to be asked for.
    labelled: Option<&'i mut RowBuffer>,
}

impl NewRows for NextLevel<'_> {
    #[inline(always)]
    fn has_room(&mut self) -> bool {
        self.has_room
    }

    #[inline(always)]
    fn new_row(&mut self, i: usize, row: &[u8], queued: bool) {
        self.queued[i] = queued;
        if let Some(labelled) = &mut self.labelled {
            labelled.push(row);
        }
    }
}

/// The levels of the visited set.
struct VisitedLevels<'l>(&'l Shared<'l>);

impl Levels for VisitedLevels<'_> {
    fn visit(
        &mut self,
        level: usize,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<bool, SearchError>,
    ) -> Result<(), SearchError> {
        let mut goes_on = Ok(true);
        for part in &self.0.parts {
            lock(part).for_rows_of_level(level, |rows| {
                if matches!(goes_on, Ok(true)) {
                    goes_on = visit(rows);
                }
            });
        }
        goes_on.map(|_| ())
    }
}
