//! Writes what trimming leaves as a graph of numbers, by scans and sorts alone.
//!
//! One breadth-first search of the whole graph gives the states of the set their numbers as vertices, in the order in which it comes to them: states that are near each other in the
//! graph are near each other in every array then, where the order of their hash values would spread them. While it searches, the vertex that a state becomes is not known to
//! those that have an edge to it. So there are two sorts by the numbers of states, of (state, vertex) and of (target, source's vertex), which are joined; two more make edges forwards and backwards.
//!
//! # Cost
//! Each state is expanded once, up to the last one of the set. The edges between vertices are sorted three times.

use super::{ACCEPTING, BACKWARD, EdgeFiles, FORWARD, LEVELS, N_EDGES, N_VERTICES, PLACES, TREE};
use crate::enumerate::States;
use crate::lasso::Halt;
use crate::tree::Tree;
use crate::trim::StateSet;
use lariat_storage::stream::RowStream;
use lariat_storage::{ExternalSort, Manifest, NumberArray, SavedArray, SortOptions, StorageError};

/// Bits of a number in a pair, and bytes of a pair.
const NUMBER_BITS: u32 = 40;
const PAIR_BYTES: usize = 10;
/// The part of memory that a file of numbers takes while it grows.
const WRITER_PARTS: u64 = 64;

type Unit = fn((), ()) -> ();
fn unit((): (), (): ()) {}
type Pairs<'s> = ExternalSort<'s, u128, (), Unit>;

fn pair(first: u64, second: u64) -> u128 {
    u128::from(first) << NUMBER_BITS | u128::from(second)
}

fn split(pair: u128) -> (u64, u64) {
    ((pair >> NUMBER_BITS) as u64, (pair & ((1 << NUMBER_BITS) - 1)) as u64)
}

fn pairs<'s>(states: &States<'s>, name: &str, parts: u64) -> Result<Pairs<'s>, StorageError> {
    let options = SortOptions::within::<u128, ()>(PAIR_BYTES, 0, states.memory(parts));
    Pairs::new(states.disk, name, options, unit as Unit, states.context.budget)
}

fn writer<'s>(states: &States<'s>, name: &str, bits: u32) -> SavedArray<'s> {
    SavedArray::new(states.disk, name, bits, states.memory(WRITER_PARTS), states.context.budget)
}

/// Writes the graph of the states in a set, and notes its files.
pub(super) fn build<'s>(states: &mut States<'s>, set: StateSet<'s>, manifest: &mut Manifest) -> Result<(), Halt> {
    let len = set.len;
    let found = number_vertices(states, set, manifest)?;
    let forward = with_vertices(states, found.vertices, found.edges)?;
    let mut backward = pairs(states, "edges-backward", 3)?;
    let bits = (NumberArray::bits_for(found.n_pairs), NumberArray::bits_for(len));
    let mut reverse = |source, target| backward.push(pair(target, source), ());
    let n_edges = write_edges(states, &FORWARD, len, bits, forward, manifest, &mut reverse)?;
    write_edges(states, &BACKWARD, len, bits, backward, manifest, &mut |_, _| Ok(()))?;
    manifest.set_number(N_VERTICES, len);
    manifest.set_number(N_EDGES, n_edges);
    Ok(())
}

/// What a search of the whole graph finds.
struct Found<'s> {
    /// The number of a state, and the vertex that it is.
    vertices: Pairs<'s>,
    /// The number of a state, and a vertex with an edge to it.
    edges: Pairs<'s>,
    /// The edges, parallel ones counted.
    n_pairs: u64,
}

