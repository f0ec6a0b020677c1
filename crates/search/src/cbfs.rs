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
//! once more.
//!
//! # Invariants
//! 1. The states of a level lie together in the file, so it is the queue, too, and levels are distances.
//! 2. A state in `recent` is in the file or in the batch.
//!
//! # Cost
//! At most one random read for each edge that leads to a state which was found before, and is not found in memory; each state is written once. 6.25 bytes of memory for a state: when
//! that is used up, the search ends.

use crate::expansion::{BATCH_ROWS, Expansion, Work};
use crate::level_log::LevelLog;
use crate::path::rebuild_paths;
use crate::tally::{Tally, lock};
use crate::{Context, Exploration, Extent, Goal, SearchError};
use lariat_base::Limit;
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_storage::{
    PositionTable, Recent, Reservation, RowFinder, RowLog, RowLogOptions, RowLogReader, StorageError, TableFull,
    hash_row,
};
use std::sync::Mutex;

/// What each part may use.
pub(crate) struct Shares {
    pub(crate) table_bytes: usize,
    pub(crate) log: RowLogOptions,
    pub(crate) reads_at_once: usize,
    /// Successors that are decided on together.
    pub(crate) batch_rows: usize,
}

/// Beside its row, what a successor needs in a batch: its hash, a mark, a question or two, and a number.
const BATCH_EXTRA_BYTES: usize = 8 + 1 + 2 * 24 + 8;
/// What [`Recent`] takes.
const RECENT_BYTES: u64 = 256 << 10;
/// More reads at once are not faster.
const READS_AT_ONCE_MAX: usize = 128;

impl Shares {
    fn of(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let log = RowLogOptions::in_pages(row_bytes, memory / 32, FileKind::Table);
        Self {
            table_bytes: memory / 8 * 5,
            reads_at_once: (memory / 32 / log.block_bytes).clamp(1, READS_AT_ONCE_MAX),
            batch_rows: (memory / 8 / (row_bytes + BATCH_EXTRA_BYTES)).clamp(64, 1 << 20),
            log,
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
    explore_within(graph, goals, extent, context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn explore_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
    shares: Option<Shares>,
) -> Result<Exploration, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let shares = shares.unwrap_or_else(|| Shares::of(context, graph.row_bytes()));
    let tally = Tally::new(graph, goals, extent, context);
    let search = Mutex::new(Search::new(&tally, disk, &shares)?);
    tally.memory_is_a_limit(run(&search, &tally))?;
    let search = search.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut states = search.states;
    let mut exploration = tally.result();
    exploration.levels = states.n_levels() as u64;
    exploration.stored_bytes = states.log.bytes();
    exploration.paths = rebuild_paths(&tally, &mut states)?;
    Ok(exploration)
}

fn run(search: &Mutex<Search<'_>>, tally: &Tally) -> Result<(), SearchError> {
    let mut expansion = Expansion::new(tally);
    let mut initial = RowBuffer::new(tally.graph.row_bytes());
    tally.graph.initial(&mut initial);
    lock(search).find(initial.as_rows())?;
    loop {
        let rows = lock(search).next_level()?;
        if rows == 0 || tally.is_stopped() {
            return Ok(());
        }
        expansion.expand_shared(search, rows)?;
    }
}

struct Search<'s> {
    tally: &'s Tally<'s>,
    states: LevelLog<'s>,
    positions: PositionTable<'s>,
    finder: RowFinder<'s>,
    recent: Recent,
    batch: Batch,
    batch_rows: usize,
    /// The level that is being expanded.
    level: Option<RowLogReader<'s>>,
    _memory: Reservation<'s>,
}

/// Successors that wait for a decision.
struct Batch {
    rows: RowBuffer,
    hashes: Vec<u64>,
    is_old: Vec<bool>,
    /// A position at which a successor may be, and the successor.
    questions: Vec<(u64, u32)>,
    positions: Vec<u64>,
    /// The successors that were found new, in the order of their positions.
    new: Vec<u32>,
}

impl<'s> Search<'s> {
    fn new(tally: &'s Tally<'s>, disk: &'s dyn Disk, shares: &Shares) -> Result<Self, SearchError> {
        let (width, budget) = (tally.graph.row_bytes(), tally.context.budget);
        let batch_bytes = (shares.batch_rows * (width + BATCH_EXTRA_BYTES)) as u64;
        let memory = Reservation::new(batch_bytes + RECENT_BYTES, budget).map_err(StorageError::from)?;
        Ok(Self {
            tally,
            states: LevelLog::new(RowLog::new(disk, "states", shares.log, budget)),
            positions: PositionTable::new(shares.table_bytes, budget)?,
            finder: RowFinder::new(shares.reads_at_once),
            recent: Recent::new(width),
            batch: Batch {
                rows: RowBuffer::new(width),
                hashes: Vec::new(),
                is_old: Vec::new(),
                questions: Vec::new(),
                positions: Vec::new(),
                new: Vec::new(),
            },
            batch_rows: shares.batch_rows,
            level: None,
            _memory: memory,
        })
    }

