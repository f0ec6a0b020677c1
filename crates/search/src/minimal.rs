//! The shortest lasso: no path into an accepting cycle, together with one round of it, has fewer steps.
//!
//! The accepting state may be anywhere on the loop; where the path meets the loop is the *seed*. Accepting states are tried in the order of their distance. For one of them,
//! r, a search forwards tells how far it is from r to a seed, and one backwards how far from there to r; with the seed's own distance that is the length of the best lasso with that
//! seed. What has been found so far bounds all of it: nothing is looked at that only longer lassos go through. Then r is taken out of the graph, and with it what is on no
//! loop any more: all lassos with r on their loop have been looked at.
//!
//! # Paper
//! Edelkamp et al., *Flash memory efficient LTL model checking*, section 6; after Gastin and Moro, *Minimal counterexample generation for SPIN*, 2007.
//!
//! | paper | here |
//! |---|---|
//! | phase 1, `depth` | the tree of shortest paths, [`TrimmedGraph::depth`] |
//! | `opt` | `best.length` |
//! | `Accept`, those with `depth(r) < opt` | accepting vertices, which are in the order of their distance, up to the first that is too far |
//! | phase 2, `BFS-PQ` | `Search::forwards` |
//! | phase 3, `Prio-min` | `Search::backwards` |
//! | `Bounded-DFS` for the three paths | [`TrimmedGraph::way`], and the tree |
//!
//! *Deviations.* Searches stay within the components that have an accepting cycle (`trim.rs`, `accepting_components.rs`), so that none begins at an accepting state without a loop, as many are.
//! The edges that are left are on disk in both directions, as numbers; so phase 3 goes backwards from r and needs no queue by priority. A state that is not nearer
//! than the best lasso is long is not visited, since a lasso goes by its states in fewer steps than its length. The paper keeps the states that it has tried; a ring of accepting states would be
//! searched from each of them then. The path to a seed may still go through what was taken out: that is the tree's.
//!
//! # Invariants
//! 1. `best` is a lasso of the graph, or there is none yet.
//! 2. No lasso whose loop goes through an accepting state that was tried, or through anything else that is not in `remaining`, is shorter than `best`.
//! 3. No seed that is left is nearer than `nearest`.
//!
//! # Cost
//! That of trimming and of the edges; then for each accepting state that is near enough, and still there, two searches of what is left and nearer than `best`; what is taken out costs
//! the read of its edges once. 17 bytes for each vertex, in memory or on disk.

use crate::accepting_components::accepting_components;
use crate::enumerate::{Generation, HashPlacement, States, enumerate};
use crate::lasso::{Halt, Lasso, LassoSearch};
use crate::trimmed_graph::{Direction, Remaining, TrimmedGraph, Visit, saved_graph};
use crate::{Context, SearchError};
use lariat_graph::Graph;

const NAME: &str = "minimal";
/// The fraction of a stack that goes to disk at once.
const RHO: f64 = 0.5;

/// Looks for a shortest lasso.
pub fn find_lasso(graph: &dyn Graph, placement: HashPlacement, context: &Context) -> Result<LassoSearch, SearchError> {
    let mut states = match enumerate(graph, context, NAME, Generation::Disk, placement) {
        Ok(states) => states,
        Err(stopped) => return stopped.into_result(),
    };
    let ended = shortest_lasso(&mut states);
    states.finish(ended)
}

fn shortest_lasso(states: &mut States<'_>) -> Result<Option<Lasso>, Halt> {
    let Some(mut search) = Search::begin(states)? else { return Ok(None) };
    search.run()?;
    search.lasso()
}

/// The best lasso so far.
struct Best {
    length: u64,
    seed: u64,
    accepting: u64,
}

struct Search<'m, 's> {
    states: &'m mut States<'s>,
    graph: TrimmedGraph<'s>,
    remaining: Remaining<'s>,
    /// For each vertex the round that reached it forwards last, and the distance from that round's accepting vertex.
    distances: lariat_storage::NumberArray<'s>,
    round: u64,
    best: Best,
    /// The first vertex that is left, and its distance from the initial states.
    nearest: (u64, u64),
}

impl<'m, 's> Search<'m, 's> {
    /// The search, if there is any accepting cycle.
    fn begin(states: &'m mut States<'s>) -> Result<Option<Self>, Halt> {
        if states.counts.accepting == 0 {
            return Ok(None);
        }
        let Some(mut saved) = saved_graph(states)? else { return Ok(None) };
        if accepting_components(states, &mut saved)?.len == 0 {
            return Ok(None);
        }
        states.begin_phase("shortest");
        let distances = states.array(saved.inner_len()?, 64, 3)?;
        let mut graph = saved.load(states)?;
        let mut remaining = Remaining::new(states, graph.len, 1, RHO)?;
        remaining.begin_round(states, &mut graph)?;
        let best = Best { length: u64::MAX, seed: 0, accepting: 0 };
        let nearest = (0, graph.depth(0)?);
        Ok(Some(Self { states, graph, remaining, distances, round: 0, best, nearest }))
    }

