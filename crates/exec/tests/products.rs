//! Products of models and automata: their sizes and verdicts are those that other tools find, and every lasso can be replayed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::{explore, labels, lasso, not_infinitely_often, not_response, not_until};
use lariat_exec::{Interpreter, PropertyProcess, Run};
use lariat_graph::{AutomatonWatcher, DeadlockRuns, Product, Strength, Watcher};
use lariat_ltl::BuchiAutomaton;
use lariat_search::{Exploration, LassoSearch};
use lariat_testkit::{expected_cases, load_model, load_text, ltl_rows, models_folder, shared_folder};

/// Products larger than this are left to the benchmark programs.
const STATES_MAX: u64 = 120_000;

/// The automaton of `truth/products.md` for the runs that violate a formula of one of the three shapes.
fn automaton_for(formula: &str) -> BuchiAutomaton {
    if let Some(p) = formula.strip_prefix("G F ") {
        return not_infinitely_often(p);
    }
    if let Some((a, b)) = formula.strip_prefix("(!").and_then(|f| f.split_once(") U ")) {
        return not_until(a, b);
    }
    let inside = formula.strip_prefix("G(").and_then(|f| f.strip_suffix(')'));
    let (a, b) = inside.and_then(|f| f.split_once(" -> F ")).unwrap_or_else(|| panic!("{formula}"));
    not_response(a, b)
}

/// Explores the product, looks for a lasso and replays it.
fn judge(graph: &Interpreter, watcher: &dyn Watcher, deadlocks: DeadlockRuns) -> (Exploration, LassoSearch) {
    let product = Product::new(graph, watcher, deadlocks);
    let all = explore(&product);
    let found = lasso(&product, watcher.strength());
    if let Some(lasso) = &found.lasso {
        let run = Run::new(product.model_rows(&lasso.prefix), product.model_rows(&lasso.cycle));
        let trace = graph.run_trace(&run).expect("a run of the model");
        graph.run_violation(watcher, &run).expect("a run that the automaton accepts");
        assert_eq!(graph.retrace_run(&trace), Ok(run));
    } else {
        assert_eq!((all.states, all.transitions), (found.states, found.transitions));
        assert_eq!((all.accepting, all.deadlocks), (found.accepting, found.deadlocks));
    }
    (all, found)
}

#[test]
fn products_with_beem_models_are_as_other_tools_say() {
    let mut rows = ltl_rows();
    if shared_folder().is_none() {
        return;
    }
    rows.retain(|row| row.states <= STATES_MAX);
    assert!(rows.len() >= 40, "{} rows", rows.len());
    for row in rows {
        let loaded = load_model(&row.path, &[]);
        let automaton = automaton_for(&row.formula);
        let graph = Interpreter::new(&loaded.model, labels(&automaton, &loaded));
        let watcher = AutomatonWatcher::new(&automaton);
        assert_ne!(watcher.strength(), Strength::Strong);
        let (all, found) = judge(&graph, &watcher, DeadlockRuns::Stutter);
        let place = format!("{} {}", row.model, row.formula);
        assert_eq!((all.states, all.levels, all.accepting), (row.states, row.levels, row.accepting), "{place}");
        assert_eq!(all.transitions, row.transitions, "{place}");
        assert_eq!(found.lasso.is_some(), row.verdict == "violated", "{place}");
    }
}

/// Dining philosophers of which one takes the forks in the other order: 3^N states, and products of known sizes.
#[test]
fn products_with_asymmetric_philosophers_have_the_known_sizes() {
    for (n, states) in [(3u32, 52), (4, 158), (5, 469), (6, 1379), (7, 4036), (8, 11_782), (9, 34_342)] {
        let mut text = format!("byte fork[{n}];\n");
        for i in 0..n {
            let (left, right) = (i, (i + 1) % n);
            let (first, second) = if i == 0 { (right, left) } else { (left, right) };
            text += &format!(
                "process phil_{i} {{ state think, one, eat, finish; init think; trans
                   think -> one {{ guard fork[{first}] == 0; effect fork[{first}] = 1; }},
                   one -> eat {{ guard fork[{second}] == 0; effect fork[{second}] = 1; }},
                   eat -> finish {{ effect fork[{first}] = 0; }},
                   finish -> think {{ effect fork[{second}] = 0; }}; }}\n"
            );
        }
        text += "system async;";
        let loaded = load_text(&text);
        let eats: Vec<String> = (0..n).map(|i| format!("phil_{i}.eat")).collect();
        let automaton = not_infinitely_often(&eats.join(" || "));
        let graph = Interpreter::new(&loaded.model, labels(&automaton, &loaded));
        let (all, _) = judge(&graph, &AutomatonWatcher::new(&automaton), DeadlockRuns::Stutter);
        assert_eq!(explore(&graph).states, 3u64.pow(n), "{n}");
        assert_eq!(all.states, states, "{n}");
    }
}

/// The published product of an elevator with four floors and G (r -> (!p U (p U (!p U (p U (p && open)))))), through DiVinE's automaton.
#[test]
fn an_automaton_with_six_states_gives_the_known_product() {
    let Some(folder) = shared_folder() else { return };
    let (r, p, open) = (1, 2, 4);
    let automaton = common::automaton(
        &["req[1] == 1", "p == 1", "cabin.open"],
        &[
            (false, &[(r | p, open, 1), (r, p, 2), (r, open, 2), (0, 0, 0)]),
            (true, &[(0, p, 3), (0, open, 1)]),
            (true, &[(p, open, 1), (0, p, 2), (0, open, 2)]),
            (true, &[(p, open, 4), (0, p, 3), (0, open, 3)]),
            (true, &[(0, p, 5), (0, open, 4)]),
            (true, &[(0, 0, 5)]),
        ],
    );
    let loaded = load_model(&folder.join("beem/elevator2.1.dve"), &[]);
    let graph = Interpreter::new(&loaded.model, labels(&automaton, &loaded));
    let (all, _) = judge(&graph, &AutomatonWatcher::new(&automaton), DeadlockRuns::Stutter);
    assert_eq!(all.states, 3398);
}

#[test]
fn property_processes_of_our_models_are_as_expected() {
    let mut n_products = 0;
    for case in expected_cases() {
        for expected in &case.products {
            let loaded = load_model(&models_folder().join(&case.model), &case.parameters);
            let graph = Interpreter::new(&loaded.model, Vec::new());
            let property = PropertyProcess::new(&graph).expect("a property process");
            assert_eq!(property.process().name, expected.property);
            let (all, found) = judge(&graph, &property, DeadlockRuns::Stutter);
            let counts = (all.states, all.transitions, all.accepting);
            assert_eq!(counts, (expected.states, expected.transitions, expected.accepting), "{case:?}");
            assert_eq!(found.lasso.is_some(), expected.verdict == "violated", "{case:?}");
            n_products += 1;
        }
    }
    assert!(n_products >= 5);
}
