//! All accepting cycles: every elementary one exactly once, with a path from an initial state.
//!
//! States are found and numbered (`enumerate.rs`); what can be on no accepting cycle is taken away (`trim.rs`); what is left becomes a graph of numbers, with its edges in
//! both directions (`trimmed_graph.rs`). In that the strongly connected components with accepting states are found, and in those the cycles, one after the other.
//! There may be more cycles than anybody can wait for: each is handed on when it is found, none is kept, and whoever takes them says when it is enough.
//!
//! A cycle is a sequence of states: where parallel edges lead from one state to the next, that is one cycle. A self-loop is a cycle of length 1.
//!
//! # Paper
//! Wu et al., *An I/O efficient approach for detecting all accepting cycles*, 2015.
//!
//! | paper | here |
//! |---|---|
//! | `enumerateBFS`, `constructMPHF` | [`enumerate`] |
//! | `succ-` | the edges between the states that are left, sorted by target |
//! | `SFA`: `CRS` forwards, `CRS` backwards, `intersect` | `accepting_components.rs` |
//! | `FACA`: `dfs`, `unblock`, DPM with `rho` | `elementary.rs`, and in memory `near.rs` |
//! | TNC-DAAC, TT-DAAC: bounds on number and time | `each` returns false; the stop signal |
//!
//! *Deviations.* States are trimmed first. Components are found by one depth-first search, all of them before the first cycle is, so that they are known even where cycles are too many.
//! Cycles are looked for from accepting states in the order of their distance, short cycles first: otherwise the first ones would be as long as the component is large, and of
//! no use to anybody.
//!
//! # Invariants
//! 1. Each cycle is found from that of its accepting states which comes first, its *start*, and handed on in the one pass or round over the starts that its length belongs to.
//!
//! # Cost
//! That of trimming and of the edges, which is O(sort(E)), and of one search for components; then Johnson's O(n + e) for each cycle within its component. Some
//! bytes for each vertex and edge that is left, in memory or on disk.

mod ball;
mod core;
mod elementary;
mod near;

pub use crate::accepting_components::Component;

use crate::accepting_components::{AcceptingComponents, accepting_components};
use crate::enumerate::{Generation, HashPlacement, States, enumerate};
use crate::lasso::{Halt, Lasso, LassoSearch};
use crate::trimmed_graph::{TrimmedGraph, saved_graph};
use crate::{Context, SearchError};
use elementary::Elementary;
use lariat_base::Event;
use lariat_graph::Graph;
use near::{Left, NEAR_MAX, Near};

const NAME: &str = "daac";
/// The fraction of the stack in memory that goes to disk at once: the paper's choice.
pub const RHO: f64 = 0.94;

/// What was found of all accepting cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CycleSearch {
    /// What was counted while the states were found; its lasso is none. It is complete if there are no more cycles than those that were handed on.
    pub search: LassoSearch,
    /// Cycles that were handed on.
    pub cycles: u64,
    /// Components with an accepting cycle.
    pub n_components: u64,
    /// The first of these, in the order of their distance from the initial states.
    pub components: Vec<Component>,
}

/// A cycle that was found.
pub struct FoundCycle<'f, 's> {
    graph: &'f mut TrimmedGraph<'s>,
    vertices: &'f [u64],
    /// The place of its component in the order of components.
    pub component: u64,
}

impl FoundCycle<'_, '_> {
    /// Its states.
    pub fn length(&self) -> usize {
        self.vertices.len()
    }

    /// The cycle with a path that enters it as near to the initial states as can be.
    pub fn lasso(&mut self) -> Result<Lasso, SearchError> {
        Ok(self.graph.lasso(self.vertices)?)
    }
}

/// Takes a cycle; false ends the search.
pub type Each<'a> = dyn FnMut(&mut FoundCycle<'_, '_>) -> Result<bool, SearchError> + 'a;

/// What a search for cycles may do at once.
#[derive(Clone, Copy)]
pub(crate) struct Portions {
    /// The fraction of a stack that goes to disk at once.
    pub(crate) rho: f64,
    /// Vertices and edges near a start that are in memory at most.
    pub(crate) near_max: u64,
}

/// Finds all accepting cycles, and calls `each` with every one; `rho` is the fraction of a stack that goes to disk at once.
pub fn find_cycles(
    graph: &dyn Graph,
    placement: HashPlacement,
    rho: f64,
    context: &Context,
    each: &mut Each<'_>,
) -> Result<CycleSearch, SearchError> {
    find_in_portions(graph, placement, Portions { rho, near_max: NEAR_MAX }, context, each)
}

pub(crate) fn find_in_portions(
    graph: &dyn Graph,
    placement: HashPlacement,
    portions: Portions,
    context: &Context,
    each: &mut Each<'_>,
) -> Result<CycleSearch, SearchError> {
    let mut states = match enumerate(graph, context, NAME, Generation::Disk, placement) {
        Ok(states) => states,
        Err(stopped) => {
            let search = stopped.into_result()?;
            return Ok(CycleSearch { search, ..CycleSearch::default() });
        }
    };
    let mut found = CycleSearch::default();
    let ended = all_cycles(&mut states, portions, &mut found, each);
    found.search = states.counts;
    match ended {
        Ok(is_all) => found.search.complete = is_all,
        Err(Halt::Limit(limit)) => found.search.limit = Some(limit),
        Err(Halt::Error(error)) => return Err(error),
    }
    Ok(found)
}

/// Whether all cycles were handed on.
fn all_cycles(
    states: &mut States<'_>,
    portions: Portions,
    found: &mut CycleSearch,
    each: &mut Each<'_>,
) -> Result<bool, Halt> {
    if states.counts.accepting == 0 {
        return Ok(true);
    }
    let Some(mut saved) = saved_graph(states)? else { return Ok(true) };
    let mut components = accepting_components(states, &mut saved)?;
    found.n_components = components.len;
    found.components.clone_from(&components.shown);
    if components.len == 0 {
        return Ok(true);
    }
    states.begin_phase("cycles");
    let observer = states.context.observer;
    let mut each = |cycle: &mut FoundCycle<'_, '_>| {
        found.cycles += 1;
        observer.event(&Event::Found(found.cycles));
        if let Some(component) = found.components.get_mut(cycle.component as usize) {
            component.cycles += 1;
        }
        each(cycle)
    };
    let mut graph = saved.load(states)?;
    let Some(first) = hand_on_first(&mut graph, &mut components, &mut each)? else { return Ok(false) };
    let near = Near { states, graph: &mut graph, components: &mut components, first: &first };
    match near.find(portions.near_max, &mut each)? {
        Left::Nothing => Ok(true),
        Left::Unwanted => Ok(false),
        Left::Longer(length, done) => {
            Elementary::new(states, graph, components, first, (length, done), portions.rho)?.find(&mut each)
        }
    }
}

/// Hands a shortest cycle through the nearest accepting vertex on, so that there is one soon; none if no more are wanted. Whoever finds it again skips it.
fn hand_on_first(
    graph: &mut TrimmedGraph<'_>,
    components: &mut AcceptingComponents<'_>,
    each: &mut Each<'_>,
) -> Result<Option<Vec<u64>>, Halt> {
    let mut nearest = 0;
    while graph.accepting.get(nearest)? == 0 {
        nearest += 1;
    }
    let vertices = graph.way(nearest, nearest)?;
    let component = components.component(nearest)?;
    let is_more_wanted = each(&mut FoundCycle { graph, vertices: &vertices, component })?;
    Ok(is_more_wanted.then_some(vertices))
}
