//! Bao and Jones's search on disk: the visited set is in partitions, one of them in memory at a time.
//!
//! A hash of a state says which partition it belongs to. Every partition has a file of visited states and a queue of states that were found but not looked up yet, the end of it
//! in memory and the rest on disk. The partition with the longest queue is loaded into a table; states of its queue that are not in the table are put there and expanded, and
//! their successors go to the queues of their partitions. When its queue is empty, the next partition's turn has come.
//!
//! # Paper
//! Bao and Jones, *Time-efficient model checking with magnetic disk*, section 2: PART.
//!
//! | paper | here |
//! |---|---|
//! | M | `table`, chained or open ([`Table`]) |
//! | D\[i\] | [`Partition::visited`] |
//! | q_i^m, q_i^d | [`Partition::pending`], [`Partition::queue`] |
//! | Partition | `partition_of`, by other bits than the table uses |
//! | Select, Explore | `begin_turn` to `end_turn`, `put` |
//!
//! *Deviations.* The number of partitions need not be known: one that does not fit the table is split in two. What is new is appended to D\[i\], instead of writing all of M back. A queue in memory that
//! is full is freed of duplicates before it is written to disk. With goals, a state is stored with the hash of the state that it was found from, by which paths are found backwards, and
//! verified. Threads expand states together, and take turns with the table and the queues. How far the search is is published now and then, within a turn or between turns. With hash
//! compaction, as in the paper, the table and the files of visited states have signatures.
//!
//! # Invariants
//! 1. A state is expanded when it is put into the table and its partition's file, and that happens once.
//! 2. Every successor is in a queue until it is looked up in the table of its partition.
//!
//! # Cost
//! scan(V / P) for each turn; every edge that leaves the partition is written and read once, unless its queue is short or has a duplicate of it. Levels are not known.

mod partition;
mod pending;

use crate::checkpoint::{PUBLISH_AFTER, Publisher};
use crate::compact::Identity;
use crate::expansion::{BATCH_ROWS, Expansion, Work, batch_edges};
use crate::path::{met_goals, source_of};
use crate::path_on_disk::{Paths, nowhere};
use crate::tally::{Hit, Tally, lock};
use crate::{Compaction, Context, Exploration, Extent, Goal, SearchError};
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_storage::{HashTable, RowLogOptions, Table, TableFull, hash_row};
use partition::{Entries, Partition, Partitions};
use std::sync::Mutex;
use std::time::Duration;

/// What each part may use.
pub(crate) struct Shares {
    pub(crate) table_bytes: usize,
    /// For the queues in memory, all together.
    pub(crate) pending_bytes: usize,
    /// Bytes that are written at once to a partition's files.
    pub(crate) transfer_bytes: usize,
    /// How often it is published how far the search is.
    pub(crate) publish_after: Duration,
}

impl Shares {
    fn of(context: &Context) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        Self {
            table_bytes: memory / 2,
            pending_bytes: memory / 4,
            transfer_bytes: (memory / 512).clamp(4 << 10, 128 << 10),
            publish_after: PUBLISH_AFTER,
        }
    }
}

/// Searches all states from the initial ones, in no particular order.
pub fn explore(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    table: Table,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_within(graph, goals, extent, table, None, context, None)
}

/// The same with signatures instead of visited states.
pub fn explore_compact(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    table: Table,
    compaction: Compaction,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_within(graph, goals, extent, table, Some(compaction), context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn explore_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    table: Table,
    compaction: Option<Compaction>,
    context: &Context,
    shares: Option<Shares>,
) -> Result<Exploration, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let shares = shares.unwrap_or_else(|| Shares::of(context));
    let identity = Identity::new(graph.row_bytes(), compaction);
    let tally = Tally::new(graph, goals, extent, context);
    let search = || {
        let search = Mutex::new(Search::new(&tally, disk, table, identity, &shares)?);
        tally.memory_is_a_limit(run(&search, &tally))?;
        let mut search = search.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = tally.result();
        let stored_bytes = search.partitions.all.iter().map(|partition| partition.visited.bytes()).sum();
        let paths = if identity.is_compact() {
            met_goals(&tally)
        } else {
            let path = |hit: Option<Hit>| hit.map(|hit| search.rebuild_path(hit)).transpose();
            tally.take_hits().into_iter().map(path).collect::<Result<_, SearchError>>()?
        };
        Ok(Exploration { stored_bytes, paths, ..found })
    };
    if identity.is_compact() { Paths { graph, goals, extent, context }.after(search, nowhere) } else { search() }
}

