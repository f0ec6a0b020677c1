//! Paths to states that meet a goal, rebuilt backwards from the levels of a search.
//!
//! Nothing is kept to remember by which edge a state was found. Among the states of the level before, one that has an edge to the state is
//! looked for by expanding them again. That costs at most one more expansion of each state, only where there is something to show, and
//! saves a number per state everywhere else.
//!
//! Searches that do not keep the states of each level only know that there is a goal; another search finds the way to one (`path_on_disk.rs`).

use crate::SearchError;
use crate::expansion::{BATCH_ROWS, batch_edges};
use crate::tally::{Hit, Tally};
use lariat_graph::{Edges, Expander, RowBuffer, Rows};

/// Where the states of each level are.
pub(crate) trait Levels {
    /// Calls `visit` with the states of a level, stretch by stretch, until it returns false.
    fn visit(
        &mut self,
        level: usize,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<bool, SearchError>,
    ) -> Result<(), SearchError>;
}

/// For each goal that was met, the state that meets it: the path is still to be found.
pub(crate) fn met_goals(tally: &Tally) -> Vec<Option<RowBuffer>> {
    tally.take_hits().into_iter().map(|hit| hit.map(|hit| path_of_one(&hit.row))).collect()
}

pub(crate) fn path_of_one(row: &[u8]) -> RowBuffer {
    let mut path = RowBuffer::new(row.len());
    path.push(row);
    path
}

/// A path for each goal that was met.
pub(crate) fn rebuild_paths(tally: &Tally, levels: &mut dyn Levels) -> Result<Vec<Option<RowBuffer>>, SearchError> {
    tally.take_hits().into_iter().map(|hit| hit.map(|hit| rebuild_path(tally, levels, hit)).transpose()).collect()
}

/// The path to a state, found level by level.
fn rebuild_path(tally: &Tally, levels: &mut dyn Levels, hit: Hit) -> Result<RowBuffer, SearchError> {
    tally.context.begin_phase("path");
    let mut expander = tally.graph.expander();
    let mut edges = batch_edges(tally.graph, tally.context);
    let mut path = path_of_one(&hit.row);
    for level in (0..hit.level).rev() {
        let target = path.row(path.len() - 1);
        let mut found = None;
        levels.visit(level, &mut |rows| {
            for bytes in rows.bytes().chunks(BATCH_ROWS * rows.width()) {
                found = source_of(&mut *expander, Rows::new(bytes, rows.width()), target, &mut edges)?;
                if found.is_some() {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        path.push(&found.ok_or(SearchError::PathLost)?);
    }
    path.reverse();
    Ok(path)
}

/// A row with an edge to the target.
pub(crate) fn source_of(
    expander: &mut dyn Expander,
    mut rows: Rows<'_>,
    target: &[u8],
    edges: &mut Edges,
) -> Result<Option<Vec<u8>>, SearchError> {
    while !rows.is_empty() {
        edges.clear();
        expander.expand(rows, edges)?;
        if let Some(place) = edges.targets().iter().position(|row| row == target) {
            let source = (0..edges.n_sources()).find(|i| edges.range_of(*i).contains(&place));
            return Ok(source.map(|i| rows.row(i).to_vec()));
        }
        rows = rows.split_at(edges.n_sources()).1;
    }
    Ok(None)
}
