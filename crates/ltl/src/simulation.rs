//! Simulation: states and edges that add nothing because others do at least as much.
//!
//! State `p` *simulates* `q` if whatever `q` can do, `p` can do too, letter by letter, with at least the same marks, into states that again
//! simulate. Backwards the same holds for how states are reached. States that simulate each other become one; an edge is cut by those
//! letters for which a brother leads to a state that simulates its target.
//!
//! Marks on edges between components decide nothing, but matter here: they are set all or none, and both are tried. (Inside components
//! without accepting cycles there are none, or there would be such cycles.)
//!
//! # Invariants
//! 1. The language stays the same.
//! 2. With `Marks::OnStates`, all edges of a state carry the mark or none does, before and after.

use crate::bdd::{Bdd, FALSE, Function};
use crate::tgba::{Edge, Tgba, merged};
use std::collections::HashMap;

/// Where marks may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    OnEdges,
    OnStates,
}

/// Pairs of edges that may be compared. In larger automata only states that do exactly the same are merged.
const EDGE_PAIRS_MAX: usize = 40_000_000;

/// Reduces until nothing changes.
pub(crate) fn reduced(tgba: &Tgba, marks: Marks, bdd: &mut Bdd) -> Tgba {
    let mut best = tgba.trimmed(bdd);
    if cost(&best) > EDGE_PAIRS_MAX {
        best = with_irrelevant_marks(&best, marks, false);
        return bisimilar(&best, bdd);
    }
    loop {
        let size = (best.states.len(), best.n_edges());
        for irrelevant in [false, true] {
            best = with_irrelevant_marks(&best, marks, irrelevant);
            best = forward(&best, bdd).trimmed(bdd);
        }
        best = with_irrelevant_marks(&best, marks, false);
        best = backward(&best, marks, bdd).trimmed(bdd);
        best = with_irrelevant_marks(&best, marks, false);
        if (best.states.len(), best.n_edges()) >= size {
            return best;
        }
    }
}

/// How many pairs of edges a reduction compares, or about so.
pub(crate) fn cost(tgba: &Tgba) -> usize {
    tgba.n_edges() * tgba.n_edges()
}

/// Merges states with the same edges into the same classes of states.
fn bisimilar(tgba: &Tgba, bdd: &mut Bdd) -> Tgba {
    let mut classes = vec![0; tgba.states.len()];
    let mut n_classes = 0;
    loop {
        let mut numbers: HashMap<Vec<(usize, u32, Function)>, usize> = HashMap::new();
        let mut next = Vec::with_capacity(classes.len());
        for (state, edges) in tgba.states.iter().enumerate() {
            let to_classes = edges.iter().map(|e| Edge { target: classes[e.target], ..*e });
            let mut does: Vec<_> = merged(to_classes, bdd).iter().map(|e| (e.target, e.marks, e.label)).collect();
            does.sort_unstable();
            // The class it was in comes first, so that classes are only split.
            does.insert(0, (classes[state], 0, FALSE));
            let n = numbers.len();
            next.push(*numbers.entry(does).or_insert(n));
        }
        classes = next;
        if numbers.len() == n_classes {
            break;
        }
        n_classes = numbers.len();
    }
    let mut representatives = vec![usize::MAX; n_classes];
    for (state, class) in classes.iter().enumerate() {
        representatives[*class] = representatives[*class].min(state);
    }
    let classes: Vec<usize> = classes.into_iter().map(|class| representatives[class]).collect();
    quotient(tgba, &classes, |state| classes[state] == state, bdd).trimmed(bdd)
}

/// Sets all marks that decide nothing to `value`, keeping them uniform on states where that is asked for.
pub(crate) fn with_irrelevant_marks(tgba: &Tgba, marks: Marks, value: bool) -> Tgba {
    let components = tgba.components();
    let irrelevant = if value { tgba.all_marks() } else { 0 };
    let mut out = tgba.clone();
    for (state, edges) in out.states.iter_mut().enumerate() {
        let own = components.of[state];
        let of_state = match (components.cyclic[own], components.accepting[own]) {
            (false, _) => irrelevant,
            (true, false) => 0,
            (true, true) => edges.iter().find(|e| components.of[e.target] == own).map_or(0, |e| e.marks),
        };
        for edge in edges.iter_mut() {
            if marks == Marks::OnStates {
                edge.marks = of_state;
            } else if components.of[edge.target] != own {
                edge.marks = irrelevant;
            } else if !components.accepting[own] {
                edge.marks = 0;
            }
        }
    }
    out
}

/// A relation between states, as a square of bits.
struct Relation {
    n: usize,
    bits: Vec<bool>,
}

impl Relation {
    /// Whether `p` simulates `q`.
    fn holds(&self, q: usize, p: usize) -> bool {
        self.bits[q * self.n + p]
    }

    /// For each state the smallest one that it is equivalent to.
    fn classes(&self) -> Vec<usize> {
        (0..self.n).map(|q| (0..=q).find(|p| self.holds(q, *p) && self.holds(*p, q)).unwrap_or(q)).collect()
    }
}

