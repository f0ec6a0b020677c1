//! Counting every state once, where `local` has stored and expanded some more often.
//!
//! States are sorted with their levels. Those that were stored more than once are expanded once more, to take back what they counted too often. With hash
//! compaction there are no states to expand; then what each expansion counted was written down with its signature.

use crate::SearchError;
use crate::compact::Identity;
use crate::delayed::Shares;
use crate::expansion::{BATCH_ROWS, Expansion};
use crate::level_log::{LevelLog, READ_BUFFERS};
use crate::tally::Tally;
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_storage::stream::RowStream;
use lariat_storage::{ExternalSort, Key, RowLog, RowLogOptions, SortOptions, Sorted, StorageError};

type Combine = fn(u64, u64) -> u64;

/// How often a state was stored, and its first level: as one number, which travels with the state while it is sorted.
fn stored(times: u64, level: u64) -> u64 {
    level << 32 | times
}

fn combine(a: u64, b: u64) -> u64 {
    let times = (a & 0xFFFF_FFFF) + (b & 0xFFFF_FFFF);
    stored(times.min(0xFFFF_FFFF), (a >> 32).min(b >> 32))
}

/// All states that were stored, each once, with how often and where first.
fn sort_states<'s, K: Key>(
    disk: &'s dyn Disk,
    width: usize,
    visited: &mut LevelLog<'_>,
    budget: &'s MemoryBudget,
) -> Result<Sorted<'s, K, u64, Combine>, SearchError> {
    let mut sort = begin_sort::<K>(disk, "recount", width, combine, budget)?;
    for level in 0..visited.n_levels() {
        let mut reader = visited.reader(visited.rows_of(level))?;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                break;
            }
            for row in rows.iter() {
                sort.push(K::from_row(row), stored(1, level as u64))?;
            }
        }
    }
    Ok(sort.finish()?)
}

fn begin_sort<'s, K: Key>(
    disk: &'s dyn Disk,
    name: &str,
    width: usize,
    combine: Combine,
    budget: &'s MemoryBudget,
) -> Result<ExternalSort<'s, K, u64, Combine>, StorageError> {
    let memory = usize::try_from(budget.left()).unwrap_or(usize::MAX) / 4 * 3;
    let options = SortOptions::within::<K, u64>(width, 8, memory);
    ExternalSort::new(disk, name, options, combine, budget)
}

/// Counts every state once, and takes back what those counted that were expanded more than once. The number of levels with a new state.
pub(super) fn recount<K: Key>(tally: &Tally, disk: &dyn Disk, visited: &mut LevelLog<'_>) -> Result<u64, SearchError> {
    let (width, budget) = (tally.graph.row_bytes(), tally.context.budget);
    let mut sorted = sort_states::<K>(disk, width, visited, budget)?;
    let mut again = Duplicates::new(tally);
    let (mut n_states, mut n_levels) = (0, 0);
    let mut row = vec![0; width];
    loop {
        let (keys, values) = sorted.batch()?;
        let n = keys.len();
        if n == 0 {
            break;
        }
        n_states += n as u64;
        for (key, value) in keys.iter().zip(values) {
            n_levels = n_levels.max((value >> 32) + 1);
            let times = value & 0xFFFF_FFFF;
            if times > 1 {
                key.write_row(&mut row);
                again.push(&row, times - 1)?;
            }
        }
        sorted.consume(n);
    }
    again.uncount()?;
    sorted.remove_files()?;
    tally.set_states(n_states);
    Ok(n_levels)
}

/// States that were expanded too often, and how much too often.
struct Duplicates<'t> {
    tally: &'t Tally<'t>,
    expansion: Expansion<'t>,
    rows: RowBuffer,
    times: Vec<u64>,
}

impl<'t> Duplicates<'t> {
    fn new(tally: &'t Tally<'t>) -> Self {
        let rows = RowBuffer::new(tally.graph.row_bytes());
        Self { tally, expansion: Expansion::new(tally), rows, times: Vec::new() }
    }

    fn push(&mut self, row: &[u8], times: u64) -> Result<(), SearchError> {
        self.rows.push(row);
        self.times.push(times);
        if self.times.len() == BATCH_ROWS { self.uncount() } else { Ok(()) }
    }

