//! Breadth-first search in memory, level by level, by any number of threads.
//!
//! Every thread has a part of the visited set, which the hash of a row decides, so that no lock is ever waited for. A worker takes rows
//! of the level in batches and expands them; it stores the successors that are its own, and sends the others to the workers that they
//! belong to. What is new is the next level. Levels too small to share are expanded by one thread.
//!
//! Nothing is kept to remember by which edge a state was found; paths are rebuilt backwards (`path.rs`).
//!
//! # Invariants
//! 1. A state's level is its distance from the initial states, whatever the threads do: a level is complete before the
//!    next begins. So the first goal that is met is a nearest one.
//! 2. Every state is expanded once in the search itself.
//!
//! # Cost
//! Row + 3.05 bytes / load of the visited set per state; see [`lariat_storage::row_set`].

use crate::disk::Handed;
use crate::path::{Levels, rebuild_paths};
use crate::tally::{Tally, lock};
use crate::{Context, Exploration, Extent, Goal, SearchError};
use lariat_base::Limit;
use lariat_graph::{Edges, Expander, Graph, RowBuffer, Rows};
use lariat_storage::{LevelQueue, LevelQueueWriter, Manifest, NewRows, Recent, RowSet, TableFull, owner_of};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Levels with fewer rows than this for each thread are not worth waking threads for.
const ROWS_TO_SHARE: u64 = 2048;
/// The queue takes at most this part of the memory in use, or these bytes. A level as wide as that is followed by others, so the queue
/// has given its memory back before the visited set is at its largest.
const QUEUE_SHARE: u64 = 4;
const QUEUE_BYTES_MIN: u64 = 1 << 20;
/// Rows that are expanded together.
const BATCH_ROWS: usize = 256;
/// Their successors take no more bytes than this, unless those of one row do.
const BATCH_BYTES: usize = 4 << 20;
/// Rows that are sent together.
const LETTER_ROWS: usize = 1024;
/// Letters that may wait for a worker before those who write to it wait, too.
const LETTERS_MAX: usize = 64;
/// Expressions are evaluated recursively; the front end bounds their depth with this in mind.
const STACK_BYTES: usize = 64 << 20;

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
    let keeps_levels = successor.is_some() || !goals.is_empty();
    let queue = LevelQueue::new(graph.row_bytes(), context.budget);
    let shared = Shared::new(Tally::new(graph, goals, extent, context), &queue);
    let mut workers = (0..shared.n_workers())
        .map(|me| Worker::new(&shared, me, keeps_levels))
        .collect::<Result<Vec<_>, SearchError>>()?;

    let mut initial = RowBuffer::new(graph.row_bytes());
    graph.initial(&mut initial);
    for row in initial.as_rows().iter() {
        let (owner, _) = owner_of(row, workers.len());
        workers[owner].insert(Rows::new(row, row.len()), None, 0)?;
    }
    finish_level(&mut workers)?;
    let mut n_levels = 0;
    let mut counted = Manifest::new();
    shared.tally.note(&mut counted);
    loop {
        let n_rows = workers.iter_mut().map(|worker| worker.visited.seal_level()).sum();
        if n_rows == 0 || shared.is_stopped() {
            break;
        }
        shared.tally.begin_level(n_levels, n_rows);
        counted = Manifest::new();
        shared.tally.note(&mut counted);
        n_levels += 1;
        queue.next_level();
        shared.queue_bytes_max.store(QUEUE_BYTES_MIN.max(context.budget.used() / QUEUE_SHARE), Ordering::Relaxed);
        expand_level(&shared, &mut workers, n_rows)?;
    }
    if let (Some(successor), Some(Limit::Memory)) = (successor, shared.tally.limit()) {
        // The number of states is what is there now.
        counted.set_number("states", shared.tally.states());
        successor(&Ended { workers: &workers, level: n_levels.saturating_sub(1), counted })?;
        return Ok(shared.tally.result());
    }
    let mut exploration = shared.tally.result();
    exploration.levels = n_levels as u64;
    exploration.stored_bytes = workers.iter().map(|worker| worker.visited.memory_bytes()).sum();
    exploration.paths = rebuild_paths(&shared.tally, &mut VisitedLevels(&workers))?;
    Ok(exploration)
}

