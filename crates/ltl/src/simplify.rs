//! Simplification before translation: negation normal form, then rewriting from the leaves up.
//!
//! | rules | file |
//! |---|---|
//! | `X F G U R W M` over each other, eventual and universal operands | `simplify/temporal.rs` |
//! | `&&` and `||` of temporal formulas | `simplify/boolean.rs` |
//! | which formulas imply which, as far as their shape tells | `simplify/implication.rs` |
//!
//! A formula is *eventual* if it holds whenever it holds later (`F f`), and *universal* if it goes on to hold once it holds (`G f`). One that is
//! both does not depend on any finite beginning.
//!
//! # Papers
//! K. Etessami, G. Holzmann: Optimizing Büchi automata, CONCUR 2000. F. Somenzi, R. Bloem: Efficient Büchi automata from LTL formulae,
//! CAV 2000. T. Babiak et al.: LTL to Büchi automata translation: fast and more deterministic, TACAS 2012.

mod boolean;
mod implication;
mod temporal;

use crate::bdd::QuickMap;
use crate::formula::{Formula, Formulas, Node};

/// Rewrites formulas, and remembers what it found out about them.
#[derive(Default)]
pub(crate) struct Simplifier {
    /// Whether formulas that do not depend on any beginning are gathered under one `F`, or kept apart. Which gives the
    /// smaller automaton depends on the formula.
    gather: bool,
    normal: QuickMap<(Formula, bool), Formula>,
    simple: QuickMap<Formula, Formula>,
    implied: QuickMap<(Formula, Formula), bool>,
    shapes: QuickMap<Formula, Shape>,
}

/// What the shape of a formula tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) eventual: bool,
    pub(crate) universal: bool,
}

impl Shape {
    const BOTH: Shape = Shape { eventual: true, universal: true };
    const NEITHER: Shape = Shape { eventual: false, universal: false };
}

impl Simplifier {
    pub(crate) fn new(gather: bool) -> Self {
        Self { gather, ..Self::default() }
    }

    /// The formula, or its negation, with negations on propositions only and without `->`, `<->`, `xor`.
    pub(crate) fn normal_form(&mut self, f: &mut Formulas, formula: Formula, negated: bool) -> Formula {
        if let Some(known) = self.normal.get(&(formula, negated)) {
            return *known;
        }
        let n = negated;
        let result = match f.node(formula).clone() {
            Node::True => {
                if n {
                    f.falsity()
                } else {
                    formula
                }
            }
            Node::False => {
                if n {
                    f.truth()
                } else {
                    formula
                }
            }
            Node::Proposition(_) => {
                if n {
                    f.not(formula)
                } else {
                    formula
                }
            }
            Node::Not(a) => self.normal_form(f, a, !n),
            Node::And(list) | Node::Or(list) => {
                let list: Vec<Formula> = list.into_iter().map(|a| self.normal_form(f, a, n)).collect();
                let is_and = matches!(f.node(formula), Node::And(_));
                if is_and != n { f.and(list) } else { f.or(list) }
            }
            Node::Implies(a, b) => {
                let (a, b) = (self.normal_form(f, a, !n), self.normal_form(f, b, n));
                if n { f.and([a, b]) } else { f.or([a, b]) }
            }
            Node::Equivalent(a, b) => self.normal_equivalence(f, a, b, n),
            Node::Xor(a, b) => self.normal_equivalence(f, a, b, !n),
            Node::Next(a) => {
                let a = self.normal_form(f, a, n);
                f.next(a)
            }
            Node::Eventually(a) | Node::Always(a) => {
                let is_eventually = matches!(f.node(formula), Node::Eventually(_));
                let a = self.normal_form(f, a, n);
                if is_eventually != n { f.eventually(a) } else { f.always(a) }
            }
            Node::Until(a, b) => {
                let (a, b) = (self.normal_form(f, a, n), self.normal_form(f, b, n));
                if n { f.release(a, b) } else { f.until(a, b) }
            }
            Node::Release(a, b) => {
                let (a, b) = (self.normal_form(f, a, n), self.normal_form(f, b, n));
                if n { f.until(a, b) } else { f.release(a, b) }
            }
            Node::WeakUntil(a, b) => {
                let (a, b) = (self.normal_form(f, a, n), self.normal_form(f, b, n));
                if n { f.strong_release(a, b) } else { f.weak_until(a, b) }
            }
            Node::StrongRelease(a, b) => {
                let (a, b) = (self.normal_form(f, a, n), self.normal_form(f, b, n));
                if n { f.weak_until(a, b) } else { f.strong_release(a, b) }
            }
        };
        self.normal.insert((formula, negated), result);
        result
    }

