//! That there is no accepting cycle, proved with the states on disk: what `auto` turns to when memory is used up.
//!
//! All states are found first, by the search on disk. In a graph of a **weak** automaton all states of a cycle accept, or none; so an accepting cycle lies in the
//! accepting states, and only edges between these matter. Every accepting state gets a number by a perfect hash function, and under that number a counter of the
//! edges that lead to it from others. A state with no such edge is on no cycle: it is taken away, with its own edges, whereby others lose their last. If in
//! the end all are gone there is no cycle. If some are left there is one most likely, and the semi-external depth-first search finds it, or finds that there is none.
//!
//! Where the automaton is not weak, or the counters do not fit into memory, that search decides alone.
//!
//! # Invariants
//! 1. A counter below [`MANY`] is the number of edges to the state from accepting states that were not taken away; at [`MANY`] it stays.
//! 2. A state is taken away by the one thread that changes its counter from 0 to [`GONE`].
//!
//! # Cost
//! 10.6 bits of memory an accepting state. Each accepting state is expanded twice, after the search for all states.

mod left;
mod waiting;

use crate::enumerate::{ALGORITHM, Generation, HashPlacement, counts_of, forget_other_property};
use crate::expansion::batch_edges;
use crate::lasso::Halt;
use crate::tally::lock;
use crate::team::STACK_BYTES;
use crate::{Context, Extent, LassoSearch, SearchError, ddfs, disk};
use lariat_base::{Event, Limit, Progress};
use lariat_disk::Disk;
use lariat_graph::{Edges, Expander, Graph, RowBuffer, Rows, Strength};
use lariat_storage::stream::RowStream;
use lariat_storage::{
    Key, Manifest, PerfectHash, PerfectHashBuilder, PerfectHashOptions, Placement, Reservation, Run, RunReader,
    SharedHash, StorageError, for_row_width,
};
use left::{EndsWaiting, Left};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use waiting::Waiting;

/// The name of the hash function's file.
const HASH: &str = "proof-hash";
/// The counter of a state that was taken away, and the largest one, which counts no more.
const GONE: u8 = 255;
const MANY: u8 = 254;
/// States that are expanded together.
const BATCH_ROWS: usize = 256;
/// Blocks that a reader has in memory.
const READ_BUFFERS: usize = 2;

/// Looks for an accepting cycle; `strength` tells how much of Büchi acceptance the graph needs.
pub fn find_lasso(graph: &dyn Graph, strength: Strength, context: &Context) -> Result<LassoSearch, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    forget_other_property(context)?;
    let noted = Manifest::read(disk, context.budget)?;
    let is_numbered = noted.is_some_and(|noted| noted.text(ALGORITHM).is_ok_and(|name| name == ddfs::NAME));
    if strength == Strength::Strong || is_numbered {
        return ddfs::find_lasso(graph, Generation::Disk, HashPlacement::Auto, context);
    }
    let found = disk::explore(graph, &[], Extent::Everything, context)?;
    let counts = counts_of(&found);
    if found.limit.is_some() || found.accepting == 0 {
        return Ok(LassoSearch { limit: found.limit, complete: found.complete, ..counts });
    }
    let proved = for_row_width!(graph.row_bytes(), K => Proof::<K>::new(graph, context, disk, &counts).run());
    match proved {
        Ok(true) => Ok(LassoSearch { complete: true, ..counts }),
        Ok(false) | Err(Halt::Limit(Limit::Memory)) => {
            ddfs::find_lasso(graph, Generation::Disk, HashPlacement::Auto, context)
        }
        Err(Halt::Limit(limit)) => Ok(LassoSearch { limit: Some(limit), ..counts }),
        Err(Halt::Error(error)) => Err(error),
    }
}

struct Proof<'p, K: Key> {
    graph: &'p dyn Graph,
    context: &'p Context<'p>,
    disk: &'p dyn Disk,
    /// What was counted while the states were found.
    counts: &'p LassoSearch,
    runs: Vec<Run<'p, K>>,
}

/// What all threads see.
struct Shared<'p, 'h, K: Key> {
    proof: &'h Proof<'p, K>,
    scan: Mutex<Scan<'p, 'h, K>>,
    hash: SharedHash<'h>,
    counters: &'h [AtomicU8],
    n_gone: &'h AtomicU64,
    left: Left,
}

impl<'p, K: Key> Proof<'p, K> {
    fn new(graph: &'p dyn Graph, context: &'p Context<'p>, disk: &'p dyn Disk, counts: &'p LassoSearch) -> Self {
        Self { graph, context, disk, counts, runs: Vec::new() }
    }

