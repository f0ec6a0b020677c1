//! The part of a graph in which accepting cycles can be, as numbers: edges forwards and backwards, and a shortest path to every vertex.
//!
//! What trimming leaves (`trim.rs`) gets numbers of its own, 0 to n - 1: *vertices*, in the order of their distance from the initial states (`build.rs`). Who works on cycles needs
//! neither rows nor expansions from then on. The graph is written once, and published; each phase then loads what it needs of it, and gives that memory back.
//!
//! # Invariants
//! 1. A smaller vertex is not farther from the initial states.
//! 2. Parallel edges are one edge. Self-loops are edges. The edges of a vertex are in the order of their other ends.
//!
//! # Cost
//! That of `build.rs`. On disk the tree of shortest paths, and some bytes for each vertex and edge, which are in memory too as far as they fit.

mod build;
mod inner;
mod remaining;

pub(crate) use inner::write_inner;
pub(crate) use remaining::Remaining;

use crate::SearchError;
use crate::enumerate::States;
use crate::lasso::{Halt, Lasso};
use crate::tree::Tree;
use crate::trim::trim;
use lariat_disk::FileKind;
use lariat_graph::RowBuffer;
use lariat_storage::{Manifest, NumberArray, RowLogOptions, RowQueue, SavedArray, StorageError};

/// What queues and logs of numbers hold.
pub(crate) const NUMBER_BYTES: usize = 8;
/// Numbers that are taken from a queue at once.
const BATCH: usize = 64;

/// The files of edges in one direction: where those of each vertex begin, and their other ends.
struct EdgeFiles {
    starts: &'static str,
    ends: &'static str,
}

const FORWARD: EdgeFiles = EdgeFiles { starts: "forward-starts", ends: "forward-ends" };
const BACKWARD: EdgeFiles = EdgeFiles { starts: "backward-starts", ends: "backward-ends" };
/// A bit for each accepting vertex; where each vertex is in the tree; the first vertex of each level.
const ACCEPTING: &str = "accepting";
const PLACES: &str = "places";
const LEVELS: &str = "levels";
const TREE: &str = "tree";
/// What comes before the names of files and keys of the graph inside of components.
const INNER: &str = "inner-";
/// Keys of the manifest.
const N_VERTICES: &str = "vertices";
const N_EDGES: &str = "edges";

/// Where the edges of each vertex end.
pub(crate) struct Adjacency<'s> {
    /// For each vertex where its edges begin; one more at the end.
    starts: NumberArray<'s>,
    ends: NumberArray<'s>,
}

impl Adjacency<'_> {
    /// The places of a vertex's edges.
    pub(crate) fn range(&mut self, vertex: u64) -> Result<std::ops::Range<u64>, StorageError> {
        Ok(self.starts.get(vertex)?..self.starts.get(vertex + 1)?)
    }

    /// The other end of the edge at a place.
    pub(crate) fn end(&mut self, place: u64) -> Result<u64, StorageError> {
        self.ends.get(place)
    }

    /// The other ends of a vertex's edges, in place of what is in `out`.
    pub(crate) fn of(&mut self, vertex: u64, out: &mut Vec<u64>) -> Result<(), StorageError> {
        out.clear();
        for place in self.range(vertex)? {
            out.push(self.ends.get(place)?);
        }
        Ok(())
    }
}

/// The first vertices of all levels.
pub(crate) struct Levels<'s>(NumberArray<'s>);

impl Levels<'_> {
    /// The distance of a vertex from the initial states.
    pub(crate) fn depth(&mut self, vertex: u64) -> Result<u64, StorageError> {
        let (mut from, mut to) = (0, self.0.len());
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.0.get(middle)? <= vertex { from = middle } else { to = middle }
        }
        Ok(from)
    }
}

/// A graph of numbers on disk.
pub(crate) struct SavedGraph {
    /// What is published.
    pub(crate) manifest: Manifest,
    pub(crate) len: u64,
}

/// The graph that trimming leaves, which an interrupted search has published, or else is made now and published; none if nothing is left.
pub(crate) fn saved_graph(states: &mut States<'_>) -> Result<Option<SavedGraph>, Halt> {
    let (disk, budget) = (states.disk, states.context.budget);
    let read = || Manifest::read(disk, budget).map(Option::unwrap_or_default);
    let mut manifest = read()?;
    if manifest.number(N_VERTICES).is_err() {
        let kept = trim(states)?;
        if kept.len == 0 {
            return Ok(None);
        }
        states.begin_phase("edges");
        manifest = read()?;
        build::build(states, kept, &mut manifest)?;
        manifest.publish(disk, budget)?;
    }
    let len = manifest.number(N_VERTICES)?;
    Ok(Some(SavedGraph { manifest, len }))
}

