//! What is left of a graph of numbers while vertices are deleted: with each go all that are on no cycle any more.
//!
//! Whoever has seen all cycles through a vertex deletes it. A vertex that loses its last edge to or from others goes as well, and what loses its last edge by that. In a ring, where every
//! vertex would be walked from along the whole ring, nothing is left when the first one was deleted.
//!
//! # Invariants
//! 1. `incoming` and `outgoing` count a vertex's edges between vertices that are not deleted in this round; none of these is 0.
//!
//! # Cost
//! A round reads each edge once to count it, and once or twice when it goes. 8 bytes for each vertex and the bits of a mark, in memory or on disk.

use super::{NUMBER_BYTES, TrimmedGraph};
use crate::enumerate::States;
use crate::lasso::Halt;
use lariat_storage::{NumberArray, RowStack, StorageError};

/// The vertices of a graph, all of whose edges are inside of components, that are not deleted.
pub(crate) struct Remaining<'s> {
    /// For each vertex the round in which it was deleted last, 0 for none.
    deleted: NumberArray<'s>,
    round: u64,
    incoming: NumberArray<'s>,
    outgoing: NumberArray<'s>,
    /// Vertices that are to be deleted.
    waiting: RowStack<'s>,
}

impl<'s> Remaining<'s> {
    /// For up to `rounds_max` rounds. `rho` is the fraction of a stack that goes to disk at once.
    pub(crate) fn new(states: &mut States<'s>, len: u64, rounds_max: u64, rho: f64) -> Result<Self, StorageError> {
        let incoming = states.array(len, 32, 6)?;
        let outgoing = states.array(len, 32, 6)?;
        let deleted = states.array(len, NumberArray::bits_for(rounds_max), 5)?;
        let (disk, budget) = (states.disk, states.context.budget);
        let waiting = RowStack::new(disk, "deleted", NUMBER_BYTES, states.memory(8), rho, budget);
        Ok(Self { deleted, round: 0, incoming, outgoing, waiting })
    }

    /// Begins a round: no vertex is deleted.
    pub(crate) fn begin_round(&mut self, states: &mut States<'s>, graph: &mut TrimmedGraph<'s>) -> Result<(), Halt> {
        self.round += 1;
        for vertex in 0..graph.len {
            let range = graph.forward.range(vertex)?;
            self.outgoing.set(vertex, range.end - range.start)?;
            let range = graph.backward.range(vertex)?;
            self.incoming.set(vertex, range.end - range.start)?;
            states.attend(graph.len - vertex, None)?;
        }
        Ok(())
    }

    /// Whether a vertex is deleted.
    pub(crate) fn is_deleted(&mut self, vertex: u64) -> Result<bool, StorageError> {
        Ok(self.deleted.get(vertex)? == self.round)
    }

    /// Deletes a vertex for this round, and all that are on no cycle any more.
    pub(crate) fn delete(
        &mut self,
        states: &mut States<'s>,
        graph: &mut TrimmedGraph<'s>,
        vertex: u64,
    ) -> Result<(), Halt> {
        self.waiting.push(&vertex.to_le_bytes())?;
        while let Some(top) = self.waiting.top() {
            let vertex = top.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            self.waiting.pop()?;
            if self.is_deleted(vertex)? {
                continue;
            }
            states.attend(0, None)?;
            self.deleted.set(vertex, self.round)?;
            for place in graph.forward.range(vertex)? {
                let end = graph.forward.end(place)?;
                if !self.is_deleted(end)? && Self::is_last(&mut self.incoming, end)? {
                    self.waiting.push(&end.to_le_bytes())?;
                }
            }
            for place in graph.backward.range(vertex)? {
                let end = graph.backward.end(place)?;
                if !self.is_deleted(end)? && Self::is_last(&mut self.outgoing, end)? {
                    self.waiting.push(&end.to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Counts an edge less; whether none is left.
    fn is_last(counter: &mut NumberArray<'s>, vertex: u64) -> Result<bool, StorageError> {
        let left = counter.get(vertex)?.saturating_sub(1);
        counter.set(vertex, left)?;
        Ok(left == 0)
    }
}