/// A search whose memory is used up, while a level was being expanded.
struct Ended<'e, 'w> {
    workers: &'e [Worker<'w>],
    level: usize,
    /// What was counted before that level.
    counted: Manifest,
}

impl Handed for Ended<'_, '_> {
    fn row_bytes(&self) -> usize {
        self.workers[0].shared.tally.graph.row_bytes()
    }

    fn visit(
        &self,
        expanded: bool,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<(), SearchError>,
    ) -> Result<(), SearchError> {
        self.workers.iter().try_for_each(|worker| worker.visited.for_rows_before(self.level, expanded, &mut *visit))
    }

    fn note(&self, manifest: &mut Manifest) {
        manifest.copy_from(&self.counted);
    }
}

/// What all workers see.
struct Shared<'s> {
    tally: Tally<'s>,
    queue: &'s LevelQueue<'s>,
    /// For each worker the rows that others found for it.
    inboxes: Vec<Mutex<Vec<RowBuffer>>>,
    /// Workers that send no more in this level.
    n_done: AtomicUsize,
    /// Bytes that the queue may take.
    queue_bytes_max: AtomicU64,
    /// Whether the workers take turns.
    sequential: AtomicBool,
    label_goals: bool,
}

impl<'s> Shared<'s> {
    fn new(tally: Tally<'s>, queue: &'s LevelQueue<'s>) -> Self {
        Self {
            label_goals: tally.has_label_goals(),
            inboxes: (0..tally.context.threads.max(1)).map(|_| Mutex::default()).collect(),
            tally,
            queue,
            n_done: AtomicUsize::new(0),
            queue_bytes_max: AtomicU64::new(QUEUE_BYTES_MIN),
            sequential: AtomicBool::new(true),
        }
    }

    fn n_workers(&self) -> usize {
        self.inboxes.len()
    }

    fn is_stopped(&self) -> bool {
        self.tally.is_stopped()
    }
}

/// One thread's share of the search; it keeps its buffers from level to level.
struct Worker<'w> {
    shared: &'w Shared<'w>,
    me: usize,
    visited: RowSet<'w>,
    recent: Recent,
    expander: Box<dyn Expander + 'w>,
    edges: Edges,
    /// Rows found that belong to this worker, and their hashes.
    own: RowBuffer,
    own_hashes: Vec<u64>,
    /// Rows found that belong to others.
    letters: Vec<RowBuffer>,
    queue: LevelQueueWriter,
    new_rows: RowBuffer,
    labels: Vec<u64>,
}

impl<'w> Worker<'w> {
    fn new(shared: &'w Shared<'w>, me: usize, keeps_levels: bool) -> Result<Self, SearchError> {
        let width = shared.tally.graph.row_bytes();
        let visited = RowSet::new(width, shared.n_workers(), keeps_levels, shared.tally.context.budget);
        Ok(Self {
            shared,
            me,
            visited: visited.map_err(|_| SearchError::BudgetTooSmall)?,
            recent: Recent::new(width),
            expander: shared.tally.graph.expander(),
            edges: Edges::bounded(width, BATCH_BYTES),
            own: RowBuffer::new(width),
            own_hashes: Vec::new(),
            letters: (0..shared.n_workers()).map(|_| RowBuffer::new(width)).collect(),
            queue: LevelQueueWriter::default(),
            new_rows: RowBuffer::new(width),
            labels: Vec::new(),
        })
    }

