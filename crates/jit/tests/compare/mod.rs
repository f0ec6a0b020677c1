//! Compares a compiled model with its interpreter on states that it can reach.

#![allow(dead_code, reason = "each test file uses its own part")]

use lariat_base::Random;
use lariat_exec::{Interpreter, Label, PropertyProcess};
use lariat_graph::{DeadlockRuns, Edges, Graph, Product, Rows};
use lariat_jit::{Compiled, CompiledProperty};
use lariat_model::Model;
use std::collections::HashSet;

/// Rows that are expanded and compared at once.
const BATCH: usize = 256;

/// Compares the system, and its product with the property process if there is one, on `n_max` random reachable states, or on all where
/// there are not more. Returns how many states it compared. `name` is part of every message.
pub fn compare(name: &str, model: &Model, labels: Vec<Label>, n_max: usize, seed: u64) -> usize {
    let name = format!("seed {seed}: {name}");
    let interpreter = Interpreter::new(model, labels);
    let compiled = Compiled::new(&interpreter).unwrap_or_else(|why| panic!("{name}: nothing compiles {why}"));
    let mut n = compare_graphs(&name, &interpreter, &compiled, n_max, seed);
    if let Ok(process) = PropertyProcess::new(&interpreter) {
        let again = PropertyProcess::new(&interpreter).unwrap();
        let fast = CompiledProperty::new(again).unwrap_or_else(|why| panic!("{name}: nothing compiles {why}"));
        let wanted = Product::new(&interpreter, &process, DeadlockRuns::Stutter);
        let found = Product::new(&compiled, &fast, DeadlockRuns::Stutter);
        n += compare_graphs(&format!("product of {name}"), &wanted, &found, n_max, seed);
    }
    n
}

fn compare_graphs(name: &str, wanted: &dyn Graph, found: &dyn Graph, n_max: usize, seed: u64) -> usize {
    assert_eq!(found.row_bytes(), wanted.row_bytes(), "{name}");
    let rows = reachable(wanted, found, n_max, seed);
    let width = wanted.row_bytes();
    for batch in rows.bytes().chunks(BATCH * width) {
        same(name, wanted, found, Rows::new(batch, width));
    }
    let some = rows.len().min(BATCH) * width;
    for graph in [wanted, found] {
        same_in_parts(name, graph, Rows::new(&rows.bytes()[..some], width));
    }
    rows.len()
}

/// A bounded buffer gets the same edges, in several parts.
fn same_in_parts(name: &str, graph: &dyn Graph, mut rows: Rows<'_>) {
    let mut expander = graph.expander();
    let mut all = Edges::new(rows.width());
    if expander.expand(rows, &mut all).is_err() {
        return;
    }
    let full = 5 * rows.width();
    let mut bounded = Edges::bounded(rows.width(), full);
    let mut at = 0;
    while !rows.is_empty() {
        bounded.clear();
        expander.expand(rows, &mut bounded).unwrap();
        let n = bounded.n_sources();
        assert!(n > 0, "{name}");
        // One call of compiled code makes the edges of up to 64 rows.
        let n_before_last_call = bounded.range_of(n - n.min(64)).start;
        assert!(n_before_last_call * rows.width() < full, "{name}");
        for i in 0..n {
            assert!(bounded.targets_of(i).bytes() == all.targets_of(at + i).bytes(), "{name}");
        }
        at += n;
        rows = rows.split_at(n).1;
    }
    assert_eq!(at, all.n_sources(), "{name}");
}

