//! Obligation properties: the smallest deterministic weak automaton.
//!
//! The sets of states that an automaton can be in after a beginning make a deterministic automaton. If the language is an obligation (a Boolean
//! combination of safety and guarantee), then all cycles within one component of it are accepted or none; one cycle of each component
//! tells which. Whether the language *is* one is checked at the end, with an automaton of the negation: so nothing rests on guesses.
//!
//! # Papers
//! C. Dax, J. Eisinger, F. Klaedtke: Mechanizing the powerset construction for restricted classes of ω-automata, ATVA 2007. C. Löding:
//! Efficient minimization of deterministic weak ω-automata, IPL 2001.

use crate::bdd::{Bdd, FALSE, Function, TRUE};
use crate::tgba::{Edge, Tgba, merged};
use std::collections::HashMap;

const SETS_MAX: usize = 600;
const EDGES_MAX: usize = 20_000;

/// The smallest deterministic weak automaton of the language of `automaton`, if there is one and it does not grow too
/// large on the way. `negation` accepts the complement. The one mark is on all edges of a state or on none.
pub(crate) fn minimised(automaton: &Tgba, negation: &Tgba, bdd: &mut Bdd) -> Option<Tgba> {
    let (sets, mut deterministic) = powerset(automaton, bdd)?;
    let components = deterministic.components();
    let n_components = components.cyclic.len();
    let accepting: Vec<bool> = (0..n_components)
        .map(|c| components.cyclic[c] && accepts_a_cycle(automaton, &sets, &deterministic, &components.of, c, bdd))
        .collect();
    let mark = |flags: &[bool], tgba: &mut Tgba| {
        for (state, edges) in tgba.states.iter_mut().enumerate() {
            edges.iter_mut().for_each(|e| e.marks = u32::from(flags[components.of[state]]));
        }
    };
    mark(&accepting, &mut deterministic);
    if intersects(&deterministic, negation, bdd) {
        return None;
    }
    let complement: Vec<bool> = accepting.iter().map(|a| !a).collect();
    let mut other = deterministic.clone();
    mark(&complement, &mut other);
    if intersects(&other, automaton, bdd) {
        return None;
    }
    let even = colours(&deterministic, &components.of, &components.cyclic, &accepting);
    Some(minimal(&deterministic, &even, bdd))
}

/// The complete deterministic automaton of sets of states; the empty set is a state too.
fn powerset(automaton: &Tgba, bdd: &mut Bdd) -> Option<(Vec<Vec<usize>>, Tgba)> {
    let mut sets = vec![vec![automaton.initial]];
    let mut numbers = HashMap::from([(sets[0].clone(), 0)]);
    let mut states = Vec::new();
    let mut n_edges = 0;
    while states.len() < sets.len() {
        let set = sets[states.len()].clone();
        let mut parts: Vec<(Function, Vec<usize>)> = vec![(TRUE, Vec::new())];
        for edge in set.iter().flat_map(|s| &automaton.states[*s]) {
            let mut next = Vec::with_capacity(parts.len());
            for (letters, targets) in parts {
                let inside = bdd.and(letters, edge.label);
                let outside = bdd.without(letters, edge.label);
                if inside != FALSE {
                    let mut with = targets.clone();
                    if let Err(place) = with.binary_search(&edge.target) {
                        with.insert(place, edge.target);
                    }
                    next.push((inside, with));
                }
                if outside != FALSE {
                    next.push((outside, targets));
                }
            }
            parts = next;
            if parts.len() > EDGES_MAX {
                return None;
            }
        }
        let edges: Vec<Edge> = parts
            .into_iter()
            .map(|(label, targets)| {
                let target = *numbers.entry(targets.clone()).or_insert_with(|| {
                    sets.push(targets);
                    sets.len() - 1
                });
                Edge { label, target, marks: 0 }
            })
            .collect();
        let edges = merged(edges.into_iter(), bdd);
        n_edges += edges.len();
        states.push(edges);
        if sets.len() > SETS_MAX || n_edges > EDGES_MAX {
            return None;
        }
    }
    Some((sets, Tgba { states, initial: 0, n_marks: 1 }))
}

/// Whether the automaton accepts the word of some cycle in a component of its powerset, from the set where the cycle begins.
fn accepts_a_cycle(
    automaton: &Tgba,
    sets: &[Vec<usize>],
    deterministic: &Tgba,
    of: &[usize],
    component: usize,
    bdd: &mut Bdd,
) -> bool {
    let Some(start) = (0..of.len()).find(|s| of[*s] == component) else { return false };
    let Some(labels) = cycle(deterministic, of, start) else { return false };
    // The automaton read along the cycle: states are pairs of a state and a place in the cycle.
    let n = automaton.states.len();
    let mut states = vec![Vec::new(); n * labels.len()];
    for (i, label) in labels.iter().enumerate() {
        let Some(letter) = bdd.any_letter(*label) else { return false };
        for (s, edges) in automaton.states.iter().enumerate() {
            for edge in edges.iter().filter(|e| accepts_letter(bdd, e.label, letter)) {
                let target = (i + 1) % labels.len() * n + edge.target;
                states[i * n + s].push(Edge { label: TRUE, target, marks: edge.marks });
            }
        }
    }
    let along = Tgba { states, initial: 0, n_marks: automaton.n_marks };
    let components = along.components();
    let mut seen = vec![false; along.states.len()];
    let mut waiting: Vec<usize> = sets[start].clone();
    while let Some(state) = waiting.pop() {
        if std::mem::replace(&mut seen[state], true) {
            continue;
        }
        if components.accepting[components.of[state]] {
            return true;
        }
        waiting.extend(along.states[state].iter().map(|e| e.target));
    }
    false
}

