//! Ultimately periodic words, and what formulas and automata say about them.
//!
//! Both judgements follow the definitions directly and share no code with the translation, so that the translation can be tested
//! against them.

use std::collections::HashMap;

use lariat_base::Random;

use crate::automaton::BuchiAutomaton;
use crate::formula::{Formula, Formulas, Node};

/// An infinite word: a prefix, and a cycle that is repeated for ever. A letter is the set of the propositions that hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// What comes once.
    pub prefix: Vec<u64>,
    /// What is repeated; not empty.
    pub cycle: Vec<u64>,
}

impl Lasso {
    /// How many positions there are before it repeats.
    pub(crate) fn len(&self) -> usize {
        self.prefix.len() + self.cycle.len()
    }

    pub(crate) fn letter(&self, at: usize) -> u64 {
        match at.checked_sub(self.prefix.len()) {
            None => self.prefix[at],
            Some(place) => self.cycle[place],
        }
    }

    pub(crate) fn next(&self, at: usize) -> usize {
        if at + 1 == self.len() { self.prefix.len() } else { at + 1 }
    }
}

/// Whether a word satisfies a formula. Bit `i` of a letter is the `i`-th proposition of the collection; beyond 64 none holds.
/// An empty cycle makes no word, which satisfies nothing.
pub fn holds(formulas: &Formulas, formula: Formula, word: &Lasso) -> bool {
    if word.cycle.is_empty() {
        return false;
    }
    let mut values: HashMap<Formula, Vec<bool>> = HashMap::new();
    let mut stack = vec![formula];
    while let Some(f) = stack.last().copied() {
        let before = stack.len();
        stack.extend(parts(formulas.node(f)).into_iter().filter(|part| !values.contains_key(part)));
        if stack.len() == before {
            stack.pop();
            let value = evaluate(formulas.node(f), word, &values);
            values.insert(f, value);
        }
    }
    values[&formula][0]
}

fn parts(node: &Node) -> Vec<Formula> {
    match node {
        Node::True | Node::False | Node::Proposition(_) => Vec::new(),
        Node::Not(f) | Node::Next(f) | Node::Eventually(f) | Node::Always(f) => vec![*f],
        Node::And(all) | Node::Or(all) => all.clone(),
        Node::Implies(f, g) | Node::Equivalent(f, g) | Node::Xor(f, g) => vec![*f, *g],
        Node::Until(f, g) | Node::Release(f, g) | Node::WeakUntil(f, g) | Node::StrongRelease(f, g) => vec![*f, *g],
    }
}

/// At which positions a formula holds, when that is known of its parts.
fn evaluate(node: &Node, word: &Lasso, values: &HashMap<Formula, Vec<bool>>) -> Vec<bool> {
    let now = |f: &Formula, at: usize| values[f][at];
    let pointwise = |value: &dyn Fn(usize) -> bool| (0..word.len()).map(value).collect::<Vec<_>>();
    // `false` asks for the least solution of value = step(now, value in the next state), `true` for the greatest.
    let fixpoint = |start: bool, step: &dyn Fn(usize, bool) -> bool| {
        let mut value = vec![start; word.len()];
        loop {
            let mut changed = false;
            for at in (0..word.len()).rev() {
                let new = step(at, value[word.next(at)]);
                changed |= new != value[at];
                value[at] = new;
            }
            if !changed {
                return value;
            }
        }
    };
    match node {
        Node::True => pointwise(&|_| true),
        Node::False => pointwise(&|_| false),
        Node::Proposition(p) => pointwise(&|at| *p < 64 && word.letter(at) >> p & 1 == 1),
        Node::Not(f) => pointwise(&|at| !now(f, at)),
        Node::And(all) => pointwise(&|at| all.iter().all(|f| now(f, at))),
        Node::Or(all) => pointwise(&|at| all.iter().any(|f| now(f, at))),
        Node::Implies(f, g) => pointwise(&|at| !now(f, at) || now(g, at)),
        Node::Equivalent(f, g) => pointwise(&|at| now(f, at) == now(g, at)),
        Node::Xor(f, g) => pointwise(&|at| now(f, at) != now(g, at)),
        Node::Next(f) => pointwise(&|at| now(f, word.next(at))),
        Node::Eventually(f) => fixpoint(false, &|at, later| now(f, at) || later),
        Node::Always(f) => fixpoint(true, &|at, later| now(f, at) && later),
        Node::Until(f, g) => fixpoint(false, &|at, later| now(g, at) || now(f, at) && later),
        Node::WeakUntil(f, g) => fixpoint(true, &|at, later| now(g, at) || now(f, at) && later),
        Node::Release(f, g) => fixpoint(true, &|at, later| now(g, at) && (now(f, at) || later)),
        Node::StrongRelease(f, g) => fixpoint(false, &|at, later| now(g, at) && (now(f, at) || later)),
    }
}