fn run(search: &Mutex<Search<'_>>, tally: &Tally) -> Result<(), SearchError> {
    let mut expansion = Expansion::new(tally);
    if !lock(search).take_up()? {
        let mut initial = RowBuffer::new(tally.graph.row_bytes());
        tally.graph.initial(&mut initial);
        lock(search).enqueue_all(initial.as_rows(), 0)?;
    }
    while !tally.is_over() {
        let n_waiting = lock(search).begin_turn()?;
        if n_waiting == 0 {
            break;
        }
        // Whoever finds the queue empty goes home, while another may be about to fill it again.
        while lock(search).has_work() && !tally.is_over() {
            expansion.expand_shared(search, n_waiting)?;
            let mut search = lock(search);
            if search.is_pausing && !tally.is_stopped() {
                search.publish()?;
            }
        }
        if !tally.is_stopped() {
            lock(search).end_turn()?;
        }
    }
    if tally.limit().is_some() {
        lock(search).publish()?;
    }
    Ok(())
}

struct Search<'s> {
    tally: &'s Tally<'s>,
    entries: Entries,
    partitions: Partitions<'s>,
    /// The states of the partition whose turn it is.
    table: HashTable<'s>,
    active: usize,
    /// Whether the table has no room for all of it.
    is_full: bool,
    /// States from the queue, and their hashes; those that had no place in the table.
    taken: RowBuffer,
    hashes: Vec<u64>,
    rejected: RowBuffer,
    /// Whether a table was ever too small, so that the largest one is taken at once.
    wants_largest: bool,
    identity: Identity,
    /// Space for the signature of a state.
    entry: Vec<u8>,
    publisher: Publisher<'s>,
    /// Whether states were taken since something was published.
    has_taken: bool,
    /// Whether nobody takes states any more, so that something can be published.
    is_pausing: bool,
}

impl<'s> Search<'s> {
    fn new(
        tally: &'s Tally<'s>,
        disk: &'s dyn Disk,
        table: Table,
        identity: Identity,
        shares: &Shares,
    ) -> Result<Self, SearchError> {
        let (width, budget) = (tally.graph.row_bytes(), tally.context.budget);
        let entries = Entries { row_bytes: width, has_parents: !tally.goals.is_empty() && !identity.is_compact() };
        let log = RowLogOptions::within(entries.bytes(), 2 * shares.transfer_bytes, FileKind::Table);
        Ok(Self {
            tally,
            entries,
            partitions: Partitions::new(disk, (entries, identity), log, shares.pending_bytes, budget),
            table: HashTable::new(table, identity.key_bytes(), shares.table_bytes, budget)?,
            active: 0,
            is_full: false,
            taken: RowBuffer::new(entries.bytes()),
            hashes: Vec::new(),
            rejected: RowBuffer::new(entries.bytes()),
            wants_largest: false,
            identity,
            entry: Vec::new(),
            publisher: Publisher::new(tally.context, disk, "part", shares.publish_after),
            has_taken: false,
            is_pausing: false,
        })
    }

    /// Puts states into the queues of their partitions.
    fn enqueue_all(&mut self, rows: Rows<'_>, parent: u64) -> Result<(), SearchError> {
        for row in rows.iter() {
            let key = self.identity.key(self.identity.entry(row, &mut self.entry));
            let hash = hash_row(key);
            let place = self.partitions.partition_of(hash);
            if place != self.active || !self.table.contains(hash, key) {
                self.partitions.enqueue(place, row, parent)?;
            }
        }
        Ok(())
    }

    /// Publishes how far the search is. Nobody has taken states and not put their successors.
    fn publish(&mut self) -> Result<(), SearchError> {
        let Self { tally, partitions, publisher, .. } = self;
        publisher.publish(|manifest, _| {
            tally.note(manifest);
            Ok(partitions.note(manifest)?)
        })?;
        (self.has_taken, self.is_pausing) = (false, false);
        self.begin_phase("expand");
        Ok(())
    }

    /// Takes up what was published; false if nothing was.
    fn take_up(&mut self) -> Result<bool, SearchError> {
        let Some(manifest) = self.publisher.take_up()? else { return Ok(false) };
        self.tally.restore(&manifest)?;
        self.partitions.take_up(&manifest)?;
        Ok(true)
    }

