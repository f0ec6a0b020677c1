//! The stack of the operands that were read and not yet used. Keeps formulas from getting too deep.

use std::collections::HashMap;
use std::ops::Range;

use crate::formula::{Formula, Formulas, Node};
use crate::operator::{Binary, Unary};
use crate::parse::FormulaError;

/// How deep a formula may be.
pub const MAX_DEPTH: u32 = 2000;

/// What waits for the operand to its right.
pub(crate) enum Pending {
    Open,
    Unary(Unary, Range<usize>),
    Binary(Binary, Range<usize>),
}

/// Operands of `&&` and `||` are collected, because a formula for each part of a long chain would cost the square of its length.
enum Operand {
    One(Formula),
    Chain(Binary, Vec<Formula>),
}

/// The stack.
#[derive(Default)]
pub(crate) struct Operands {
    stack: Vec<Operand>,
    /// The depth of every formula that was on it.
    depths: HashMap<Formula, u32>,
}

impl Operands {
    /// Applies an operator to the topmost operands.
    pub fn apply(&mut self, formulas: &mut Formulas, pending: Pending) -> Result<(), FormulaError> {
        match pending {
            Pending::Open => Ok(()),
            Pending::Unary(unary, span) => {
                let inner = self.pop(formulas);
                let formula = unary.build(formulas, inner);
                self.push(formulas, formula, span)
            }
            Pending::Binary(binary @ (Binary::And | Binary::Or), _) => {
                let right = self.pop(formulas);
                let chain = match self.stack.pop() {
                    Some(Operand::Chain(same, mut chain)) if same == binary => {
                        chain.push(right);
                        chain
                    }
                    Some(other) => {
                        self.stack.push(other);
                        vec![self.pop(formulas), right]
                    }
                    None => vec![right],
                };
                self.stack.push(Operand::Chain(binary, chain));
                Ok(())
            }
            Pending::Binary(binary, span) => {
                let right = self.pop(formulas);
                let left = self.pop(formulas);
                let formula = binary.build(formulas, left, right);
                self.push(formulas, formula, span)
            }
        }
    }

    /// The topmost operand. There always is one, since operands and operators alternate.
    pub fn pop(&mut self, formulas: &mut Formulas) -> Formula {
        let formula = match self.stack.pop() {
            Some(Operand::One(formula)) => return formula,
            Some(Operand::Chain(Binary::And, chain)) => formulas.and(chain),
            Some(Operand::Chain(_, chain)) => formulas.or(chain),
            None => formulas.truth(),
        };
        self.measure(formulas, formula);
        formula
    }

    /// Puts a formula on top, unless it is too deep.
    pub fn push(&mut self, formulas: &Formulas, formula: Formula, span: Range<usize>) -> Result<(), FormulaError> {
        if self.measure(formulas, formula) > MAX_DEPTH {
            return Err(FormulaError::new(span, format!("nested too deeply: more than {MAX_DEPTH} operators")));
        }
        self.stack.push(Operand::One(formula));
        Ok(())
    }

    /// The depth of a formula whose parts were measured before.
    fn measure(&mut self, formulas: &Formulas, formula: Formula) -> u32 {
        let depth = |part: &Formula| self.depths.get(part).copied().unwrap_or(0);
        if let Some(known) = self.depths.get(&formula) {
            return *known;
        }
        let deepest = match formulas.node(formula) {
            Node::True | Node::False | Node::Proposition(_) => 0,
            Node::Not(f) | Node::Next(f) | Node::Eventually(f) | Node::Always(f) => depth(f),
            Node::And(all) | Node::Or(all) => all.iter().map(depth).max().unwrap_or(0),
            Node::Implies(f, g) | Node::Equivalent(f, g) | Node::Xor(f, g) | Node::Until(f, g) => {
                depth(f).max(depth(g))
            }
            Node::Release(f, g) | Node::WeakUntil(f, g) | Node::StrongRelease(f, g) => depth(f).max(depth(g)),
        };
        self.depths.insert(formula, deepest + 1);
        deepest + 1
    }
}