    /// Tries accepting vertices until no other can be on a shorter lasso.
    fn run(&mut self) -> Result<(), Halt> {
        let len = self.graph.len;
        for accepting in 0..len {
            if self.graph.accepting.get(accepting)? == 0 || self.remaining.is_deleted(accepting)? {
                continue;
            }
            if self.graph.depth(accepting)? + 1 >= self.best.length {
                break;
            }
            if self.round == u64::from(u32::MAX) {
                self.distances.clear();
                self.round = 0;
            }
            self.round += 1;
            self.states.attend(len - accepting, None)?;
            if self.forwards(accepting)? {
                self.backwards(accepting)?;
            }
            self.remaining.delete(self.states, &mut self.graph, accepting)?;
            if !self.find_nearest()? {
                break;
            }
        }
        Ok(())
    }

    /// Whether any vertex is left, of which the first is noted.
    fn find_nearest(&mut self) -> Result<bool, Halt> {
        let mut vertex = self.nearest.0;
        while vertex < self.graph.len && self.remaining.is_deleted(vertex)? {
            vertex += 1;
        }
        if vertex == self.graph.len {
            return Ok(false);
        }
        self.nearest = (vertex, self.graph.depth(vertex)?);
        Ok(true)
    }

    /// How far it is from an accepting vertex to all that matter; whether one of them is the vertex itself.
    fn forwards(&mut self, accepting: u64) -> Result<bool, Halt> {
        let (distances, best, states) = (&mut self.distances, &mut self.best, &mut self.states);
        let (round, remaining, nearest) = (self.round << 32, &mut self.remaining, self.nearest.1);
        let depth = self.graph.depth(accepting)?;
        let mut has_loop = false;
        distances.set(accepting, round)?;
        self.graph.search(accepting, Direction::Forward, &mut |graph, end, distance, is_new| {
            // The loop has so many edges, whatever its seed is.
            if nearest + distance >= best.length {
                return Ok(Visit::Stop);
            }
            if remaining.is_deleted(end)? {
                return Ok(Visit::Skip);
            }
            if end == accepting {
                has_loop = true;
                if depth + distance < best.length {
                    *best = Best { length: depth + distance, seed: accepting, accepting };
                }
            } else if is_new {
                if graph.depth(end)? + 1 >= best.length {
                    return Ok(Visit::Skip);
                }
                distances.set(end, round | distance)?;
                states.attend(0, Some(distance))?;
            }
            Ok(Visit::Expand)
        })?;
        Ok(has_loop)
    }

    /// How far it is to an accepting vertex: the best seed among those that it reaches.
    fn backwards(&mut self, accepting: u64) -> Result<(), Halt> {
        let (distances, best, states, round) = (&mut self.distances, &mut self.best, &mut self.states, self.round);
        let nearest = self.nearest.1;
        self.graph.search(accepting, Direction::Backward, &mut |graph, end, back, is_new| {
            if nearest + back + 1 >= best.length {
                return Ok(Visit::Stop);
            }
            if end == accepting || !is_new {
                return Ok(Visit::Skip);
            }
            // What is deleted was not reached forwards.
            let entry = distances.get(end)?;
            if entry >> 32 != round {
                return Ok(Visit::Skip);
            }
            let length = graph.depth(end)? + (entry & u64::from(u32::MAX)) + back;
            if length < best.length {
                *best = Best { length, seed: end, accepting };
            }
            states.attend(0, Some(back))?;
            Ok(Visit::Expand)
        })?;
        Ok(())
    }

    /// The path, and the loop through the seed and the accepting state.
    fn lasso(mut self) -> Result<Option<Lasso>, Halt> {
        let Best { length, seed, accepting } = self.best;
        if length == u64::MAX {
            return Ok(None);
        }
        let mut cycle = self.graph.way(seed, accepting)?;
        if seed != accepting {
            cycle.extend(self.graph.way(accepting, seed)?);
        }
        // The seed is the nearest vertex of the cycle, or another one is as near.
        let lasso = self.graph.lasso(&cycle)?;
        if (lasso.prefix.len() + lasso.cycle.len()) as u64 != length {
            return Err(Halt::Error(SearchError::PathLost));
        }
        Ok(Some(lasso))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::{MemoryBudget, SilentObserver, StopSignal};
    use lariat_disk::FaultyDisk;
    use lariat_testkit::RandomGraph;

    /// How many accepting states are tried, and the length of the shortest lasso.
    fn rounds(graph: &RandomGraph, memory_bytes: u64) -> (u64, u64) {
        let (budget, stop, disk) = (MemoryBudget::new(memory_bytes), StopSignal::new(None), FaultyDisk::default());
        let (disk, observer) = (Some(&disk as _), &SilentObserver);
        let context = Context { budget: &budget, stop: &stop, observer, threads: 1, disk, labels: &[] };
        let Ok(mut states) = enumerate(graph, &context, NAME, Generation::Disk, HashPlacement::Auto) else {
            panic!("no states")
        };
        let Ok(Some(mut search)) = Search::begin(&mut states) else { panic!("no cycles") };
        assert!(search.run().is_ok());
        (search.round, search.best.length)
    }

    #[test]
    fn a_ring_of_accepting_states_is_searched_once() {
        for memory_bytes in [2 << 20, 64 << 20] {
            assert_eq!(rounds(&RandomGraph::plain_ring(30_000).with_all_accepting(true), memory_bytes), (1, 30_000));
        }
    }
}
