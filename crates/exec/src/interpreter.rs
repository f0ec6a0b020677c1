//! The interpreter: a model as a graph of rows.

use crate::labels::Label;
use crate::layout::Layout;
use crate::moves::MoveTable;
use lariat_graph::{Edges, Expander, Graph, GraphError, RowBuffer, Rows};
use lariat_model::{CellId, Fault, Model, TransitionId};

/// A model, ready to be explored.
pub struct Interpreter<'m> {
    pub(crate) model: &'m Model,
    pub(crate) layout: Layout,
    pub(crate) moves: MoveTable,
    pub(crate) labels: Vec<Label>,
}

/// One move out of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The transitions that were taken: one; two for a rendezvous, the sender's first; all in a synchronous system; none where nothing
    /// can move and an infinite run stays where it is.
    pub transitions: Vec<TransitionId>,
    /// The row it leads to.
    pub target: Vec<u8>,
    /// Why it leads to the error state, if it does.
    pub fault: Option<Fault>,
}

/// Space for the state that a move is making.
pub(crate) struct Scratch {
    pub(crate) cells: Vec<i32>,
    pub(crate) written: Vec<CellId>,
    pub(crate) range_broken: Option<(CellId, i32)>,
}

impl Scratch {
    fn new() -> Self {
        Self { cells: Vec::new(), written: Vec::new(), range_broken: None }
    }

    pub(crate) fn begin(&mut self, old: &[i32]) {
        self.cells.clear();
        self.cells.extend_from_slice(old);
        self.written.clear();
    }

    #[inline(always)]
    pub(crate) fn undo(&mut self, old: &[i32]) {
        for cell in self.written.drain(..) {
            self.cells[cell.index()] = old[cell.index()];
        }
    }
}

impl<'m> Interpreter<'m> {
    /// An interpreter whose labels are those given; there are at most 64.
    pub fn new(model: &'m Model, labels: Vec<Label>) -> Self {
        assert!(labels.len() <= 64, "labels are bits of a 64-bit word");
        Self { model, layout: Layout::new(model), moves: MoveTable::new(model), labels }
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// Its labels, the first at bit 0.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// How its states become rows.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The row of the initial state.
    pub fn initial_row(&self) -> Vec<u8> {
        self.layout.pack(&self.model.initial_cells()[..self.model.n_system_cells])
    }

    /// All moves out of a row, in the order in which they are expanded.
    pub fn steps(&self, row: &[u8]) -> Vec<Step> {
        if row == self.layout.error_row() {
            return Vec::new();
        }
        let old = self.layout.cells(row);
        let mut steps = Vec::new();
        self.for_each_move(&old, &mut Scratch::new(), &mut |transitions, result, scratch| {
            let target = match result {
                Ok(()) => self.layout.pack(&scratch.cells),
                Err(_) => self.layout.error_row().to_vec(),
            };
            steps.push(Step { transitions: transitions.to_vec(), target, fault: result.err() });
        });
        steps
    }

    fn labels_of(&self, row: &[u8], cells: &[i32]) -> Result<u64, GraphError> {
        let in_error = row == self.layout.error_row();
        let mut bits = 0;
        for (i, label) in self.labels.iter().enumerate() {
            let holds = if in_error { Ok(label.holds_in_error()) } else { label.holds(self.model, cells) };
            let holds = holds.map_err(|fault| self.no_value(label, fault))?;
            bits |= u64::from(holds) << i;
        }
        Ok(bits)
    }

    fn no_value(&self, label: &Label, fault: Fault) -> GraphError {
        let what = match label {
            Label::Proposition { text, .. } => format!("the proposition `{text}`"),
            _ => "a label".to_owned(),
        };
        GraphError::NoValue { what, why: self.model.describe_fault(fault) }
    }
}

impl Graph for Interpreter<'_> {
    fn row_bytes(&self) -> usize {
        self.layout.row_bytes()
    }

    fn initial(&self, out: &mut RowBuffer) {
        out.push(&self.initial_row());
    }

    fn expander(&self) -> Box<dyn Expander + '_> {
        let padded = self.layout.row_bytes() + Layout::PADDING;
        Box::new(Interpreting {
            graph: self,
            row: vec![0; padded],
            next_row: vec![0; padded],
            cells: vec![0; self.model.n_system_cells],
            scratch: Scratch::new(),
        })
    }

    fn is_error(&self, row: &[u8]) -> bool {
        row == self.layout.error_row()
    }
}

struct Interpreting<'i, 'm> {
    graph: &'i Interpreter<'m>,
    /// The row that is expanded, with padding behind it.
    row: Vec<u8>,
    next_row: Vec<u8>,
    cells: Vec<i32>,
    scratch: Scratch,
}

impl Interpreting<'_, '_> {
    fn load(&mut self, row: &[u8]) {
        self.row[..row.len()].copy_from_slice(row);
        self.graph.layout.unpack(&self.row, &mut self.cells);
    }
}

impl Expander for Interpreting<'_, '_> {
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError> {
        let graph = self.graph;
        let layout = &graph.layout;
        let width = layout.row_bytes();
        for row in from.iter() {
            if out.is_full() {
                break;
            }
            if row != layout.error_row() {
                self.load(row);
                let Self { row, next_row, cells, scratch, .. } = self;
                graph.for_each_move(cells, scratch, &mut |_, result, scratch| match result {
                    Ok(()) => {
                        next_row.copy_from_slice(row);
                        for cell in &scratch.written {
                            layout.set(next_row, *cell, scratch.cells[cell.index()]);
                        }
                        out.push(&next_row[..width]);
                    }
                    Err(_) => out.push(layout.error_row()),
                });
            }
            out.end_source();
        }
        match self.scratch.range_broken {
            None if out.has_overflowed() => Err(GraphError::TooManySuccessors { most_bytes: out.most_bytes() }),
            None => Ok(()),
            Some((cell, value)) => Err(GraphError::RangeBroken {
                cell: graph.model.cell_name(cell),
                value,
                range: graph.model.cells[cell.index()].range.to_string(),
            }),
        }
    }

    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        for row in rows.iter() {
            if row != self.graph.layout.error_row() {
                self.load(row);
            }
            out.push(self.graph.labels_of(row, &self.cells)?);
        }
        Ok(())
    }
}