/// The largest relation in which every edge of `q` is answered by edges of `p`.
fn simulation(edges: &[Vec<Edge>], start: impl Fn(usize, usize) -> bool, bdd: &mut Bdd) -> Relation {
    let n = edges.len();
    // What a state can read at all tells most pairs apart.
    let letters: Vec<Function> =
        edges.iter().map(|list| list.iter().fold(FALSE, |all, e| bdd.or(all, e.label))).collect();
    let bits =
        (0..n * n).map(|i| start(i / n, i % n) && bdd.without(letters[i / n], letters[i % n]) == FALSE).collect();
    let mut relation = Relation { n, bits };
    // A pair can fail anew only if a successor of `q` has lost a partner.
    let mut lost = vec![true; n];
    while lost.iter().any(|l| *l) {
        let mut lost_now = vec![false; n];
        for q in (0..n).filter(|q| edges[*q].iter().any(|e| lost[e.target])) {
            for p in 0..n {
                if p != q && relation.holds(q, p) && !answers(edges, &relation, q, p, bdd) {
                    relation.bits[q * n + p] = false;
                    lost_now[q] = true;
                }
            }
        }
        lost = lost_now;
    }
    relation
}

fn answers(edges: &[Vec<Edge>], relation: &Relation, q: usize, p: usize, bdd: &mut Bdd) -> bool {
    edges[q].iter().all(|asked| {
        let mut open = asked.label;
        for answer in &edges[p] {
            if asked.marks & !answer.marks == 0 && relation.holds(asked.target, answer.target) {
                open = bdd.without(open, answer.label);
                if open == FALSE {
                    break;
                }
            }
        }
        open == FALSE
    })
}

fn quotient(tgba: &Tgba, classes: &[usize], keep_edges_of: impl Fn(usize) -> bool, bdd: &mut Bdd) -> Tgba {
    let mut states: Vec<Vec<Edge>> = vec![Vec::new(); tgba.states.len()];
    for (state, edges) in tgba.states.iter().enumerate().filter(|(s, _)| keep_edges_of(*s)) {
        states[classes[state]].extend(edges.iter().map(|e| Edge { target: classes[e.target], ..*e }));
    }
    let states = states.into_iter().map(|edges| merged(edges.into_iter(), bdd)).collect();
    Tgba { states, initial: classes[tgba.initial], n_marks: tgba.n_marks }
}

fn forward(tgba: &Tgba, bdd: &mut Bdd) -> Tgba {
    let relation = simulation(&tgba.states, |_, _| true, bdd);
    let classes = relation.classes();
    let mut out = quotient(tgba, &classes, |state| classes[state] == state, bdd);
    for edges in &mut out.states {
        for i in 0..edges.len() {
            for j in 0..edges.len() {
                let (small, large) = (edges[i], edges[j]);
                let dominated = i != j
                    && small.marks & !large.marks == 0
                    && relation.holds(small.target, large.target)
                    && (small.target, small.marks) != (large.target, large.marks);
                if dominated {
                    edges[i].label = bdd.without(small.label, large.label);
                }
            }
        }
        edges.retain(|e| e.label != FALSE);
    }
    out
}

fn backward(tgba: &Tgba, marks: Marks, bdd: &mut Bdd) -> Tgba {
    let mut incoming: Vec<Vec<Edge>> = vec![Vec::new(); tgba.states.len()];
    for (state, edges) in tgba.states.iter().enumerate() {
        for edge in edges {
            incoming[edge.target].push(Edge { target: state, ..*edge });
        }
    }
    let flag = |state: usize| tgba.states[state].first().map_or(0, |e| e.marks);
    let start = |q: usize, p: usize| {
        (q != tgba.initial || p == tgba.initial) && (marks == Marks::OnEdges || flag(q) & !flag(p) == 0)
    };
    let relation = simulation(&incoming, start, bdd);
    let classes = relation.classes();
    let mut out = quotient(tgba, &classes, |_| true, bdd);
    cut_dominated_predecessors(&mut out, &relation, bdd);
    out
}

/// Edges into the same state from sources one of which is reached in at least as many ways as the other.
fn cut_dominated_predecessors(tgba: &mut Tgba, relation: &Relation, bdd: &mut Bdd) {
    let n = tgba.states.len();
    for target in 0..n {
        let places: Vec<(usize, usize)> = (0..n)
            .flat_map(|s| (0..tgba.states[s].len()).map(move |e| (s, e)))
            .filter(|(s, e)| tgba.states[*s][*e].target == target)
            .collect();
        for small in &places {
            for large in &places {
                let (a, b) = (tgba.states[small.0][small.1], tgba.states[large.0][large.1]);
                if small.0 != large.0 && a.marks & !b.marks == 0 && relation.holds(small.0, large.0) {
                    tgba.states[small.0][small.1].label = bdd.without(a.label, b.label);
                }
            }
        }
    }
    for edges in &mut tgba.states {
        edges.retain(|e| e.label != FALSE);
    }
}
