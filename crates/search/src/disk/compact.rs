//! The search on disk with hash compaction: signatures are visited, states wait.
//!
//! As with whole states a filter in memory answers first. What it has never met is new: its signature goes to a buffer, and then to a sorted run of visited ones,
//! and the state to a queue. What it may have met is doubtful, and is gathered with its state, sorted by signature, until it is compared with all visited
//! signatures in one pass.
//!
//! # Invariants
//! 1. Every signature that was found new is in exactly one visited set, or in the buffer, and the filter has met it. Its state waits in the queue, or was expanded.
//! 2. Everything doubtful was met by the filter, and is gathered until it is compared.
//! 3. What is published has nothing doubtful.
//!
//! # Cost
//! Each state is written to the queue and read once, unless it is taken soon; each signature is sorted and written once, and merged a few times. Threads take turns
//! with all of it, and expand states together.

use crate::checkpoint::{PUBLISH_AFTER, Publisher};
use crate::compact::{Identity, value_bytes};
use crate::expansion::{BATCH_ROWS, Expansion, Work};
use crate::path::met_goals;
use crate::path_on_disk::{Paths, nowhere};
use crate::tally::{Tally, lock};
use crate::{Compaction, Context, Exploration, Extent, Goal, SearchError};
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_storage::sort::sort_rows;
use lariat_storage::stream::{RowStream, Subtract};
use lariat_storage::{
    ExternalSort, Key, Manifest, PartsInput, PartsWriter, Recent, ReservedVec, RowFilter, RowLogOptions, RowQueue,
    RunOptions, RunParts, SortOptions, StorageError, for_row_width, hash_row, take_smallest,
};
use std::sync::Mutex;
use std::time::Duration;

const NAME: &str = "disk-compact";
/// Visited sets, at most.
const SETS_MAX: usize = 8;
/// Runs of doubtful states, at most.
const DOUBTFUL_RUNS_MAX: usize = 8;
/// Blocks that a reader has in memory.
const READ_BUFFERS: usize = 2;
/// Names in a manifest.
const VISITED: &str = "visited";
const MADE: &str = "made";
const WAITING: &str = "waiting";

/// What each part may use.
pub(crate) struct CompactShares {
    pub(crate) filter_bytes: u64,
    /// Signatures in the buffer.
    pub(crate) new_keys: usize,
    pub(crate) doubtful: SortOptions,
    pub(crate) run: RunOptions,
    pub(crate) queue: RowLogOptions,
    pub(crate) batch_rows: usize,
    /// Fewer doubtful states than this are not worth a pass while there is something else to do.
    pub(crate) doubtful_min: u64,
    pub(crate) publish_after: Duration,
}

impl CompactShares {
    fn of<V: Key>(context: &Context, identity: Identity, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let (key_bytes, value_bytes) = (identity.key_bytes(), value_bytes::<V>(row_bytes));
        let reader_bytes = memory / 8 / (SETS_MAX + DOUBTFUL_RUNS_MAX + 2);
        let sort = SortOptions::within::<u64, V>(key_bytes, value_bytes, memory / 3);
        let run = RunOptions::within(key_bytes, value_bytes, reader_bytes);
        Self {
            filter_bytes: (memory / 8 * 3) as u64,
            new_keys: (memory / 16 / size_of::<u64>()).max(256),
            doubtful_min: 4 * sort.rows_max as u64,
            batch_rows: (memory / 64 / (SETS_MAX + DOUBTFUL_RUNS_MAX) / (8 + size_of::<V>())).clamp(16, 1024),
            doubtful: SortOptions { run, runs_max: DOUBTFUL_RUNS_MAX, ..sort },
            run: RunOptions::within(key_bytes, 0, reader_bytes),
            queue: RowLogOptions::within(row_bytes, memory / 32, FileKind::Queue),
            publish_after: PUBLISH_AFTER,
        }
    }
}

/// Searches all states from the initial ones, with signatures instead of visited states.
pub fn explore_compact(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    compaction: Compaction,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_compact_within(graph, goals, extent, compaction, context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn explore_compact_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    compaction: Compaction,
    context: &Context,
    shares: Option<CompactShares>,
) -> Result<Exploration, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let identity = Identity::new(graph.row_bytes(), Some(compaction));
    let tally = Tally::new(graph, goals, extent, context);
    let search = || {
        for_row_width!(graph.row_bytes(), V => {
            let shares = shares.unwrap_or_else(|| CompactShares::of::<V>(context, identity, graph.row_bytes()));
            let search = Mutex::new(Search::<V>::new(&tally, disk, identity, shares)?);
            tally.memory_is_a_limit(run(&search, &tally))?;
            let stored_bytes = lock(&search).visited.iter().map(|(_, set)| set.bytes()).sum();
            Ok(Exploration { stored_bytes, paths: met_goals(&tally), ..tally.result() })
        })
    };
    Paths { graph, goals, extent, context }.after(search, nowhere)
}

