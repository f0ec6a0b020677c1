//! The elementary accepting cycles of every component that are too far from each other to be found in memory (`near.rs`), exactly once, short ones before long ones.
//!
//! A depth-first search from an accepting vertex keeps a path without repetitions. A vertex that was left without finding a cycle stays *blocked* until one is found to which it
//! has a way, so that no part of the graph is searched in vain twice between two cycles. When all cycles through the accepting vertex were found it is deleted, and what is on no
//! cycle any more with it ([`Remaining`]).
//!
//! In a large component most cycles are as long as the component is large, and a search without a bound would find those first. So there are rounds: each
//! looks for cycles of up to twice the length that were not found before. In the last round no cycle can be longer than the bound. Bounds that are too
//! short cost little, since nothing beyond is visited.
//!
//! # Paper
//! Algorithm 5, `FACA`. `ASCCof` is what is left of [`AcceptingComponents`]; `B(t)` is a mark on the edges that end in t; both, and what is blocked, are emptied by counting searches. The stack's lower
//! part is on disk (DPM). *Deviations.* The bound on the length, for which `blocked` becomes a number: a vertex may be entered if the path to it is shorter than its *lock* (Gupta and
//! Suzumura, *Finding all bounded-length simple cycles in a directed graph*, 2021; a vertex with a cycle is opened for all paths, since a shorter way back may only be blocked). In the last round locks are open or closed, and that is Johnson's algorithm again. The paper deletes the accepting vertex
//! only; a ring of accepting vertices would be walked along from each of them then.
//!
//! # Invariants
//! 1. The vertices on the stack are different.
//! 2. A vertex's lock is larger than the length of a path to it only if a cycle within the bound may be found that way.
//!
//! # Cost
//! O(bound * (n + e)) between two cycles and for each accepting vertex that is left, in each of log(n) rounds. 18 bytes for each vertex and 4 for each edge, in memory or on disk.

use super::near::Done;
use super::{Each, FoundCycle};
use crate::accepting_components::AcceptingComponents;
use crate::enumerate::States;
use crate::lasso::Halt;
use crate::trimmed_graph::{NUMBER_BYTES, Remaining, TrimmedGraph};
use lariat_storage::{NumberArray, RowStack};

/// A vertex, the place of its next edge, and whether a cycle was found through it.
const FRAME_BYTES: usize = 3 * NUMBER_BYTES;
const NEXT: usize = NUMBER_BYTES;
const FLAG: usize = 2 * NUMBER_BYTES;
/// Bits of a lock; the others say which search it is of.
const LOCK_BITS: u32 = 32;
/// Rounds that there can be: each allows cycles twice as long as the one before.
const ROUNDS_MAX: u64 = 64;

pub(super) struct Elementary<'e, 's> {
    states: &'e mut States<'s>,
    graph: TrimmedGraph<'s>,
    components: AcceptingComponents<'s>,
    /// A cycle that was handed on before the first round, from its first accepting vertex on.
    first: Vec<u64>,
    /// Up to which length the cycles of each start were handed on before the first round, and those of this one.
    done: Done<'s>,
    done_of_start: u64,
    /// Searches from an accepting vertex, so far: what is marked with another number is not marked.
    search: u64,
    /// Cycles of this round are longer than `found`, and not longer than `bound`.
    found: u64,
    bound: u64,
    locks: NumberArray<'s>,
    on_path: NumberArray<'s>,
    /// For each edge backwards, from t to u: whether u is in B(t).
    waits: NumberArray<'s>,
    remaining: Remaining<'s>,
    stack: RowStack<'s>,
    /// Vertices whose locks are to be opened, each with the edges from there to the start.
    waiting: RowStack<'s>,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn two_numbers(first: u64, second: u64) -> [u8; 2 * NUMBER_BYTES] {
    let mut bytes = [0; 2 * NUMBER_BYTES];
    bytes[..NUMBER_BYTES].copy_from_slice(&first.to_le_bytes());
    bytes[NUMBER_BYTES..].copy_from_slice(&second.to_le_bytes());
    bytes
}

