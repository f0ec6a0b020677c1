//! Random graphs of all shapes: sparse and dense, deep and shallow, with parallel edges, self-loops, dead ends, accepting states and an error
//! state.

use lariat_base::Random;
use lariat_graph::{Edges, Expander, Graph, GraphError, RowBuffer, Rows, components};

/// A graph given by its edges; the row of a state is its number, spread over the width.
#[derive(Clone, Debug)]
pub struct RandomGraph {
    width: usize,
    n_initial: usize,
    successors: Vec<Vec<u32>>,
    labels: Vec<u64>,
    accepting: Vec<bool>,
    error: Option<u32>,
}

impl RandomGraph {
    /// The graph that `seed` names, with at most `states_max` states.
    pub fn new(seed: u64, states_max: usize) -> Self {
        let mut random = Random::new(seed);
        let n = 1 + random.below(states_max);
        let degree = 1 + random.below(4);
        // Edges to near numbers only make deep graphs.
        let reach = if random.one_in(2) { n } else { 1 + random.below(n.min(20)) };
        let mut successors: Vec<Vec<u32>> = Vec::with_capacity(n);
        for state in 0..n {
            let n_edges = if random.one_in(8) { 0 } else { random.below(2 * degree + 1) };
            let target = |random: &mut Random| {
                let shift = random.below(2 * reach) as i64 - reach as i64 / 2;
                (state as i64 + shift).rem_euclid(n as i64) as u32
            };
            successors.push((0..n_edges).map(|_| target(&mut random)).collect());
        }
        let labels = (0..n).map(|_| if random.one_in(30) { 1 << random.below(3) } else { 0 }).collect();
        let n_initial = 1 + if random.one_in(4) { random.below(n.min(5)) } else { 0 };
        let error = random.one_in(3).then(|| random.below(n) as u32);
        if let Some(error) = error {
            successors[error as usize].clear();
        }
        let width = 1 + random.below(20).max(3);
        let every = 1 + random.below(40);
        let accepting = (0..n).map(|_| random.one_in(every)).collect();
        Self { width, n_initial, successors, labels, accepting, error }
    }

    /// The same graph, but the states of a strongly connected component are all accepting, or none is.
    pub fn new_weak(seed: u64, states_max: usize) -> Self {
        let mut graph = Self::new(seed, states_max);
        let found = components(&graph.successors);
        let mut random = Random::new(!seed);
        let every = 1 + random.below(4);
        let of_component: Vec<bool> = found.cyclic.iter().map(|_| random.one_in(every)).collect();
        graph.accepting = found.of.iter().map(|component| of_component[*component as usize]).collect();
        graph
    }

    /// The same graph with no error state and any labels of three in each state: one for formulas to be asked about.
    pub fn without_error(seed: u64, states_max: usize) -> Self {
        let mut graph = Self::new(seed, states_max);
        let mut random = Random::new(!seed);
        graph.labels.iter_mut().for_each(|labels| *labels = random.below(8) as u64);
        graph.error = None;
        graph
    }

    /// The same graph with rows of another width, at least 4: wide ones make few states large.
    pub fn with_row_bytes(self, width: usize) -> Self {
        assert!(width >= 4, "a state's number has 4 bytes");
        Self { width, ..self }
    }

    /// The same graph with all states accepting, or none.
    pub fn with_all_accepting(mut self, accepting: bool) -> Self {
        self.accepting.fill(accepting);
        self
    }

    /// One large cycle, with a shortcut here and there; one state is accepting, if any.
    pub fn ring(seed: u64, n_states: u32, accepting: Option<u32>) -> Self {
        let mut random = Random::new(seed);
        let mut successors: Vec<Vec<u32>> = (0..n_states).map(|state| vec![(state + 1) % n_states]).collect();
        for _ in 0..n_states / 10 {
            let (from, to) = (random.below(n_states as usize), random.below(n_states as usize));
            successors[from].push(to as u32);
        }
        let n = n_states as usize;
        let is_accepting = (0..n_states).map(|state| Some(state) == accepting).collect();
        Self { width: 5, n_initial: 1, successors, labels: vec![0; n], accepting: is_accepting, error: None }
    }

    /// One cycle.
    pub fn plain_ring(n_states: u32) -> Self {
        let successors = (0..n_states).map(|state| vec![(state + 1) % n_states]).collect();
        let n = n_states as usize;
        Self { width: 5, n_initial: 1, successors, labels: vec![0; n], accepting: vec![false; n], error: None }
    }

    /// Rings of up to `states_max` states, most of them accepting, each with a path to the next, and here and there an edge from one to any other.
    pub fn rings(seed: u64, states_max: usize) -> Self {
        let mut random = Random::new(seed);
        let mut successors: Vec<Vec<u32>> = Vec::new();
        for _ in 0..=random.below(4) {
            let (first, path) = (successors.len(), random.below(1 + states_max / 8));
            let end = first + path + 1 + random.below(states_max);
            for state in first..end {
                let next = if state + 1 == end { first + path } else { state + 1 };
                successors.push(vec![next as u32]);
            }
            let from = first + path + random.below(end - first - path);
            successors[from].push(end as u32);
        }
        let n = successors.len();
        // The last ring has no next one.
        successors.iter_mut().for_each(|targets| targets.retain(|target| (*target as usize) < n));
        for _ in 0..random.below(1 + n / 16) {
            let (from, to) = (random.below(n), random.below(n));
            successors[from].push(to as u32);
        }
        let every = 1 + random.below(3);
        let accepting = (0..n).map(|_| random.one_in(every)).collect();
        Self { width: 5, n_initial: 1, successors, labels: vec![0; n], accepting, error: None }
    }

    /// One long path of accepting states that ends.
    pub fn chain(n_states: u32) -> Self {
        let successors: Vec<Vec<u32>> =
            (0..n_states).map(|state| if state + 1 < n_states { vec![state + 1] } else { Vec::new() }).collect();
        let n = n_states as usize;
        Self { width: 4, n_initial: 1, successors, labels: vec![0; n], accepting: vec![true; n], error: None }
    }

    fn row(&self, state: u32) -> Vec<u8> {
        let mut row = vec![0; self.width];
        row[..4].copy_from_slice(&state.to_le_bytes());
        for i in 4..self.width {
            row[i] = row[i % 4].wrapping_mul(7);
        }
        row
    }

    fn state(row: &[u8]) -> usize {
        u32::from_le_bytes([row[0], row[1], row[2], row[3]]) as usize
    }
}

impl Graph for RandomGraph {
    fn row_bytes(&self) -> usize {
        self.width
    }

    fn initial(&self, out: &mut RowBuffer) {
        for state in 0..self.n_initial as u32 {
            out.push(&self.row(state));
        }
    }

    fn expander(&self) -> Box<dyn Expander + '_> {
        Box::new(Walker(self))
    }

    fn is_error(&self, row: &[u8]) -> bool {
        self.error == Some(Self::state(row) as u32)
    }

    fn has_acceptance(&self) -> bool {
        true
    }

    fn is_accepting(&self, row: &[u8]) -> bool {
        self.accepting[Self::state(row)]
    }
}

struct Walker<'g>(&'g RandomGraph);

impl Expander for Walker<'_> {
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError> {
        for row in from.iter() {
            for target in &self.0.successors[RandomGraph::state(row)] {
                out.push(&self.0.row(*target));
            }
            out.end_source();
        }
        Ok(())
    }

    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        out.extend(rows.iter().map(|row| self.0.labels[RandomGraph::state(row)]));
        Ok(())
    }
}