impl SavedGraph {
    /// An array of the graph, in memory if that takes no more than one of `parts` of what is left.
    pub(crate) fn array<'s>(
        &self,
        states: &States<'s>,
        name: &str,
        parts: u64,
    ) -> Result<NumberArray<'s>, StorageError> {
        SavedArray::load(states.disk, name, &self.manifest, states.memory(parts) as u64, states.context.budget)
    }

    fn edges<'s>(&self, states: &States<'s>, files: &EdgeFiles, parts: u64) -> Result<Adjacency<'s>, StorageError> {
        let starts = self.array(states, files.starts, parts)?;
        Ok(Adjacency { starts, ends: self.array(states, files.ends, parts - 1)? })
    }

    /// The edges forwards, each of two arrays in one of about `parts` of the memory that is left.
    pub(crate) fn forward<'s>(&self, states: &States<'s>, parts: u64) -> Result<Adjacency<'s>, StorageError> {
        self.edges(states, &FORWARD, parts)
    }

    /// A bit for each accepting vertex.
    pub(crate) fn accepting<'s>(&self, states: &States<'s>) -> Result<NumberArray<'s>, StorageError> {
        self.array(states, ACCEPTING, 8)
    }

    /// Distances.
    pub(crate) fn levels<'s>(&self, states: &States<'s>) -> Result<Levels<'s>, StorageError> {
        Ok(Levels(self.array(states, LEVELS, 16)?))
    }

    fn inner<'s>(&self, states: &States<'s>, name: &str, parts: u64) -> Result<NumberArray<'s>, StorageError> {
        self.array(states, &format!("{INNER}{name}"), parts)
    }

    fn inner_edges<'s>(&self, states: &States<'s>, files: &EdgeFiles) -> Result<Adjacency<'s>, StorageError> {
        Ok(Adjacency { starts: self.inner(states, files.starts, 6)?, ends: self.inner(states, files.ends, 5)? })
    }

    /// The vertices inside of components with an accepting cycle.
    pub(crate) fn inner_len(&self) -> Result<u64, StorageError> {
        self.manifest.number(&format!("{INNER}{N_VERTICES}"))
    }

    /// The graph of these vertices, with the edges inside of their components ([`write_inner`]).
    pub(crate) fn load<'s>(&self, states: &mut States<'s>) -> Result<TrimmedGraph<'s>, StorageError> {
        let (disk, budget) = (states.disk, states.context.budget);
        let (len, n_edges) = (self.inner_len()?, self.manifest.number(&format!("{INNER}{N_EDGES}"))?);
        let levels = Levels(self.inner(states, LEVELS, 16)?);
        let accepting = self.inner(states, ACCEPTING, 8)?;
        let places = self.inner(states, PLACES, 32)?;
        let tree = Tree::take_up(states, TREE, &self.manifest)?;
        let forward = self.inner_edges(states, &FORWARD)?;
        let backward = self.inner_edges(states, &BACKWARD)?;
        let reached = states.array(len, 64, 6)?;
        let queue = RowQueue::new(disk, "queue", RowLogOptions::smallest(NUMBER_BYTES, FileKind::Queue), budget);
        Ok(TrimmedGraph {
            len,
            n_edges,
            forward,
            backward,
            accepting,
            levels,
            places,
            tree,
            reached,
            n_searches: 0,
            queue,
        })
    }
}

/// A graph of numbers: what is inside of components with an accepting cycle.
pub(crate) struct TrimmedGraph<'s> {
    pub(crate) len: u64,
    pub(crate) n_edges: u64,
    pub(crate) forward: Adjacency<'s>,
    pub(crate) backward: Adjacency<'s>,
    /// A bit for each accepting vertex.
    pub(crate) accepting: NumberArray<'s>,
    levels: Levels<'s>,
    /// Where each vertex is in the tree.
    places: NumberArray<'s>,
    tree: Tree<'s>,
    /// The search that reached a vertex last, and its distance in that.
    reached: NumberArray<'s>,
    n_searches: u64,
    queue: RowQueue<'s>,
}

/// Which way edges are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Backward,
}

/// What a breadth-first search does with a vertex that it reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// Goes on from it.
    Expand,
    /// Leaves it alone, as if it were not there.
    Skip,
    /// Ends.
    Stop,
}