    fn uncount(&mut self) -> Result<(), SearchError> {
        let (mut rows, mut times) = (self.rows.as_rows(), self.times.as_slice());
        while !rows.is_empty() {
            let edges = self.expansion.expand_again(rows)?;
            let n = edges.n_sources();
            self.tally.uncount_expanded(rows.split_at(n).0, edges, &times[..n]);
            (rows, times) = (rows.split_at(n).1, &times[n..]);
        }
        self.rows.clear();
        self.times.clear();
        Ok(())
    }
}

/// What each expansion counted, with the key of the state.
pub(super) struct Expanded<'s> {
    identity: Identity,
    graph: &'s dyn Graph,
    /// Keys, and behind each a number of edges and marks.
    pub(super) log: RowLog<'s>,
    entry: Vec<u8>,
    space: Vec<u8>,
}

/// Behind a key: the number of edges, four bytes, and marks.
const COUNTED_BYTES: usize = 5;
const ACCEPTING: u8 = 1;
const DEADLOCK: u8 = 2;

impl<'s> Expanded<'s> {
    pub(super) fn new(
        graph: &'s dyn Graph,
        disk: &'s dyn Disk,
        identity: Identity,
        shares: &Shares,
        budget: &'s MemoryBudget,
    ) -> Self {
        let row_bytes = identity.key_bytes() + COUNTED_BYTES;
        let shape = RowLogOptions { row_bytes, kind: FileKind::Other, ..shares.log };
        let log = RowLog::new(disk, "expanded", shape, budget);
        Self { identity, graph, log, entry: Vec::new(), space: Vec::new() }
    }

    pub(super) fn push(&mut self, from: Rows<'_>, edges: &Edges) -> Result<(), StorageError> {
        for (i, row) in from.iter().enumerate() {
            let n_edges = edges.range_of(i).len() as u32;
            let is_accepting = self.graph.has_acceptance() && self.graph.is_accepting(row);
            let is_deadlock = n_edges == 0 && !self.graph.is_error(row);
            self.entry.clear();
            self.entry.extend_from_slice(self.identity.key(self.identity.entry(row, &mut self.space)));
            self.entry.extend_from_slice(&n_edges.to_le_bytes());
            self.entry.push(u8::from(is_accepting) * ACCEPTING + u8::from(is_deadlock) * DEADLOCK);
            self.log.push(&self.entry)?;
        }
        Ok(())
    }
}

/// The same for signatures: what is counted is what one of the expansions of each counted.
pub(super) fn recount_compact(
    tally: &Tally,
    disk: &dyn Disk,
    identity: Identity,
    visited: &mut LevelLog<'_>,
    expanded: &mut Expanded<'_>,
) -> Result<u64, SearchError> {
    let (width, budget) = (identity.key_bytes(), tally.context.budget);
    let (mut n_states, mut n_levels) = (0, 0);
    let mut sorted = sort_states::<u64>(disk, width, visited, budget)?;
    for_each(&mut sorted, |value| {
        n_states += 1;
        n_levels = n_levels.max((value >> 32) + 1);
    })?;
    sorted.remove_files()?;
    tally.set_states(n_states);

    let mut sort = begin_sort::<u64>(disk, "counted", width, u64::min, budget)?;
    let mut reader = expanded.log.reader(0..expanded.log.len(), READ_BUFFERS)?;
    loop {
        let rows = reader.next_rows()?;
        if rows.is_empty() {
            break;
        }
        for row in rows.iter() {
            let (key, counted) = row.split_at(width);
            let mut bytes = [0; 8];
            bytes[..COUNTED_BYTES].copy_from_slice(counted);
            sort.push(u64::from_row(key), u64::from_le_bytes(bytes))?;
        }
    }
    drop(reader);
    let (mut transitions, mut deadlocks, mut accepting) = (0, 0, 0);
    let mut sorted = sort.finish()?;
    for_each(&mut sorted, |value| {
        let marks = (value >> 32) as u8;
        transitions += value & 0xFFFF_FFFF;
        deadlocks += u64::from(marks & DEADLOCK != 0);
        accepting += u64::from(marks & ACCEPTING != 0);
    })?;
    sorted.remove_files()?;
    tally.set_expanded(transitions, deadlocks, accepting);
    Ok(n_levels)
}

/// Calls `see` with every value.
fn for_each(sorted: &mut Sorted<'_, u64, u64, Combine>, mut see: impl FnMut(u64)) -> Result<(), StorageError> {
    loop {
        let (keys, values) = sorted.batch()?;
        let n = keys.len();
        if n == 0 {
            return Ok(());
        }
        values.iter().for_each(|value| see(*value));
        sorted.consume(n);
    }
}
