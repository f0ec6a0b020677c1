//! Breadth-first search with immediate duplicate detection: states are on disk, memory has only their positions.
//!
//! All states lie in one file in the order in which they were found. A hash table in memory leads from a state's hash to the positions where it may be; whether it is
//! there is decided by reading. Such reads are at random places, and many of them are under way at once: successors are gathered, all their
//! questions are asked in the order of the file, and only then is decided which of them are new.
//!
//! # Paper
//! Edelkamp et al., *Flash memory efficient LTL model checking*, section 4.3 (compressing) and `cBFS` of section 7.
//!
//! | paper | here |
//! |---|---|
//! | internal hash table of file pointers, linear probing | [`PositionTable`] |
//! | file of state vectors, in the order of generation | `states` |
//! | internal buffers in which duplicates are found without reading | `recent`, and the end of the file that is not written yet |
//!
//! *Deviations.* A slot has eight bits of the hash beside the position, so that few reads are in vain. Questions are asked in batches. The table grows by reading the file
//! once more. When its memory is used up, the states that it leads to are *frozen*: sorted into runs on disk, which batches are compared with in order, and the table
//! begins again with those that are found from then on. With hash compaction the file has signatures, and a queue beside it the states that wait.
//!
//! # Invariants
//! 1. The states of a level lie together in the file, so it is the queue, too, and levels are distances.
//! 2. A state in `recent` is in the file or in the batch.
//! 3. Every state in the file is frozen or has a position in the table.
//!
//! # Cost
//! At most one random read for each edge that leads to a state which was found before, and is not found in memory; each state is written once. 6.25 bytes of memory for a state: when
//! that is used up, states are sorted, and each batch reads what of the frozen states it falls into.

mod frozen;

use crate::checkpoint::{PUBLISH_AFTER, Publisher};
use crate::compact::Identity;
use crate::expansion::{BATCH_ROWS, Leveled, Work, expand_levels};
use crate::level_log::LevelLog;
use crate::path::{met_goals, rebuild_paths};
use crate::path_on_disk::{Paths, nowhere};
use crate::tally::Tally;
use crate::{Compaction, Context, Exploration, Extent, Goal, SearchError};
use frozen::Frozen;
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_storage::{PositionTable, Recent, Reservation, RowFinder, RowLogOptions, StorageError, hash_row};
use std::sync::Mutex;
use std::time::Duration;

/// What each part may use.
pub(crate) struct Shares {
    pub(crate) table_bytes: usize,
    pub(crate) log: RowLogOptions,
    pub(crate) reads_at_once: usize,
    /// Successors that are decided on together.
    pub(crate) batch_rows: usize,
    /// For a reader of frozen states.
    pub(crate) frozen_bytes: usize,
    /// How often it is published how far the search is.
    pub(crate) publish_after: Duration,
}

/// Beside its row, what a successor needs in a batch: its hash, a mark, a question or two, and two numbers.
const BATCH_EXTRA_BYTES: usize = 8 + 1 + 2 * 24 + 8 + 4;
/// What [`Recent`] takes.
const RECENT_BYTES: u64 = 256 << 10;
/// More reads at once are not faster.
const READS_AT_ONCE_MAX: usize = 128;

impl Shares {
    fn of(context: &Context, identity: Identity, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let log = RowLogOptions::in_pages(row_bytes, memory / 32, FileKind::Table);
        Self {
            table_bytes: memory / 8 * 5,
            reads_at_once: (memory / 32 / log.block_bytes).clamp(1, READS_AT_ONCE_MAX),
            batch_rows: (memory / 8 / (identity.entry_bytes() + BATCH_EXTRA_BYTES)).clamp(64, 1 << 20),
            frozen_bytes: memory / 32,
            log,
            publish_after: PUBLISH_AFTER,
        }
    }
}

/// Searches breadth-first from the initial states.
pub fn explore(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_within(graph, goals, extent, None, context, None)
}

/// The same with signatures instead of visited states.
pub fn explore_compact(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    compaction: Compaction,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_within(graph, goals, extent, Some(compaction), context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn explore_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    compaction: Option<Compaction>,
    context: &Context,
    shares: Option<Shares>,
) -> Result<Exploration, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let identity = Identity::new(graph.row_bytes(), compaction);
    let shares = shares.unwrap_or_else(|| Shares::of(context, identity, graph.row_bytes()));
    let tally = Tally::new(graph, goals, extent, context);
    let search = || {
        let search = Mutex::new(Search::new(&tally, disk, identity, &shares)?);
        tally.memory_is_a_limit(expand_levels(&search, &tally))?;
        let mut states = search.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).states;
        let (levels, stored_bytes) = (states.n_levels() as u64, states.log.bytes());
        let found = tally.result();
        let paths = if identity.is_compact() { met_goals(&tally) } else { rebuild_paths(&tally, &mut states)? };
        Ok(Exploration { levels, stored_bytes, paths, ..found })
    };
    if identity.is_compact() { Paths { graph, goals, extent, context }.after(search, nowhere) } else { search() }
}