/// Called for an edge with the vertex that it leads to, the distance by that edge, and whether the vertex is reached for the first time.
pub(crate) type VisitVertex<'a, 's> = dyn FnMut(&mut TrimmedGraph<'s>, u64, u64, bool) -> Result<Visit, Halt> + 'a;

/// Bits of a distance in `reached`; the others say which search it is of.
const DISTANCE_BITS: u32 = 32;

impl<'s> TrimmedGraph<'s> {
    pub(crate) fn adjacency(&mut self, direction: Direction) -> &mut Adjacency<'s> {
        match direction {
            Direction::Forward => &mut self.forward,
            Direction::Backward => &mut self.backward,
        }
    }

    /// The distance of a vertex from the initial states.
    pub(crate) fn depth(&mut self, vertex: u64) -> Result<u64, StorageError> {
        self.levels.depth(vertex)
    }

    /// A lasso with this cycle, entered where that is nearest to the initial states.
    pub(crate) fn lasso(&mut self, cycle: &[u64]) -> Result<Lasso, StorageError> {
        let nearest = (0..cycle.len()).min_by_key(|i| cycle[*i]).unwrap_or(0);
        let place = self.places.get(cycle[nearest])?;
        let mut prefix = self.tree.path_to(place)?;
        prefix.truncate(prefix.len().saturating_sub(1));
        let (before, after) = cycle.split_at(nearest);
        let mut rows = RowBuffer::new(prefix.width());
        for vertex in after.iter().chain(before) {
            rows.push(self.tree.row_at(self.places.get(*vertex)?)?);
        }
        Ok(Lasso { prefix, cycle: rows })
    }

    /// The distance of a vertex in the search that was made last, if that reached it.
    pub(crate) fn distance(&mut self, vertex: u64) -> Result<Option<u64>, StorageError> {
        let entry = self.reached.get(vertex)?;
        Ok((entry >> DISTANCE_BITS == self.n_searches).then_some(entry & ((1 << DISTANCE_BITS) - 1)))
    }

    /// Searches breadth-first from a vertex. `see` is called for each edge that is followed; the vertex at whose edge it stopped the search.
    pub(crate) fn search(
        &mut self,
        from: u64,
        direction: Direction,
        see: &mut VisitVertex<'_, 's>,
    ) -> Result<Option<u64>, Halt> {
        if self.n_searches == u64::from(u32::MAX) {
            self.reached.clear();
            self.n_searches = 0;
        }
        self.n_searches += 1;
        let search = self.n_searches << DISTANCE_BITS;
        self.reached.set(from, search)?;
        self.queue.push(&from.to_le_bytes())?;
        let (mut batch, mut ends) = (Vec::new(), Vec::new());
        while !self.queue.is_empty() {
            batch.clear();
            let rows = self.queue.take_rows(BATCH)?;
            batch.extend(rows.iter().map(|row| row.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))));
            for vertex in &batch {
                let distance = self.distance(*vertex)?.unwrap_or(0) + 1;
                self.adjacency(direction).of(*vertex, &mut ends)?;
                for end in &ends {
                    let is_new = self.distance(*end)?.is_none();
                    match see(self, *end, distance, is_new)? {
                        Visit::Expand if is_new => {
                            self.reached.set(*end, search | distance)?;
                            self.queue.push(&end.to_le_bytes())?;
                        }
                        Visit::Expand | Visit::Skip => {}
                        Visit::Stop => {
                            self.empty_queue()?;
                            return Ok(Some(*vertex));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn empty_queue(&mut self) -> Result<(), StorageError> {
        while !self.queue.is_empty() {
            self.queue.take_rows(usize::MAX)?;
        }
        Ok(())
    }

    /// A shortest way with at least one edge, `from` included and `to` left out.
    pub(crate) fn way(&mut self, from: u64, to: u64) -> Result<Vec<u64>, Halt> {
        let last = self.search(from, Direction::Forward, &mut |_, end, _, _| {
            Ok(if end == to { Visit::Stop } else { Visit::Expand })
        })?;
        let lost = || Halt::Error(SearchError::PathLost);
        let mut vertex = last.ok_or_else(lost)?;
        let mut way = vec![vertex];
        let mut before = Vec::new();
        while vertex != from {
            let wanted = self.distance(vertex)?.and_then(|distance| distance.checked_sub(1));
            self.backward.of(vertex, &mut before)?;
            let mut found = None;
            for candidate in &before {
                if found.is_none() && self.distance(*candidate)? == wanted {
                    found = Some(*candidate);
                }
            }
            vertex = found.ok_or_else(lost)?;
            way.push(vertex);
        }
        way.reverse();
        Ok(way)
    }
}
