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

mod recount;

use crate::compact::Identity;
use crate::delayed::{Compared, Delayed, Shares};
use crate::path::{met_goals, rebuild_paths};
use crate::path_on_disk::{Paths, nowhere};
use crate::tally::Tally;
use crate::{Compaction, Context, Exploration, Extent, Goal, SearchError};
use lariat_graph::{Edges, Graph, Rows};
use lariat_storage::{Manifest, StorageError, Table, for_row_width};
use recount::{Expanded, recount, recount_compact};
use std::ops::Range;

/// The newest part of the file that is always read.
const NEWEST_PART: u64 = 8;
/// After this many levels one is compared with everything.
const LEVELS_BETWEEN: usize = 16;

/// Names in a manifest.
const FULL_LEVEL: &str = "full-level";
const FULL_ROWS: &str = "full-rows";
const READS_ALL: &str = "reads-all";
const HAS_SKIPPED: &str = "has-skipped";
const EXPANDED: &str = "expanded";

/// Searches breadth-first from the initial states. If the search ends early, states may have been counted twice.
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

/// The same, with other shares of the memory than there would be, and with so many of the newest states read.
pub(crate) fn explore_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    table: Table,
    compaction: Option<Compaction>,
    context: &Context,
    shares: Option<(Shares, u64)>,
) -> Result<Exploration, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let (shares, newest) = shares.unwrap_or_else(|| {
        let shares = Shares::of(context, graph.row_bytes());
        let newest = (shares.table_bytes / graph.row_bytes()) as u64;
        (shares, newest)
    });
    let identity = Identity::new(graph.row_bytes(), compaction);
    let tally = Tally::new(graph, goals, extent, context);
    let search = || {
        let expanded = identity.is_compact().then(|| Expanded::new(graph, disk, identity, &shares, context.budget));
        let compared = Newest::new(newest, expanded);
        let search = Delayed::new(&tally, disk, table, identity, &shares, compared)?.search()?;
        let (mut visited, mut compared) = search.into_parts();
        let mut levels = visited.n_levels() as u64;
        if compared.has_skipped && !tally.is_stopped() {
            context.begin_phase("recount");
            levels = match &mut compared.expanded {
                Some(expanded) => recount_compact(&tally, disk, identity, &mut visited, expanded)?,
                None => for_row_width!(graph.row_bytes(), K => recount::<K>(&tally, disk, &mut visited))?,
            };
        }
        let (found, stored_bytes) = (tally.result(), visited.log.bytes());
        let paths = if identity.is_compact() { met_goals(&tally) } else { rebuild_paths(&tally, &mut visited)? };
        Ok(Exploration { levels, stored_bytes, paths, ..found })
    };
    if identity.is_compact() { Paths { graph, goals, extent, context }.after(search, nowhere) } else { search() }
}

/// Candidates are compared with the newest states, and now and then with everything.
struct Newest<'s> {
    newest: u64,
    reads_all: bool,
    /// The last level for which everything was read, and the states there were.
    full_level: usize,
    full_rows: u64,
    has_skipped: bool,
    /// What states counted when they were expanded, which cannot be asked again of signatures.
    expanded: Option<Expanded<'s>>,
}

impl<'s> Newest<'s> {
    fn new(newest: u64, expanded: Option<Expanded<'s>>) -> Self {
        Self { newest, reads_all: true, full_level: 0, full_rows: 0, has_skipped: false, expanded }
    }
}

impl Compared for Newest<'_> {
    const NAME: &'static str = "local";

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

    fn expanded(&mut self, from: Rows<'_>, edges: &Edges) -> Result<(), StorageError> {
        self.expanded.as_mut().map_or(Ok(()), |expanded| expanded.push(from, edges))
    }

    fn note(&mut self, manifest: &mut Manifest) -> Result<(), StorageError> {
        manifest.set_number(FULL_LEVEL, self.full_level as u64);
        manifest.set_number(FULL_ROWS, self.full_rows);
        manifest.set_number(READS_ALL, u64::from(self.reads_all));
        manifest.set_number(HAS_SKIPPED, u64::from(self.has_skipped));
        self.expanded.as_mut().map_or(Ok(()), |expanded| expanded.log.note_growing(manifest, EXPANDED))
    }

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), StorageError> {
        self.full_level = manifest.number(FULL_LEVEL)? as usize;
        self.full_rows = manifest.number(FULL_ROWS)?;
        self.reads_all = manifest.number(READS_ALL)? == 1;
        // What was let pass before may be there twice, whatever is read from now on.
        self.has_skipped = manifest.number(HAS_SKIPPED)? == 1;
        self.expanded.as_mut().map_or(Ok(()), |expanded| expanded.log.take_up(manifest, EXPANDED))
    }
}
