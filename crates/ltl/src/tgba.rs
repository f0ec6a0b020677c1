//! Automata on the way: generalised Büchi acceptance on transitions, labels as Boolean functions.
//!
//! A run is accepted if it takes, for every mark, infinitely many edges that carry it. After degeneralisation there is one mark, and it is on
//! all edges of a state or on none.

use crate::bdd::{Bdd, FALSE, Function};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) label: Function,
    pub(crate) target: usize,
    pub(crate) marks: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Tgba {
    pub(crate) states: Vec<Vec<Edge>>,
    pub(crate) initial: usize,
    pub(crate) n_marks: u32,
}

/// The strongly connected components, numbered so that edges lead to smaller or equal numbers.
pub(crate) struct Components {
    pub(crate) of: Vec<usize>,
    pub(crate) accepting: Vec<bool>,
    /// Whether there is an edge inside at all.
    pub(crate) cyclic: Vec<bool>,
}

impl Tgba {
    pub(crate) fn all_marks(&self) -> u32 {
        ((1u64 << self.n_marks) - 1) as u32
    }

    pub(crate) fn n_edges(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    /// Tarjan's algorithm, with a stack of its own.
    pub(crate) fn components(&self) -> Components {
        let n = self.states.len();
        let mut of = vec![usize::MAX; n];
        let (mut index, mut low) = (vec![usize::MAX; n], vec![0; n]);
        let (mut stack, mut calls): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        let (mut next_index, mut n_components) = (0, 0);
        for root in 0..n {
            if index[root] != usize::MAX {
                continue;
            }
            calls.push((root, 0));
            while let Some((state, edge)) = calls.pop() {
                if edge == 0 {
                    index[state] = next_index;
                    low[state] = next_index;
                    next_index += 1;
                    stack.push(state);
                }
                if let Some(e) = self.states[state].get(edge) {
                    calls.push((state, edge + 1));
                    if index[e.target] == usize::MAX {
                        calls.push((e.target, 0));
                    } else if of[e.target] == usize::MAX {
                        low[state] = low[state].min(index[e.target]);
                    }
                    continue;
                }
                if low[state] == index[state] {
                    while let Some(member) = stack.pop() {
                        of[member] = n_components;
                        if member == state {
                            break;
                        }
                    }
                    n_components += 1;
                }
                if let Some((parent, _)) = calls.last() {
                    low[*parent] = low[*parent].min(low[state]);
                }
            }
        }
        self.classified(of, n_components)
    }

    fn classified(&self, of: Vec<usize>, n_components: usize) -> Components {
        let mut marks = vec![0; n_components];
        let mut cyclic = vec![false; n_components];
        for (state, edges) in self.states.iter().enumerate() {
            for edge in edges.iter().filter(|e| of[e.target] == of[state]) {
                marks[of[state]] |= edge.marks;
                cyclic[of[state]] = true;
            }
        }
        let all = self.all_marks();
        let accepting = marks.iter().zip(&cyclic).map(|(m, c)| *c && *m == all).collect();
        Components { of, accepting, cyclic }
    }

    /// Removes states that cannot be reached or from which nothing is accepted, and marks that decide nothing: those on
    /// edges between components and in components without accepting cycles. Edges with the same target and marks become one.
    pub(crate) fn trimmed(&self, bdd: &mut Bdd) -> Tgba {
        let components = self.components();
        let n = self.states.len();
        let mut useful: Vec<bool> = (0..n).map(|s| components.accepting[components.of[s]]).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|s| components.of[*s]);
        // Components are numbered from the last on, so one pass (twice within a component) sees every successor first.
        loop {
            let mut changed = false;
            for state in &order {
                if !useful[*state] && self.states[*state].iter().any(|e| useful[e.target]) {
                    useful[*state] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let mut number = vec![usize::MAX; n];
        let mut kept = Vec::new();
        let mut waiting = vec![self.initial];
        number[self.initial] = 0;
        kept.push(self.initial);
        while let Some(state) = waiting.pop() {
            for edge in &self.states[state] {
                if useful[edge.target] && number[edge.target] == usize::MAX {
                    number[edge.target] = kept.len();
                    kept.push(edge.target);
                    waiting.push(edge.target);
                }
            }
        }
        let states =
            kept.iter()
                .map(|state| {
                    let inside = |e: &Edge| {
                        components.of[e.target] == components.of[*state] && components.accepting[components.of[*state]]
                    };
                    let edges = self.states[*state].iter().filter(|e| useful[e.target] && useful[*state]).map(|e| {
                        Edge { label: e.label, target: number[e.target], marks: if inside(e) { e.marks } else { 0 } }
                    });
                    merged(edges, bdd)
                })
                .collect();
        Tgba { states, initial: 0, n_marks: self.n_marks }
    }
}

/// Edges with the same target and marks as one.
pub(crate) fn merged(edges: impl Iterator<Item = Edge>, bdd: &mut Bdd) -> Vec<Edge> {
    let mut out: Vec<Edge> = Vec::new();
    for edge in edges.filter(|e| e.label != FALSE) {
        match out.iter_mut().find(|e| e.target == edge.target && e.marks == edge.marks) {
            Some(same) => same.label = bdd.or(same.label, edge.label),
            None => out.push(edge),
        }
    }
    out
}