    /// Whether all accepting states could be taken away.
    fn run(mut self) -> Result<bool, Halt> {
        let (n, budget) = (self.counts.accepting, self.context.budget);
        if PerfectHash::memory_bytes_for(n) + n > budget.left() / 4 * 3 {
            return Err(Halt::Limit(Limit::Memory));
        }
        for file in Manifest::read(self.disk, budget)?.unwrap_or_default().files() {
            self.runs.push(Run::open(self.disk, &file.name, self.graph.row_bytes(), 0, budget)?);
        }
        self.build_hash()?;
        let hash = PerfectHash::open(self.disk, HASH, Placement::Memory, budget)?;
        let Some(shared_hash) = hash.shared() else { return Ok(n == 0) };
        let _memory = Reservation::new(n, budget)?;
        let counters: Vec<AtomicU8> = (0..n).map(|_| AtomicU8::new(0)).collect();
        let n_gone = AtomicU64::new(0);
        let shared = |proof| Shared {
            proof,
            scan: Mutex::new(Scan { proof, next: 0, reader: None }),
            hash: shared_hash,
            counters: &counters,
            n_gone: &n_gone,
            left: Left::new(self.context.threads.max(1)),
        };
        self.context.begin_phase("count");
        self.on_all_threads(&shared(&self), |worker| worker.count_all())?;
        self.context.begin_phase("eliminate");
        self.on_all_threads(&shared(&self), |worker| worker.eliminate_all())?;
        self.disk.remove(HASH).map_err(StorageError::Disk)?;
        Ok(n_gone.into_inner() == n)
    }

    /// Gives every accepting state a number.
    fn build_hash(&self) -> Result<(), Halt> {
        self.context.begin_phase("hash");
        let budget = self.context.budget;
        let memory_bytes = usize::try_from(budget.left() / 8 * 5).unwrap_or(usize::MAX);
        let options = PerfectHashOptions { rows: self.counts.accepting, threads: self.context.threads, memory_bytes };
        let mut builder = PerfectHashBuilder::new(self.disk, HASH, options, budget)?;
        let mut scan = Scan { proof: self, next: 0, reader: None };
        let mut rows = RowBuffer::new(self.graph.row_bytes());
        while scan.take(&mut rows)? {
            rows.as_rows().iter().try_for_each(|row| builder.push(row))?;
        }
        Ok(builder.finish()?)
    }

    fn on_all_threads<'h>(
        &self,
        shared: &Shared<'p, 'h, K>,
        work: impl Fn(&mut Worker<'_, 'p, 'h, K>) -> Result<(), Halt> + Sync,
    ) -> Result<(), Halt> {
        let threads = self.context.threads.max(1);
        let queue_bytes = usize::try_from(self.context.budget.left()).unwrap_or(usize::MAX) / 4 / threads;
        std::thread::scope(|scope| {
            let work = &work;
            let mut handles = Vec::new();
            for i in 0..threads {
                let builder = std::thread::Builder::new().name("lariat-proof".to_owned()).stack_size(STACK_BYTES);
                let handle = builder
                    .spawn_scoped(scope, move || work(&mut Worker::new(shared, i, queue_bytes)))
                    .map_err(|error| {
                        shared.left.end();
                        Halt::Error(SearchError::Thread(error.to_string()))
                    })?;
                handles.push(handle);
            }
            let broken = |_| Err(Halt::Error(SearchError::Thread("it panicked".to_owned())));
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(broken)).fold(Ok(()), Result::and)
        })
    }
}

/// The accepting states on disk, one after the other.
struct Scan<'p, 'h, K: Key> {
    proof: &'h Proof<'p, K>,
    next: usize,
    reader: Option<RunReader<'p, K>>,
}

impl<K: Key> Scan<'_, '_, K> {
    /// Puts accepting states into an empty buffer, of the next ones on disk; false at the end.
    fn take(&mut self, rows: &mut RowBuffer) -> Result<bool, Halt> {
        let Proof { graph, context, runs, .. } = self.proof;
        if let Some(limit) = context.stop.reason() {
            return Err(Halt::Limit(limit));
        }
        rows.clear();
        let mut row = vec![0; graph.row_bytes()];
        loop {
            let Some(reader) = &mut self.reader else {
                let Some(run) = runs.get(self.next) else { return Ok(false) };
                self.next += 1;
                self.reader = Some(RunReader::new(run, READ_BUFFERS, context.budget)?);
                continue;
            };
            let (keys, _) = reader.batch()?;
            let n = keys.len().min(BATCH_ROWS);
            for key in &keys[..n] {
                key.write_row(&mut row);
                if graph.is_accepting(&row) {
                    rows.push(&row);
                }
            }
            reader.consume(n);
            if n == 0 {
                self.reader = None;
            } else if !rows.is_empty() {
                return Ok(true);
            }
        }
    }
}

/// One thread's share of the work.
struct Worker<'w, 'p, 'h, K: Key> {
    shared: &'w Shared<'p, 'h, K>,
    expander: Box<dyn Expander + 'w>,
    edges: Edges,
    /// Accepting successors, and their numbers.
    targets: RowBuffer,
    numbers: Vec<u64>,
    hashes: Vec<u128>,
    /// States that were taken away, and whose edges were not yet.
    waiting: Waiting<'w>,
}

