//! Cycles that are short, or lie in small parts of the graph: each start is looked at with what is near it, in memory.
//!
//! A cycle through a start, the smallest of its accepting vertices, is found from what lies near the start (`ball.rs`, `core.rs`). How near is decided by passes: each allows cycles
//! twice as long as the one before, and four times as much memory, up to what there is. Starts are in blocks, of which each has four times as many as the one before. A pass over a
//! block takes about as long as the next pass over the block before; so pass and block together say when its turn is. By that, neither a graph without short cycles nor a large one
//! keeps the first cycles from being found soon.
//!
//! # Invariants
//! 1. `done` has for each start up to which length its cycles were handed on; nothing but this says so, hence each is once.
//!
//! # Cost
//! A start with nothing behind it, or nothing before it, costs the read of its edges. Others cost what is near them, in every pass until they have no more cycles. 4 bytes for each vertex, read in
//! order.

use super::ball::{BYTES, Ball, Reach};
use super::core::Core;
use super::{Each, FoundCycle};
use crate::accepting_components::AcceptingComponents;
use crate::enumerate::States;
use crate::lasso::Halt;
use crate::trimmed_graph::TrimmedGraph;
use lariat_storage::{NumberArray, Reservation};

/// Starts of the first block.
const BLOCK: u64 = 1024;
/// Vertices and edges that the first pass may hold, and any.
const NEAR_MIN: u64 = 16;
pub(super) const NEAR_MAX: u64 = 1 << 20;
/// The part of memory that is for them.
const PARTS: u64 = 3;

/// Bits of an entry of `done`.
const DONE_BITS: u32 = 32;
/// A start with no more cycles.
const FINISHED: u64 = u32::MAX as u64;
/// Added to the length: there is no room for more.
const NO_ROOM: u64 = 1 << 31;

/// Up to which length the cycles of each start were handed on.
pub(super) struct Done<'s>(NumberArray<'s>);

impl Done<'_> {
    /// The length, or none if there are no longer ones.
    pub(super) fn length(&mut self, start: u64) -> Result<Option<u64>, Halt> {
        let entry = self.0.get(start)?;
        Ok((entry != FINISHED).then_some(entry & (NO_ROOM - 1)))
    }
}

/// What is left when everything was found that can be in memory.
pub(super) enum Left<'s> {
    /// No more cycles.
    Nothing,
    /// Cycles that are longer than this, of some starts.
    Longer(u64, Done<'s>),
    /// Perhaps some, but no more are wanted.
    Unwanted,
}

/// The state of a block.
#[derive(Clone, Copy, Default)]
struct Block {
    /// No pass can do more for it.
    is_over: bool,
    /// The shortest length up to which the cycles of one of its starts were handed on that had no room.
    shortest_left: Option<u64>,
}

pub(super) struct Near<'n, 'e, 's> {
    pub(super) states: &'e mut States<'s>,
    pub(super) graph: &'n mut TrimmedGraph<'s>,
    pub(super) components: &'n mut AcceptingComponents<'s>,
    /// A cycle that was handed on before.
    pub(super) first: &'n [u64],
}

/// What one pass allows, and what it works with.
struct Pass<'p> {
    size: u64,
    is_largest: bool,
    length: u64,
    ball: &'p mut Ball,
    core: &'p mut Core,
}

fn block_end(block: u32) -> u64 {
    BLOCK * ((1 << (2 * block + 2)) - 1) / 3
}