struct Search<'s> {
    tally: &'s Tally<'s>,
    identity: Identity,
    states: LevelLog<'s>,
    /// Where states are, counted from the first that is not frozen.
    positions: PositionTable<'s>,
    frozen: Box<dyn Frozen<'s> + 's>,
    n_frozen: u64,
    finder: RowFinder<'s>,
    recent: Recent,
    batch: Batch,
    batch_rows: usize,
    publisher: Publisher<'s>,
    /// Whether states were taken since something was published.
    has_taken: bool,
    /// Whether nobody takes states any more, so that something can be published.
    is_pausing: bool,
    entry: Vec<u8>,
    _memory: Reservation<'s>,
}

/// Successors that wait for a decision.
struct Batch {
    /// Keys, and states behind them if those are others.
    entries: RowBuffer,
    hashes: Vec<u64>,
    is_old: Vec<bool>,
    /// A position at which a successor may be, and the successor.
    questions: Vec<(u64, u32)>,
    positions: Vec<u64>,
    /// The successors that were found new, in the order of their positions.
    new: Vec<u32>,
}

impl<'s> Search<'s> {
    fn new(tally: &'s Tally<'s>, disk: &'s dyn Disk, identity: Identity, shares: &Shares) -> Result<Self, SearchError> {
        let (context, budget) = (tally.context, tally.context.budget);
        let positions = PositionTable::new(shares.table_bytes, budget)?;
        // A batch must fit an empty table.
        let batch_rows = shares.batch_rows.min(positions.capacity_max());
        let batch_bytes = (batch_rows * (identity.entry_bytes() + BATCH_EXTRA_BYTES)) as u64;
        let memory = Reservation::new(batch_bytes + RECENT_BYTES, budget).map_err(StorageError::from)?;
        Ok(Self {
            tally,
            identity,
            states: LevelLog::new(disk, "states", shares.log, identity, budget),
            positions,
            frozen: frozen::new(disk, identity.key_bytes(), shares, budget),
            n_frozen: 0,
            finder: RowFinder::new(shares.reads_at_once),
            recent: Recent::new(identity.key_bytes()),
            batch: Batch {
                entries: RowBuffer::new(identity.entry_bytes()),
                hashes: Vec::new(),
                is_old: Vec::new(),
                questions: Vec::new(),
                positions: Vec::new(),
                new: Vec::new(),
            },
            batch_rows,
            publisher: Publisher::new(context, disk, "cbfs", shares.publish_after),
            has_taken: false,
            is_pausing: false,
            entry: Vec::new(),
            _memory: memory,
        })
    }

    /// Ends the level that was found and begins to expand it; how many states it has.
    fn next_level(&mut self) -> Result<u64, SearchError> {
        self.decide()?;
        if self.tally.is_over() {
            return Ok(0);
        }
        let level = self.states.n_levels();
        let n_rows = self.states.begin_level()?;
        if n_rows > 0 {
            self.tally.begin_level(level, n_rows);
            if self.publisher.is_due() {
                self.publish()?;
            }
        }
        self.begin_phase("expand");
        Ok(n_rows)
    }

    /// Gathers states, but for those that were met lately.
    fn find(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        for row in rows.iter() {
            let entry = self.identity.entry(row, &mut self.entry);
            let key = self.identity.key(entry);
            let hash = hash_row(key);
            if self.recent.meet(hash, key) {
                continue;
            }
            self.batch.entries.push(entry);
            self.batch.hashes.push(hash);
            if self.batch.hashes.len() == self.batch_rows {
                self.decide()?;
                self.begin_phase("expand");
            }
        }
        Ok(())
    }

    /// Finds out which states of the batch are new, and appends those to the file.
    fn decide(&mut self) -> Result<(), SearchError> {
        self.make_room()?;
        self.begin_phase("confirm");
        self.ask()?;
        for i in 0..self.batch.hashes.len() {
            if !self.batch.is_old[i] && !self.is_in_batch(i) {
                self.append(i)?;
            }
        }
        self.batch.clear();
        Ok(())
    }

    /// Makes room in the table for a whole batch: by a larger one, or by freezing all states.
    fn make_room(&mut self) -> Result<(), SearchError> {
        let mut wanted = self.positions.len() + self.batch.hashes.len();
        if wanted > self.positions.capacity_max() {
            self.freeze()?;
            wanted = self.batch.hashes.len();
        }
        self.grow_to(wanted)
    }

    /// Makes the table as large as so many states need, if it is not.
    fn grow_to(&mut self, wanted: usize) -> Result<(), SearchError> {
        if wanted <= self.positions.capacity() {
            return Ok(());
        }
        while self.positions.capacity() < wanted {
            self.positions.begin_larger()?;
        }
        self.enter_positions()
    }

    fn enter_positions(&mut self) -> Result<(), SearchError> {
        let mut reader = self.states.reader(self.n_frozen..self.states.log.len())?;
        let mut position = 0;
        loop {
            let keys = reader.next_rows()?;
            if keys.is_empty() {
                return Ok(());
            }
            for key in keys.iter() {
                self.positions.insert(hash_row(key), position).map_err(|_| SearchError::BudgetTooSmall)?;
                position += 1;
            }
        }
    }