impl<'e, 's> Elementary<'e, 's> {
    pub(super) fn new(
        states: &'e mut States<'s>,
        graph: TrimmedGraph<'s>,
        components: AcceptingComponents<'s>,
        first: Vec<u64>,
        (found, done): (u64, Done<'s>),
        rho: f64,
    ) -> Result<Self, Halt> {
        let locks = states.array(graph.len, 64, 6)?;
        let waits = states.array(graph.n_edges, 32, 4)?;
        let remaining = Remaining::new(states, graph.len, ROUNDS_MAX, rho)?;
        let on_path = states.array(graph.len, 1, 8)?;
        let (disk, budget) = (states.disk, states.context.budget);
        let stack = RowStack::new(disk, "path", FRAME_BYTES, states.memory(4), rho, budget);
        let waiting = RowStack::new(disk, "unblocked", 2 * NUMBER_BYTES, states.memory(8), rho, budget);
        let (search, bound) = (0, 0);
        Ok(Self {
            states,
            graph,
            components,
            first,
            done,
            done_of_start: 0,
            search,
            found,
            bound,
            locks,
            on_path,
            waits,
            remaining,
            stack,
            waiting,
        })
    }

    /// Calls `each` with every cycle; whether there are no more than those.
    pub(super) fn find(mut self, each: &mut Each<'_>) -> Result<bool, Halt> {
        loop {
            self.bound = (2 * self.found).max(1).min(self.components.largest);
            if !self.find_round(each)? {
                return Ok(false);
            }
            if self.is_last_round() {
                return Ok(true);
            }
            self.found = self.bound;
        }
    }

    /// All cycles of a round; false if no more are wanted.
    fn find_round(&mut self, each: &mut Each<'_>) -> Result<bool, Halt> {
        self.remaining.begin_round(self.states, &mut self.graph)?;
        for start in 0..self.graph.len {
            if self.graph.accepting.get(start)? == 0 || self.remaining.is_deleted(start)? {
                continue;
            }
            if let Some(done) = self.done.length(start)? {
                self.done_of_start = done.max(self.found);
                self.next_search();
                if done < self.bound && !self.cycles_through(start, each)? {
                    return Ok(false);
                }
            }
            self.remaining.delete(self.states, &mut self.graph, start)?;
        }
        Ok(true)
    }

    /// Begins another search: no vertex is locked, and none waits.
    fn next_search(&mut self) {
        if self.search == u64::from(u32::MAX) {
            self.locks.clear();
            self.waits.clear();
            self.search = 0;
        }
        self.search += 1;
    }

    /// The path to a vertex must be shorter than this for it to be entered.
    fn lock(&mut self, vertex: u64) -> Result<u64, Halt> {
        let entry = self.locks.get(vertex)?;
        let is_set = entry >> LOCK_BITS == self.search;
        Ok(if is_set { entry & ((1 << LOCK_BITS) - 1) } else { self.bound })
    }

    fn set_lock(&mut self, vertex: u64, lock: u64) -> Result<(), Halt> {
        Ok(self.locks.set(vertex, self.search << LOCK_BITS | lock)?)
    }

    /// `dfs`: all cycles of the round through a vertex within its component; false if no more are wanted.
    fn cycles_through(&mut self, start: u64, each: &mut Each<'_>) -> Result<bool, Halt> {
        self.enter(start)?;
        while let Some(top) = self.stack.top() {
            let (vertex, place) = (number(top, 0), number(top, NEXT));
            if place == self.graph.forward.range(vertex)?.end {
                self.leave()?;
                continue;
            }
            self.set_top(NEXT, place + 1);
            let end = self.graph.forward.end(place)?;
            if self.remaining.is_deleted(end)? {
                continue;
            }
            if end == start {
                self.set_top(FLAG, 1);
                if self.stack.len() > self.done_of_start && !self.hand_on(start, each)? {
                    return Ok(false);
                }
            } else if self.stack.len() < self.lock(end)? {
                self.enter(end)?;
            }
        }
        Ok(true)
    }

    fn enter(&mut self, vertex: u64) -> Result<(), Halt> {
        self.states.attend(0, Some(self.stack.len()))?;
        let mut frame = [0; FRAME_BYTES];
        frame[..NEXT].copy_from_slice(&vertex.to_le_bytes());
        frame[NEXT..FLAG].copy_from_slice(&self.graph.forward.range(vertex)?.start.to_le_bytes());
        self.stack.push(&frame)?;
        self.on_path.set(vertex, 1)?;
        let edges = self.stack.len() - 1;
        self.set_lock(vertex, if self.is_last_round() { 0 } else { edges })
    }

    /// Whether no cycle can be longer than the bound.
    fn is_last_round(&self) -> bool {
        self.bound == self.components.largest
    }

    /// Replaces a number of the frame on top.
    fn set_top(&mut self, at: usize, number: u64) {
        if let Some(top) = self.stack.top_mut() {
            top[at..at + NUMBER_BYTES].copy_from_slice(&number.to_le_bytes());
        }
    }

    /// Takes the last vertex from the path: its lock is opened if there was a cycle, and else it waits for those that its edges lead to.
    fn leave(&mut self) -> Result<(), Halt> {
        let Some(top) = self.stack.top() else { return Ok(()) };
        let (vertex, has_cycle) = (number(top, 0), number(top, FLAG) == 1);
        self.stack.pop()?;
        self.on_path.set(vertex, 0)?;
        if has_cycle {
            self.set_top(FLAG, 1);
            return self.open_locks(vertex);
        }
        for place in self.graph.forward.range(vertex)? {
            let end = self.graph.forward.end(place)?;
            if !self.remaining.is_deleted(end)? {
                let edge = self.edge_backwards(end, vertex)?;
                self.waits.set(edge, self.search)?;
            }
        }
        Ok(())
    }

    /// The place of an edge among those backwards, which are in the order of their other ends.
    fn edge_backwards(&mut self, target: u64, source: u64) -> Result<u64, Halt> {
        let range = self.graph.backward.range(target)?;
        let (mut from, mut to) = (range.start, range.end);
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.graph.backward.end(middle)? <= source { from = middle } else { to = middle }
        }
        Ok(from)
    }

