//! From generalised Büchi acceptance, on states or edges, to Büchi acceptance on states.
//!
//! A run is accepted if it has edges of every set again and again. The states of the result count which sets were seen since all of
//! them were seen last; the states where the count is full accept. Where there is one set and every state has all of its edges in it
//! or none, nothing needs to be counted and the automaton stays as it is.

use std::collections::HashMap;

use crate::automaton::{BuchiAutomaton, BuchiEdge, BuchiState, Label};

/// An edge that may be in several acceptance sets.
#[derive(Clone, Debug)]
pub(crate) struct MarkedEdge {
    pub label: Label,
    pub target: u32,
    /// The sets it is in, as bits.
    pub marks: u64,
}

/// A state that may be in several acceptance sets, which means that all of its edges are.
#[derive(Clone, Debug, Default)]
pub(crate) struct MarkedState {
    pub marks: u64,
    pub edges: Vec<MarkedEdge>,
}

/// What runs are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    Nothing,
    /// All that have edges of each of that many sets again and again: everything if it is 0. At most 64.
    AllOf(u32),
}

/// An automaton with generalised acceptance.
#[derive(Clone, Debug)]
pub(crate) struct MarkedAutomaton {
    pub propositions: Vec<String>,
    pub initial: Vec<u32>,
    pub states: Vec<MarkedState>,
    pub acceptance: Acceptance,
}

/// The Büchi automaton of the same language.
pub(crate) fn degeneralise(automaton: MarkedAutomaton) -> BuchiAutomaton {
    let (accept, sets) = match automaton.acceptance {
        Acceptance::Nothing => (false, 0),
        Acceptance::AllOf(sets) => (true, sets),
    };
    let full = if sets >= 64 { u64::MAX } else { (1 << sets) - 1 };
    let state_based = |s: &MarkedState| {
        let on_edges = |e: &MarkedEdge| (e.marks | s.marks) & full;
        s.edges.windows(2).all(|pair| on_edges(&pair[0]) == on_edges(&pair[1]))
    };
    if sets > 1 || sets == 1 && !automaton.states.iter().all(state_based) {
        return count(automaton, sets);
    }
    let state = |s: MarkedState| {
        let marks = s.edges.first().map_or(s.marks, |e| e.marks | s.marks);
        let edges = s.edges.into_iter().map(|e| BuchiEdge { label: e.label, target: e.target }).collect();
        BuchiState { accepting: accept && marks & full == full, edges }
    };
    BuchiAutomaton {
        propositions: automaton.propositions,
        initial: automaton.initial,
        states: automaton.states.into_iter().map(state).collect(),
    }
}

/// The product with the counter, as far as it can be reached.
fn count(automaton: MarkedAutomaton, sets: u32) -> BuchiAutomaton {
    let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
    let mut order: Vec<(u32, u32)> = Vec::new();
    let mut number_of = |pair: (u32, u32), order: &mut Vec<(u32, u32)>| {
        *numbers.entry(pair).or_insert_with(|| {
            order.push(pair);
            order.len() as u32 - 1
        })
    };
    let initial = automaton.initial.iter().map(|state| number_of((*state, 0), &mut order)).collect();
    let mut states = Vec::new();
    while let Some((state, seen)) = order.get(states.len()).copied() {
        let source = &automaton.states[state as usize];
        let mut edges = Vec::new();
        for edge in &source.edges {
            let marks = edge.marks | source.marks;
            let mut next = if seen == sets { 0 } else { seen };
            while next < sets && marks >> next & 1 == 1 {
                next += 1;
            }
            let target = number_of((edge.target, next), &mut order);
            edges.push(BuchiEdge { label: edge.label.clone(), target });
        }
        states.push(BuchiState { accepting: seen == sets, edges });
    }
    BuchiAutomaton { propositions: automaton.propositions, initial, states }
}

#[cfg(test)]
mod tests {
    use lariat_base::Random;

    use super::*;
    use crate::testing::random_automaton;
    use crate::word::{Lasso, accepts, components, random_lasso};

    /// Whether a component of automaton and word has edges of all sets: the definition of generalised acceptance.
    fn accepts_marked(automaton: &MarkedAutomaton, sets: u32, word: &Lasso) -> bool {
        let n_states = automaton.states.len();
        let edges = |node: usize| -> Vec<(usize, u64)> {
            let (at, state) = (node / n_states, &automaton.states[node % n_states]);
            let open = state.edges.iter().filter(|e| e.label.accepts(word.letter(at)));
            open.map(|e| (word.next(at) * n_states + e.target as usize, e.marks | state.marks)).collect()
        };
        let initial = automaton.initial.iter().map(|state| *state as usize);
        let targets = |node: usize| edges(node).into_iter().map(|(target, _)| target).collect();
        let component = components(word.len() * n_states, initial, &targets);
        let mut found: HashMap<usize, u64> = HashMap::new();
        for node in (0..component.len()).filter(|node| component[*node] != 0) {
            for (target, marks) in edges(node) {
                if component[target] == component[node] {
                    *found.entry(component[node]).or_insert(0) |= marks;
                }
            }
        }
        found.values().any(|marks| marks & ((1 << sets) - 1) == (1 << sets) - 1)
    }

    #[test]
    fn the_language_stays() {
        let mut random = Random::new(21);
        let mut accepted = 0;
        for _ in 0..3000 {
            let plain = random_automaton(&mut random);
            let sets = random.below(4) as u32;
            let mut edge =
                |e: BuchiEdge| MarkedEdge { label: e.label, target: e.target, marks: random.next_u64() & 15 };
            let mut state = |s: BuchiState| MarkedState {
                marks: u64::from(s.accepting),
                edges: s.edges.into_iter().map(&mut edge).collect(),
            };
            let marked = MarkedAutomaton {
                propositions: plain.propositions,
                initial: plain.initial,
                states: plain.states.into_iter().map(&mut state).collect(),
                acceptance: Acceptance::AllOf(sets),
            };
            let result = degeneralise(marked.clone());
            for _ in 0..20 {
                let word = random_lasso(&mut random, 3, 4);
                let expect = accepts_marked(&marked, sets, &word);
                accepted += usize::from(expect);
                assert_eq!(accepts(&result, &word), expect, "{marked:?} {word:?}");
            }
        }
        assert!(accepted > 1000, "{accepted}");
    }
}
