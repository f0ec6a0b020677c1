//! Generalised acceptance on transitions to one mark on states.
//!
//! In an accepting component a copy of each state waits for one of the marks, in a fixed order; after the last mark comes an accepting copy.
//! An edge advances over all marks that it carries in a row. Each component has its own marks, of which those are left out that every
//! otherwise accepting cycle carries anyway; its own order; and its own level to begin with, since runs enter it once.

use crate::bdd::Bdd;
use crate::tgba::{Components, Edge, Tgba, merged};
use std::collections::{HashMap, HashSet};

/// Choices that lead to automata of different sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices<'o> {
    /// Orders of the marks, all of them in each; every component takes the one that gives it the fewest copies.
    pub(crate) orders: &'o [Vec<u32>],
    /// Whether components are entered at the accepting level.
    pub(crate) enter_accepting: bool,
}

/// A state, and the level it is at.
type Copy = (usize, usize);

/// The automaton with one mark, which is on all edges of a state or on none.
pub(crate) fn degeneralised(tgba: &Tgba, choices: Choices, bdd: &mut Bdd) -> Tgba {
    let components = tgba.components();
    let orders: Vec<Vec<u32>> = (0..components.accepting.len())
        .map(|c| if components.accepting[c] { best_order(tgba, &components, c, choices) } else { Vec::new() })
        .collect();
    let enter = |state: usize| -> Copy {
        let order = &orders[components.of[state]];
        (state, if choices.enter_accepting { order.len() } else { 0 })
    };
    let first = enter(tgba.initial);
    let mut numbers: HashMap<Copy, usize> = HashMap::from([(first, 0)]);
    let mut copies = vec![first];
    let mut states = Vec::new();
    while states.len() < copies.len() {
        let (state, level) = copies[states.len()];
        let own = components.of[state];
        let order = &orders[own];
        let accepting = components.accepting[own] && level == order.len();
        let mut edges = Vec::new();
        for edge in &tgba.states[state] {
            let target = if components.of[edge.target] != own {
                enter(edge.target)
            } else {
                (edge.target, advance(if level == order.len() { 0 } else { level }, order, edge.marks))
            };
            let number = *numbers.entry(target).or_insert_with(|| {
                copies.push(target);
                copies.len() - 1
            });
            edges.push(Edge { label: edge.label, target: number, marks: u32::from(accepting) });
        }
        states.push(merged(edges.into_iter(), bdd));
    }
    Tgba { states, initial: 0, n_marks: 1 }
}

/// The needed marks of a component in the order that gives it the fewest copies of its states.
fn best_order(tgba: &Tgba, components: &Components, component: usize, choices: Choices) -> Vec<u32> {
    let orders = choices.orders.iter().map(|order| needed_marks(tgba, components, component, order));
    let cost = |order: &Vec<u32>| n_copies(tgba, components, component, order, choices.enter_accepting);
    match choices.orders {
        [only] => needed_marks(tgba, components, component, only),
        _ => orders.min_by_key(cost).unwrap_or_default(),
    }
}

/// How many copies of its states a component has with this order.
fn n_copies(tgba: &Tgba, components: &Components, component: usize, order: &[u32], enter_accepting: bool) -> usize {
    let level = if enter_accepting { order.len() } else { 0 };
    let entered = |state: usize| components.of[state] == component;
    let from_outside = tgba.states.iter().enumerate().filter(|(state, _)| !entered(*state));
    let targets = from_outside.flat_map(|(_, edges)| edges).map(|e| e.target).chain([tgba.initial]);
    let mut waiting: Vec<Copy> = targets.filter(|target| entered(*target)).map(|target| (target, level)).collect();
    let mut seen: HashSet<Copy> = HashSet::new();
    while let Some((state, level)) = waiting.pop() {
        if !seen.insert((state, level)) {
            continue;
        }
        let from = if level == order.len() { 0 } else { level };
        let inside = tgba.states[state].iter().filter(|e| entered(e.target));
        waiting.extend(inside.map(|e| (e.target, advance(from, order, e.marks))));
    }
    seen.len()
}

/// The level after an edge with these marks.
fn advance(mut level: usize, order: &[u32], marks: u32) -> usize {
    while level < order.len() && marks >> order[level] & 1 == 1 {
        level += 1;
    }
    level
}

/// The marks that a component has to be watched for, in the given order.
pub(crate) fn needed_marks(tgba: &Tgba, components: &Components, component: usize, order: &[u32]) -> Vec<u32> {
    let mut needed = order.to_vec();
    // The last marks of the order are tried first.
    for mark in order.iter().rev() {
        let others: u32 = needed.iter().filter(|m| *m != mark).map(|m| 1 << m).sum();
        if !accepts_without(tgba, components, component, *mark, others) {
            needed.retain(|m| m != mark);
        }
    }
    needed
}

/// Whether the component has a cycle with all the `others` and without `mark`.
fn accepts_without(tgba: &Tgba, components: &Components, component: usize, mark: u32, others: u32) -> bool {
    let states = tgba
        .states
        .iter()
        .enumerate()
        .map(|(state, edges)| {
            let inside = |e: &&Edge| {
                components.of[state] == component && components.of[e.target] == component && e.marks >> mark & 1 == 0
            };
            edges.iter().filter(inside).map(|e| Edge { marks: e.marks & others, ..*e }).collect()
        })
        .collect();
    let part = Tgba { states, initial: tgba.initial, n_marks: tgba.n_marks };
    let parts = part.components();
    let mut seen = vec![0; parts.cyclic.len()];
    for (state, edges) in part.states.iter().enumerate() {
        for edge in edges.iter().filter(|e| parts.of[e.target] == parts.of[state]) {
            seen[parts.of[state]] |= edge.marks;
        }
    }
    seen.iter().zip(&parts.cyclic).any(|(marks, cyclic)| *cyclic && *marks == others)
}