    /// `unblock`: a vertex through which there was a cycle may be entered by any path; those that wait for it by paths that leave room for the edges between, of which there
    /// are `back` at least to the start.
    fn open_locks(&mut self, vertex: u64) -> Result<(), Halt> {
        self.waiting.push(&two_numbers(vertex, 1))?;
        while let Some(top) = self.waiting.top() {
            let (vertex, back) = (number(top, 0), number(top, NUMBER_BYTES));
            self.waiting.pop()?;
            let lock = if self.is_last_round() { self.bound } else { (self.bound + 1).saturating_sub(back) };
            if self.lock(vertex)? >= lock {
                continue;
            }
            self.set_lock(vertex, lock)?;
            for place in self.graph.backward.range(vertex)? {
                if self.waits.get(place)? == self.search {
                    let source = self.graph.backward.end(place)?;
                    if self.on_path.get(source)? == 0 {
                        self.waiting.push(&two_numbers(source, back + 1))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Hands the cycle on that the path is.
    fn hand_on(&mut self, start: u64, each: &mut Each<'_>) -> Result<bool, Halt> {
        let mut vertices = Vec::new();
        self.stack.for_each(|frame| vertices.push(number(frame, 0)))?;
        if vertices == self.first {
            return Ok(true);
        }
        let component = self.components.component(start)?;
        Ok(each(&mut FoundCycle { graph: &mut self.graph, vertices: &vertices, component })?)
    }
}
