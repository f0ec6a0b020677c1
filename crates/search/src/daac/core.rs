//! All cycles through the start of a ball, of some lengths, in memory.
//!
//! Of the ball (`ball.rs`) only edges are kept that lie on a closed walk from the start that is not too long. In that, a depth-first search as in `elementary.rs` finds the cycles.
//! A vertex's lock says at first how far it is from there back to the start: so nothing is entered in vain but for what lies on the path already.
//!
//! # Invariants
//! 1. A vertex's lock is larger than the length of a path to it only if a cycle within the bound may be found that way.
//!
//! # Cost
//! O(bound * edges) between two cycles.

use super::ball::Ball;
use crate::lasso::Halt;

/// A distance that is none.
const FAR: u32 = u32::MAX;

struct Frame {
    vertex: u32,
    next: u32,
    has_cycle: bool,
}

/// Edges by their source, and by their target: the place of each among the former.
#[derive(Default)]
pub(super) struct Core {
    sources: Vec<u32>,
    targets: Vec<u32>,
    /// Where the edges of each vertex begin.
    forward: Vec<u32>,
    backward: Vec<u32>,
    into: Vec<u32>,
    /// Whether the source of an edge waits for its target.
    waits: Vec<bool>,
    from_start: Vec<u32>,
    to_start: Vec<u32>,
    queue: Vec<(u32, u32)>,
    locks: Vec<u32>,
    on_path: Vec<bool>,
    path: Vec<Frame>,
    bound: u32,
}

/// Called for every vertex that is entered, with the length of the path.
pub(super) type Attend<'a> = dyn FnMut(u64) -> Result<(), Halt> + 'a;
/// Takes a cycle as places of a ball; false ends the search.
pub(super) type EachPath<'a> = dyn FnMut(&mut dyn Iterator<Item = u32>) -> Result<bool, Halt> + 'a;

impl Core {
    /// Keeps of a ball what is on closed walks from its start of up to `bound` edges; whether there are any cycles, however long.
    pub(super) fn keep(&mut self, ball: &Ball, bound: u64) -> bool {
        // No cycle is longer than there are vertices.
        self.bound = u32::try_from(bound).unwrap_or(u32::MAX).min(ball.len() as u32);
        self.arrange(ball, |_, _| true);
        self.measure(ball.len());
        let (from_start, to_start) = (std::mem::take(&mut self.from_start), std::mem::take(&mut self.to_start));
        let length = |source: u32, target: u32| {
            from_start[source as usize].saturating_add(1).saturating_add(to_start[target as usize])
        };
        let mut shortest = FAR;
        let bound = self.bound;
        self.arrange(ball, |source, target| {
            shortest = shortest.min(length(source, target));
            length(source, target) <= bound
        });
        (self.from_start, self.to_start) = (from_start, to_start);
        shortest != FAR
    }

    /// Takes edges of a ball, sorted both ways.
    fn arrange(&mut self, ball: &Ball, mut is_kept: impl FnMut(u32, u32) -> bool) {
        let len = ball.len() + 1;
        for starts in [&mut self.forward, &mut self.backward] {
            starts.clear();
            starts.resize(len, 0);
        }
        ball.for_each_edge(|source, target| {
            if is_kept(source, target) {
                self.forward[source as usize] += 1;
                self.backward[target as usize] += 1;
            }
        });
        for starts in [&mut self.forward, &mut self.backward] {
            let mut end = 0;
            for start in starts.iter_mut() {
                end += *start;
                *start = end;
            }
        }
        let n_edges = self.forward[len - 1] as usize;
        for places in [&mut self.sources, &mut self.targets, &mut self.into] {
            places.resize(n_edges, 0);
        }
        // Each place is filled from its end, so that its start is left.
        ball.for_each_edge(|source, target| {
            if is_kept(source, target) {
                self.forward[source as usize] -= 1;
                let edge = self.forward[source as usize];
                (self.sources[edge as usize], self.targets[edge as usize]) = (source, target);
                self.backward[target as usize] -= 1;
                self.into[self.backward[target as usize] as usize] = edge;
            }
        });
    }