    /// `a <-> b`, or its negation, as `(a && b) || (!a && !b)`.
    fn normal_equivalence(&mut self, f: &mut Formulas, a: Formula, b: Formula, negated: bool) -> Formula {
        let [a_true, a_false] = [false, true].map(|n| self.normal_form(f, a, n));
        let [b_true, b_false] = [negated, !negated].map(|n| self.normal_form(f, b, n));
        let both = f.and([a_true, b_true]);
        let neither = f.and([a_false, b_false]);
        f.or([both, neither])
    }

    /// An equivalent formula that is simpler, or the same. The formula must be in negation normal form.
    pub(crate) fn simplify(&mut self, f: &mut Formulas, formula: Formula) -> Formula {
        if let Some(known) = self.simple.get(&formula) {
            return *known;
        }
        let mut result = self.simplify_operands(f, formula);
        // A rule can make room for another one. Every rule makes the formula smaller or moves `X` and constants up, so
        // this ends; the bound is for mistakes.
        for _ in 0..50 {
            let next = match f.node(result).clone() {
                Node::And(list) => self.conjunction(f, list),
                Node::Or(list) => self.disjunction(f, list),
                _ => self.temporal(f, result),
            };
            if next == result {
                break;
            }
            result = self.simplify_operands(f, next);
        }
        self.simple.insert(formula, result);
        self.simple.insert(result, result);
        result
    }

    fn simplify_operands(&mut self, f: &mut Formulas, formula: Formula) -> Formula {
        match f.node(formula).clone() {
            Node::And(list) => {
                let list: Vec<Formula> = list.into_iter().map(|a| self.simplify(f, a)).collect();
                f.and(list)
            }
            Node::Or(list) => {
                let list: Vec<Formula> = list.into_iter().map(|a| self.simplify(f, a)).collect();
                f.or(list)
            }
            Node::Next(a) => {
                let a = self.simplify(f, a);
                f.next(a)
            }
            Node::Eventually(a) => {
                let a = self.simplify(f, a);
                f.eventually(a)
            }
            Node::Always(a) => {
                let a = self.simplify(f, a);
                f.always(a)
            }
            Node::Until(a, b) => {
                let (a, b) = (self.simplify(f, a), self.simplify(f, b));
                f.until(a, b)
            }
            Node::Release(a, b) => {
                let (a, b) = (self.simplify(f, a), self.simplify(f, b));
                f.release(a, b)
            }
            Node::WeakUntil(a, b) => {
                let (a, b) = (self.simplify(f, a), self.simplify(f, b));
                f.weak_until(a, b)
            }
            Node::StrongRelease(a, b) => {
                let (a, b) = (self.simplify(f, a), self.simplify(f, b));
                f.strong_release(a, b)
            }
            _ => formula,
        }
    }

    /// What the shape of a formula in negation normal form tells.
    pub(crate) fn shape(&mut self, f: &Formulas, formula: Formula) -> Shape {
        if let Some(known) = self.shapes.get(&formula) {
            return *known;
        }
        let mut both = |a: Formula, b: Formula| {
            let (a, b) = (self.shape(f, a), self.shape(f, b));
            Shape { eventual: a.eventual && b.eventual, universal: a.universal && b.universal }
        };
        let shape = match f.node(formula) {
            Node::True | Node::False => Shape::BOTH,
            Node::And(list) | Node::Or(list) => list.iter().fold(Shape::BOTH, |all, a| {
                let a = self.shape(f, *a);
                Shape { eventual: all.eventual && a.eventual, universal: all.universal && a.universal }
            }),
            Node::Next(a) => self.shape(f, *a),
            Node::Eventually(a) => Shape { eventual: true, universal: self.shape(f, *a).universal },
            Node::Always(a) => Shape { eventual: self.shape(f, *a).eventual, universal: true },
            Node::Until(a, b) => {
                let shape = both(*a, *b);
                Shape { eventual: self.shape(f, *b).eventual, ..shape }
            }
            Node::Release(a, b) => {
                let shape = both(*a, *b);
                Shape { universal: self.shape(f, *b).universal, ..shape }
            }
            Node::WeakUntil(a, b) | Node::StrongRelease(a, b) => both(*a, *b),
            _ => Shape::NEITHER,
        };
        self.shapes.insert(formula, shape);
        shape
    }

    /// Whether the formula does not depend on any finite beginning.
    fn is_suspendable(&mut self, f: &Formulas, formula: Formula) -> bool {
        self.shape(f, formula) == Shape::BOTH
    }
}
