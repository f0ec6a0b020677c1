//! Strongly connected components with an accepting cycle: what an accepting vertex reaches and is reached from.
//!
//! # Paper
//! Algorithms 2 to 4, `intersect`, `CRS` and `SFA`; the symbols are in `daac.rs`. A component that was found, and an accepting vertex without one, are left alone by later searches.
//!
//! # Cost
//! For each accepting vertex that is in no component yet one search of what it reaches, and one backwards within that.

use crate::enumerate::States;
use crate::lasso::Halt;
use crate::trimmed_graph::{Direction, TrimmedGraph, Visit};
use lariat_storage::{NumberArray, StorageError};

/// A component in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Component {
    /// Its states.
    pub states: u64,
    /// Those of them that accept.
    pub accepting: u64,
    /// Edges between its states, parallel ones counted once.
    pub edges: u64,
    /// Steps from the initial states to its nearest accepting state.
    pub distance: u64,
    /// Its accepting cycles that were found.
    pub cycles: u64,
}

/// For each vertex the place of its component.
pub(super) struct Members<'s> {
    /// The place plus one, or [`IN_NONE`], or 0 if that is not known.
    of: NumberArray<'s>,
}

/// What stands for a vertex that is in no component with an accepting cycle.
const IN_NONE: u64 = u32::MAX as u64;

impl Members<'_> {
    /// The place of a vertex's component.
    pub(super) fn component(&mut self, vertex: u64) -> Result<Option<u64>, StorageError> {
        Ok(self.of.get(vertex)?.checked_sub(1).filter(|place| place + 1 != IN_NONE))
    }
}

/// Finds all components, in the order of their nearest accepting states, and calls `see` with each.
pub(super) fn find_components<'s>(
    states: &mut States<'s>,
    graph: &mut TrimmedGraph<'s>,
    see: &mut dyn FnMut(Component),
) -> Result<Members<'s>, Halt> {
    let mut members = Members { of: states.array(graph.len, 32, 4)? };
    let mut ahead = states.array(graph.len, 32, 4)?;
    let (mut round, mut n_components) = (0, 0);
    let n_accepting = graph.accepting_by_distance.len();
    let mut reader = graph.accepting_by_distance.reader(0..n_accepting, 2)?;
    loop {
        let rows = reader.next_rows()?;
        if rows.is_empty() {
            return Ok(members);
        }
        for row in rows.iter() {
            let seed = row.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            if members.of.get(seed)? != 0 {
                continue;
            }
            round += 1;
            if search_forwards(states, graph, &mut members, &mut ahead, seed, round)? {
                n_components += 1;
                see(search_backwards(states, graph, &mut members, &mut ahead, seed, round, n_components)?);
            } else {
                members.of.set(seed, IN_NONE)?;
            }
        }
    }
}

/// Marks what a vertex reaches with the number of the round; whether that is the vertex itself, too.
fn search_forwards<'s>(
    states: &mut States<'s>,
    graph: &mut TrimmedGraph<'s>,
    members: &mut Members<'s>,
    ahead: &mut NumberArray<'s>,
    seed: u64,
    round: u64,
) -> Result<bool, Halt> {
    let mut has_cycle = false;
    ahead.set(seed, round)?;
    graph.search(seed, Direction::Forward, &mut |_, end, distance, is_new| {
        has_cycle |= end == seed;
        if !is_new || members.of.get(end)? != 0 {
            return Ok(Visit::Skip);
        }
        ahead.set(end, round)?;
        states.attend(0, Some(distance))?;
        Ok(Visit::Expand)
    })?;
    Ok(has_cycle)
}

/// Takes what reaches a vertex, of what that reaches, into a component.
fn search_backwards<'s>(
    states: &mut States<'s>,
    graph: &mut TrimmedGraph<'s>,
    members: &mut Members<'s>,
    ahead: &mut NumberArray<'s>,
    seed: u64,
    round: u64,
    number: u64,
) -> Result<Component, Halt> {
    let mut component = Component { states: 1, accepting: 1, distance: graph.depth(seed)?, ..Component::default() };
    members.of.set(seed, number)?;
    graph.search(seed, Direction::Backward, &mut |graph, end, distance, is_new| {
        // Every edge inside is followed once: all that are followed end inside, and they begin there if they are ahead.
        if ahead.get(end)? != round {
            return Ok(Visit::Skip);
        }
        component.edges += 1;
        if is_new {
            members.of.set(end, number)?;
            component.states += 1;
            component.accepting += graph.accepting.get(end)?;
            states.attend(0, Some(distance))?;
        }
        Ok(Visit::Expand)
    })?;
    Ok(component)
}
