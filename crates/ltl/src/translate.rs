//! Formulas to generalised Büchi automata with marks on transitions.
//!
//! A state is what is still to be satisfied. Each formula is unfolded once into a Boolean function of propositions (now), *obligations*
//! (formulas for the next state) and *promises* (the right-hand side of an until that was put off). Every assignment of the
//! propositions leaves a monotone function of obligations and promises; each of its smallest terms is an edge: to the conjunction of its
//! obligations, with the marks of all promises that it does not make.
//!
//! Formulas must be in negation normal form. States whose functions are equal are one state.
//!
//! # Paper
//! J.-M. Couvreur: On-the-fly verification of linear temporal logic, FM'99. The marks are per promised formula, as there.

use crate::bdd::{Bdd, FALSE, Function, QuickMap, TRUE};
use crate::formula::{Formula, Formulas, Node};
use crate::tgba::{Edge, Tgba, merged};
use std::rc::Rc;

/// More states than this are always given up on.
pub(crate) const STATES_MAX: usize = 20_000;

/// The translation was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// The automaton, or what leads to it, has too many parts.
    Automaton,
    /// The formula has more propositions than labels have bits.
    Propositions,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TooLarge::Automaton => "the automaton of this formula is too large",
            TooLarge::Propositions => "a formula can have at most 64 different propositions",
        })
    }
}

impl std::error::Error for TooLarge {}

/// What a translation may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) states_max: usize,
    pub(crate) memory_bytes_max: usize,
}

/// The automaton of a formula in negation normal form, unless it passes the limits.
pub(crate) fn translate(
    formulas: &mut Formulas,
    formula: Formula,
    limits: Limits,
    bdd: &mut Bdd,
) -> Result<Tgba, TooLarge> {
    let mut translation = Translation {
        limits,
        n_edges: 0,
        n_propositions: formulas.propositions().len() as u32,
        formulas,
        bdd,
        functions: QuickMap::default(),
        variables: Vec::new(),
        obligations: QuickMap::default(),
        promises: QuickMap::default(),
        n_promises: 0,
        terms: QuickMap::default(),
    };
    translation.automaton(formula)
}

/// What a variable behind the propositions stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Obligation(Formula),
    Promise(u32),
}

struct Translation<'a> {
    formulas: &'a mut Formulas,
    bdd: &'a mut Bdd,
    n_propositions: u32,
    limits: Limits,
    n_edges: usize,
    functions: QuickMap<Formula, Function>,
    variables: Vec<Meaning>,
    obligations: QuickMap<Formula, Function>,
    promises: QuickMap<Formula, Function>,
    n_promises: u32,
    terms: QuickMap<Function, Rc<[VariableSet]>>,
}

/// A smallest term: obligations and promises.
type Term = (Vec<Formula>, u32);

/// Obligations and promises, at most.
const VARIABLES_MAX: usize = 256;

/// A set of them.
type VariableSet = [u64; VARIABLES_MAX / 64];

fn is_subset(small: &VariableSet, large: &VariableSet) -> bool {
    small.iter().zip(large).all(|(s, l)| s & !l == 0)
}

