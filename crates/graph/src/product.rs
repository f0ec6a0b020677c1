//! The product of a graph and a watcher: the graph that searches for accepting cycles run on.
//!
//! A row is the graph's row with the watcher's part behind it. The watcher reads the state that is left: `(s, q) -> (s', q')` is an edge
//! where `s -> s'` is one and the watcher can move from `q` to `q'` in `s`. Every pair of an edge of the graph and a move of the
//! watcher is an edge; the graph's edges change slowest. The initial states are the pairs of initial ones.
//!
//! # Where paths end
//! - The watcher cannot move: no successors. Such states are counted.
//! - The graph cannot move (a deadlock): with [`DeadlockRuns::Stutter`] the watcher moves alone, so that a path which ends there is judged
//!   as if it stayed there for ever; with [`DeadlockRuns::Ignore`] there are no successors.
//! - The error state has no successors either way: it is not a behaviour of the model, and nothing but freedom from errors is
//!   asked of it.
//!
//! # Cost
//! Neighbouring rows with the same state of the graph share its expansion and its labels.

use crate::watcher::{Mover, Watcher};
use crate::{Edges, Expander, Graph, GraphError, RowBuffer, Rows};
use lariat_base::rows::copy_row;

/// What becomes of paths that end in a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadlockRuns {
    /// They stay in their last state for ever.
    Stutter,
    /// They are no infinite paths, and are not judged.
    Ignore,
}

/// A graph with a watcher beside it.
pub struct Product<'g> {
    model: &'g dyn Graph,
    watcher: &'g dyn Watcher,
    deadlocks: DeadlockRuns,
    model_bytes: usize,
}

impl<'g> Product<'g> {
    /// The product of a graph, whose first labels are what the watcher reads, and a watcher.
    pub fn new(model: &'g dyn Graph, watcher: &'g dyn Watcher, deadlocks: DeadlockRuns) -> Self {
        Self { model, watcher, deadlocks, model_bytes: model.row_bytes() }
    }

    /// The graph's row in a row of the product.
    pub fn model_row<'r>(&self, row: &'r [u8]) -> &'r [u8] {
        &row[..self.model_bytes]
    }

    /// The model's part of rows.
    pub fn model_rows(&self, rows: &RowBuffer) -> RowBuffer {
        let mut model_rows = RowBuffer::new(self.model_bytes);
        rows.iter().for_each(|row| model_rows.push(self.model_row(row)));
        model_rows
    }
}

impl Graph for Product<'_> {
    fn row_bytes(&self) -> usize {
        self.model_bytes + self.watcher.part_bytes()
    }

    fn initial(&self, out: &mut RowBuffer) {
        let mut states = RowBuffer::new(self.model_bytes);
        self.model.initial(&mut states);
        let mut parts = RowBuffer::new(self.watcher.part_bytes());
        self.watcher.initial(&mut parts);
        for state in states.as_rows().iter() {
            for part in parts.as_rows().iter() {
                out.push(&[state, part].concat());
            }
        }
    }

    fn expander(&self) -> Box<dyn Expander + '_> {
        Box::new(Multiplying {
            product: self,
            expander: self.model.expander(),
            mover: self.watcher.mover(),
            states: RowBuffer::new(self.model_bytes),
            edges: Edges::new(self.model_bytes),
            labels: Vec::new(),
            parts: RowBuffer::new(self.watcher.part_bytes()),
        })
    }

    fn is_error(&self, row: &[u8]) -> bool {
        self.model.is_error(self.model_row(row))
    }

    fn has_acceptance(&self) -> bool {
        true
    }

    fn is_accepting(&self, row: &[u8]) -> bool {
        self.watcher.is_accepting(&row[self.model_bytes..])
    }
}

struct Multiplying<'p> {
    product: &'p Product<'p>,
    expander: Box<dyn Expander + 'p>,
    mover: Box<dyn Mover + 'p>,
    /// The graph's rows of the batch, those that equal the one before left out; with their edges and labels.
    states: RowBuffer,
    edges: Edges,
    labels: Vec<u64>,
    parts: RowBuffer,
}

impl Multiplying<'_> {
    /// Expands the states of the batch, and notes their labels. With a bound there may be edges of the first states only.
    fn expand_states(&mut self, from: Rows<'_>, full_bytes: usize, most_bytes: usize) -> Result<(), GraphError> {
        self.states.clear();
        if (self.edges.full_bytes(), self.edges.most_bytes()) != (full_bytes, most_bytes) {
            self.edges = Edges::bounded(self.product.model_bytes, full_bytes).within(most_bytes);
        }
        self.edges.clear();
        self.labels.clear();
        for row in from.iter() {
            let state = self.product.model_row(row);
            let n_states = self.states.len();
            if n_states == 0 || self.states.row(n_states - 1) != state {
                self.states.push(state);
            }
        }
        self.expander.expand(self.states.as_rows(), &mut self.edges)?;
        if self.product.watcher.reads_labels() {
            self.expander.labels(self.states.as_rows(), &mut self.labels)?;
        }
        Ok(())
    }

    /// Whether paths end in the state with this place in the batch, whatever the watcher does.
    fn ends(&self, place: usize) -> bool {
        let product = self.product;
        self.edges.range_of(place).is_empty()
            && (product.deadlocks == DeadlockRuns::Ignore || product.model.is_error(self.states.row(place)))
    }

    fn push(&self, place: usize, out: &mut Edges) {
        let next = self.edges.targets_of(place);
        let parts = self.parts.as_rows();
        let bytes = next.len().max(1) * parts.len() * (next.width() + parts.width());
        if out.would_overflow(bytes) {
            return;
        }
        let (targets, _) = out.parts_mut();
        let mut free = targets.len();
        targets.resize(free + bytes, 0);
        let mut with_parts = |state: &[u8]| {
            for part in parts.iter() {
                let (before, behind) = targets[free..free + state.len() + part.len()].split_at_mut(state.len());
                copy_row(state, before);
                copy_row(part, behind);
                free += state.len() + part.len();
            }
        };
        if next.is_empty() {
            with_parts(self.states.row(place));
        }
        next.iter().for_each(with_parts);
    }
}

impl Expander for Multiplying<'_> {
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError> {
        self.expand_states(from, out.full_bytes(), out.most_bytes())?;
        let mut place = 0;
        let mut looked_at = None;
        for row in from.iter() {
            let (state, part) = row.split_at(self.product.model_bytes);
            place += usize::from(self.states.row(place) != state);
            if out.is_full() || place >= self.edges.n_sources() {
                break;
            }
            if !self.ends(place) {
                if looked_at != Some(place) {
                    self.mover.look(state, self.labels.get(place).copied().unwrap_or(0));
                    looked_at = Some(place);
                }
                self.parts.clear();
                self.mover.moves(part, &mut self.parts)?;
                self.push(place, out);
            }
            out.end_source();
        }
        if out.has_overflowed() {
            return Err(GraphError::TooManySuccessors { most_bytes: out.most_bytes() });
        }
        Ok(())
    }

    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        self.states.clear();
        rows.iter().for_each(|row| self.states.push(self.product.model_row(row)));
        self.expander.labels(self.states.as_rows(), out)
    }
}