    /// Works on the level together with the others until it is complete, or the search is stopped.
    fn work_on_level(&mut self) -> Result<(), SearchError> {
        let result = self.expand_rows().and_then(|()| self.send_all());
        if result.is_err() {
            self.shared.tally.stop();
        }
        // Release: who sees that all are done sees what they sent.
        self.shared.n_done.fetch_add(1, Ordering::Release);
        result?;
        loop {
            let all_done = self.shared.n_done.load(Ordering::Acquire) == self.shared.n_workers();
            let was_empty = !self.read_letters()?;
            if all_done || self.shared.is_stopped() {
                break;
            }
            if was_empty {
                std::thread::yield_now();
            }
        }
        self.shared.queue.finish(&mut self.queue);
        Ok(())
    }

    /// Expands rows of the level until there are none left, or the search is stopped.
    fn expand_rows(&mut self) -> Result<(), SearchError> {
        self.expand_queued()?;
        self.expand_pending()
    }

    /// Expands rows from the queue, in the order in which they were found.
    fn expand_queued(&mut self) -> Result<(), SearchError> {
        let shared = self.shared;
        let mut next = shared.queue.take(None);
        while let Some(chunk) = next {
            let rows = shared.queue.rows(&chunk);
            for batch in rows.bytes().chunks(BATCH_ROWS * rows.width()) {
                if !self.expand_unless_stopped(Rows::new(batch, rows.width()))? {
                    return Ok(());
                }
            }
            next = shared.queue.take(Some(chunk));
        }
        Ok(())
    }

    /// Expands rows that the queue had no room for.
    fn expand_pending(&mut self) -> Result<(), SearchError> {
        let mut batch = RowBuffer::new(self.shared.tally.graph.row_bytes());
        loop {
            batch.clear();
            self.visited.take_pending(BATCH_ROWS, &mut batch);
            if batch.is_empty() || !self.expand_unless_stopped(batch.as_rows())? {
                return Ok(());
            }
        }
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
        let routed = self.route(edges.targets(), self.shared.tally.level() + 1);
        self.edges = edges;
        routed.map(|()| rows.len())
    }

    /// Stores rows of a level that are this worker's own, and sends the others.
    fn route(&mut self, rows: Rows<'_>, level: usize) -> Result<(), SearchError> {
        self.own.clear();
        self.own_hashes.clear();
        for row in rows.iter() {
            let (owner, hash) = owner_of(row, self.shared.n_workers());
            if self.recent.meet(hash, row) {
                continue;
            }
            if owner == self.me {
                self.own.push(row);
                self.own_hashes.push(hash);
            } else {
                self.letters[owner].push(row);
            }
        }
        let own = std::mem::replace(&mut self.own, RowBuffer::new(rows.width()));
        let hashes = std::mem::take(&mut self.own_hashes);
        let inserted = self.insert(own.as_rows(), Some(&hashes), level);
        (self.own, self.own_hashes) = (own, hashes);
        inserted?;
        for to in 0..self.letters.len() {
            if self.letters[to].len() >= LETTER_ROWS {
                self.send(to)?;
            }
        }
        self.read_letters().map(|_| ())
    }

    /// Sends the letter to a worker, once that has not too many unread.
    fn send(&mut self, to: usize) -> Result<(), SearchError> {
        let shared = self.shared;
        let letter = std::mem::replace(&mut self.letters[to], RowBuffer::new(shared.tally.graph.row_bytes()));
        loop {
            let mut inbox = lock(&shared.inboxes[to]);
            if inbox.len() < LETTERS_MAX || shared.is_stopped() || shared.sequential.load(Ordering::Relaxed) {
                inbox.push(letter);
                return Ok(());
            }
            drop(inbox);
            // The other one may be waiting for this one.
            if !self.read_letters()? {
                std::thread::yield_now();
            }
        }
    }

    fn send_all(&mut self) -> Result<(), SearchError> {
        let me = self.me;
        (0..self.letters.len()).filter(|to| *to != me).try_for_each(|to| self.send(to))
    }