/// Whether an automaton accepts a word: whether some run on it comes to an accepting state again and again.
pub fn accepts(automaton: &BuchiAutomaton, word: &Lasso) -> bool {
    let n_states = automaton.states.len();
    if word.cycle.is_empty() || n_states == 0 {
        return false;
    }
    let successors = |node: usize| -> Vec<usize> {
        let (at, state) = (node / n_states, node % n_states);
        let edges = automaton.states[state].edges.iter().filter(|e| e.label.accepts(word.letter(at)));
        edges.map(|e| word.next(at) * n_states + e.target as usize).collect()
    };
    let initial = automaton.initial.iter().map(|state| *state as usize);
    let component = components(word.len() * n_states, initial, &successors);
    let mut has_edge = vec![false; component.len()];
    let mut has_accepting = vec![false; component.len()];
    for node in (0..component.len()).filter(|node| component[*node] != 0) {
        let own = component[node];
        has_accepting[own - 1] |= automaton.states[node % n_states].accepting;
        has_edge[own - 1] |= successors(node).into_iter().any(|next| component[next] == own);
    }
    has_edge.iter().zip(&has_accepting).any(|(edge, accepting)| *edge && *accepting)
}

/// The strongly connected component of every node that can be reached, counted from 1; 0 for the others (Tarjan, without recursion).
pub(crate) fn components(
    n_nodes: usize,
    initial: impl Iterator<Item = usize>,
    successors: &dyn Fn(usize) -> Vec<usize>,
) -> Vec<usize> {
    let (mut component, mut n_components) = (vec![0; n_nodes], 0);
    let (mut order, mut low, mut n_visited) = (vec![0; n_nodes], vec![0; n_nodes], 0);
    let mut unfinished = Vec::new();
    for root in initial {
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut enter = (order[root] == 0).then_some(root);
        loop {
            if let Some(node) = enter.take() {
                n_visited += 1;
                (order[node], low[node]) = (n_visited, n_visited);
                unfinished.push(node);
                path.push((node, successors(node)));
            }
            let Some((node, rest)) = path.last_mut() else { break };
            let node = *node;
            if let Some(next) = rest.pop() {
                if order[next] == 0 {
                    enter = Some(next);
                } else if component[next] == 0 {
                    low[node] = low[node].min(order[next]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == order[node] {
                n_components += 1;
                while let Some(member) = unfinished.pop() {
                    component[member] = n_components;
                    if member == node {
                        break;
                    }
                }
            }
        }
    }
    component
}

/// A random word over the first `n_props` propositions, with a prefix of at most and a cycle of 1 to `max_length` letters.
pub fn random_lasso(random: &mut Random, n_props: usize, max_length: usize) -> Lasso {
    let mask = if n_props >= 64 { u64::MAX } else { (1 << n_props) - 1 };
    let prefix_length = random.below(max_length + 1);
    let cycle_length = 1 + random.below(max_length.max(1));
    let mut letters = |length: usize| (0..length).map(|_| random.next_u64() & mask).collect::<Vec<_>>();
    Lasso { prefix: letters(prefix_length), cycle: letters(cycle_length) }
}

/// A random formula over propositions `p0`, `p1`, ... with about `size` operators and propositions.
pub fn random_formula(random: &mut Random, formulas: &mut Formulas, n_props: usize, size: usize) -> Formula {
    if size <= 1 || n_props == 0 {
        return match random.below(20) {
            _ if n_props == 0 => formulas.truth(),
            0 => formulas.truth(),
            1 => formulas.falsity(),
            _ => formulas.proposition(&format!("p{}", random.below(n_props))),
        };
    }
    let operator = random.below(if size == 2 { 4 } else { 13 });
    if operator < 4 {
        let f = random_formula(random, formulas, n_props, size - 1);
        return match operator {
            0 => formulas.not(f),
            1 => formulas.next(f),
            2 => formulas.eventually(f),
            _ => formulas.always(f),
        };
    }
    let left = 1 + random.below(size - 2);
    let f = random_formula(random, formulas, n_props, left);
    let g = random_formula(random, formulas, n_props, size - 1 - left);
    match operator {
        4 => formulas.and([f, g]),
        5 => formulas.or([f, g]),
        6 => formulas.implies(f, g),
        7 => formulas.equivalent(f, g),
        8 => formulas.xor(f, g),
        9 => formulas.until(f, g),
        10 => formulas.release(f, g),
        11 => formulas.weak_until(f, g),
        _ => formulas.strong_release(f, g),
    }
}

#[cfg(test)]
#[path = "word_tests.rs"]
mod tests;
