//! Paths for people: rows become named values, steps become named moves; and the replay that every counterexample passes.

use crate::interpreter::{Interpreter, Step};
use crate::labels::failed_assertions;
use lariat_base::outcome::PropertyKind;
use lariat_base::trace::{Move, Trace, TraceState, TraceStep, TraceSteps, TraceValue, TraceVariable};
use lariat_graph::{Graph, RowBuffer, Rows};
use lariat_model::{Communication, Variable, VariableKind};
use std::fmt;

/// Why a path is not what it claims to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// It does not begin in the initial state.
    NotInitial,
    /// No move leads from the state with this number to the next.
    NoSuchStep {
        /// The state's place in the path, from 0.
        state: usize,
    },
    /// The state it ends in does not violate the property.
    NotViolated(String),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::NotInitial => write!(f, "state 0 is not the initial state of the model"),
            ReplayError::NoSuchStep { state } => {
                write!(f, "no transition of the model leads from state {state} to state {}", state + 1)
            }
            ReplayError::NotViolated(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ReplayError {}

impl Interpreter<'_> {
    /// The variables of traces, in the order of their values.
    pub fn trace_variables(&self) -> Vec<TraceVariable> {
        self.model
            .system_variables()
            .map(|v| TraceVariable {
                name: self.model.variable_name(v),
                is_location: matches!(v.kind, VariableKind::Location(_)),
            })
            .collect()
    }

    /// A row as named values; `step` says what led to it, if it is the error state.
    pub fn trace_state(&self, row: &[u8], step: Option<&Step>) -> TraceState {
        if row == self.layout.error_row() {
            let fault = step.and_then(|s| s.fault);
            return TraceState::Error(fault.map_or_else(|| "error".to_owned(), |f| self.model.describe_fault(f)));
        }
        let cells = self.layout.cells(row);
        TraceState::Values(self.model.system_variables().map(|v| self.trace_value(v, &cells)).collect())
    }

    fn trace_value(&self, variable: &Variable, cells: &[i32]) -> TraceValue {
        let first = variable.first.index();
        let own = &cells[first..first + variable.n_cells as usize];
        match variable.kind {
            VariableKind::Scalar(_) => TraceValue::Number(own[0]),
            VariableKind::Array(_) => TraceValue::List(own.to_vec()),
            VariableKind::Location(process) => {
                TraceValue::Location(self.model.process(process).locations[own[0] as usize].name.clone())
            }
            VariableKind::Buffer(_) => {
                let per_item = (own.len() - 1) / self.buffer_capacity(variable);
                TraceValue::List(own[1..1 + own[0] as usize * per_item].to_vec())
            }
        }
    }

    fn buffer_capacity(&self, variable: &Variable) -> usize {
        self.model.cells[variable.first.index()].allowed.high as usize
    }

    /// The moves of a step, by name.
    pub fn trace_moves(&self, step: &Step) -> Vec<Move> {
        step.transitions
            .iter()
            .map(|id| {
                let transition = self.model.transition(*id);
                let process = self.model.process(transition.process);
                let channel = match &transition.communication {
                    Communication::None => None,
                    Communication::Send { channel, .. } => Some(format!("{}!", self.model.channel(*channel).name)),
                    Communication::Receive { channel, .. } => Some(format!("{}?", self.model.channel(*channel).name)),
                };
                Move {
                    process: process.name.clone(),
                    from: process.locations[transition.from as usize].name.clone(),
                    to: process.locations[transition.to as usize].name.clone(),
                    line: transition.line,
                    channel,
                }
            })
            .collect()
    }

    /// The step that leads from one row to another: one of the model, or the one that stays where nothing can move.
    fn step_to(&self, from: &[u8], to: &[u8]) -> Option<Step> {
        let steps = self.steps(from);
        if steps.is_empty() && from == to && self.stutters(from) {
            return Some(Step { transitions: Vec::new(), target: to.to_vec(), fault: None });
        }
        steps.into_iter().find(|step| step.target == to)
    }

    /// Finds the steps of a path of rows, which is at the same time the proof that it is a path, and calls `see` with each. Where nothing can move, a path may
    /// stay; that is a step without moves. With `loop_to` there is one more step, from the last row to that one.
    pub fn replay(&self, rows: Rows<'_>, loop_to: Option<usize>, see: &mut dyn FnMut(Step)) -> Result<(), ReplayError> {
        if rows.iter().next().is_none_or(|row| row != self.initial_row()) {
            return Err(ReplayError::NotInitial);
        }
        let targets = rows.iter().skip(1).chain(loop_to.map(|place| rows.row(place)));
        for (state, (from, to)) in rows.iter().zip(targets).enumerate() {
            see(self.step_to(from, to).ok_or(ReplayError::NoSuchStep { state })?);
        }
        Ok(())
    }

    /// The last step of a path, none if it has but one row.
    pub fn last_step(&self, rows: Rows<'_>) -> Result<Option<Step>, ReplayError> {
        let mut last = None;
        self.replay(rows, None, &mut |step| last = Some(step))?;
        Ok(last)
    }

    /// Follows a stored trace from the initial state: every move must be one of the model's, and every state what it
    /// leads to. Returns the rows and the last step.
    pub fn retrace(&self, trace: &Trace) -> Result<(RowBuffer, Option<Step>), ReplayError> {
        let mut rows = RowBuffer::new(self.row_bytes());
        rows.push(&self.initial_row());
        let mut last = None;
        if trace.variables != self.trace_variables() || trace.initial != self.trace_state(rows.row(0), None) {
            return Err(ReplayError::NotInitial);
        }
        for (state, wanted) in trace.steps.iter().enumerate() {
            let mut possible = self.steps(rows.row(state));
            if wanted.moves.is_empty() && trace.loop_to.is_some() {
                possible.extend(self.step_to(rows.row(state), rows.row(state)));
            }
            let found = possible.into_iter().find(|step| {
                self.trace_moves(step) == wanted.moves && self.trace_state(&step.target, Some(step)) == wanted.state
            });
            let step = found.ok_or(ReplayError::NoSuchStep { state })?;
            rows.push(&step.target);
            last = Some(step);
        }
        Ok((rows, last))
    }

    /// A path as a trace; with `loop_to` one whose last state is the one that the loop returns to.
    pub fn trace(&self, rows: Rows<'_>, loop_to: Option<usize>) -> Result<Trace, ReplayError> {
        let mut steps = TraceSteps::default();
        self.replay(rows, loop_to, &mut |step| {
            let state = self.trace_state(&step.target, Some(&step));
            steps.push(&TraceStep { moves: self.trace_moves(&step), state });
        })?;
        Ok(Trace {
            model: self.model.file.clone(),
            property: None,
            what: String::new(),
            variables: self.trace_variables(),
            initial: self.trace_state(rows.row(0), None),
            steps,
            loop_to,
        })
    }

    /// What is wrong in the last state of a path, in words, if it violates a property of this kind. `expression` is that
    /// of an invariant or a goal.
    pub fn violation(
        &self,
        kind: PropertyKind,
        expression: Option<&lariat_model::Expression>,
        last: &[u8],
        last_step: Option<&Step>,
    ) -> Result<String, ReplayError> {
        let not = |why: &str| Err(ReplayError::NotViolated(why.to_owned()));
        let in_error = last == self.layout.error_row();
        if in_error {
            return match (kind, last_step.and_then(|s| s.fault)) {
                (PropertyKind::Assertion, Some(fault)) => {
                    Ok(format!("run-time error: {}", self.model.describe_fault(fault)))
                }
                (PropertyKind::Assertion, None) => Ok("run-time error".to_owned()),
                _ => not("the path ends in the error state, in which nothing else can be asked"),
            };
        }
        let cells = self.layout.cells(last);
        match (kind, expression) {
            (PropertyKind::Deadlock, _) if self.steps(last).is_empty() => {
                Ok("deadlock: no process can move".to_owned())
            }
            (PropertyKind::Deadlock, _) => not("the last state is not a deadlock"),
            (PropertyKind::Assertion, _) => match failed_assertions(self.model, &cells).next() {
                Some(assertion) => Ok(format!(
                    "the assertion in line {} fails: {} is not true",
                    assertion.line,
                    self.model.show_expression(&assertion.expression)
                )),
                None => not("no assertion fails in the last state"),
            },
            (PropertyKind::Invariant, Some(expression)) => match expression.is_true(&cells) {
                Ok(true) => not("the invariant holds in the last state"),
                Ok(false) => Ok("the invariant is false".to_owned()),
                Err(fault) => Ok(format!("the invariant has no value: {}", self.model.describe_fault(fault))),
            },
            (PropertyKind::Reach, Some(expression)) => match expression.is_true(&cells) {
                Ok(false) => not("the expression is false in the last state"),
                Ok(true) => Ok("the expression is true".to_owned()),
                Err(fault) => Ok(format!("the expression has no value: {}", self.model.describe_fault(fault))),
            },
            (PropertyKind::Invariant | PropertyKind::Reach, None) => not("there is no expression to evaluate"),
            (PropertyKind::Automaton | PropertyKind::Ltl, _) => not("only an infinite run can violate the property"),
        }
    }
}
