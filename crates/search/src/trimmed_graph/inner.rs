//! The vertices in components with an accepting cycle, and the edges inside of those components, as a graph of its own.
//!
//! Whoever looks for cycles needs no more of the graph than that, and it may be a small part: behind an accepting cycle, states that are on none are not trimmed away. Vertices
//! keep their order, so that everything is written by scans.
//!
//! # Cost
//! Two scans of all edges, a bit for each vertex.

use super::{
    ACCEPTING, Adjacency, BACKWARD, EdgeFiles, FORWARD, INNER, LEVELS, N_EDGES, N_VERTICES, PLACES, SavedGraph,
};
use crate::enumerate::States;
use crate::lasso::Halt;
use lariat_storage::{NumberArray, RankIndex, SavedArray, StorageError};

/// The number of a vertex's component, 0 if that has no accepting cycle.
pub(crate) type ComponentOf<'a> = dyn FnMut(u64) -> Result<u64, StorageError> + 'a;

/// Which vertices are inside.
struct Inside<'s> {
    bits: NumberArray<'s>,
    rank: RankIndex<'s>,
}

fn writer<'s>(states: &States<'s>, name: &str, bits: u32) -> SavedArray<'s> {
    SavedArray::new(states.disk, &format!("{INNER}{name}"), bits, states.memory(32), states.context.budget)
}

/// Writes that graph, of one whose edges forwards are at hand, and notes it.
pub(crate) fn write_inner<'s>(
    states: &mut States<'s>,
    graph: &mut SavedGraph,
    component: &mut ComponentOf<'_>,
    accepting: &mut NumberArray<'s>,
    forward: Adjacency<'s>,
) -> Result<(), Halt> {
    let mut inside = inside(states, graph, component, accepting)?;
    write_levels(states, graph, &mut inside)?;
    let n_edges = write_edges(states, graph, &FORWARD, forward, &mut inside, component)?;
    let backward = graph.edges(states, &BACKWARD, 3)?;
    write_edges(states, graph, &BACKWARD, backward, &mut inside, component)?;
    graph.manifest.set_number(&format!("{INNER}{N_VERTICES}"), inside.rank.ones());
    graph.manifest.set_number(&format!("{INNER}{N_EDGES}"), n_edges);
    Ok(())
}

/// Which vertices are inside; what is known of each is written.
fn inside<'s>(
    states: &mut States<'s>,
    graph: &mut SavedGraph,
    component: &mut ComponentOf<'_>,
    accepting: &mut NumberArray<'s>,
) -> Result<Inside<'s>, Halt> {
    let mut bits = states.array(graph.len, 1, 4)?;
    let mut places = graph.array(states, PLACES, 32)?;
    let mut inner_places = writer(states, PLACES, NumberArray::bits_for(states.len()));
    let mut inner_accepting = writer(states, ACCEPTING, 1);
    for vertex in 0..graph.len {
        if component(vertex)? > 0 {
            bits.set(vertex, 1)?;
            inner_places.push(places.get(vertex)?)?;
            inner_accepting.push(accepting.get(vertex)?)?;
        }
        states.attend(graph.len - vertex, None)?;
    }
    inner_places.note(&mut graph.manifest)?;
    inner_accepting.note(&mut graph.manifest)?;
    let rank = RankIndex::new(&mut bits, states.context.budget)?;
    Ok(Inside { bits, rank })
}

fn write_levels<'s>(states: &States<'s>, graph: &mut SavedGraph, inside: &mut Inside<'s>) -> Result<(), Halt> {
    let mut levels = graph.array(states, LEVELS, 32)?;
    let mut inner_levels = writer(states, LEVELS, 64);
    for level in 0..levels.len() {
        inner_levels.push(inside.rank.rank(&mut inside.bits, levels.get(level)?)?)?;
    }
    Ok(inner_levels.note(&mut graph.manifest)?)
}

/// Writes edges inside of components; how many there are.
fn write_edges<'s>(
    states: &mut States<'s>,
    graph: &mut SavedGraph,
    files: &EdgeFiles,
    mut edges: Adjacency<'s>,
    inside: &mut Inside<'s>,
    component: &mut ComponentOf<'_>,
) -> Result<u64, Halt> {
    let bits = (NumberArray::bits_for(edges.ends.len()), NumberArray::bits_for(inside.rank.ones()));
    let (mut starts, mut inner_ends) = (writer(states, files.starts, bits.0), writer(states, files.ends, bits.1));
    let mut ends = Vec::new();
    for vertex in 0..graph.len {
        let own = component(vertex)?;
        states.attend(graph.len - vertex, None)?;
        if own == 0 {
            continue;
        }
        starts.push(inner_ends.len())?;
        edges.of(vertex, &mut ends)?;
        for end in &ends {
            if component(*end)? == own {
                inner_ends.push(inside.rank.rank(&mut inside.bits, *end)?)?;
            }
        }
    }
    starts.push(inner_ends.len())?;
    starts.note(&mut graph.manifest)?;
    inner_ends.note(&mut graph.manifest)?;
    Ok(inner_ends.len())
}