    /// Loads the partition with the longest queue into the table; how many states that queue has.
    fn begin_turn(&mut self) -> Result<u64, SearchError> {
        self.begin_phase("load");
        let lengths = self.partitions.all.iter().map(Partition::n_waiting);
        self.tally.set_frontier(lengths.clone().sum());
        let Some((active, n_waiting)) = lengths.enumerate().max_by_key(|(_, n)| *n) else {
            return Ok(0);
        };
        self.active = active;
        let visited = &mut self.partitions.all[active].visited;
        let expected = if self.wants_largest { u64::MAX } else { visited.len() + n_waiting };
        self.table.reset(usize::try_from(expected).unwrap_or(usize::MAX))?;
        let mut reader = visited.reader(0..visited.len(), partition::READ_BUFFERS)?;
        loop {
            let entries = reader.next_rows()?;
            if entries.is_empty() {
                break;
            }
            if !self.table.insert_distinct(entries.iter().map(|entry| self.identity.key(entry))) {
                self.is_full = true;
                break;
            }
        }
        self.begin_phase("expand");
        Ok(n_waiting)
    }

    fn has_work(&self) -> bool {
        !self.is_full && self.partitions.all[self.active].n_waiting() > 0
    }

    /// Leaves a partition, and splits it if even the largest table has no room for it.
    fn end_turn(&mut self) -> Result<(), SearchError> {
        self.partitions.all[self.active].visited.rest()?;
        if self.is_full && self.table.is_largest() {
            self.begin_phase("split");
            self.table.reset(0)?;
            self.partitions.split(self.active)?;
        }
        self.wants_largest |= self.is_full;
        self.is_full = false;
        Ok(())
    }

    /// The path to a state, found backwards by the hashes of the states that states were found from.
    fn rebuild_path(&mut self, hit: Hit) -> Result<RowBuffer, SearchError> {
        self.begin_phase("path");
        let graph = self.tally.graph;
        let mut initial = RowBuffer::new(graph.row_bytes());
        graph.initial(&mut initial);
        let mut expander = graph.expander();
        let mut edges = batch_edges(graph, self.tally.context);
        let mut path = RowBuffer::new(graph.row_bytes());
        let hash = hash_row(&hit.row);
        let mut next = self.partitions.find(hash, |row| Ok(row == hit.row))?;
        while let Some((row, parent)) = next.take() {
            let is_initial = initial.as_rows().iter().any(|other| other == row);
            path.push(&row);
            if is_initial {
                path.reverse();
                return Ok(path);
            }
            if path.len() as u64 > self.tally.states() {
                break;
            }
            let target = path.row(path.len() - 1);
            next = self.partitions.find(parent, |row| {
                Ok(source_of(&mut *expander, Rows::new(row, row.len()), target, &mut edges)?.is_some())
            })?;
        }
        Err(SearchError::PathLost)
    }

    fn begin_phase(&self, name: &'static str) {
        self.tally.context.begin_phase(name);
    }
}

impl Work for Search<'_> {
    /// Takes states from the queue that are not in the table, and puts them there.
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        self.is_pausing |= self.has_taken && self.publisher.is_due();
        if self.is_pausing {
            return Ok(());
        }
        self.has_taken = true;
        while batch.len() < BATCH_ROWS && self.has_work() {
            let Partition { visited, waiting, .. } = &mut self.partitions.all[self.active];
            self.taken.clear();
            self.hashes.clear();
            waiting.take(BATCH_ROWS - batch.len(), &mut |entry| {
                let key = self.identity.key(self.identity.entry(self.entries.row(entry), &mut self.entry));
                let hash = hash_row(key);
                self.table.prefetch(hash);
                self.taken.push(entry);
                self.hashes.push(hash);
                Ok(())
            })?;
            for (entry, hash) in self.taken.as_rows().iter().zip(&self.hashes) {
                let row = self.entries.row(entry);
                let key = self.identity.key(self.identity.entry(row, &mut self.entry));
                let inserted = if self.is_full { Err(TableFull::Memory) } else { self.table.insert(*hash, key) };
                match inserted {
                    Ok(true) => {
                        self.tally.add_states(1);
                        batch.push(row);
                        visited.push(if self.identity.is_compact() { key } else { entry })?;
                    }
                    Ok(false) => {}
                    Err(_) => {
                        self.is_full = true;
                        self.rejected.push(entry);
                    }
                }
            }
        }
        // What had no place in the table waits until there is one.
        for entry in self.rejected.as_rows().iter() {
            self.partitions.enqueue(self.active, self.entries.row(entry), self.entries.parent(entry))?;
        }
        self.rejected.clear();
        Ok(())
    }

    fn put(&mut self, from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        for (i, source) in from.iter().enumerate() {
            let parent = if self.entries.has_parents { hash_row(source) } else { 0 };
            self.enqueue_all(edges.targets_of(i), parent)?;
        }
        Ok(())
    }
}