    /// Ends the level that was found and begins to expand it; how many states it has.
    fn next_level(&mut self) -> Result<u64, SearchError> {
        self.level = None;
        self.decide()?;
        if self.tally.is_over() {
            return Ok(0);
        }
        let level = self.states.n_levels();
        let rows = self.states.end_level();
        let n_rows = rows.end - rows.start;
        if n_rows > 0 {
            self.tally.begin_level(level, n_rows);
            self.level = Some(self.states.reader(rows)?);
        }
        self.begin_phase("expand");
        Ok(n_rows)
    }

    /// Gathers states, but for those that were met lately.
    fn find(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        for row in rows.iter() {
            let hash = hash_row(row);
            if self.recent.meet(hash, row) {
                continue;
            }
            self.batch.rows.push(row);
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
        self.begin_phase("confirm");
        self.ask()?;
        for i in 0..self.batch.hashes.len() {
            if !self.batch.is_old[i] && !self.is_in_batch(i) && !self.append(i)? {
                break;
            }
        }
        self.batch.clear();
        Ok(())
    }

    /// Reads whatever states of the batch may be equal to.
    fn ask(&mut self) -> Result<(), SearchError> {
        let batch = &mut self.batch;
        batch.is_old.resize(batch.hashes.len(), false);
        for (i, hash) in batch.hashes.iter().enumerate() {
            self.positions.positions(*hash, |position| batch.questions.push((position, i as u32)));
        }
        batch.questions.sort_unstable();
        batch.positions.extend(batch.questions.iter().map(|(position, _)| *position));
        let (rows, questions, is_old) = (&batch.rows, &batch.questions, &mut batch.is_old);
        Ok(self.finder.find(&mut self.states.log, &batch.positions, |place, row| {
            let i = questions[place].1 as usize;
            is_old[i] |= rows.row(i) == row;
        })?)
    }

    /// Whether an equal state of the batch was appended just now.
    fn is_in_batch(&self, i: usize) -> bool {
        let batch = &self.batch;
        let first = self.states.log.len() - batch.new.len() as u64;
        let mut found = false;
        self.positions.positions(batch.hashes[i], |position| {
            if let Some(place) = position.checked_sub(first) {
                found |= batch.rows.row(batch.new[place as usize] as usize) == batch.rows.row(i);
            }
        });
        found
    }

    /// Appends a new state; false if there is no room for its position, which ends the search.
    fn append(&mut self, i: usize) -> Result<bool, SearchError> {
        if self.positions.is_full() && !self.grow()? {
            self.tally.stop_for(Limit::Memory);
            return Ok(false);
        }
        let position = self.states.log.len();
        match self.positions.insert(self.batch.hashes[i], position) {
            Ok(()) => {}
            Err(TableFull::Memory) => self.tally.stop_for(Limit::Memory),
            Err(TableFull::Numbers) => self.tally.stop_for(Limit::StateNumbers),
        }
        if self.tally.is_stopped() {
            return Ok(false);
        }
        self.states.log.push(self.batch.rows.row(i))?;
        self.batch.new.push(i as u32);
        self.tally.add_states(1);
        Ok(true)
    }

    /// Makes a larger table from the file; false if there is no memory for it.
    fn grow(&mut self) -> Result<bool, SearchError> {
        if !self.positions.begin_larger()? {
            return Ok(false);
        }
        let mut reader = self.states.reader(0..self.states.log.len())?;
        let mut position = 0;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                return Ok(true);
            }
            for row in rows.iter() {
                if self.positions.insert(hash_row(row), position).is_err() {
                    return Ok(false);
                }
                position += 1;
            }
        }
    }

    fn begin_phase(&self, name: &'static str) {
        self.tally.context.begin_phase(name);
    }
}

impl Batch {
    fn clear(&mut self) {
        self.rows.clear();
        self.hashes.clear();
        self.is_old.clear();
        self.questions.clear();
        self.positions.clear();
        self.new.clear();
    }
}

impl Work for Search<'_> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        if let Some(level) = &mut self.level {
            batch.extend(level.take_rows(BATCH_ROWS)?);
        }
        Ok(())
    }

    fn put(&mut self, _from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        self.find(edges.targets())
    }
}
