//! Breadth-first search with a file of visited states and a table of candidates: what `mono` and `local` have in common.
//!
//! Successors are put into a table in memory. When the table is full, or a level is at its end, states of the file are read, and each that is in the table is
//! taken out of it; what is left is taken for new, and is appended to the file. Which part of the file is read is what the two searches differ in.
//!
//! How far the search is is published at the end of a level, after a comparison within one, and when a limit ends the search.
//!
//! # Invariants
//! 1. The states of level `i` are successors of states of level `i - 1`, and lie together in the file, which is therefore the queue, too.
//! 2. Every state of distance `i` is in level `i`: it cannot be in an earlier one, so nothing in the file takes it out of the table.

use crate::checkpoint::{PUBLISH_AFTER, Publisher};
use crate::compact::Identity;
use crate::expansion::{BATCH_ROWS, Leveled, Work, expand_levels};
use crate::level_log::{LevelLog, READ_BUFFERS};
use crate::tally::Tally;
use crate::{Context, SearchError};
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Edges, RowBuffer, Rows};
use lariat_storage::{HashTable, Manifest, RowLog, RowLogOptions, StorageError, Table, hash_row};
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

/// Candidates whose places in the table are fetched ahead.
const LOOKAHEAD: usize = 16;
/// The role of candidates in a manifest.
const CANDIDATES: &str = "candidates";

/// What each part may use.
pub(crate) struct Shares {
    pub(crate) table_bytes: usize,
    pub(crate) log: RowLogOptions,
    /// How often it is published how far the search is.
    pub(crate) publish_after: Duration,
}

impl Shares {
    pub(crate) fn of(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        // The file grows, its newest level is read for expansion, and all of it for comparison, each with two transfers and a copy of the tail.
        let log = RowLogOptions::within(row_bytes, memory / 16, FileKind::Table);
        let for_files = 8 * log.block_bytes * log.blocks_at_once;
        let table_bytes = memory.saturating_sub(for_files) / 16 * 15;
        Self { table_bytes, log, publish_after: PUBLISH_AFTER }
    }
}

/// Which states of the file candidates are compared with.
pub(crate) trait Compared: Send {
    /// The name of the algorithm.
    const NAME: &'static str;

    /// A level begins, while so many states are in the file.
    fn begin_level(&mut self, level: usize, rows: u64);

    /// The states to be read, of as many as there are.
    fn choose(&mut self, rows: u64) -> Range<u64>;

    /// States were expanded.
    fn expanded(&mut self, _from: Rows<'_>, _edges: &Edges) -> Result<(), StorageError> {
        Ok(())
    }

    /// Notes everything.
    fn note(&mut self, _manifest: &mut Manifest) -> Result<(), StorageError> {
        Ok(())
    }

    /// Takes up what was noted.
    fn take_up(&mut self, _manifest: &Manifest) -> Result<(), StorageError> {
        Ok(())
    }
}

/// The search, as far as it has come.
pub(crate) struct Delayed<'s, C> {
    tally: &'s Tally<'s>,
    disk: &'s dyn Disk,
    identity: Identity,
    log: RowLogOptions,
    visited: LevelLog<'s>,
    candidates: HashTable<'s>,
    compared: C,
    publisher: Publisher<'s>,
    /// Whether candidates were compared since something was published, so that there are few.
    has_merged: bool,
    /// Whether nobody takes states any more, so that something can be published.
    is_pausing: bool,
    /// Candidates that had no place in the table when a limit ended the search.
    left_over: RowBuffer,
    hashes: Vec<u64>,
    entry: Vec<u8>,
}

impl<'s, C: Compared> Delayed<'s, C> {
    pub(crate) fn new(
        tally: &'s Tally<'s>,
        disk: &'s dyn Disk,
        table: Table,
        identity: Identity,
        shares: &Shares,
        compared: C,
    ) -> Result<Self, SearchError> {
        let context = tally.context;
        let widths = (identity.key_bytes(), identity.entry_bytes());
        Ok(Self {
            tally,
            disk,
            identity,
            log: shares.log,
            visited: LevelLog::new(disk, "visited", shares.log, identity, context.budget),
            candidates: HashTable::with_keys(table, widths, shares.table_bytes, context.budget)?,
            compared,
            publisher: Publisher::new(context, disk, C::NAME, shares.publish_after),
            has_merged: false,
            is_pausing: false,
            left_over: RowBuffer::new(identity.entry_bytes()),
            hashes: Vec::new(),
            entry: Vec::new(),
        })
    }

