//! A counterexample (or a walk) as plain data, for people and for files.

mod steps;

pub use steps::TraceSteps;

use crate::outcome::PropertyKind;

/// A variable of the model as traces show it; processes appear as variables whose value is their location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceVariable {
    /// As written in expressions: `x`, `P_0->j`, and `P_0` for the location of a process.
    pub name: String,
    /// Whether it is the location of a process.
    pub is_location: bool,
}

/// The value of a variable in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceValue {
    /// A number.
    Number(i32),
    /// An array, or the contents of a buffered channel.
    List(Vec<i32>),
    /// The name of a location.
    Location(String),
}

impl std::fmt::Display for TraceValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TraceValue::Number(n) => write!(f, "{n}"),
            TraceValue::Location(name) => f.write_str(name),
            TraceValue::List(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A state of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceState {
    /// One value for each variable of the trace.
    Values(Vec<TraceValue>),
    /// The error state, and what led to it.
    Error(String),
}

/// One process's part in a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The process.
    pub process: String,
    /// The location it leaves.
    pub from: String,
    /// The location it enters.
    pub to: String,
    /// The line of the transition in the model file.
    pub line: u32,
    /// `c!` or `c?` where it communicates on channel `c`.
    pub channel: Option<String>,
}

/// A step: the processes that moved, and the state they moved into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// One move; two for a rendezvous (sender first); all processes in a synchronous system; none where nothing can move and an infinite
    /// run stays in its last state.
    pub moves: Vec<Move>,
    /// The state after the step.
    pub state: TraceState,
}

/// What a trace is a counterexample to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceProperty {
    /// The kind of property.
    pub kind: PropertyKind,
    /// Its expression or formula, or the name of an automaton's file or of a property process; empty for deadlocks and assertions.
    pub expression: String,
    /// The text of the automaton, if it came from a file.
    pub automaton: Option<String>,
}

/// A path through the state space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The model file as given.
    pub model: String,
    /// What it violates; none for a plain walk.
    pub property: Option<TraceProperty>,
    /// What is wrong at the end, or with the loop, in words.
    pub what: String,
    /// The variables, in the order of the states' values.
    pub variables: Vec<TraceVariable>,
    /// The initial state.
    pub initial: TraceState,
    /// The steps after it.
    pub steps: TraceSteps,
    /// For a lasso, the index of the state that the last one is the same as: from there on everything is repeated.
    pub loop_to: Option<usize>,
}
