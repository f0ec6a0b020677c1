//! Every elementary accepting cycle of every component, exactly once.
//!
//! Johnson's algorithm: a depth-first search from an accepting vertex keeps a path without repetitions. A vertex that was left without finding a cycle stays *blocked* until a vertex is
//! unblocked to which it has an edge, so that no part of the graph is searched in vain twice between two cycles. When all cycles through the vertex were
//! found it is deleted, and what is on no cycle any more with it.
//!
//! # Paper
//! Algorithm 5, `FACA`. `ASCCof` is [`Members`]; `B(t)` is a mark on the edges that end in t; `blocked` and B are emptied by counting rounds. The stack's lower part is on disk
//! (DPM). *Deviation.* The paper deletes the accepting vertex only. A ring of accepting vertices would be walked along from each of them then.
//!
//! # Invariants
//! 1. The vertices on the stack are different, and all are blocked.
//! 2. `incoming` and `outgoing` count the edges inside of a vertex's component between vertices that were not deleted; none of these is 0.
//!
//! # Cost
//! O(n + e) between two cycles and for each accepting vertex that is left. 12 bytes for each vertex and 4 for each edge, in memory or on disk.

use super::components::Members;
use super::{Each, FoundCycle};
use crate::enumerate::States;
use crate::lasso::Halt;
use crate::trimmed_graph::{NUMBER_BYTES, TrimmedGraph};
use lariat_storage::{NumberArray, RowStack};

/// A vertex, the place of its next edge, and whether a cycle was found through it.
const FRAME_BYTES: usize = 2 * NUMBER_BYTES + 1;
const FLAG: usize = 2 * NUMBER_BYTES;

pub(super) struct Elementary<'e, 's> {
    states: &'e mut States<'s>,
    graph: TrimmedGraph<'s>,
    members: Members<'s>,
    /// The accepting vertex whose turn it is, counted; what is marked with another number is not marked.
    round: u64,
    blocked: NumberArray<'s>,
    /// For each edge backwards, from t to u: whether u is in B(t).
    waits: NumberArray<'s>,
    incoming: NumberArray<'s>,
    outgoing: NumberArray<'s>,
    stack: RowStack<'s>,
    /// Vertices that are to be unblocked, or to be deleted.
    waiting: RowStack<'s>,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Calls `see` with each cycle; whether there are no more than those.
pub(super) type Cycles<'a> = Each<'a>;

impl<'e, 's> Elementary<'e, 's> {
    pub(super) fn new(
        states: &'e mut States<'s>,
        graph: TrimmedGraph<'s>,
        members: Members<'s>,
        rho: f64,
    ) -> Result<Self, Halt> {
        let blocked = states.array(graph.len, 32, 6)?;
        let waits = states.array(graph.n_edges, 32, 4)?;
        let incoming = states.array(graph.len, 32, 5)?;
        let outgoing = states.array(graph.len, 32, 4)?;
        let (disk, budget) = (states.disk, states.context.budget);
        let stack = RowStack::new(disk, "path", FRAME_BYTES, states.memory(4), rho, budget);
        let waiting = RowStack::new(disk, "unblocked", NUMBER_BYTES, states.memory(8), rho, budget);
        Ok(Self { states, graph, members, round: 0, blocked, waits, incoming, outgoing, stack, waiting })
    }