    fn freeze(&mut self) -> Result<(), SearchError> {
        self.begin_phase("freeze");
        self.positions.clear()?;
        let n_states = self.states.log.len();
        let mut reader = self.states.reader(self.n_frozen..n_states)?;
        self.frozen.add(&mut reader)?;
        self.n_frozen = n_states;
        Ok(())
    }

    /// Reads whatever states of the batch may be equal to.
    fn ask(&mut self) -> Result<(), SearchError> {
        let (batch, identity, n_frozen) = (&mut self.batch, self.identity, self.n_frozen);
        batch.is_old.resize(batch.hashes.len(), false);
        for (i, hash) in batch.hashes.iter().enumerate() {
            self.positions.positions(*hash, |position| batch.questions.push((n_frozen + position, i as u32)));
        }
        batch.questions.sort_unstable();
        batch.positions.extend(batch.questions.iter().map(|(position, _)| *position));
        let (entries, questions, is_old) = (&batch.entries, &batch.questions, &mut batch.is_old);
        self.finder.find(&mut self.states.log, &batch.positions, |place, key| {
            let i = questions[place].1 as usize;
            is_old[i] |= identity.key(entries.row(i)) == key;
        })?;
        self.frozen.mark_old(&|i| identity.key(entries.row(i)), is_old)
    }

    /// Whether an equal state of the batch was appended just now.
    fn is_in_batch(&self, i: usize) -> bool {
        let (batch, identity) = (&self.batch, self.identity);
        let first = self.states.log.len() - batch.new.len() as u64 - self.n_frozen;
        let mut found = false;
        self.positions.positions(batch.hashes[i], |position| {
            if let Some(place) = position.checked_sub(first) {
                let other = batch.entries.row(batch.new[place as usize] as usize);
                found |= identity.key(other) == identity.key(batch.entries.row(i));
            }
        });
        found
    }

    /// Appends a new state.
    fn append(&mut self, i: usize) -> Result<(), SearchError> {
        let position = self.states.log.len() - self.n_frozen;
        self.positions.insert(self.batch.hashes[i], position).map_err(|_| SearchError::BudgetTooSmall)?;
        let entry = self.batch.entries.row(i);
        self.states.push(self.identity.key(entry), self.identity.row(entry))?;
        self.batch.new.push(i as u32);
        self.tally.add_states(1);
        Ok(())
    }

    fn begin_phase(&self, name: &'static str) {
        self.tally.context.begin_phase(name);
    }
}

/// The name in a manifest of how many states are frozen.
const N_FROZEN: &str = "n-frozen";

impl Batch {
    fn clear(&mut self) {
        self.entries.clear();
        self.hashes.clear();
        self.is_old.clear();
        self.questions.clear();
        self.positions.clear();
        self.new.clear();
    }
}

impl Leveled for Search<'_> {
    fn take_up(&mut self) -> Result<bool, SearchError> {
        // Positions are found by reading the file.
        let Some(manifest) = self.publisher.take_up()? else { return Ok(false) };
        self.tally.restore(&manifest)?;
        self.states.take_up(&manifest)?;
        self.n_frozen = manifest.number(N_FROZEN)?;
        self.frozen.take_up(&manifest)?;
        self.tally.begin_level(self.states.n_levels().saturating_sub(1), self.states.n_left());
        let n_left = usize::try_from(self.states.log.len() - self.n_frozen).unwrap_or(usize::MAX);
        if n_left > self.positions.capacity_max() {
            self.freeze()?;
        } else if n_left > self.positions.capacity() {
            self.grow_to(n_left)?;
        } else {
            self.enter_positions()?;
        }
        Ok(true)
    }

    fn begin(&mut self, initial: Rows<'_>) -> Result<(), SearchError> {
        self.find(initial)
    }

    fn next_rows(&mut self) -> Result<u64, SearchError> {
        match self.states.n_left() {
            0 => self.next_level(),
            n_left => Ok(n_left),
        }
    }

    fn is_pausing(&self) -> bool {
        self.is_pausing
    }

    fn publish(&mut self) -> Result<(), SearchError> {
        self.decide()?;
        let Self { tally, states, frozen, publisher, n_frozen, .. } = self;
        publisher.publish(|manifest, _| {
            tally.note(manifest);
            states.note(manifest)?;
            manifest.set_number(N_FROZEN, *n_frozen);
            Ok(frozen.note(manifest)?)
        })?;
        self.frozen.published();
        (self.has_taken, self.is_pausing) = (false, false);
        self.begin_phase("expand");
        Ok(())
    }
}

impl Work for Search<'_> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        self.is_pausing |= self.has_taken && self.publisher.is_due();
        if self.is_pausing {
            return Ok(());
        }
        self.has_taken = true;
        Ok(self.states.take(BATCH_ROWS, batch)?)
    }

    fn put(&mut self, _from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        self.find(edges.targets())
    }
}