    /// Stores what others sent; whether there was anything.
    fn read_letters(&mut self) -> Result<bool, SearchError> {
        let letters = std::mem::take(&mut *lock(&self.shared.inboxes[self.me]));
        let level = self.shared.tally.level() + 1;
        for letter in &letters {
            self.insert(letter.as_rows(), None, level)?;
        }
        Ok(!letters.is_empty())
    }

    /// Stores rows of a level, and asks of those that are new whether they meet a goal.
    fn insert(&mut self, rows: Rows<'_>, hashes: Option<&[u64]>, level: usize) -> Result<(), SearchError> {
        let shared = self.shared;
        let bytes_max = shared.queue_bytes_max.load(Ordering::Relaxed);
        self.new_rows.clear();
        let labelled = shared.label_goals.then_some(&mut self.new_rows);
        let mut new = NextLevel { queue: shared.queue, writer: &mut self.queue, bytes_max, labelled };
        let before = self.visited.len();
        let stored = match hashes {
            Some(hashes) => self.visited.insert_hashed(rows, hashes, &mut new),
            None => self.visited.insert(rows, &mut new),
        };
        shared.tally.add_states(self.visited.len() - before);
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

/// Where new rows go.
struct NextLevel<'i> {
    queue: &'i LevelQueue<'i>,
    writer: &'i mut LevelQueueWriter,
    bytes_max: u64,
    /// Rows whose labels are to be asked for.
    labelled: Option<&'i mut RowBuffer>,
}

impl NewRows for NextLevel<'_> {
    #[inline(always)]
    fn has_room(&mut self) -> bool {
        self.queue.has_room(self.writer, self.bytes_max)
    }

    #[inline(always)]
    fn new_row(&mut self, row: &[u8], queued: bool) {
        if queued {
            self.queue.push(self.writer, row);
        }
        if let Some(labelled) = &mut self.labelled {
            labelled.push(row);
        }
    }
}

fn expand_level(shared: &Shared, workers: &mut [Worker], n_rows: u64) -> Result<(), SearchError> {
    let is_shared = workers.len() > 1 && n_rows >= ROWS_TO_SHARE * workers.len() as u64;
    shared.sequential.store(!is_shared, Ordering::Relaxed);
    if !is_shared {
        workers.iter_mut().try_for_each(Worker::expand_rows)?;
        return finish_level(workers);
    }
    shared.n_done.store(0, Ordering::Relaxed);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for worker in workers.iter_mut() {
            let builder = std::thread::Builder::new().name("lariat-ram".to_owned()).stack_size(STACK_BYTES);
            let thread = builder
                .spawn_scoped(scope, move || worker.work_on_level())
                .map_err(|error| SearchError::Thread(error.to_string()))?;
            threads.push(thread);
        }
        let broken = |_| SearchError::Thread("it panicked".to_owned());
        threads.into_iter().try_for_each(|thread| thread.join().map_err(broken)?)
    })
}

/// Stores what workers have found for each other, one worker after the other.
fn finish_level(workers: &mut [Worker]) -> Result<(), SearchError> {
    workers.iter_mut().try_for_each(Worker::send_all)?;
    for worker in workers {
        worker.read_letters()?;
        worker.shared.queue.finish(&mut worker.queue);
    }
    Ok(())
}

/// The levels of all workers' sets.
struct VisitedLevels<'l, 'w>(&'l [Worker<'w>]);

impl Levels for VisitedLevels<'_, '_> {
    fn visit(
        &mut self,
        level: usize,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<bool, SearchError>,
    ) -> Result<(), SearchError> {
        let mut goes_on = Ok(true);
        for worker in self.0 {
            worker.visited.for_rows_of_level(level, |rows| {
                if matches!(goes_on, Ok(true)) {
                    goes_on = visit(rows);
                }
            });
        }
        goes_on.map(|_| ())
    }
}
