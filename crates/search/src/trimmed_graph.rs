//! The part of a graph in which accepting cycles can be, as numbers: edges forwards and backwards, and a shortest path to every vertex.
//!
//! What trimming leaves (`trim.rs`) gets numbers of its own, 0 to n - 1: *vertices*. One breadth-first search of the whole graph notes for each where it is in the tree of
//! shortest paths, and writes the edges between vertices as pairs of numbers; sorted by source they are the edges forwards, sorted by target
//! those backwards, each edge once. Who works on cycles needs neither rows nor expansions from then on.
//!
//! # Invariants
//! 1. `places` never decreases with the distance of vertices: a smaller place is not farther from the initial states.
//! 2. Parallel edges are one edge. Self-loops are edges.
//!
//! # Cost
//! Each state is expanded once. The edges between vertices are sorted twice. On disk the tree, in memory or on disk some bytes for each vertex and edge.

use crate::SearchError;
use crate::enumerate::States;
use crate::lasso::{Halt, Lasso};
use crate::tree::Tree;
use crate::trim::StateSet;
use lariat_disk::FileKind;
use lariat_storage::stream::RowStream;
use lariat_storage::{
    ExternalSort, NumberArray, RankIndex, RowLog, RowLogOptions, RowQueue, SortOptions, StorageError,
};

/// Bits of a number in a pair, and bytes of a pair.
const NUMBER_BITS: u32 = 40;
const PAIR_BYTES: usize = 10;
/// What queues and logs of numbers hold.
pub(crate) const NUMBER_BYTES: usize = 8;
/// Numbers that are taken from a queue at once.
const BATCH: usize = 64;

type Unit = fn((), ()) -> ();
fn unit((): (), (): ()) {}
type Pairs<'s> = ExternalSort<'s, u128, (), Unit>;

fn pair(source: u64, target: u64) -> u128 {
    u128::from(source) << NUMBER_BITS | u128::from(target)
}

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

/// A graph of numbers.
pub(crate) struct TrimmedGraph<'s> {
    pub(crate) len: u64,
    pub(crate) n_edges: u64,
    pub(crate) forward: Adjacency<'s>,
    pub(crate) backward: Adjacency<'s>,
    /// A bit for each accepting vertex, and all of them in the order of their distance.
    pub(crate) accepting: NumberArray<'s>,
    pub(crate) accepting_by_distance: RowLog<'s>,
    /// Where each vertex is in the tree.
    places: NumberArray<'s>,
    tree: Tree<'s>,
    /// The search that reached a vertex last, and its distance in that.
    reached: NumberArray<'s>,
    n_searches: u64,
    queue: RowQueue<'s>,
}

/// The graph of the states in a set.
pub(crate) fn trimmed_graph<'s>(states: &mut States<'s>, mut set: StateSet<'s>) -> Result<TrimmedGraph<'s>, Halt> {
    states.begin_phase("edges");
    let (disk, budget, len) = (states.disk, states.context.budget, set.len);
    let rank = RankIndex::new(&mut set.bits, budget)?;
    let mut places = states.array(len, NumberArray::bits_for(states.len()), 6)?;
    let mut accepting = states.array(len, 1, 8)?;
    let number_log = RowLogOptions::within(NUMBER_BYTES, states.memory(32), FileKind::Queue);
    let mut accepting_by_distance = RowLog::new(disk, "accepting", number_log, budget);
    let mut visited = states.bits(6)?;
    let mut tree = Tree::new(states, "tree", states.memory(8));
    let options = SortOptions::within::<u128, ()>(PAIR_BYTES, 0, states.memory(2));
    let mut pairs = Pairs::new(disk, "edges-forward", options, unit as Unit, budget)?;
    let mut n_pairs = 0;
    let (initial, _) = states.initial()?;
    tree.grow(states, initial.as_rows(), &mut visited, &mut |states, expanded| {
        if set.bits.get(expanded.number)? == 1 {
            let vertex = rank.rank(&mut set.bits, expanded.number)?;
            places.set(vertex, expanded.place)?;
            if states.graph.is_accepting(expanded.row) {
                accepting.set(vertex, 1)?;
                accepting_by_distance.push(&vertex.to_le_bytes())?;
            }
            for successor in expanded.successors {
                if set.bits.get(*successor)? == 1 {
                    pairs.push(pair(vertex, rank.rank(&mut set.bits, *successor)?), ())?;
                    n_pairs += 1;
                }
            }
        }
        Ok(true)
    })?;
    drop((visited, rank, set));
    accepting_by_distance.rest()?;
    let (forward, backward, n_edges) = adjacencies(states, len, n_pairs, pairs)?;
    let reached = states.array(len, 64, 3)?;
    let queue = RowQueue::new(disk, "vertices", RowLogOptions::smallest(NUMBER_BYTES, FileKind::Queue), budget);
    Ok(TrimmedGraph {
        len,
        n_edges,
        forward,
        backward,
        accepting,
        accepting_by_distance,
        places,
        tree,
        reached,
        n_searches: 0,
        queue,
    })
}

