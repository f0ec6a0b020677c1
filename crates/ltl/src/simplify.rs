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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Bare, parse};
    use crate::print::print;
    use crate::word::{Lasso, holds, random_formula};
    use lariat_base::Random;

    /// All words over `n` propositions with a prefix of at most two letters and a cycle of one to two (three, for two propositions).
    fn all_words(n: u32) -> Vec<Lasso> {
        let sequences = |lengths: std::ops::RangeInclusive<u32>| {
            lengths.flat_map(move |length| {
                (0..1u64 << (n * length))
                    .map(move |code| (0..length).map(|i| code >> (n * i) & ((1 << n) - 1)).collect::<Vec<u64>>())
            })
        };
        let longest = if n <= 2 { 3 } else { 2 };
        sequences(0..=2)
            .flat_map(|prefix| sequences(1..=longest).map(move |cycle| Lasso { prefix: prefix.clone(), cycle }))
            .collect()
    }

    fn check_equivalent(f: &Formulas, a: Formula, b: Formula, words: &[Lasso]) {
        for word in words {
            assert_eq!(holds(f, a, word), holds(f, b, word), "{} is not {} on {word:?}", print(f, a), print(f, b));
        }
    }

    /// A rule: the formula on the left becomes that on the right, and means the same.
    fn check(before: &str, after: &str) {
        check_with(before, after, false);
    }

    fn check_with(before: &str, after: &str, gather: bool) {
        let mut f = Formulas::new();
        for name in ["a", "b", "c"] {
            f.proposition(name);
        }
        let [before, after] = [before, after].map(|text| {
            let formula = parse(text, &mut f, Bare::Words).expect("a formula");
            Simplifier::default().normal_form(&mut f, formula, false)
        });
        let simple = Simplifier::new(gather).simplify(&mut f, before);
        assert_eq!(print(&f, simple), print(&f, after), "from {}", print(&f, before));
        check_equivalent(&f, before, after, &all_words(3));
    }

    #[test]
    fn rules_for_one_temporal_operator() {
        check("X G F a", "G F a");
        check("F X a", "X F a");
        check("G X a", "X G a");
        check("F(a U b)", "F b");
        check("F(a M b)", "F(a && b)");
        check("G(a R b)", "G b");
        check("G(a W b)", "G(a || b)");
        check("F(a || F b)", "F(a || b)");
        check("F(a || (b U c))", "F(a || c)");
        check("G(a && G b)", "G(a && b)");
        check("G(a && (b R c))", "G(a && c)");
        check("F G(a && X b)", "F G(a && b)");
        check("F G(a && (b R c))", "F G(a && c)");
        check("G F(a || X b)", "G F(a || b)");
        check("G F(a || (b U c))", "G F(a || c)");
        check("G F(a && X F b)", "G F a && G F b");
        check("F G(a || X G b)", "F G a || F G b");
        check("F(a && G F b)", "F a && G F b");
        check("G(a || F G b)", "G a || F G b");
        check("G(a && X F b)", "G a && G F b");
        check("F(a || X G b)", "F a || F G b");
        check("F G F a", "G F a");
        check("G F G a", "F G a");
    }

    #[test]
    fn rules_for_two_operands() {
        check("X a U X b", "X(a U b)");
        check("X a R X b", "X(a R b)");
        check("X a W X b", "X(a W b)");
        check("X a M X b", "X(a M b)");
        check("a U F b", "F b");
        check("a R G b", "G b");
        check("(a && b) U b", "b");
        check("(a || b) R b", "b");
        check("!a U a", "F a");
        check("!a R a", "G a");
        check("!a W a", "true");
        check("!a M a", "false");
        check("a U (b U (a && b))", "a U (a M b)");
        check("(a && b) U (b U c)", "b U c");
        check("a U ((a && b) U c)", "a U c");
        check("(a || b) R (a R c)", "a R c");
        check("a R ((a || b) R c)", "a R c");
        check("(a && b) W (b W c)", "b W c");
        check("a W ((a && b) W c)", "a W c");
        check("(a || b) M (a M c)", "a M c");
        check("a M ((a || b) M c)", "a M c");
        check("(a U b) U b", "a U b");
        check("(a R b) R b", "a R b");
        check("(a W b) W b", "a W b");
        check("(a M b) M b", "a M b");
        check("(a || (b && c)) U b", "a U b");
        check("(a && (b || c)) R b", "a R b");
        check("(a || (b && c)) W b", "a W b");
        check("(a && (b || c)) M b", "a M b");
        check("a U (a && b)", "b M a");
        check("a R (a || b)", "b W a");
        check("a W (a && b)", "b R a");
        check("a M (a || b)", "b U a");
        check("a U (b && G F c)", "(a U b) && G F c");
        check("a R (b || F G c)", "(a R b) || F G c");
        check("a U (b || F c)", "(a U b) || F c");
        check("a R (b && G c)", "(a R b) && G c");
        check("G a W b", "G a || b");
        check("a W F b", "G a || F b");
        check("F a M b", "F a && b");
        check("a M G b", "F a && G b");
        check("a U (b || G a)", "a W b");
        check("a R (b && F a)", "a M b");
    }

    #[test]
    fn rules_for_conjunctions_and_disjunctions() {
        check("a && (a || b)", "a");
        check("a || (a && b)", "a");
        check("G a && F a", "G a");
        check("G a && F !a", "false");
        check("F a || G !a", "true");
        check("X a && X b", "X(a && b)");
        check("X a || X b", "X(a || b)");
        check("G a && G b", "G(a && b)");
        check("F a || F b", "F(a || b)");
        check("F G a && F G b", "F G(a && b)");
        check("G F a || G F b", "G F(a || b)");
        check("(a U b) && (c U b)", "(a && c) U b");
        check("(a U b) && (c W b)", "(a && c) U b");
        check("(a W b) && (c W b)", "(a && c) W b");
        check("(a R b) && (a R c)", "a R (b && c)");
        check("(a M b) && (a R c)", "a M (b && c)");
        check("(a M b) && (a M c)", "a M (b && c)");
        check("F b && (a W b)", "a U b");
        check("F a && (a R b)", "a M b");
        check("(a R b) || (c R b)", "(a || c) R b");
        check("(a R b) || (c M b)", "(a || c) R b");
        check("(a M b) || (c M b)", "(a || c) M b");
        check("(a U b) || (a U c)", "a U (b || c)");
        check("(a W b) || (a U c)", "a W (b || c)");
        check("(a W b) || (a W c)", "a W (b || c)");
        check("G b || (a M b)", "a R b");
        check("G a || (a U b)", "a W b");
        check_with("F G a || G F b", "F(G a || G F b)", true);
        check_with("F(G a || G F b) && F(G c || G F a)", "F((G a || G F b) && (G c || G F a))", true);
    }

    #[test]
    fn simplified_formulas_mean_the_same() {
        let words = all_words(2);
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let mut f = Formulas::new();
            f.proposition("p0");
            f.proposition("p1");
            let size = 2 + random.below(10);
            let formula = random_formula(&mut random, &mut f, 2, size);
            for gather in [false, true] {
                let mut simplifier = Simplifier::new(gather);
                for negated in [false, true] {
                    let normal = simplifier.normal_form(&mut f, formula, negated);
                    let simple = simplifier.simplify(&mut f, normal);
                    check_equivalent(&f, normal, simple, &words);
                    let wanted = if negated { f.not(formula) } else { formula };
                    check_equivalent(&f, wanted, normal, &words[..words.len().min(200)]);
                }
            }
        }
    }

    #[test]
    fn implications_by_shape_are_implications() {
        let words = all_words(2);
        let mut n_implied = 0;
        for seed in 0..3000 {
            let mut random = Random::new(seed);
            let mut f = Formulas::new();
            f.proposition("p0");
            f.proposition("p1");
            let mut simplifier = Simplifier::default();
            let [a, b] = [0; 2].map(|_| {
                let size = 1 + random.below(7);
                let formula = random_formula(&mut random, &mut f, 2, size);
                simplifier.normal_form(&mut f, formula, false)
            });
            if simplifier.implies(&f, a, b) {
                n_implied += 1;
                assert!(words.iter().all(|w| !holds(&f, a, w) || holds(&f, b, w)), "{} {}", print(&f, a), print(&f, b));
            }
        }
        assert!(n_implied > 100, "{n_implied}");
    }
}