/// Both graphs have the same edges in the same order, the same labels, the same errors.
pub fn same(name: &str, wanted: &dyn Graph, found: &dyn Graph, rows: Rows<'_>) {
    let (mut wanted_edges, mut edges) = (Edges::new(rows.width()), Edges::new(rows.width()));
    let result = wanted.expander().expand(rows, &mut wanted_edges);
    assert_eq!(found.expander().expand(rows, &mut edges), result, "{name}");
    if result.is_ok() {
        assert_eq!(edges.n_sources(), rows.len(), "{name}");
        for (i, row) in rows.iter().enumerate() {
            let (wanted, found) = (wanted_edges.targets_of(i), edges.targets_of(i));
            assert!(
                wanted.bytes() == found.bytes(),
                "{name}: edges of {row:?}: {:?} instead of {:?}",
                found.iter().collect::<Vec<_>>(),
                wanted.iter().collect::<Vec<_>>()
            );
        }
    }
    for row in rows.iter() {
        assert_eq!(found.is_error(row), wanted.is_error(row), "{name}: {row:?}");
        assert_eq!(found.is_accepting(row), wanted.is_accepting(row), "{name}: {row:?}");
    }
    let (mut wanted_labels, mut labels) = (Vec::new(), Vec::new());
    let result = wanted.expander().labels(rows, &mut wanted_labels);
    assert_eq!(found.expander().labels(rows, &mut labels), result, "{name}: labels");
    assert_eq!(labels, wanted_labels, "{name}: labels");
}

/// Reachable rows with no row twice.
pub struct Reachable {
    bytes: Vec<u8>,
    width: usize,
    known: HashSet<Vec<u8>>,
}

impl Reachable {
    fn insert(&mut self, row: &[u8]) {
        if self.known.insert(row.to_vec()) {
            self.bytes.extend_from_slice(row);
        }
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    fn row(&self, i: usize) -> Vec<u8> {
        self.bytes[i * self.width..(i + 1) * self.width].to_vec()
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// All reachable rows if there are at most `n_max`; else that many, most of them from random walks. Behind a row that the fast graph
/// cannot expand nothing is looked for.
fn reachable(wanted: &dyn Graph, fast: &dyn Graph, n_max: usize, seed: u64) -> Reachable {
    let width = fast.row_bytes();
    let mut initial = lariat_graph::RowBuffer::new(width);
    wanted.initial(&mut initial);
    let mut rows = Reachable { bytes: Vec::new(), width, known: HashSet::new() };
    initial.as_rows().iter().for_each(|row| rows.insert(row));
    let mut expander = fast.expander();
    let mut edges = Edges::new(width);
    let mut successors = |row: &[u8]| {
        edges.clear();
        match expander.expand(Rows::new(row, width), &mut edges) {
            Ok(()) => edges.targets().bytes().to_vec(),
            Err(_) => Vec::new(),
        }
    };
    let mut at = 0;
    while at < rows.len() && rows.len() <= n_max {
        let row = rows.row(at);
        successors(&row).chunks_exact(width).for_each(|row| rows.insert(row));
        at += 1;
    }
    if rows.len() <= n_max {
        return rows;
    }
    // There are more: a quarter from near the initial state, the others from walks that begin anywhere so far. Where those come to few
    // states, the others near the initial state are taken after all.
    let near = rows.bytes.split_off(n_max / 4 * width);
    rows.known = rows.bytes.chunks_exact(width).map(<[u8]>::to_vec).collect();
    let mut random = Random::new(seed);
    for _ in 0..10 * n_max / WALK {
        let mut row = rows.row(random.below(rows.len()));
        for _ in 0..WALK {
            let next = successors(&row);
            if next.is_empty() || rows.len() >= n_max {
                break;
            }
            let chosen = random.below(next.len() / width);
            row = next[chosen * width..(chosen + 1) * width].to_vec();
            rows.insert(&row);
        }
    }
    for row in near.chunks_exact(width) {
        if rows.len() < n_max {
            rows.insert(row);
        }
    }
    rows
}

/// Steps of a random walk.
const WALK: usize = 100;

/// Guards of the model as labels of all kinds, up to 64.
pub fn labels(model: &Model, propositions: bool) -> Vec<Label> {
    let mut labels = vec![Label::Error, Label::AssertionFailed];
    for guard in model.transitions.iter().filter(|t| Some(t.process) != model.property).filter_map(|t| t.guard.clone())
    {
        labels.extend([Label::True(guard.clone()), Label::False(guard.clone())]);
        if propositions {
            labels.push(Label::Proposition { text: "guard".to_owned(), expression: guard });
        }
        if labels.len() > 60 {
            break;
        }
    }
    labels
}

/// What random choices begin with: `LARIAT_SEED`, or always the same.
pub fn seed() -> u64 {
    std::env::var("LARIAT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}
