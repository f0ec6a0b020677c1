//! The model form: the one representation that front ends produce and that the interpreter and the compiler execute.
//!
//! A state is a vector of *cells*, each an integer with a known range: variables, array elements, process locations
//! and the contents of buffered channels are all cells. Processes move by [`Transition`]s: a guard, an optional
//! communication, and assignments that run from left to right. Nothing here knows how a model was written down.
//!
//! # Invariants
//! 1. Cells of the system come before the cells of the property process ([`Model::n_system_cells`]).
//! 2. A location is the cell [`Process::location`], with values `0..locations.len()`.
//! 3. [`Cell::range`] is sound: no reachable state other than the error state has a value outside it.
//! 4. Transitions of one process are neighbours in [`Model::transitions`], in the order of the file.

mod evaluate;
mod expression;
mod interval;
mod ranges;
mod show;

pub use evaluate::Fault;
pub use expression::{BinaryOperator, Expression, Place, UnaryOperator};
pub use interval::Interval;
pub use ranges::infer_ranges;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type!(
    /// A cell of the state vector.
    CellId
);
index_type!(
    /// An entry of [`Model::variables`].
    VariableId
);
index_type!(
    /// An entry of [`Model::processes`].
    ProcessId
);
index_type!(
    /// An entry of [`Model::channels`].
    ChannelId
);
index_type!(
    /// An entry of [`Model::transitions`].
    TransitionId
);

/// The types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// 0 to 255.
    Byte,
    /// -32768 to 32767.
    Int,
}

impl ValueType {
    /// The values of the type.
    pub fn range(self) -> Interval {
        match self {
            ValueType::Byte => Interval::new(0, 255),
            ValueType::Int => Interval::new(-32768, 32767),
        }
    }

    /// `value` cast to the type as C does it, which is what typed channels do to what is sent.
    pub fn wrap(self, value: i32) -> i32 {
        match self {
            ValueType::Byte => i32::from(value as u8),
            ValueType::Int => i32::from(value as i16),
        }
    }

    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            ValueType::Byte => "byte",
            ValueType::Int => "int",
        }
    }
}

/// One integer of the state vector.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The variable it belongs to.
    pub variable: VariableId,
    /// What may be assigned; anything else leads to the error state.
    pub allowed: Interval,
    /// What reachable states can hold (see [`infer_ranges`]); never wider than `allowed`.
    pub range: Interval,
    /// The value in the initial state.
    pub initial: i32,
}

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// A single number.
    Scalar(ValueType),
    /// An array.
    Array(ValueType),
    /// The location of a process.
    Location(ProcessId),
    /// The contents of a buffered channel: its length, then the items from the oldest on.
    Buffer(ChannelId),
}

/// A named group of neighbouring cells.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name within its owner.
    pub name: String,
    /// The process it is local to.
    pub owner: Option<ProcessId>,
    /// What it stands for.
    pub kind: VariableKind,
    /// Its first cell.
    pub first: CellId,
    /// How many cells it has.
    pub n_cells: u32,
}

/// How values travel over a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// Sender and receiver move together. With item types, values are wrapped to them on the way.
    Rendezvous {
        /// The types of a typed channel of capacity 0.
        items: Option<Vec<ValueType>>,
    },
    /// A first-in first-out buffer in the state.
    Buffer {
        /// The types of the values of one item.
        items: Vec<ValueType>,
        /// How many items fit.
        capacity: u32,
        /// The cell with the number of items; their values follow, item by item.
        length: CellId,
    },
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// How it works.
    pub kind: ChannelKind,
}

/// A location of a process.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// Whether it is committed: while any process is in such a location, only such processes move.
    pub committed: bool,
    /// Whether it is accepting (meaningful in property processes).
    pub accepting: bool,
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name.
    pub name: String,
    /// The cell that holds its location.
    pub location: CellId,
    /// Its locations.
    pub locations: Vec<Location>,
    /// Its transitions, as a range of [`Model::transitions`].
    pub transitions: std::ops::Range<u32>,
}

/// `target = value`.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// What is assigned.
    pub target: Place,
    /// The value.
    pub value: Expression,
}

/// The communication of a transition.
#[derive(Clone, Debug)]
pub enum Communication {
    /// None: the process moves alone.
    None,
    /// `channel ! values`
    Send {
        /// The channel.
        channel: ChannelId,
        /// What is sent, evaluated in the old state.
        values: Vec<Expression>,
    },
    /// `channel ? targets`
    Receive {
        /// The channel.
        channel: ChannelId,
        /// Where the values go, before the receiver's assignments run.
        targets: Vec<Place>,
    },
}

/// A transition of one process.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The process that moves.
    pub process: ProcessId,
    /// The location it leaves.
    pub from: u32,
    /// The location it enters, before its assignments run.
    pub to: u32,
    /// The guard; none means always.
    pub guard: Option<Expression>,
    /// The communication.
    pub communication: Communication,
    /// The assignments, run from left to right on the new state.
    pub assignments: Vec<Assignment>,
    /// Global variables that the assignments write, sorted: two partners must not share one.
    pub writes_global: Vec<VariableId>,
    /// The line in the model file.
    pub line: u32,
}

/// `assert location: expression`
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The process.
    pub process: ProcessId,
    /// The location in which the expression must hold.
    pub location: u32,
    /// What must hold.
    pub expression: Expression,
    /// The line in the model file.
    pub line: u32,
}

/// How processes move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Composition {
    /// One process, or one pair that communicates, at a time.
    Asynchronous,
    /// All processes at once.
    Synchronous,
}

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// The path it was read from.
    pub file: String,
    /// The state vector.
    pub cells: Vec<Cell>,
    /// How many of the cells belong to the system; the rest belong to the property process.
    pub n_system_cells: usize,
    /// Names for the cells.
    pub variables: Vec<Variable>,
    /// The channels.
    pub channels: Vec<Channel>,
    /// The processes.
    pub processes: Vec<Process>,
    /// The transitions of all processes.
    pub transitions: Vec<Transition>,
    /// The assertions.
    pub assertions: Vec<Assertion>,
    /// How processes move.
    pub composition: Composition,
    /// The process that observes the system as a Büchi automaton, if there is one.
    pub property: Option<ProcessId>,
}

impl Model {
    /// The processes that make up the system, the property process left out.
    pub fn system_processes(&self) -> impl Iterator<Item = ProcessId> + '_ {
        (0..self.processes.len() as u32).map(ProcessId).filter(|p| Some(*p) != self.property)
    }

    /// A process.
    pub fn process(&self, id: ProcessId) -> &Process {
        &self.processes[id.index()]
    }

    /// A variable.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.index()]
    }

    /// A channel.
    pub fn channel(&self, id: ChannelId) -> &Channel {
        &self.channels[id.index()]
    }

    /// A transition.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// The transitions of a process.
    pub fn transitions_of(&self, id: ProcessId) -> impl Iterator<Item = TransitionId> + '_ {
        self.process(id).transitions.clone().map(TransitionId)
    }

    /// The initial values of all cells.
    pub fn initial_cells(&self) -> Vec<i32> {
        self.cells.iter().map(|c| c.initial).collect()
    }

    /// The variables of the system, the property process's left out.
    pub fn system_variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().filter(|v| v.first.index() < self.n_system_cells)
    }
}
