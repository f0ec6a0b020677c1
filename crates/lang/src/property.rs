//! Expressions that are given beside a model: invariants, goals and, later, atomic propositions.

use crate::diagnostic::Diagnostics;
use crate::lower::Names;
use crate::lower::Resolver;
use crate::source::Source;
use crate::{parse, token};
use lariat_model::{Expression, Model};

/// An expression that was checked against a model.
#[derive(Clone, Debug)]
pub struct StateExpression {
    /// As it was written.
    pub text: String,
    /// In the model form.
    pub expression: Expression,
}

impl StateExpression {
    /// Reads `text` as an expression over the model; `what` names it in messages.
    pub fn parse(what: &str, text: &str, model: &Model, names: &Names) -> Result<Self, (Source, Diagnostics)> {
        let source = Source::new(what, text);
        let mut diagnostics = Diagnostics::default();
        let tokens = token::tokens(&source, &mut diagnostics);
        let parsed =
            if diagnostics.has_errors() { None } else { parse::expression(&source, &tokens, &mut diagnostics) };
        let lowered = parsed.and_then(|parsed| {
            let mut resolver =
                Resolver { model, names, diagnostics: &mut diagnostics, process: None, foreign_allowed: true };
            resolver.expression(&parsed)
        });
        if let Some(expression) = &lowered {
            let mut outside = false;
            expression.for_each_read(&mut |cell, _| outside |= cell.index() >= model.n_system_cells);
            if outside {
                let all = crate::source::Span { start: 0, end: text.len() as u32 };
                diagnostics.error(all, "the property process is not part of the system's state");
            }
        }
        match lowered {
            Some(expression) if !diagnostics.has_errors() => Ok(Self { text: text.to_owned(), expression }),
            _ => Err((source, diagnostics)),
        }
    }
}
