//! Shortest ways between states, and lassos made of them, within the budget: in memory where that suffices, else on disk.
//!
//! A way is asked for as a search for states in a graph that differs from the given one only in where it begins and what it labels. So the
//! searches for states do the work: `ram` first, since most ways are short, and `ebfs` where memory ends.
//!
//! # Cost
//! At most the states that are nearer than the target, once in memory and once on disk.

use crate::expansion::batch_edges;
use crate::{Context, Extent, Goal, Lasso, SearchError, ebfs, ram};
use lariat_base::Limit;
use lariat_graph::{Edges, Expander, Graph, GraphError, RowBuffer, Rows};
use lariat_storage::Manifest;

/// The states of a way, none if there is none; or why the search for it stopped.
pub(crate) type Way = Result<Option<RowBuffer>, Limit>;

/// The lasso through an accepting state that lies on a cycle: a shortest cycle through it, and a shortest way to that cycle; or
/// why the search stopped.
pub(crate) fn lasso_through(
    graph: &dyn Graph,
    accepting: &[u8],
    context: &Context,
) -> Result<Result<Lasso, Limit>, SearchError> {
    context.begin_phase("lasso");
    let mut cycle = match cycle_through(graph, accepting, context)? {
        Ok(Some(cycle)) => cycle,
        Ok(None) => return Err(SearchError::PathLost),
        Err(limit) => return Ok(Err(limit)),
    };
    let mut initial = RowBuffer::new(graph.row_bytes());
    graph.initial(&mut initial);
    let mut prefix = match way(graph, initial.as_rows(), cycle.as_rows(), context)? {
        Ok(Some(prefix)) => prefix,
        Ok(None) => return Err(SearchError::PathLost),
        Err(limit) => return Ok(Err(limit)),
    };
    let turn = cycle.iter().position(|row| Some(row) == prefix.last()).unwrap_or(0);
    cycle.rotate_left(turn);
    prefix.truncate(prefix.len().saturating_sub(1));
    Ok(Ok(Lasso { prefix, cycle }))
}

/// A shortest cycle through a state, which comes first; none if there is no cycle.
pub(crate) fn cycle_through(graph: &dyn Graph, state: &[u8], context: &Context) -> Result<Way, SearchError> {
    let mut edges = batch_edges(graph, context);
    graph.expander().expand(Rows::new(state, state.len()), &mut edges)?;
    let back = way(graph, edges.targets(), Rows::new(state, state.len()), context)?;
    Ok(back.map(|back| {
        back.map(|mut cycle| {
            // The state is its last one, and becomes its first.
            cycle.rotate_left(cycle.len() - 1);
            cycle
        })
    }))
}

/// A shortest way from some states to the nearest of others, both ends included; none if there is none.
pub(crate) fn way(graph: &dyn Graph, from: Rows<'_>, to: Rows<'_>, context: &Context) -> Result<Way, SearchError> {
    let mut targets: Vec<&[u8]> = to.iter().collect();
    targets.sort_unstable();
    let towards = Towards { graph, from, targets };
    let goals = [Goal::Label(0)];
    let mut found = ram::explore(&towards, &goals, Extent::UntilGoals, context)?;
    if found.limit == Some(Limit::Memory)
        && found.paths.iter().all(Option::is_none)
        && let Some(disk) = context.disk
    {
        // What an earlier search of this kind left goes; what is published stays.
        Manifest::open(disk, context.budget)?;
        found = ebfs::explore_beside(&towards, &goals, Extent::UntilGoals, context)?;
        Manifest::open(disk, context.budget)?;
    }
    match (found.paths.pop().flatten(), found.limit) {
        (None, Some(limit)) => Ok(Err(limit)),
        (path, _) => Ok(Ok(path)),
    }
}

/// A graph that begins elsewhere, and whose only label says whether a state is one of those looked for.
struct Towards<'t> {
    graph: &'t dyn Graph,
    from: Rows<'t>,
    /// In order.
    targets: Vec<&'t [u8]>,
}

impl Graph for Towards<'_> {
    fn row_bytes(&self) -> usize {
        self.graph.row_bytes()
    }

    fn initial(&self, out: &mut RowBuffer) {
        self.from.iter().for_each(|row| out.push(row));
    }

    fn expander(&self) -> Box<dyn Expander + '_> {
        Box::new(TowardsExpander { expander: self.graph.expander(), targets: &self.targets })
    }
}

struct TowardsExpander<'t> {
    expander: Box<dyn Expander + 't>,
    targets: &'t [&'t [u8]],
}

impl Expander for TowardsExpander<'_> {
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError> {
        self.expander.expand(from, out)
    }

    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        out.extend(rows.iter().map(|row| u64::from(self.targets.binary_search(&row).is_ok())));
        Ok(())
    }
}