fn accepts_letter(bdd: &Bdd, mut f: Function, letter: u64) -> bool {
    while let Some((variable, low, high)) = bdd.split(f) {
        f = if letter >> variable & 1 == 1 { high } else { low };
    }
    f == TRUE
}

/// The labels of a shortest cycle through `start` inside its component.
fn cycle(tgba: &Tgba, of: &[usize], start: usize) -> Option<Vec<Function>> {
    let mut from: HashMap<usize, (usize, Function)> = HashMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(state) = queue.pop_front() {
        for edge in tgba.states[state].iter().filter(|e| of[e.target] == of[start]) {
            if edge.target == start {
                let mut labels = vec![edge.label];
                let mut at = state;
                while at != start {
                    let (previous, label) = from[&at];
                    labels.push(label);
                    at = previous;
                }
                labels.reverse();
                return Some(labels);
            }
            from.entry(edge.target).or_insert_with(|| {
                queue.push_back(edge.target);
                (state, edge.label)
            });
        }
    }
    None
}

/// Whether two automata accept a common word.
pub(crate) fn intersects(a: &Tgba, b: &Tgba, bdd: &mut Bdd) -> bool {
    let mut numbers: HashMap<(usize, usize), usize> = HashMap::from([((a.initial, b.initial), 0)]);
    let mut pairs = vec![(a.initial, b.initial)];
    let mut states = Vec::new();
    while states.len() < pairs.len() {
        let (s, t) = pairs[states.len()];
        let mut edges = Vec::new();
        for e in &a.states[s] {
            for g in &b.states[t] {
                let label = bdd.and(e.label, g.label);
                if label == FALSE {
                    continue;
                }
                let target = *numbers.entry((e.target, g.target)).or_insert_with(|| {
                    pairs.push((e.target, g.target));
                    pairs.len() - 1
                });
                edges.push(Edge { label, target, marks: e.marks | g.marks << a.n_marks });
            }
        }
        states.push(edges);
    }
    let product = Tgba { states, initial: 0, n_marks: a.n_marks + b.n_marks };
    product.components().accepting.iter().any(|a| *a)
}

/// Löding's colouring, as large as the components allow; even means accepting. Transient states take the colour of
/// what follows, which makes as many states alike as possible.
fn colours(tgba: &Tgba, of: &[usize], cyclic: &[bool], accepting: &[bool]) -> Vec<bool> {
    let n_components = cyclic.len();
    let mut colour = vec![0u32; n_components];
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); n_components];
    for (state, component) in of.iter().enumerate() {
        members[*component].push(state);
    }
    // Edges lead to components with smaller numbers, so those are done first.
    for c in 0..n_components {
        let successors = members[c].iter().flat_map(|s| &tgba.states[*s]).map(|e| of[e.target]).filter(|d| *d != c);
        let largest = successors.map(|d| colour[d]).max();
        colour[c] = match (largest, cyclic[c], accepting[c]) {
            (Some(l), false, _) => l,
            (None, false, _) => 1,
            (l, true, true) => l.map_or(0, |l| l + l % 2),
            (l, true, false) => l.map_or(1, |l| l + (l + 1) % 2),
        };
    }
    of.iter().map(|c| colour[*c].is_multiple_of(2)).collect()
}

/// The smallest deterministic automaton, by splitting classes until all members do the same.
fn minimal(tgba: &Tgba, accepting: &[bool], bdd: &mut Bdd) -> Tgba {
    let mut class: Vec<usize> = accepting.iter().map(|a| usize::from(*a)).collect();
    let mut n_classes = 0;
    loop {
        let mut numbers: HashMap<(usize, Vec<(usize, Function)>), usize> = HashMap::new();
        let mut next = Vec::with_capacity(class.len());
        for (state, edges) in tgba.states.iter().enumerate() {
            let to_classes = edges.iter().map(|e| Edge { target: class[e.target], marks: 0, ..*e });
            let mut signature: Vec<(usize, Function)> =
                merged(to_classes, bdd).into_iter().map(|e| (e.target, e.label)).collect();
            signature.sort_unstable();
            let n = numbers.len();
            next.push(*numbers.entry((class[state], signature)).or_insert(n));
        }
        class = next;
        if numbers.len() == n_classes {
            break;
        }
        n_classes = numbers.len();
    }
    let mut states = vec![Vec::new(); n_classes];
    for (state, edges) in tgba.states.iter().enumerate() {
        if states[class[state]].is_empty() {
            let marks = u32::from(accepting[state]);
            let to_classes = edges.iter().map(|e| Edge { target: class[e.target], marks, ..*e });
            states[class[state]] = merged(to_classes, bdd);
        }
    }
    Tgba { states, initial: class[tgba.initial], n_marks: 1 }
}
