//! On random models: packed rows are faithful, ranges are sound, edges and named steps agree.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_exec::Interpreter;
use lariat_graph::{Edges, Graph, Rows};
use lariat_search::reference::ExplicitGraph;
use lariat_testkit::{load_text, random_model};

#[test]
fn steps_edges_and_rows_agree() {
    let mut n_states = 0;
    let mut n_errors = 0;
    for seed in 0..1500 {
        let text = random_model(seed);
        let loaded = load_text(&text);
        let graph = Interpreter::new(&loaded.model, Vec::new());
        // A value outside its inferred range would be an error here.
        let explicit = ExplicitGraph::explore(&graph, 2000).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        n_states += explicit.rows.len();
        let mut expander = graph.expander();
        for row in explicit.rows.iter().take(300) {
            let mut edges = Edges::new(row.len());
            expander.expand(Rows::new(row, row.len()), &mut edges).unwrap();
            let steps = graph.steps(row);
            let targets: Vec<&[u8]> = steps.iter().map(|s| s.target.as_slice()).collect();
            assert_eq!(edges.targets().iter().collect::<Vec<_>>(), targets, "seed {seed}");
            if graph.is_error(row) {
                n_errors += 1;
            } else {
                assert_eq!(&graph.layout().pack(&graph.layout().cells(row)), row, "seed {seed}");
            }
        }
    }
    assert!(n_states > 50_000 && n_errors > 50, "the models are too tame: {n_states} states, {n_errors} errors");
}