    /// Searches from the initial states, or from where a search was left, until there is nothing new, or the search is stopped.
    pub(crate) fn search(self) -> Result<Self, SearchError> {
        let tally = self.tally;
        let search = Mutex::new(self);
        tally.memory_is_a_limit(expand_levels(&search, tally))?;
        Ok(search.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// What is left when the search has ended; the memory of the rest is free.
    pub(crate) fn into_parts(self) -> (LevelLog<'s>, C) {
        (self.visited, self.compared)
    }

    /// Ends the level that was found and begins to expand it; how many states it has.
    fn next_level(&mut self) -> Result<u64, SearchError> {
        if self.tally.is_over() {
            return Ok(0);
        }
        let n_candidates = self.candidates.len();
        self.append_new()?;
        if self.tally.is_stopped() {
            return Ok(0);
        }
        // The next level may be larger, but hardly by much.
        self.candidates.reset(2 * n_candidates)?;
        let level = self.visited.n_levels();
        let n_rows = self.visited.begin_level()?;
        if n_rows > 0 {
            self.tally.begin_level(level, n_rows);
            self.compared.begin_level(level, self.visited.log.len());
            if self.publisher.is_due() {
                self.publish()?;
            }
        }
        self.begin_phase("expand");
        Ok(n_rows)
    }

    /// Puts states into the table.
    fn find(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        if self.identity.is_compact() {
            return self.find_compact(rows);
        }
        self.hashes.clear();
        self.hashes.extend(rows.iter().map(hash_row));
        for (i, row) in rows.iter().enumerate() {
            if let Some(ahead) = self.hashes.get(i + LOOKAHEAD) {
                self.candidates.prefetch(*ahead);
            }
            self.insert(self.hashes[i], row)?;
        }
        Ok(())
    }

    fn find_compact(&mut self, rows: Rows<'_>) -> Result<(), SearchError> {
        let mut space = std::mem::take(&mut self.entry);
        for row in rows.iter() {
            let entry = self.identity.entry(row, &mut space);
            self.insert(hash_row(self.identity.key(entry)), entry)?;
        }
        self.entry = space;
        Ok(())
    }

    #[inline]
    fn insert(&mut self, hash: u64, entry: &[u8]) -> Result<(), SearchError> {
        while self.candidates.insert(hash, entry).is_err() {
            if self.left_over.is_empty() {
                self.append_new()?;
            }
            if self.tally.is_stopped() {
                self.left_over.push(entry);
                return Ok(());
            }
            self.candidates.reset(usize::MAX)?;
            self.has_merged = true;
            self.begin_phase("expand");
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
        let (visited, identity) = (&mut self.visited, self.identity);
        Ok(self.candidates.for_each(|entry| visited.push(identity.key(entry), identity.row(entry)))?)
    }

    fn begin_phase(&self, name: &'static str) {
        self.tally.context.begin_phase(name);
    }
}

impl<C: Compared> Leveled for Delayed<'_, C> {
    fn take_up(&mut self) -> Result<bool, SearchError> {
        let Some(manifest) = self.publisher.take_up()? else { return Ok(false) };
        self.tally.restore(&manifest)?;
        self.compared.take_up(&manifest)?;
        self.visited.take_up(&manifest)?;
        self.tally.begin_level(self.visited.n_levels().saturating_sub(1), self.visited.n_left());
        let shape = RowLogOptions { row_bytes: self.identity.entry_bytes(), kind: FileKind::Other, ..self.log };
        let mut saved = RowLog::new(self.disk, CANDIDATES, shape, self.tally.context.budget);
        saved.take_up(&manifest, CANDIDATES)?;
        let mut reader = saved.reader(0..saved.len(), READ_BUFFERS)?;
        loop {
            let entries = reader.next_rows()?;
            if entries.is_empty() {
                return Ok(true);
            }
            for entry in entries.iter() {
                self.insert(hash_row(self.identity.key(entry)), entry)?;
            }
        }
    }

    fn begin(&mut self, initial: Rows<'_>) -> Result<(), SearchError> {
        self.find(initial)
    }

    fn next_rows(&mut self) -> Result<u64, SearchError> {
        match self.visited.n_left() {
            0 => self.next_level(),
            n_left => Ok(n_left),
        }
    }

    fn is_pausing(&self) -> bool {
        self.is_pausing
    }

    fn publish(&mut self) -> Result<(), SearchError> {
        let Self { tally, disk, identity, visited, candidates, left_over, compared, publisher, .. } = self;
        let shape = RowLogOptions { row_bytes: identity.entry_bytes(), kind: FileKind::Other, ..self.log };
        publisher.publish(|manifest, number| {
            tally.note(manifest);
            compared.note(manifest)?;
            visited.note(manifest)?;
            if !candidates.is_empty() || !left_over.is_empty() {
                let name = format!("{CANDIDATES}-{number}");
                let mut saved = RowLog::new(*disk, &name, shape, tally.context.budget);
                candidates.for_each(|entry| saved.push(entry))?;
                saved.extend(left_over.as_rows())?;
                saved.note(manifest, CANDIDATES)?;
            }
            Ok(())
        })?;
        (self.has_merged, self.is_pausing) = (false, false);
        self.begin_phase("expand");
        Ok(())
    }
}

impl<C: Compared> Work for Delayed<'_, C> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        self.is_pausing |= self.has_merged && self.publisher.is_due();
        if self.is_pausing {
            return Ok(());
        }
        Ok(self.visited.take(BATCH_ROWS, batch)?)
    }

    fn put(&mut self, from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        self.compared.expanded(from, edges)?;
        self.find(edges.targets())
    }
}