    /// Calls `each` with every cycle; whether there are no more than those.
    pub(super) fn find(mut self, each: &mut Cycles<'_>) -> Result<bool, Halt> {
        self.count_edges()?;
        let n_accepting = self.graph.accepting_by_distance.len();
        let mut reader = self.graph.accepting_by_distance.reader(0..n_accepting, 2)?;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                return Ok(true);
            }
            for row in rows.iter() {
                let start = number(row, 0);
                if let Some(component) = self.members.component(start)? {
                    self.round += 1;
                    if !self.cycles_through(start, component, each)? {
                        return Ok(false);
                    }
                    self.delete(start)?;
                }
            }
        }
    }

    fn is_inside(&mut self, vertex: u64, component: u64) -> Result<bool, Halt> {
        Ok(self.members.component(vertex)? == Some(component))
    }

    /// Counts the edges inside of components.
    fn count_edges(&mut self) -> Result<(), Halt> {
        let mut ends = Vec::new();
        for vertex in 0..self.graph.len {
            let Some(component) = self.members.component(vertex)? else { continue };
            self.graph.forward.of(vertex, &mut ends)?;
            for end in &ends {
                if self.is_inside(*end, component)? {
                    Self::count_more(&mut self.outgoing, vertex)?;
                    Self::count_more(&mut self.incoming, *end)?;
                }
            }
            self.states.attend(self.graph.len - vertex, None)?;
        }
        Ok(())
    }

    /// `dfs`: all cycles through a vertex within its component; whether there are no more than those that were handed on.
    fn cycles_through(&mut self, start: u64, component: u64, each: &mut Cycles<'_>) -> Result<bool, Halt> {
        self.enter(start)?;
        while let Some(top) = self.stack.top() {
            let (vertex, place) = (number(top, 0), number(top, NUMBER_BYTES));
            if place == self.graph.forward.range(vertex)?.end {
                self.leave(component)?;
                continue;
            }
            self.set_next(place + 1);
            let end = self.graph.forward.end(place)?;
            if !self.is_inside(end, component)? {
                continue;
            }
            if end == start {
                self.set_flag();
                if !self.hand_on(component, each)? {
                    return Ok(false);
                }
            } else if self.blocked.get(end)? != self.round {
                self.enter(end)?;
            }
        }
        Ok(true)
    }

    fn enter(&mut self, vertex: u64) -> Result<(), Halt> {
        self.states.attend(0, Some(self.stack.len()))?;
        let mut frame = [0; FRAME_BYTES];
        frame[..NUMBER_BYTES].copy_from_slice(&vertex.to_le_bytes());
        frame[NUMBER_BYTES..FLAG].copy_from_slice(&self.graph.forward.range(vertex)?.start.to_le_bytes());
        self.stack.push(&frame)?;
        Ok(self.blocked.set(vertex, self.round)?)
    }

    fn set_next(&mut self, place: u64) {
        if let Some(top) = self.stack.top_mut() {
            top[NUMBER_BYTES..FLAG].copy_from_slice(&place.to_le_bytes());
        }
    }

    fn set_flag(&mut self) {
        if let Some(top) = self.stack.top_mut() {
            top[FLAG] = 1;
        }
    }

    /// Takes the last vertex from the path: it is unblocked if there was a cycle, and else waits for those that its edges lead to.
    fn leave(&mut self, component: u64) -> Result<(), Halt> {
        let Some(top) = self.stack.top() else { return Ok(()) };
        let (vertex, has_cycle) = (number(top, 0), top[FLAG] == 1);
        self.stack.pop()?;
        if has_cycle {
            self.set_flag();
            return self.unblock(vertex);
        }
        for place in self.graph.forward.range(vertex)? {
            let end = self.graph.forward.end(place)?;
            if self.is_inside(end, component)? {
                let edge = self.edge_backwards(end, vertex)?;
                self.waits.set(edge, self.round)?;
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

    /// Unblocks a vertex and all that wait for it.
    fn unblock(&mut self, vertex: u64) -> Result<(), Halt> {
        self.waiting.push(&vertex.to_le_bytes())?;
        while let Some(top) = self.waiting.top() {
            let vertex = number(top, 0);
            self.waiting.pop()?;
            self.blocked.set(vertex, 0)?;
            for place in self.graph.backward.range(vertex)? {
                if self.waits.get(place)? == self.round {
                    self.waits.set(place, 0)?;
                    let source = self.graph.backward.end(place)?;
                    if self.blocked.get(source)? == self.round {
                        self.waiting.push(&source.to_le_bytes())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Hands the cycle on that the path is.
    fn hand_on(&mut self, component: u64, each: &mut Cycles<'_>) -> Result<bool, Halt> {
        let mut vertices = Vec::new();
        self.stack.for_each(|frame| vertices.push(number(frame, 0)))?;
        Ok(each(&mut FoundCycle { graph: &mut self.graph, vertices: &vertices, component })?)
    }

    /// Deletes a vertex, and all that are on no cycle any more.
    fn delete(&mut self, vertex: u64) -> Result<(), Halt> {
        self.waiting.push(&vertex.to_le_bytes())?;
        while let Some(top) = self.waiting.top() {
            let vertex = number(top, 0);
            self.waiting.pop()?;
            let Some(component) = self.members.component(vertex)? else { continue };
            self.members.remove(vertex)?;
            for place in self.graph.forward.range(vertex)? {
                let end = self.graph.forward.end(place)?;
                if self.is_inside(end, component)? && Self::is_last(&mut self.incoming, end)? {
                    self.waiting.push(&end.to_le_bytes())?;
                }
            }
            for place in self.graph.backward.range(vertex)? {
                let end = self.graph.backward.end(place)?;
                if self.is_inside(end, component)? && Self::is_last(&mut self.outgoing, end)? {
                    self.waiting.push(&end.to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    fn count_more(counter: &mut NumberArray<'s>, vertex: u64) -> Result<(), Halt> {
        let before = counter.get(vertex)?;
        Ok(counter.set(vertex, before + 1)?)
    }

    /// Counts an edge less; whether none is left.
    fn is_last(counter: &mut NumberArray<'s>, vertex: u64) -> Result<bool, Halt> {
        let left = counter.get(vertex)?.saturating_sub(1);
        counter.set(vertex, left)?;
        Ok(left == 0)
    }
}