fn run<V: Key>(search: &Mutex<Search<'_, V>>, tally: &Tally) -> Result<(), SearchError> {
    let mut expansion = Expansion::new(tally);
    if !lock(search).take_up()? {
        let mut initial = RowBuffer::new(tally.graph.row_bytes());
        tally.graph.initial(&mut initial);
        lock(search).find(initial.as_rows())?;
    }
    while !tally.is_over() {
        let n_waiting = {
            let mut search = lock(search);
            if search.waiting.is_empty() || search.is_pass_due() {
                search.pass()?;
            }
            if search.publisher.is_due() {
                search.publish()?;
            }
            search.is_pausing = false;
            search.waiting.len()
        };
        if n_waiting == 0 {
            break;
        }
        tally.context.begin_phase("expand");
        tally.set_frontier(n_waiting);
        expansion.expand_shared(search, n_waiting)?;
    }
    if tally.limit().is_some() {
        lock(search).publish()?;
    } else if !tally.is_stopped() {
        lock(search).write_new()?;
    }
    Ok(())
}

type First<V> = fn(V, V) -> V;
fn first<V>(a: V, _b: V) -> V {
    a
}

struct Search<'s, V: Key> {
    tally: &'s Tally<'s>,
    disk: &'s dyn Disk,
    identity: Identity,
    shares: CompactShares,
    filter: RowFilter<'s>,
    recent: Recent,
    /// Signatures of new states that are in no set yet.
    new: ReservedVec<'s, u64>,
    doubtful: Option<ExternalSort<'s, u64, V, First<V>>>,
    n_doubtful: u64,
    /// Sets of signatures, each with the number in its name.
    visited: Vec<(u64, RunParts<'s, u64>)>,
    n_made: u64,
    /// Sets made before are named by what was published.
    n_published: u64,
    waiting: RowQueue<'s>,
    publisher: Publisher<'s>,
    has_taken: bool,
    is_pausing: bool,
    entry: Vec<u8>,
}

impl<'s, V: Key> Search<'s, V> {
    fn new(
        tally: &'s Tally<'s>,
        disk: &'s dyn Disk,
        identity: Identity,
        shares: CompactShares,
    ) -> Result<Self, SearchError> {
        let budget = tally.context.budget;
        Ok(Self {
            tally,
            disk,
            identity,
            filter: RowFilter::new(shares.filter_bytes, budget)?,
            recent: Recent::new(identity.key_bytes()),
            new: ReservedVec::with_capacity(shares.new_keys, budget)?,
            doubtful: None,
            n_doubtful: 0,
            visited: Vec::new(),
            n_made: 0,
            n_published: 0,
            waiting: RowQueue::new(disk, WAITING, shares.queue, budget),
            publisher: Publisher::new(tally.context, disk, NAME, shares.publish_after),
            has_taken: false,
            is_pausing: false,
            entry: Vec::new(),
            shares,
        })
    }

    /// Sorts out states that were reached.
    fn find(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        for row in rows.iter() {
            let key = self.identity.key(self.identity.entry(row, &mut self.entry));
            let hash = hash_row(key);
            if self.recent.meet(hash, key) {
                continue;
            }
            let number = self.identity.number(row);
            if self.filter.meet(hash) {
                self.put_aside(number, row)?;
            } else {
                self.add_new(number, row)?;
            }
        }
        Ok(())
    }

    fn put_aside(&mut self, number: u64, row: &[u8]) -> Result<(), SearchError> {
        let budget = self.tally.context.budget;
        let sort = match &mut self.doubtful {
            Some(sort) => sort,
            none => {
                let sort = ExternalSort::new(self.disk, "doubtful", self.shares.doubtful, first as First<V>, budget)?;
                none.insert(sort)
            }
        };
        self.n_doubtful += 1;
        Ok(sort.push(number, V::from_row(row))?)
    }

    fn add_new(&mut self, number: u64, row: &[u8]) -> Result<(), SearchError> {
        if self.new.len() == self.shares.new_keys {
            self.write_new()?;
        }
        self.new.push(number).map_err(StorageError::from)?;
        self.tally.add_states(1);
        Ok(self.waiting.push(row)?)
    }

    fn is_pass_due(&self) -> bool {
        self.n_doubtful > self.shares.doubtful_min.max(self.tally.states())
    }

    /// Writes the buffer of signatures as a set.
    fn write_new(&mut self) -> Result<(), SearchError> {
        if self.new.is_empty() {
            return Ok(());
        }
        sort_rows(&mut self.new);
        let nothing = vec![(); self.new.len()];
        let set = self.write(&[PartsInput::Rows(&self.new, &nothing)])?;
        self.add_set(set);
        self.new.clear();
        if self.visited.len() > SETS_MAX {
            self.merge()?;
        }
        Ok(())
    }