impl Translation<'_> {
    fn automaton(&mut self, formula: Formula) -> Result<Tgba, TooLarge> {
        let initial = self.function(formula)?;
        let mut numbers: QuickMap<Function, usize> = QuickMap::default();
        numbers.insert(initial, 0);
        let mut waiting = vec![initial];
        let mut outgoing: Vec<Vec<(Function, Function, u32)>> = Vec::new();
        while outgoing.len() < waiting.len() {
            if waiting.len() > self.limits.states_max {
                return Err(TooLarge::Automaton);
            }
            self.check_memory()?;
            let edges = self.edges(waiting[outgoing.len()])?;
            self.n_edges += edges.len();
            for (_, target, _) in &edges {
                numbers.entry(*target).or_insert_with(|| {
                    waiting.push(*target);
                    waiting.len() - 1
                });
            }
            outgoing.push(edges);
        }
        let n_marks = self.n_promises;
        let all = ((1u64 << n_marks) - 1) as u32;
        let states = outgoing
            .into_iter()
            .map(|edges| {
                let edges = edges.into_iter().map(|(label, target, promises)| Edge {
                    label,
                    target: numbers[&target],
                    marks: all & !promises,
                });
                merged(edges, self.bdd)
            })
            .collect();
        Ok(Tgba { states, initial: 0, n_marks })
    }

    fn check_memory(&self) -> Result<(), TooLarge> {
        let edges = self.n_edges * size_of::<(Function, Function, u32)>();
        if self.bdd.memory_bytes() + edges > self.limits.memory_bytes_max {
            return Err(TooLarge::Automaton);
        }
        Ok(())
    }

    /// The edges of a state: label, function of the target, promises made.
    fn edges(&mut self, state: Function) -> Result<Vec<(Function, Function, u32)>, TooLarge> {
        let mut rests: Vec<(Function, Function)> = Vec::new();
        self.by_letters(state, TRUE, &mut rests);
        let mut edges = Vec::new();
        for (rest, label) in rests {
            for (obligations, promises) in self.smallest_terms(rest)? {
                let formula = self.formulas.and(obligations);
                let target = self.function(formula)?;
                edges.push((label, target, promises));
            }
        }
        Ok(edges)
    }

    /// What is left of a function after each assignment of the propositions, with the assignments that leave it.
    fn by_letters(&mut self, f: Function, letters: Function, out: &mut Vec<(Function, Function)>) {
        match self.bdd.split(f) {
            Some((variable, low, high)) if variable < self.n_propositions => {
                let positive = self.bdd.variable(variable);
                let with = self.bdd.and(letters, positive);
                let without = self.bdd.without(letters, positive);
                self.by_letters(low, without, out);
                self.by_letters(high, with, out);
            }
            None if f == FALSE => {}
            _ => match out.iter_mut().find(|(rest, _)| *rest == f) {
                Some((_, known)) => *known = self.bdd.or(*known, letters),
                None => out.push((f, letters)),
            },
        }
    }

    /// The smallest terms of a monotone function: none contains another.
    fn smallest_terms(&mut self, f: Function) -> Result<Vec<Term>, TooLarge> {
        let sets = self.term_sets(f)?;
        Ok(sets.iter().map(|set| self.term(set)).collect())
    }

    fn term(&self, set: &VariableSet) -> Term {
        let mut term = (Vec::new(), 0);
        for (i, meaning) in self.variables.iter().enumerate() {
            if set[i / 64] >> (i % 64) & 1 == 1 {
                match meaning {
                    Meaning::Obligation(formula) => term.0.push(*formula),
                    Meaning::Promise(promise) => term.1 |= 1 << promise,
                }
            }
        }
        term
    }

    /// The smallest terms as sets of variables: those of the part without the first variable, and those that the variable adds
    /// to the rest, unless they are among the former.
    fn term_sets(&mut self, f: Function) -> Result<Rc<[VariableSet]>, TooLarge> {
        let Some((variable, low, high)) = self.bdd.split(f) else {
            return Ok(if f == TRUE { Rc::new([VariableSet::default()]) } else { Rc::new([]) });
        };
        if let Some(known) = self.terms.get(&f) {
            return Ok(Rc::clone(known));
        }
        let without = self.term_sets(low)?;
        let with = self.term_sets(high)?;
        let mut sets = without.to_vec();
        let place = (variable - self.n_propositions) as usize;
        for set in with.iter().filter(|set| !without.iter().any(|small| is_subset(small, set))) {
            let mut set = *set;
            set[place / 64] |= 1 << (place % 64);
            sets.push(set);
        }
        if sets.len() > STATES_MAX {
            return Err(TooLarge::Automaton);
        }
        let sets: Rc<[VariableSet]> = sets.into();
        self.terms.insert(f, Rc::clone(&sets));
        Ok(sets)
    }

    fn fresh(&mut self, meaning: Meaning) -> Result<Function, TooLarge> {
        if self.variables.len() == VARIABLES_MAX {
            return Err(TooLarge::Automaton);
        }
        let variable = self.n_propositions + self.variables.len() as u32;
        self.variables.push(meaning);
        Ok(self.bdd.variable(variable))
    }

    /// `f` in the next state; conjunctions are split, so that equal parts are shared.
    fn obligation(&mut self, formula: Formula) -> Result<Function, TooLarge> {
        Ok(match self.formulas.node(formula).clone() {
            Node::True => TRUE,
            Node::False => FALSE,
            Node::And(operands) => {
                let mut all = TRUE;
                for operand in operands {
                    let one = self.obligation(operand)?;
                    all = self.bdd.and(all, one);
                }
                all
            }
            _ => match self.obligations.get(&formula) {
                Some(known) => *known,
                None => {
                    let variable = self.fresh(Meaning::Obligation(formula))?;
                    self.obligations.insert(formula, variable);
                    variable
                }
            },
        })
    }

    fn promise(&mut self, formula: Formula) -> Result<Function, TooLarge> {
        if let Some(known) = self.promises.get(&formula) {
            return Ok(*known);
        }
        if self.n_promises == 31 {
            return Err(TooLarge::Automaton);
        }
        let variable = self.fresh(Meaning::Promise(self.n_promises))?;
        self.n_promises += 1;
        self.promises.insert(formula, variable);
        Ok(variable)
    }

    /// A formula, unfolded once.
    fn function(&mut self, formula: Formula) -> Result<Function, TooLarge> {
        if let Some(known) = self.functions.get(&formula) {
            return Ok(*known);
        }
        let function = match self.formulas.node(formula).clone() {
            Node::True => TRUE,
            Node::False => FALSE,
            Node::Proposition(p) => self.bdd.variable(p),
            Node::Not(operand) => {
                let operand = self.function(operand)?;
                self.bdd.not(operand)
            }
            Node::And(operands) => {
                let mut all = TRUE;
                for operand in operands {
                    let one = self.function(operand)?;
                    all = self.bdd.and(all, one);
                }
                all
            }
            Node::Or(operands) => {
                let mut any = FALSE;
                for operand in operands {
                    let one = self.function(operand)?;
                    any = self.bdd.or(any, one);
                }
                any
            }
            Node::Next(operand) => self.obligation(operand)?,
            Node::Eventually(g) => self.put_off(formula, TRUE, g)?,
            Node::Until(f, g) => {
                let f = self.function(f)?;
                self.put_off(formula, f, g)?
            }
            Node::WeakUntil(f, g) => {
                let (f, g) = (self.function(f)?, self.function(g)?);
                let again = self.obligation(formula)?;
                let wait = self.bdd.and(f, again);
                self.bdd.or(g, wait)
            }
            Node::Always(f) => {
                let f = self.function(f)?;
                let again = self.obligation(formula)?;
                self.bdd.and(f, again)
            }
            Node::Release(f, g) => {
                let (f, g) = (self.function(f)?, self.function(g)?);
                let again = self.obligation(formula)?;
                let go_on = self.bdd.or(f, again);
                self.bdd.and(g, go_on)
            }
            Node::StrongRelease(f, g) => {
                let g = self.function(g)?;
                let released = self.put_off(formula, TRUE, f)?;
                self.bdd.and(g, released)
            }
            // Negation normal form has none of these.
            Node::Implies(..) | Node::Equivalent(..) | Node::Xor(..) => return Err(TooLarge::Automaton),
        };
        self.functions.insert(formula, function);
        self.check_memory()?;
        Ok(function)
    }

    /// `g` now, or `wait` now and the formula again with the promise of `g`.
    fn put_off(&mut self, formula: Formula, wait: Function, g: Formula) -> Result<Function, TooLarge> {
        let now = self.function(g)?;
        let promise = self.promise(g)?;
        let again = self.obligation(formula)?;
        let later = self.bdd.and(again, promise);
        let later = self.bdd.and(wait, later);
        Ok(self.bdd.or(now, later))
    }
}
