//! Della Penna's search on disk: like `mono`, but candidates are compared only with the newest states most of the time.
//!
//! Most successors that were visited before were visited lately (*transition locality*), so reading the newest blocks of the file finds most duplicates for little.
//! Duplicates that are missed are appended and expanded again. Now and then a whole level is compared with everything, so that this ends.
//!
//! # Paper
//! Bao and Jones, *Time-efficient model checking with magnetic disk*, section 1: LOCAL, after Della Penna, Intrigila, Tronci and Venturini Zilli, *Exploiting
//! transition locality in the disk based Murφ verifier*.
//!
//! | paper | here |
//! |---|---|
//! | table of states on disk, in blocks | `visited`, a log in blocks |
//! | the most recently stored blocks | the last `newest` states, or the newest part of the file |
//! | older blocks, occasionally | all of them, for every pass of some levels |
//!
//! *Deviations.* Della Penna et al. calibrate which older blocks are worth reading. Here a level is compared with everything if the file has grown by a half since the
//! last such level, or if that was many levels ago. Such a level lets nothing pass but new states, of which there are finitely many; so the search ends. The paper's
//! numbers count states that were stored twice; here duplicates are found by sorting in the end, and what they counted is taken back.
//!
//! # Cost
//! scan(newest) for each level and each time that the table is full, and scan(V) every so often; sort(V) in the end. Duplicates take disk space.

use crate::delayed::{Compared, Delayed, Shares};
use crate::expansion::{BATCH_ROWS, Expansion};
use crate::level_log::LevelLog;
use crate::path::rebuild_paths;
use crate::tally::Tally;
use crate::{Context, Exploration, Extent, Goal, SearchError};
use lariat_disk::Disk;
use lariat_graph::{Graph, RowBuffer};
use lariat_storage::stream::RowStream;
use lariat_storage::{ExternalSort, Key, SortOptions, Table, for_row_width};
use std::ops::Range;

/// The newest part of the file that is always read.
const NEWEST_PART: u64 = 8;
/// After this many levels one is compared with everything.
const LEVELS_BETWEEN: usize = 16;

/// Searches breadth-first from the initial states. If the search ends early, states may have been counted twice.
pub fn explore(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    table: Table,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_within(graph, goals, extent, table, context, None)
}

/// The same, with other shares of the memory than there would be, and with so many of the newest states read.
pub(crate) fn explore_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    table: Table,
    context: &Context,
    shares: Option<(Shares, u64)>,
) -> Result<Exploration, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let (shares, newest) = shares.unwrap_or_else(|| {
        let shares = Shares::of(context, graph.row_bytes());
        let newest = (shares.table_bytes / graph.row_bytes()) as u64;
        (shares, newest)
    });
    let tally = Tally::new(graph, goals, extent, context);
    let search = Delayed::new(&tally, disk, table, &shares, Newest::new(newest))?.search()?;
    let (mut visited, compared) = search.into_parts();
    let mut levels = visited.n_levels() as u64;
    if compared.has_skipped && !tally.is_stopped() {
        context.begin_phase("recount");
        let width = graph.row_bytes();
        levels = for_row_width!(width, K => recount::<K>(&tally, disk, &mut visited))?;
    }
    let mut exploration = tally.result();
    exploration.levels = levels;
    exploration.stored_bytes = visited.log.bytes();
    exploration.paths = rebuild_paths(&tally, &mut visited)?;
    Ok(exploration)
}

/// Candidates are compared with the newest states, and now and then with everything.
struct Newest {
    newest: u64,
    reads_all: bool,
    /// The last level for which everything was read, and the states there were.
    full_level: usize,
    full_rows: u64,
    has_skipped: bool,
}

impl Newest {
    fn new(newest: u64) -> Self {
        Self { newest, reads_all: true, full_level: 0, full_rows: 0, has_skipped: false }
    }
}

impl Compared for Newest {
    fn begin_level(&mut self, level: usize, rows: u64) {
        self.reads_all = level - self.full_level >= LEVELS_BETWEEN || rows - self.full_rows > self.full_rows / 2;
        if self.reads_all {
            (self.full_level, self.full_rows) = (level, rows);
        }
    }

    fn choose(&mut self, rows: u64) -> Range<u64> {
        let newest = self.newest.max(rows / NEWEST_PART);
        if self.reads_all || rows <= newest {
            return 0..rows;
        }
        self.has_skipped = true;
        rows - newest..rows
    }
}

/// How often a state was stored, and its first level: as one number, which travels with the state while it is sorted.
fn stored(times: u64, level: u64) -> u64 {
    level << 32 | times
}

fn combine(a: u64, b: u64) -> u64 {
    let times = (a & 0xFFFF_FFFF) + (b & 0xFFFF_FFFF);
    stored(times.min(0xFFFF_FFFF), (a >> 32).min(b >> 32))
}

/// Counts every state once, and takes back what those counted that were expanded more than once. The number of levels with a new state.
fn recount<K: Key>(tally: &Tally, disk: &dyn Disk, visited: &mut LevelLog<'_>) -> Result<u64, SearchError> {
    let (width, budget) = (tally.graph.row_bytes(), tally.context.budget);
    let memory = usize::try_from(budget.left()).unwrap_or(usize::MAX) / 4 * 3;
    let options = SortOptions::within::<K, u64>(width, 8, memory);
    let mut sort = ExternalSort::new(disk, "recount", options, combine as fn(u64, u64) -> u64, budget)?;
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
    let mut sorted = sort.finish()?;
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