    /// Distances from the start, and to it by at least no edge.
    fn measure(&mut self, len: usize) {
        for backwards in [false, true] {
            let mut distances = std::mem::take(if backwards { &mut self.to_start } else { &mut self.from_start });
            distances.clear();
            distances.resize(len, FAR);
            distances[0] = 0;
            self.queue.clear();
            self.queue.push((0, 0));
            let mut next = 0;
            while let Some((vertex, distance)) = self.queue.get(next).copied() {
                next += 1;
                let starts = if backwards { &self.backward } else { &self.forward };
                for place in starts[vertex as usize]..starts[vertex as usize + 1] {
                    let end = if backwards {
                        self.sources[self.into[place as usize] as usize]
                    } else {
                        self.targets[place as usize]
                    };
                    if distances[end as usize] == FAR {
                        distances[end as usize] = distance + 1;
                        self.queue.push((end, distance + 1));
                    }
                }
            }
            *(if backwards { &mut self.to_start } else { &mut self.from_start }) = distances;
        }
    }

    /// Calls `each` with the cycles that are longer than `found`, and no longer than the bound of what was kept; false if no more are wanted.
    pub(super) fn find(&mut self, found: u64, attend: &mut Attend<'_>, each: &mut EachPath<'_>) -> Result<bool, Halt> {
        self.waits.clear();
        self.waits.resize(self.targets.len(), false);
        self.on_path.clear();
        self.on_path.resize(self.to_start.len(), false);
        self.locks.clear();
        self.locks.extend(self.to_start.iter().map(|back| (self.bound + 1).saturating_sub(*back)));
        self.path.clear();
        self.enter(0);
        while let Some(top) = self.path.last_mut() {
            if top.next == self.forward[top.vertex as usize + 1] {
                self.leave();
                continue;
            }
            let end = self.targets[top.next as usize];
            top.next += 1;
            if end == 0 {
                top.has_cycle = true;
                if self.path.len() as u64 > found && !each(&mut self.path.iter().map(|frame| frame.vertex))? {
                    return Ok(false);
                }
            } else if (self.path.len() as u32) < self.locks[end as usize] {
                attend(self.path.len() as u64)?;
                self.enter(end);
            }
        }
        Ok(true)
    }

    fn enter(&mut self, vertex: u32) {
        self.locks[vertex as usize] = self.path.len() as u32;
        self.on_path[vertex as usize] = true;
        self.path.push(Frame { vertex, next: self.forward[vertex as usize], has_cycle: false });
    }

    /// Takes the last vertex from the path: its lock is opened if there was a cycle, and else it waits for those that its edges lead to.
    fn leave(&mut self) {
        let Some(Frame { vertex, has_cycle, .. }) = self.path.pop() else { return };
        self.on_path[vertex as usize] = false;
        if has_cycle {
            if let Some(top) = self.path.last_mut() {
                top.has_cycle = true;
            }
            return self.open_locks(vertex);
        }
        for edge in self.forward[vertex as usize]..self.forward[vertex as usize + 1] {
            self.waits[edge as usize] = true;
        }
    }

    /// Lets a vertex be entered by any path, and those that wait for it by paths that leave room for the edges between.
    fn open_locks(&mut self, vertex: u32) {
        self.queue.clear();
        self.queue.push((vertex, 1));
        let mut next = 0;
        while let Some((vertex, back)) = self.queue.get(next).copied() {
            next += 1;
            // What lies farther from the start than the edges between can be entered by no longer paths than at first.
            let lock = (self.bound + 1).saturating_sub(back.max(self.to_start[vertex as usize]));
            if self.locks[vertex as usize] >= lock {
                continue;
            }
            self.locks[vertex as usize] = lock;
            for place in self.backward[vertex as usize]..self.backward[vertex as usize + 1] {
                let edge = self.into[place as usize] as usize;
                let source = self.sources[edge];
                if self.waits[edge] && !self.on_path[source as usize] {
                    self.queue.push((source, back + 1));
                }
            }
        }
    }
}
