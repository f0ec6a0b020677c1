//! Breadth-first search with a file of visited states and a table of candidates: what `mono` and `local` have in common.
//!
//! Successors are put into a table in memory. When the table is full, or a level is at its end, states of the file are read, and each that is in the table is
//! taken out of it; what is left is taken for new, and is appended to the file. Which part of the file is read is what the two searches differ in.
//!
//! # Invariants
//! 1. The states of level `i` are successors of states of level `i - 1`, and lie together in the file, which is therefore the queue, too.
//! 2. Every state of distance `i` is in level `i`: it cannot be in an earlier one, so nothing in the file takes it out of the table.

use crate::expansion::{BATCH_ROWS, Expansion, Work};
use crate::level_log::LevelLog;
use crate::tally::{Tally, lock};
use crate::{Context, SearchError};
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Edges, RowBuffer, Rows};
use lariat_storage::{HashTable, RowLog, RowLogOptions, RowLogReader, Table, hash_row};
use std::ops::Range;
use std::sync::Mutex;

/// Candidates whose places in the table are fetched ahead.
const LOOKAHEAD: usize = 16;

/// What each part may use.
pub(crate) struct Shares {
    pub(crate) table_bytes: usize,
    pub(crate) log: RowLogOptions,
}

impl Shares {
    pub(crate) fn of(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        // The file grows, its newest level is read for expansion, and all of it for comparison, each with two transfers and a copy of the tail.
        let log = RowLogOptions::within(row_bytes, memory / 16, FileKind::Table);
        let for_files = 8 * log.block_bytes * log.blocks_at_once;
        Self { table_bytes: memory.saturating_sub(for_files) / 16 * 15, log }
    }
}

/// Which states of the file candidates are compared with.
pub(crate) trait Compared: Send {
    /// A level begins, while so many states are in the file.
    fn begin_level(&mut self, level: usize, rows: u64);

    /// The states to be read, of as many as there are.
    fn choose(&mut self, rows: u64) -> Range<u64>;
}

/// The search, as far as it has come.
pub(crate) struct Delayed<'s, C> {
    tally: &'s Tally<'s>,
    visited: LevelLog<'s>,
    candidates: HashTable<'s>,
    compared: C,
    /// The level that is being expanded.
    level: Option<RowLogReader<'s>>,
    hashes: Vec<u64>,
}

impl<'s, C: Compared> Delayed<'s, C> {
    pub(crate) fn new(
        tally: &'s Tally<'s>,
        disk: &'s dyn Disk,
        table: Table,
        shares: &Shares,
        compared: C,
    ) -> Result<Self, SearchError> {
        let budget = tally.context.budget;
        let candidates = HashTable::new(table, tally.graph.row_bytes(), shares.table_bytes, budget)?;
        let visited = LevelLog::new(RowLog::new(disk, "visited", shares.log, budget));
        Ok(Self { tally, visited, candidates, compared, level: None, hashes: Vec::new() })
    }

    /// Searches from the initial states until there is nothing new, or the search is stopped.
    pub(crate) fn search(self) -> Result<Self, SearchError> {
        let tally = self.tally;
        let mut expansion = Expansion::new(tally);
        let mut initial = RowBuffer::new(tally.graph.row_bytes());
        tally.graph.initial(&mut initial);
        let search = Mutex::new(self);
        let mut levels = || {
            lock(&search).find(initial.as_rows())?;
            loop {
                let rows = lock(&search).next_level()?;
                if rows == 0 || tally.is_stopped() {
                    return Ok(());
                }
                expansion.expand_shared(&search, rows)?;
            }
        };
        tally.memory_is_a_limit(levels())?;
        Ok(search.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// What is left when the search has ended; the memory of the rest is free.
    pub(crate) fn into_parts(self) -> (LevelLog<'s>, C) {
        (self.visited, self.compared)
    }

    /// Ends the level that was found and begins to expand it; how many states it has.
    fn next_level(&mut self) -> Result<u64, SearchError> {
        self.level = None;
        if self.tally.is_over() {
            return Ok(0);
        }
        let n_candidates = self.candidates.len();
        self.append_new()?;
        // The next level may be larger, but hardly by much.
        self.candidates.reset(2 * n_candidates)?;
        let level = self.visited.n_levels();
        let rows = self.visited.end_level();
        let n_rows = rows.end - rows.start;
        if n_rows > 0 {
            self.tally.begin_level(level, n_rows);
            self.compared.begin_level(level, rows.end);
            self.level = Some(self.visited.reader(rows)?);
        }
        self.begin_phase("expand");
        Ok(n_rows)
    }

    /// Puts states into the table.
    fn find(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        self.hashes.clear();
        self.hashes.extend(rows.iter().map(hash_row));
        for (i, row) in rows.iter().enumerate() {
            let hash = self.hashes[i];
            if let Some(ahead) = self.hashes.get(i + LOOKAHEAD) {
                self.candidates.prefetch(*ahead);
            }
            while self.candidates.insert(hash, row).is_err() {
                self.append_new()?;
                if self.tally.is_stopped() {
                    return Ok(());
                }
                self.candidates.reset(usize::MAX)?;
                self.begin_phase("expand");
            }
        }
        Ok(())
    }

    /// Compares the table with the file, and appends what is new. Nothing is appended if the search is stopped meanwhile.
    fn append_new(&mut self) -> Result<(), SearchError> {
        self.begin_phase("compare");
        let range = self.compared.choose(self.visited.log.len());
        let mut reader = self.visited.reader(range)?;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() || self.candidates.is_empty() {
                break;
            }
            self.candidates.remove_all(rows.iter());
            if self.tally.is_over() {
                return Ok(());
            }
        }
        drop(reader);
        self.tally.add_states(self.candidates.len() as u64);
        Ok(self.candidates.for_each(|row| self.visited.log.push(row))?)
    }

    fn begin_phase(&self, name: &'static str) {
        self.tally.context.begin_phase(name);
    }
}

impl<C: Compared> Work for Delayed<'_, C> {
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
