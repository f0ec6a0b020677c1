//! A model's property process as a watcher of the system.
//!
//! It reads the state that the system leaves: guards and assignments see the system's cells as they were before the system's move, and the
//! process's own location and variables; of those, assignments see what earlier ones of the same move have set. It accepts by its location.
//!
//! A guard that cannot be evaluated, or an assignment that fails, ends the search with an error: the property has no meaning there, and to
//! leave such runs out could hide a violation.

use crate::interpreter::Interpreter;
use crate::layout::Layout;
use lariat_graph::{GraphError, Mover, RowBuffer, Strength, Watcher, strength_of};
use lariat_model::{CellId, Communication, Fault, Model, Process, ProcessId, Transition};
use std::fmt;

/// The property process of a model.
pub struct PropertyProcess<'m> {
    model: &'m Model,
    system: &'m Layout,
    layout: Layout,
    id: ProcessId,
    /// For each location the transitions that leave it.
    leaving: Vec<Vec<&'m Transition>>,
    strength: Strength,
}

/// Why a model's property process cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyError {
    /// There is none.
    Missing,
    /// It takes part in communication.
    Synchronises {
        /// The process.
        process: String,
        /// The line of the transition.
        line: u32,
    },
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PropertyError::Missing => write!(f, "the model has no property process"),
            PropertyError::Synchronises { process, line } => write!(
                f,
                "line {line}: the property process {process} receives on a channel, which is not supported; \
                 let its guards ask for locations and variables instead"
            ),
        }
    }
}

impl std::error::Error for PropertyError {}

impl<'m> PropertyProcess<'m> {
    /// The property process of the model that `interpreter` runs.
    pub fn new(interpreter: &'m Interpreter<'m>) -> Result<Self, PropertyError> {
        let model = interpreter.model;
        let id = model.property.ok_or(PropertyError::Missing)?;
        let process = model.process(id);
        let mut leaving: Vec<Vec<&Transition>> = vec![Vec::new(); process.locations.len()];
        for transition in model.transitions_of(id).map(|t| model.transition(t)) {
            if !matches!(transition.communication, Communication::None) {
                return Err(PropertyError::Synchronises { process: process.name.clone(), line: transition.line });
            }
            leaving[transition.from as usize].push(transition);
        }
        let successors: Vec<Vec<u32>> = leaving.iter().map(|list| list.iter().map(|t| t.to).collect()).collect();
        let accepting: Vec<bool> = process.locations.iter().map(|l| l.accepting).collect();
        Ok(Self {
            model,
            system: &interpreter.layout,
            layout: Layout::of_property(model),
            id,
            leaving,
            // What its variables forbid only takes moves away, so components of locations are as large as they can be.
            strength: strength_of(&successors, &accepting),
        })
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The process's number.
    pub fn id(&self) -> ProcessId {
        self.id
    }

    /// How states of the system become rows.
    pub fn system(&self) -> &Layout {
        self.system
    }

    /// How states of the process become parts; the first field is that of the model's first cell behind the system's.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The process.
    pub fn process(&self) -> &'m Process {
        self.model.process(self.id)
    }

    /// Where its location is among its cells.
    fn location(&self) -> usize {
        self.process().location.index() - self.model.n_system_cells
    }

    fn no_value(&self, transition: &Transition, fault: Fault) -> GraphError {
        GraphError::NoValue {
            what: format!("line {}: a move of the property process {}", transition.line, self.process().name),
            why: self.model.describe_fault(fault),
        }
    }
}

impl Watcher for PropertyProcess<'_> {
    fn part_bytes(&self) -> usize {
        self.layout.row_bytes()
    }

    fn initial(&self, out: &mut RowBuffer) {
        out.push(&self.layout.pack(&self.model.initial_cells()[self.model.n_system_cells..]));
    }

    fn is_accepting(&self, part: &[u8]) -> bool {
        let location = self.layout.cell(part, self.location());
        self.process().locations[location as usize].accepting
    }

    fn strength(&self) -> Strength {
        self.strength
    }

    fn describe(&self, part: &[u8]) -> String {
        let cells = self.layout.cells(part);
        let first = self.model.n_system_cells;
        let location = &self.process().locations[cells[self.location()] as usize].name;
        let mut text = format!("{} at {location}", self.process().name);
        for (i, value) in cells.iter().enumerate().filter(|(i, _)| *i != self.location()) {
            text.push_str(&format!(", {} = {value}", self.model.cell_name(CellId((first + i) as u32))));
        }
        text
    }

    fn mover(&self) -> Box<dyn Mover + '_> {
        let n_cells = self.model.cells.len();
        Box::new(Watching { property: self, row: Vec::new(), cells: vec![0; n_cells], next: vec![0; n_cells] })
    }
}

struct Watching<'p, 'm> {
    property: &'p PropertyProcess<'m>,
    /// Space for a row with padding behind it.
    row: Vec<u8>,
    /// The system's cells as looked at last, then the process's own.
    cells: Vec<i32>,
    /// The state that a move is making.
    next: Vec<i32>,
}

impl Watching<'_, '_> {
    fn load(&mut self, row: &[u8]) {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.row.resize(row.len() + Layout::PADDING, 0);
    }

    fn make_move(&mut self, transition: &Transition) -> Result<bool, GraphError> {
        let property = self.property;
        let failed = |fault| property.no_value(transition, fault);
        if let Some(guard) = &transition.guard
            && !guard.is_true(&self.cells).map_err(failed)?
        {
            return Ok(false);
        }
        self.next.copy_from_slice(&self.cells);
        self.next[property.process().location.index()] = transition.to as i32;
        for assignment in &transition.assignments {
            let place = assignment.target.resolve(&self.next).map_err(failed)?;
            let value = assignment.value.evaluate(&self.next).map_err(failed)?;
            let known = &property.model.cells[place.index()];
            if !known.allowed.contains(value) {
                return Err(failed(Fault::ValueOutOfRange { cell: place, value }));
            }
            if !known.range.contains(value) {
                let cell = property.model.cell_name(place);
                return Err(GraphError::RangeBroken { cell, value, range: known.range.to_string() });
            }
            self.next[place.index()] = value;
        }
        Ok(true)
    }
}

impl Mover for Watching<'_, '_> {
    fn look(&mut self, row: &[u8], _labels: u64) {
        self.load(row);
        let n_system = self.property.model.n_system_cells;
        self.property.system.unpack(&self.row, &mut self.cells[..n_system]);
    }

    fn moves(&mut self, part: &[u8], out: &mut RowBuffer) -> Result<(), GraphError> {
        let property = self.property;
        let n_system = property.model.n_system_cells;
        self.load(part);
        property.layout.unpack(&self.row, &mut self.cells[n_system..]);
        let location = self.cells[property.process().location.index()];
        for transition in &property.leaving[location as usize] {
            if self.make_move(transition)? {
                property.layout.pack_into(&self.next[n_system..], &mut self.row);
                out.push(&self.row);
            }
        }
        Ok(())
    }
}
