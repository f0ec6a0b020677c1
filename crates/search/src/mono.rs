//! Stern and Dill's search on disk: one file of visited states, which all candidates are compared with in one pass.
//!
//! Breadth-first. Successors go into a hash table in memory; when it is full, or a level is at its end, the whole file is read from its beginning, and every state
//! in it is looked up in the table and taken out. What is left is new, and is appended to the file.
//!
//! # Paper
//! Bao and Jones, *Time-efficient model checking with magnetic disk*, section 1: MONO, after Stern and Dill, *Using magnetic disk instead of main memory in the
//! Murφ verifier*.
//!
//! | paper | here |
//! |---|---|
//! | table in RAM, duplicate candidate set | `candidates`, chained or open ([`Table`]) |
//! | table on disk, visited candidate set | `visited`, in the order in which states were found |
//! | queue of states | the newest level of `visited` |
//! | delayed duplicate detection | `append_new` |
//!
//! *Deviations.* States are stored, not their signatures, so nothing is missed and the file is the queue as well; [`explore_compact`] is as in the paper. An open table is full at nine tenths, not when no
//! slot is empty. Threads expand states together, and take turns with the table.
//!
//! # Cost
//! scan(V) for each level, and for each time that the table is full.

use crate::compact::Identity;
use crate::delayed::{Compared, Delayed, Shares};
use crate::path::{met_goals, rebuild_paths};
use crate::path_on_disk::{Paths, nowhere};
use crate::tally::Tally;
use crate::{Compaction, Context, Exploration, Extent, Goal, SearchError};
use lariat_graph::Graph;
use lariat_storage::Table;
use std::ops::Range;

/// Searches breadth-first from the initial states.
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
    let shares = shares.unwrap_or_else(|| Shares::of(context, graph.row_bytes()));
    let identity = Identity::new(graph.row_bytes(), compaction);
    let tally = Tally::new(graph, goals, extent, context);
    let search = || {
        let (mut visited, _) = Delayed::new(&tally, disk, table, identity, &shares, All)?.search()?.into_parts();
        let (levels, stored_bytes) = (visited.n_levels() as u64, visited.log.bytes());
        let found = tally.result();
        let paths = if identity.is_compact() { met_goals(&tally) } else { rebuild_paths(&tally, &mut visited)? };
        Ok(Exploration { levels, stored_bytes, paths, ..found })
    };
    if identity.is_compact() { Paths { graph, goals, extent, context }.after(search, nowhere) } else { search() }
}

/// Candidates are compared with everything.
struct All;

impl Compared for All {
    const NAME: &'static str = "mono";

    fn begin_level(&mut self, _level: usize, _rows: u64) {}

    fn choose(&mut self, rows: u64) -> Range<u64> {
        0..rows
    }
}