/// Numbers the states of the set in the order of their distance, and writes what is known of each.
fn number_vertices<'s>(
    states: &mut States<'s>,
    mut set: StateSet<'s>,
    manifest: &mut Manifest,
) -> Result<Found<'s>, Halt> {
    let mut places = writer(states, PLACES, NumberArray::bits_for(states.len()));
    let mut accepting = writer(states, ACCEPTING, 1);
    let mut levels = writer(states, LEVELS, 64);
    let mut visited = states.bits(6)?;
    let mut tree = Tree::new(states, TREE, states.memory(8));
    let mut vertices = pairs(states, "vertices", 4)?;
    let mut edges = pairs(states, "edges", 2)?;
    let (mut n_vertices, mut n_pairs) = (0, 0);
    let (initial, _) = states.initial()?;
    tree.grow(states, initial.as_rows(), &mut visited, &mut |states, expanded| {
        if set.bits.get(expanded.number)? == 0 {
            return Ok(true);
        }
        while levels.len() <= expanded.level {
            levels.push(n_vertices)?;
        }
        vertices.push(pair(expanded.number, n_vertices), ())?;
        places.push(expanded.place)?;
        accepting.push(u64::from(states.graph.is_accepting(expanded.row)))?;
        for successor in expanded.successors {
            if set.bits.get(*successor)? == 1 {
                edges.push(pair(*successor, n_vertices), ())?;
                n_pairs += 1;
            }
        }
        n_vertices += 1;
        Ok(n_vertices < set.len)
    })?;
    for mut written in [places, accepting, levels] {
        written.note(manifest)?;
    }
    tree.note(manifest, TREE)?;
    Ok(Found { vertices, edges, n_pairs })
}

/// The edges as pairs of vertices.
fn with_vertices<'s>(states: &mut States<'s>, vertices: Pairs<'s>, edges: Pairs<'s>) -> Result<Pairs<'s>, Halt> {
    let (mut vertices, mut edges) = (vertices.finish()?, edges.finish()?);
    let mut forward = pairs(states, "edges-forward", 2)?;
    // The state whose edges are read, and its vertex: each target of an edge is among the vertices.
    let mut at = None;
    loop {
        let (keys, _) = edges.batch()?;
        if keys.is_empty() {
            break;
        }
        for key in keys {
            let (target, source) = split(*key);
            let vertex = loop {
                match at {
                    Some((number, vertex)) if number == target => break vertex,
                    _ => {
                        let (more, _) = vertices.batch()?;
                        at = more.first().map(|key| split(*key));
                        if at.is_none_or(|(number, _)| number > target) {
                            let (expected, got) = (format!("state {target}"), "a later one".to_owned());
                            return Err(StorageError::Shape { file: "vertices".to_owned(), expected, got }.into());
                        }
                        vertices.consume(1);
                    }
                }
            };
            forward.push(pair(source, vertex), ())?;
        }
        let n = keys.len();
        edges.consume(n);
        states.attend(0, None)?;
    }
    vertices.remove_files()?;
    edges.remove_files()?;
    Ok(forward)
}

/// Writes the edges of all vertices, `bits` bits for where each begins and ends, and calls `see` with each; how many there are.
fn write_edges<'s>(
    states: &mut States<'s>,
    files: &EdgeFiles,
    len: u64,
    bits: (u32, u32),
    pairs: Pairs<'s>,
    manifest: &mut Manifest,
    see: &mut dyn FnMut(u64, u64) -> Result<(), StorageError>,
) -> Result<u64, Halt> {
    let mut pairs = pairs.finish()?;
    let (mut starts, mut ends) = (writer(states, files.starts, bits.0), writer(states, files.ends, bits.1));
    loop {
        let (keys, _) = pairs.batch()?;
        if keys.is_empty() {
            break;
        }
        for key in keys {
            let (source, target) = split(*key);
            while starts.len() <= source {
                starts.push(ends.len())?;
            }
            ends.push(target)?;
            see(source, target)?;
        }
        let n = keys.len();
        pairs.consume(n);
        states.attend(len - starts.len(), None)?;
    }
    while starts.len() <= len {
        starts.push(ends.len())?;
    }
    starts.note(manifest)?;
    ends.note(manifest)?;
    pairs.remove_files()?;
    Ok(ends.len())
}
