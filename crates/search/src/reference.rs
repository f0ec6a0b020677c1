//! The plain exploration: breadth-first with the standard library's hash map, one state at a time, all edges kept.
//!
//! Slow and large, and right by reading it. Other searches are tested against it, and `--export` writes what it finds.

use lariat_graph::{Edges, Graph, GraphError, Rows};
use std::collections::HashMap;

/// A graph with its states numbered from 0 in the order of a breadth-first search.
#[derive(Clone, Debug, Default)]
pub struct ExplicitGraph {
    /// The rows of the states.
    pub rows: Vec<Vec<u8>>,
    /// How many states are initial; they have the first numbers.
    pub n_initial: usize,
    /// For each state its successors, parallel edges repeated.
    pub successors: Vec<Vec<u32>>,
    /// For each state its distance from the initial ones.
    pub levels: Vec<u32>,
    /// For each state its labels.
    pub labels: Vec<u64>,
    /// Whether the number of states passed the limit, and some have no successors here that should have.
    pub cut: bool,
}

impl ExplicitGraph {
    /// Explores `graph`, up to about `states_max` states.
    pub fn explore(graph: &dyn Graph, states_max: usize) -> Result<Self, GraphError> {
        let width = graph.row_bytes();
        let mut explicit = Self::default();
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut expander = graph.expander();
        let mut initial = lariat_graph::RowBuffer::new(width);
        graph.initial(&mut initial);
        for row in initial.as_rows().iter() {
            explicit.number(row, 0, &mut numbers);
        }
        explicit.n_initial = explicit.rows.len();
        let mut next = 0;
        while next < explicit.rows.len() {
            if explicit.rows.len() > states_max {
                explicit.cut = true;
                break;
            }
            let row = explicit.rows[next].clone();
            let mut edges = Edges::new(width);
            expander.expand(Rows::new(&row, width), &mut edges)?;
            expander.labels(Rows::new(&row, width), &mut explicit.labels)?;
            let level = explicit.levels[next] + 1;
            let targets = edges.targets().iter().map(|target| explicit.number(target, level, &mut numbers)).collect();
            explicit.successors.push(targets);
            next += 1;
        }
        Ok(explicit)
    }

    fn number(&mut self, row: &[u8], level: u32, numbers: &mut HashMap<Vec<u8>, u32>) -> u32 {
        *numbers.entry(row.to_vec()).or_insert_with(|| {
            self.rows.push(row.to_vec());
            self.levels.push(level);
            self.rows.len() as u32 - 1
        })
    }

    /// All edges.
    pub fn n_edges(&self) -> u64 {
        self.successors.iter().map(|s| s.len() as u64).sum()
    }

    /// Non-empty levels.
    pub fn n_levels(&self) -> u64 {
        self.levels.last().map_or(0, |level| u64::from(*level) + 1)
    }
}