    fn write(&self, inputs: &[PartsInput<'_, 's, u64>]) -> Result<RunParts<'s, u64>, StorageError> {
        self.writer().write_union::<u64, (), ()>(&format!("{VISITED}-{}", self.n_made), inputs, first, &[])
    }

    fn add_set(&mut self, set: RunParts<'s, u64>) {
        self.visited.push((self.n_made, set));
        self.n_made += 1;
    }

    fn merge(&mut self) -> Result<(), SearchError> {
        let small = take_smallest(&mut self.visited, |(_, set)| set.rows());
        let inputs: Vec<PartsInput<'_, 's, u64>> = small.iter().map(|(_, set)| PartsInput::Parts(set)).collect();
        let merged = self.write(&inputs)?;
        drop(inputs);
        if merged.rows() != small.iter().map(|(_, set)| set.rows()).sum::<u64>() {
            return Err(SearchError::StateTwice);
        }
        self.add_set(merged);
        for (number, set) in small {
            if number >= self.n_published {
                set.remove(self.disk)?;
            }
        }
        Ok(())
    }

    fn writer(&self) -> PartsWriter<'s> {
        PartsWriter {
            disk: self.disk,
            budget: self.tally.context.budget,
            threads: 1,
            options: self.shares.run,
            batch_rows: self.shares.batch_rows,
            buffers: READ_BUFFERS,
            rows_to_share: u64::MAX,
        }
    }

    /// Compares what is doubtful with what was visited. Nobody is expanding.
    fn pass(&mut self) -> Result<(), SearchError> {
        let Some(doubtful) = self.doubtful.take() else { return Ok(()) };
        self.tally.context.begin_phase("check");
        self.n_doubtful = 0;
        self.write_new()?;
        let budget = self.tally.context.budget;
        let pieces = doubtful.into_pieces()?;
        let runs = pieces.runs.iter().map(PartsInput::Run);
        let inputs: Vec<PartsInput<'_, 's, u64, V>> =
            runs.chain([PartsInput::Rows(&pieces.keys, &pieces.values)]).collect();
        let mut stream = self.writer().union(&inputs, first, (None, None))?;
        for (_, set) in self.visited.iter().rev() {
            let others = set.reader::<()>((None, None), READ_BUFFERS, budget)?;
            stream = Box::new(Subtract::<u64, V, (), _, _>::new(stream, others, self.shares.batch_rows, budget)?);
        }
        let mut row = vec![0; self.tally.graph.row_bytes()];
        loop {
            let (keys, values) = stream.batch()?;
            let n = keys.len();
            if n == 0 {
                break;
            }
            for (key, value) in keys.iter().zip(values) {
                value.write_row(&mut row);
                self.add_new(*key, &row)?;
            }
            stream.consume(n);
        }
        drop((stream, inputs));
        for run in pieces.runs {
            let name = run.name().to_owned();
            drop(run);
            self.disk.remove(&name).map_err(StorageError::from)?;
        }
        Ok(())
    }

    /// Publishes how far the search is. Nobody has taken states and not put their successors.
    fn publish(&mut self) -> Result<(), SearchError> {
        self.pass()?;
        self.write_new()?;
        let Self { tally, visited, n_made, n_published, waiting, publisher, .. } = self;
        publisher.publish(|manifest, _| {
            tally.note(manifest);
            manifest.set_number(VISITED, visited.len() as u64);
            manifest.set_number(MADE, *n_made);
            for (i, (number, set)) in visited.iter().enumerate() {
                if *number >= *n_published {
                    set.sync()?;
                }
                let role = format!("{VISITED}-{i}");
                set.note(manifest, &role);
                manifest.set_number(&role, *number);
            }
            Ok(waiting.note(manifest, WAITING)?)
        })?;
        self.n_published = self.n_made;
        self.has_taken = false;
        Ok(())
    }

    /// Takes up what was published; false if nothing was. The filter meets all signatures again.
    fn take_up(&mut self) -> Result<bool, SearchError> {
        let Some(manifest) = self.publisher.take_up()? else { return Ok(false) };
        self.tally.restore(&manifest)?;
        self.take_up_sets(&manifest)?;
        self.waiting.take_up(&manifest, WAITING)?;
        let key_bytes = self.identity.key_bytes();
        for (_, set) in &self.visited {
            let mut reader = set.reader::<()>((None, None), READ_BUFFERS, self.tally.context.budget)?;
            loop {
                let (keys, _) = reader.batch()?;
                let n = keys.len();
                if n == 0 {
                    break;
                }
                keys.iter().for_each(|key| {
                    self.filter.meet(hash_row(&key.to_le_bytes()[..key_bytes]));
                });
                reader.consume(n);
            }
        }
        Ok(true)
    }

    fn take_up_sets(&mut self, manifest: &Manifest) -> Result<(), StorageError> {
        let widths = (self.identity.key_bytes(), 0);
        for i in 0..manifest.number(VISITED)? {
            let role = format!("{VISITED}-{i}");
            let set = RunParts::open(manifest, &role, self.disk, widths, self.tally.context.budget)?;
            self.visited.push((manifest.number(&role)?, set));
        }
        self.n_made = manifest.number(MADE)?;
        self.n_published = self.n_made;
        Ok(())
    }
}

impl<V: Key> Work for Search<'_, V> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        self.is_pausing |= self.has_taken && (self.publisher.is_due() || self.is_pass_due());
        if self.is_pausing || self.waiting.is_empty() {
            return Ok(());
        }
        self.has_taken = true;
        batch.extend(self.waiting.take_rows(BATCH_ROWS)?);
        Ok(())
    }

    fn put(&mut self, _from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        self.find(edges.targets())
    }
}