/// The edges forwards and backwards, of `n_pairs` pairs of which some may be equal; and how many there are.
fn adjacencies<'s>(
    states: &mut States<'s>,
    len: u64,
    n_pairs: u64,
    pairs: Pairs<'s>,
) -> Result<(Adjacency<'s>, Adjacency<'s>, u64), Halt> {
    let mut sorted = pairs.finish()?;
    let options = SortOptions::within::<u128, ()>(PAIR_BYTES, 0, states.memory(3));
    let mut reverse = Pairs::new(states.disk, "edges-backward", options, unit as Unit, states.context.budget)?;
    let (forward, n_edges) =
        adjacency(
            states,
            len,
            n_pairs,
            &mut sorted,
            &mut |source, target| Ok(reverse.push(pair(target, source), ())?),
        )?;
    sorted.remove_files()?;
    let mut sorted = reverse.finish()?;
    let (backward, _) = adjacency(states, len, n_edges, &mut sorted, &mut |_, _| Ok(()))?;
    sorted.remove_files()?;
    Ok((forward, backward, n_edges))
}

fn adjacency<'s>(
    states: &mut States<'s>,
    len: u64,
    n_pairs: u64,
    pairs: &mut impl RowStream<u128, ()>,
    see: &mut dyn FnMut(u64, u64) -> Result<(), Halt>,
) -> Result<(Adjacency<'s>, u64), Halt> {
    let mut starts = states.array(len + 1, NumberArray::bits_for(n_pairs), 5)?;
    let mut ends = states.array(n_pairs, NumberArray::bits_for(len), 4)?;
    let (mut next, mut n_edges) = (0, 0);
    loop {
        let (keys, _) = pairs.batch()?;
        if keys.is_empty() {
            break;
        }
        for key in keys {
            let (source, target) = ((key >> NUMBER_BITS) as u64, (key & ((1 << NUMBER_BITS) - 1)) as u64);
            while next <= source {
                starts.set(next, n_edges)?;
                next += 1;
            }
            ends.set(n_edges, target)?;
            n_edges += 1;
            see(source, target)?;
        }
        let n = keys.len();
        pairs.consume(n);
        states.attend(n_pairs - n_edges, None)?;
    }
    while next <= len {
        starts.set(next, n_edges)?;
        next += 1;
    }
    Ok((Adjacency { starts, ends }, n_edges))
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
        let place = self.places.get(vertex)?;
        Ok(self.tree.level_of(place))
    }

    /// The row of a vertex.
    pub(crate) fn row(&mut self, vertex: u64) -> Result<Vec<u8>, StorageError> {
        let place = self.places.get(vertex)?;
        self.tree.row_at(place)
    }

    /// A lasso with this cycle, entered where that is nearest to the initial states.
    pub(crate) fn lasso(&mut self, cycle: &[u64]) -> Result<Lasso, StorageError> {
        let mut nearest = (u64::MAX, 0);
        for (i, vertex) in cycle.iter().enumerate() {
            nearest = nearest.min((self.places.get(*vertex)?, i));
        }
        let mut prefix = self.tree.path_to(nearest.0)?;
        prefix.pop();
        let (before, after) = cycle.split_at(nearest.1);
        let cycle = after.iter().chain(before).map(|vertex| self.row(*vertex)).collect::<Result<_, _>>()?;
        Ok(Lasso { prefix, cycle })
    }

    /// The distance of a vertex in the search that was made last, if that reached it.
    pub(crate) fn distance(&mut self, vertex: u64) -> Result<Option<u64>, StorageError> {
        let entry = self.reached.get(vertex)?;
        Ok((entry >> DISTANCE_BITS == self.n_searches).then_some(entry & ((1 << DISTANCE_BITS) - 1)))
    }

    /// Searches breadth-first from a vertex. `see` is called for each edge that is followed, with the vertex that it leads to, the distance by that edge, and whether
    /// the vertex is reached for the first time; whether the search was stopped.
    pub(crate) fn search(
        &mut self,
        from: u64,
        direction: Direction,
        see: &mut dyn FnMut(&mut Self, u64, u64, bool) -> Result<Visit, Halt>,
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
