//! Labels: what is asked about every state, as bits.

use lariat_model::{Expression, Fault, Model};

/// A question about states. None but [`Label::Error`] and [`Label::AssertionFailed`] holds in the error state.
#[derive(Clone, Debug)]
pub enum Label {
    /// The expression is true, or cannot be evaluated: a goal that cannot be evaluated is worth showing.
    True(Expression),
    /// The expression is false, or cannot be evaluated: an invariant must have a value.
    False(Expression),
    /// A proposition of an automaton. One that cannot be evaluated in a reachable state ends the search with an error: whatever was
    /// said about it would be a guess.
    Proposition {
        /// As it was written.
        text: String,
        /// What it means.
        expression: Expression,
    },
    /// An `assert` of the model fails, or this is the error state.
    AssertionFailed,
    /// This is the error state.
    Error,
}

impl Label {
    /// Whether the label holds in a state other than the error state.
    pub(crate) fn holds(&self, model: &Model, cells: &[i32]) -> Result<bool, Fault> {
        Ok(match self {
            Label::Proposition { expression, .. } => expression.is_true(cells)?,
            Label::True(expression) => expression.is_true(cells).unwrap_or(true),
            Label::False(expression) => !expression.is_true(cells).unwrap_or(false),
            Label::AssertionFailed => failed_assertions(model, cells).next().is_some(),
            Label::Error => false,
        })
    }

    /// Whether the label holds in the error state.
    pub(crate) fn holds_in_error(&self) -> bool {
        matches!(self, Label::AssertionFailed | Label::Error)
    }
}

/// The assertions of the system that fail in a state; one that cannot be evaluated fails.
pub(crate) fn failed_assertions<'m>(
    model: &'m Model,
    cells: &[i32],
) -> impl Iterator<Item = &'m lariat_model::Assertion> {
    model.assertions.iter().filter(move |assertion| {
        Some(assertion.process) != model.property
            && cells[model.process(assertion.process).location.index()] == assertion.location as i32
            && !assertion.expression.is_true(cells).unwrap_or(false)
    })
}