impl<'s> Near<'_, '_, 's> {
    /// Calls `each` with every cycle for which there is room, and room for `near_max` vertices and edges at most.
    pub(super) fn find(mut self, near_max: u64, each: &mut Each<'_>) -> Result<Left<'s>, Halt> {
        let mut done = Done(self.states.array(self.graph.len, DONE_BITS, 8)?);
        let size_max = (self.states.memory(PARTS) as u64 / BYTES).max(NEAR_MIN).min(near_max);
        let _memory = Reservation::new(size_max * BYTES, self.states.context.budget)?;
        let (mut ball, mut core) = (Ball::new(size_max), Core::default());
        let n_blocks = (0..).find(|block| block_end(*block) >= self.graph.len).map_or(1, |last| last + 1);
        let mut blocks = vec![Block::default(); n_blocks as usize];
        for turn in 0.. {
            if blocks.iter().all(|block| block.is_over) {
                break;
            }
            for block in 0..n_blocks.min(turn + 1) {
                let pass = turn - block;
                if blocks[block as usize].is_over {
                    continue;
                }
                let size = if pass < 24 { NEAR_MIN << (2 * pass) } else { u64::MAX };
                let (size, is_largest) = (size.min(size_max), size >= size_max);
                let length = 1u64.checked_shl(pass).unwrap_or(u64::MAX);
                let starts = block.checked_sub(1).map_or(0, block_end)..block_end(block).min(self.graph.len);
                let mut pass = Pass { size, is_largest, length, ball: &mut ball, core: &mut core };
                let Some(found) = self.pass(&mut pass, starts, &mut done, each)? else { return Ok(Left::Unwanted) };
                blocks[block as usize] = found;
            }
        }
        let shortest = blocks.iter().filter_map(|block| block.shortest_left).min();
        Ok(shortest.map_or(Left::Nothing, |shortest| Left::Longer(shortest, done)))
    }

    /// A pass over some starts; none if no more cycles are wanted.
    fn pass(
        &mut self,
        pass: &mut Pass<'_>,
        starts: std::ops::Range<u64>,
        done: &mut Done<'_>,
        each: &mut Each<'_>,
    ) -> Result<Option<Block>, Halt> {
        let mut block = Block { is_over: true, shortest_left: None };
        for start in starts {
            self.states.attend(self.graph.len - start, None)?;
            let mut entry = done.0.get(start)?;
            if entry < NO_ROOM {
                if self.graph.accepting.get(start)? == 0 {
                    entry = FINISHED;
                } else {
                    let Some(now) = self.cycles_through(pass, start, entry, each)? else { return Ok(None) };
                    entry = now;
                }
                done.0.set(start, entry)?;
            }
            if entry < NO_ROOM {
                block.is_over = false;
            } else if entry != FINISHED {
                let length = entry - NO_ROOM;
                block.shortest_left = Some(block.shortest_left.map_or(length, |shortest| shortest.min(length)));
            }
        }
        Ok(Some(block))
    }

    /// The cycles of a start that are longer than `found`, as far as the pass allows; what is done of it then, none if no more cycles are wanted.
    fn cycles_through(
        &mut self,
        pass: &mut Pass<'_>,
        start: u64,
        found: u64,
        each: &mut Each<'_>,
    ) -> Result<Option<u64>, Halt> {
        let Pass { ball, core, .. } = pass;
        let reach = ball.grow(self.states, self.graph, start, pass.size, pass.length)?;
        let longest = ball.len() as u64;
        let (bound, now) = match reach {
            Reach::All if pass.length >= longest => (longest, FINISHED),
            Reach::All => (pass.length, pass.length),
            Reach::Wanted(length) => (length, length),
            Reach::Full(length) if pass.is_largest => (length, length.max(found) + NO_ROOM),
            Reach::Full(length) => (length, length),
        };
        if !ball.may_have_cycle() {
            return Ok(Some(if reach == Reach::All { FINISHED } else { now.max(found) }));
        }
        let has_cycles = core.keep(ball, bound);
        if reach == Reach::All && !has_cycles {
            return Ok(Some(FINISHED));
        }
        if bound > found {
            let (states, graph, first) = (&mut *self.states, &mut *self.graph, self.first);
            let component = self.components.component(start)?;
            let mut attend = |length| states.attend(0, Some(length));
            let is_more_wanted = core.find(found, &mut attend, &mut |path| {
                let vertices: Vec<u64> = path.map(|place| ball.vertex(place)).collect();
                Ok(vertices == first || each(&mut FoundCycle { graph, vertices: &vertices, component })?)
            })?;
            if !is_more_wanted {
                return Ok(None);
            }
        }
        Ok(Some(now.max(found)))
    }
}