impl<'w, 'p, 'h, K: Key> Worker<'w, 'p, 'h, K> {
    fn new(shared: &'w Shared<'p, 'h, K>, i: usize, queue_bytes: usize) -> Self {
        let Proof { graph, context, disk, .. } = shared.proof;
        let width = graph.row_bytes();
        Self {
            shared,
            expander: graph.expander(),
            edges: batch_edges(*graph, context),
            targets: RowBuffer::new(width),
            numbers: Vec::new(),
            hashes: Vec::new(),
            waiting: Waiting::new(
                (*disk, &format!("proof-waiting-{i}")),
                width,
                BATCH_ROWS,
                queue_bytes,
                context.budget,
            ),
        }
    }

    /// Finds the accepting successors of rows, of as many from the first on as make a batch; of how many.
    fn expand(&mut self, rows: Rows<'_>) -> Result<usize, Halt> {
        self.edges.clear();
        self.expander.expand(rows, &mut self.edges)?;
        self.targets.clear();
        let graph = self.shared.proof.graph;
        self.edges.targets().iter().filter(|row| graph.is_accepting(row)).for_each(|row| self.targets.push(row));
        self.shared.hash.numbers(self.targets.as_rows(), &mut self.hashes, &mut self.numbers);
        Ok(self.edges.n_sources())
    }

    fn take(&self, rows: &mut RowBuffer) -> Result<bool, Halt> {
        let Proof { context, counts, .. } = self.shared.proof;
        let n_gone = self.shared.n_gone.load(Ordering::Relaxed);
        context.observer.event(&Event::Progress(Progress {
            states: counts.states,
            transitions: counts.transitions,
            frontier: counts.accepting - n_gone,
            memory_used: context.budget.used(),
            memory_budget: context.budget.max(),
            ..Progress::default()
        }));
        lock(&self.shared.scan).take(rows)
    }

    /// Counts the edges between accepting states, by their ends.
    fn count_all(&mut self) -> Result<(), Halt> {
        let mut rows = RowBuffer::new(self.shared.proof.graph.row_bytes());
        while self.take(&mut rows)? {
            let mut rest = rows.as_rows();
            while !rest.is_empty() {
                rest = rest.split_at(self.expand(rest)?).1;
                for number in &self.numbers {
                    // Another thread may count at the same time, so it is tried again.
                    let more = |count: u8| (count < MANY).then_some(count + 1);
                    let counter = &self.shared.counters[*number as usize];
                    let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
                }
            }
        }
        Ok(())
    }

    /// Takes states away that no edge leads to, and with their edges others. One state may lead to nearly all of them, so who has nothing to do is left some.
    fn eliminate_all(&mut self) -> Result<(), Halt> {
        let left = &self.shared.left;
        let _ends = EndsWaiting(left);
        let mut rows = RowBuffer::new(self.shared.proof.graph.row_bytes());
        let mut numbers = Vec::new();
        while self.take(&mut rows)? {
            self.shared.hash.numbers(rows.as_rows(), &mut self.hashes, &mut numbers);
            for (row, number) in rows.as_rows().iter().zip(&numbers) {
                if self.take_away(*number) {
                    self.waiting.push(row)?;
                }
            }
            self.remove_waiting()?;
        }
        while let Some(rows) = left.take() {
            self.remove_edges_of(rows.as_rows())?;
            self.remove_waiting()?;
        }
        Ok(())
    }

    /// Takes the edges of states away that wait for that, and of all that go with them.
    fn remove_waiting(&mut self) -> Result<(), Halt> {
        let mut batch = RowBuffer::new(self.shared.proof.graph.row_bytes());
        loop {
            if let Some(limit) = self.shared.proof.context.stop.reason() {
                return Err(Halt::Limit(limit));
            }
            if self.shared.left.is_wanted()
                && let Some(half) = self.waiting.take_half(2 * BATCH_ROWS)
            {
                self.shared.left.leave(half);
            }
            batch.clear();
            self.waiting.take(BATCH_ROWS, &mut batch)?;
            if batch.is_empty() {
                return Ok(());
            }
            self.remove_edges_of(batch.as_rows())?;
        }
    }

    /// Whether the state goes now.
    fn take_away(&self, number: u64) -> bool {
        let counter = &self.shared.counters[number as usize];
        let goes = counter.compare_exchange(0, GONE, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        self.shared.n_gone.fetch_add(u64::from(goes), Ordering::Relaxed);
        goes
    }

    fn remove_edges_of(&mut self, mut rows: Rows<'_>) -> Result<(), Halt> {
        while !rows.is_empty() {
            rows = rows.split_at(self.expand(rows)?).1;
            for i in 0..self.numbers.len() {
                let number = self.numbers[i];
                // Every edge is removed once, so a counter that counts is not below 1 here.
                let fewer = |count: u8| (count < MANY && count > 0).then(|| count - 1);
                let counter = &self.shared.counters[number as usize];
                let before = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
                if before == Ok(1) && self.take_away(number) {
                    self.waiting.push(self.targets.row(i))?;
                }
            }
        }
        Ok(())
    }
}
