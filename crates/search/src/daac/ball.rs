//! What lies near a vertex, in memory: enough of the graph to have all cycles through the vertex up to some length.
//!
//! Two breadth-first searches, forwards and backwards, go on level by level, the one with fewer vertices to expand first. When the one has gone f steps and the other b, every
//! cycle of up to f + b steps is there: its first f edges begin at vertices that the one has expanded, its last b edges end at vertices that the other has. If either comes to
//! its end, all cycles are there.
//!
//! # Invariants
//! 1. Vertex 0 of the ball is the start. Edges are those of whole levels: a level that became too large leaves none.
//!
//! # Cost
//! It reads the edges of the vertices that it expands, and stops before these are more than it may hold. [`BYTES`] for each vertex and edge.

use crate::enumerate::States;
use crate::lasso::Halt;
use crate::trimmed_graph::{Direction, TrimmedGraph};

/// What a vertex, or an edge, takes at most, here and in `core.rs`, with the room that growing vectors leave.
pub(super) const BYTES: u64 = 256;
/// Slots of the table for each vertex that there may be, as a power of two.
const SLOTS: u32 = 1;

/// How far a ball reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All cycles are in it.
    All,
    /// All cycles of up to so many edges are, and longer ones were not wanted.
    Wanted(u64),
    /// All cycles of up to so many edges are; there was no room for more.
    Full(u64),
}

#[derive(Clone, Copy, Default)]
struct Slot {
    vertex: u64,
    ball: u32,
    place: u32,
}

/// A vertex of a ball: which searches came to it, and whether the one forwards expanded it.
#[derive(Clone, Copy)]
struct Member {
    vertex: u64,
    seen: [bool; 2],
    is_expanded: bool,
}

const FORWARD: usize = 0;
const BACKWARD: usize = 1;

#[derive(Default)]
pub(super) struct Ball {
    slots: Vec<Slot>,
    /// The number of this ball: slots of others are empty.
    ball: u32,
    mask: usize,
    members: Vec<Member>,
    /// Edges as they lie in the graph, by the search that followed them.
    edges: [Vec<(u32, u32)>; 2],
    frontier: [Vec<u32>; 2],
    next: Vec<u32>,
    ends: Vec<u64>,
    /// Whether the searches met, or one of them came back to the start: else there is no cycle.
    have_met: bool,
}

impl Ball {
    /// A ball that may hold so many vertices and edges.
    pub(super) fn new(size_max: u64) -> Self {
        let slots = (size_max.max(2) as usize).next_power_of_two() << SLOTS;
        Self { slots: vec![Slot::default(); slots], ..Self::default() }
    }

    /// Finds what is near a start, up to `size_max` vertices and edges, as far as cycles of up to `length_max` edges need it. Smaller accepting vertices are left out: cycles
    /// through those are found from there.
    pub(super) fn grow<'s>(
        &mut self,
        states: &mut States<'s>,
        graph: &mut TrimmedGraph<'s>,
        start: u64,
        size_max: u64,
        length_max: u64,
    ) -> Result<Reach, Halt> {
        self.begin(start, size_max);
        let (mut size, mut length) = (0, 0);
        let reach = loop {
            if self.frontier.iter().any(Vec::is_empty) {
                break Reach::All;
            }
            if length >= length_max {
                break Reach::Wanted(length);
            }
            let direction = usize::from(self.frontier[BACKWARD].len() <= self.frontier[FORWARD].len());
            if !self.expand(states, graph, direction, &mut size, size_max)? {
                break Reach::Full(length);
            }
            length += 1;
        };
        Ok(reach)
    }

    fn begin(&mut self, start: u64, size_max: u64) {
        self.ball = self.ball.wrapping_add(1);
        if self.ball == 0 {
            self.slots.fill(Slot::default());
            self.ball = 1;
        }
        self.mask = ((size_max.max(2) as usize).next_power_of_two() << SLOTS).min(self.slots.len()) - 1;
        self.members.clear();
        self.edges.iter_mut().for_each(Vec::clear);
        self.have_met = false;
        let place = self.place(start);
        self.members[place as usize].seen = [true; 2];
        for frontier in &mut self.frontier {
            frontier.clear();
            frontier.push(place);
        }
    }

    /// The place of a vertex among the members, which it becomes one of.
    fn place(&mut self, vertex: u64) -> u32 {
        let mut at = (vertex.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & self.mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.ball != self.ball {
                let place = self.members.len() as u32;
                *slot = Slot { vertex, ball: self.ball, place };
                self.members.push(Member { vertex, seen: [false; 2], is_expanded: false });
                return place;
            }
            if slot.vertex == vertex {
                return slot.place;
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Goes one step on; false if there is no room for that.
    fn expand<'s>(
        &mut self,
        states: &mut States<'s>,
        graph: &mut TrimmedGraph<'s>,
        direction: usize,
        size: &mut u64,
        size_max: u64,
    ) -> Result<bool, Halt> {
        let n_edges = self.edges[direction].len();
        let frontier = std::mem::take(&mut self.frontier[direction]);
        let mut ends = std::mem::take(&mut self.ends);
        let (start, mut has_room) = (self.members[0].vertex, true);
        for from in &frontier {
            states.attend(0, None)?;
            let vertex = self.members[*from as usize].vertex;
            let way = if direction == FORWARD { Direction::Forward } else { Direction::Backward };
            let range = graph.adjacency(way).range(vertex)?;
            *size += 1 + range.end - range.start;
            if *size > size_max {
                has_room = false;
                break;
            }
            graph.adjacency(way).of(vertex, &mut ends)?;
            for end in &ends {
                if *end >= start || graph.accepting.get(*end)? == 0 {
                    self.follow(*from, *end, direction);
                }
            }
        }
        self.ends = ends;
        if has_room {
            if direction == FORWARD {
                frontier.iter().for_each(|place| self.members[*place as usize].is_expanded = true);
            }
            std::mem::swap(&mut self.frontier[direction], &mut self.next);
        } else {
            self.edges[direction].truncate(n_edges);
        }
        self.next = frontier;
        self.next.clear();
        Ok(has_room)
    }

    fn follow(&mut self, from: u32, end: u64, direction: usize) {
        let place = self.place(end);
        self.edges[direction].push(if direction == FORWARD { (from, place) } else { (place, from) });
        let member = &mut self.members[place as usize];
        self.have_met |= member.seen[1 - direction];
        if !std::mem::replace(&mut member.seen[direction], true) {
            self.next.push(place);
        }
    }

    /// Whether there may be a cycle.
    pub(super) fn may_have_cycle(&self) -> bool {
        self.have_met
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn vertex(&self, place: u32) -> u64 {
        self.members[place as usize].vertex
    }

    /// Calls `see` with all edges, each once.
    pub(super) fn for_each_edge(&self, mut see: impl FnMut(u32, u32)) {
        self.edges[FORWARD].iter().for_each(|(source, target)| see(*source, *target));
        for (source, target) in &self.edges[BACKWARD] {
            // The other search has followed all edges of what it expanded.
            if !self.members[*source as usize].is_expanded {
                see(*source, *target);
            }
        }
    }
}
