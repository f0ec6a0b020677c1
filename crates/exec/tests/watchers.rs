//! What products mean, fact by fact: deadlocks, blocked automata, errors, property processes with variables.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::{automaton, explore, labels, lasso, not_infinitely_often};
use lariat_base::{MemoryBudget, SilentObserver, StopSignal};
use lariat_exec::{Interpreter, Label, PropertyError, PropertyProcess, Run};
use lariat_graph::{AutomatonWatcher, DeadlockRuns, Graph, GraphError, Product, RowBuffer, Strength, Watcher};
use lariat_ltl::BuchiAutomaton;
use lariat_search::{Context, SearchError, ndfs};
use lariat_testkit::load_text;

/// States, transitions, accepting states, states without successors, and whether there is an accepting run.
type Facts = (u64, u64, u64, u64, bool);

fn facts(model: &Interpreter, watcher: &dyn Watcher, deadlocks: DeadlockRuns) -> Facts {
    let product = Product::new(model, watcher, deadlocks);
    let all = explore(&product);
    let violated = lasso(&product, watcher.strength()).lasso.is_some();
    (all.states, all.transitions, all.accepting, all.deadlocks, violated)
}

fn facts_of(text: &str, automaton: &BuchiAutomaton, deadlocks: DeadlockRuns) -> Facts {
    let loaded = load_text(text);
    let model = Interpreter::new(&loaded.model, labels(automaton, &loaded));
    facts(&model, &AutomatonWatcher::new(automaton), deadlocks)
}

fn facts_of_property(text: &str) -> Facts {
    let loaded = load_text(text);
    let model = Interpreter::new(&loaded.model, Vec::new());
    facts(&model, &PropertyProcess::new(&model).unwrap(), DeadlockRuns::Stutter)
}

/// Two steps and then a deadlock.
const ENDS: &str = "process P { state a, b, c; init a; trans a -> b { }, b -> c { }; } system async;";

#[test]
fn a_deadlock_stays_where_it_is_or_ends_the_run() {
    let never_again_a = not_infinitely_often("P.a");
    // (a,0) (b,0) (c,0) (c,1), and P.a holds in the first.
    assert_eq!(facts_of(ENDS, &never_again_a, DeadlockRuns::Stutter), (4, 6, 1, 0, true));
    assert_eq!(facts_of(ENDS, &never_again_a, DeadlockRuns::Ignore), (4, 3, 1, 2, false));
}

#[test]
fn a_blocked_automaton_ends_the_run_and_its_state_is_counted() {
    // Accepts while P.a: (a,0) (b,0).
    let always_a = automaton(&["P.a"], &[(true, &[(1, 0, 0)])]);
    assert_eq!(facts_of(ENDS, &always_a, DeadlockRuns::Stutter), (2, 1, 2, 1, false));
}

#[test]
fn every_pair_of_a_transition_and_an_automaton_edge_is_an_edge() {
    let loop_twice = "process P { state a; init a; trans a -> a { }, a -> a { guard true; }; } system async;";
    // Two edges between the same states, both enabled.
    let twice = automaton(&["P.a"], &[(false, &[(1, 0, 0), (0, 0, 0), (0, 1, 0)])]);
    assert_eq!(facts_of(loop_twice, &twice, DeadlockRuns::Stutter), (1, 4, 0, 0, false));
}

#[test]
fn all_initial_states_of_the_automaton_count() {
    let mut two = automaton(&["P.c"], &[(false, &[(0, 0, 0)]), (true, &[(0, 0, 1)])]);
    two.initial = vec![0, 1, 1];
    assert_eq!(facts_of(ENDS, &two, DeadlockRuns::Stutter), (6, 6, 3, 0, true));
    two.initial.clear();
    assert_eq!(facts_of(ENDS, &two, DeadlockRuns::Stutter), (0, 0, 0, 0, false));
}

#[test]
fn the_error_state_ends_the_run_either_way() {
    let text = "byte x; process P { state a; init a; trans a -> a { effect x = x + 128; }; } system async;";
    let anything = automaton(&[], &[(true, &[(0, 0, 0)])]);
    for deadlocks in [DeadlockRuns::Stutter, DeadlockRuns::Ignore] {
        assert_eq!(facts_of(text, &anything, deadlocks), (3, 2, 3, 0, false));
    }
}

#[test]
fn the_automaton_reads_the_state_that_is_left() {
    // The run a b a b ...: the automaton that demands a, b, a, b from the first state on accepts it, the one that begins with b does not.
    let text = "process P { state a, b; init a; trans a -> b { }, b -> a { }; } system async;";
    let mut alternating = automaton(&["P.a"], &[(true, &[(1, 0, 1)]), (true, &[(0, 1, 0)])]);
    assert_eq!(facts_of(text, &alternating, DeadlockRuns::Stutter), (2, 2, 2, 0, true));
    alternating.initial = vec![1];
    assert_eq!(facts_of(text, &alternating, DeadlockRuns::Stutter), (1, 0, 1, 1, false));
}

/// The property counts the steps in which P is at a, up to 3, and accepts runs with at least 3.
fn counting(limit: u32, guard: &str) -> String {
    format!(
        "byte g; process P {{ state a, b; init a; trans a -> b {{ effect g = 1 - g; }}, b -> a {{ }}; }}
         process L {{ byte n; byte m[2]; state watch, enough; init watch; accept enough; trans
           watch -> watch {{ guard {guard}; effect n = n + 1, m[n % 2] = n; }},
           watch -> watch {{ guard not P.a; }},
           watch -> enough {{ guard n == {limit}; }},
           enough -> enough {{ }}; }}
         system async property L;"
    )
}

#[test]
fn property_processes_have_variables() {
    let (states, _, accepting, _, violated) = facts_of_property(&counting(3, "P.a && n < 3"));
    assert!(violated);
    // The system has 4 states; after three visits to a the process goes to its accepting location.
    assert_eq!(accepting, 4);
    assert!(states > 8, "{states}");
    assert!(!facts_of_property(&counting(4, "P.a && n < 3")).4);
}

#[test]
fn property_processes_see_the_variables_that_a_search_has_packed() {
    let text = counting(3, "P.a && n < 3");
    let loaded = load_text(&text);
    let model = Interpreter::new(&loaded.model, Vec::new());
    let property = PropertyProcess::new(&model).unwrap();
    assert_eq!(property.strength(), Strength::Weak);
    let product = Product::new(&model, &property, DeadlockRuns::Stutter);
    let found = lasso(&product, Strength::Strong);
    let lasso = found.lasso.unwrap();
    let run = Run::new(product.model_rows(&lasso.prefix), product.model_rows(&lasso.cycle));
    // The system itself goes round in four steps; what the property does on the way is not part of the run.
    assert_eq!((run.loop_to, run.cycle()), (0, 4));
    assert_eq!(model.run_violation(&property, &run).unwrap(), "after 0 steps the run repeats 4 steps for ever");
}

fn search_error(graph: &dyn Graph) -> SearchError {
    let budget = MemoryBudget::new(1 << 24);
    let stop = StopSignal::new(None);
    let context =
        Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads: 1, disk: None, labels: &[] };
    ndfs::find_lasso(graph, Strength::Strong, &context).expect_err("a property without a value")
}

#[test]
fn a_property_without_a_value_is_an_error_and_no_verdict() {
    let loaded = load_text(&counting(3, "P.a"));
    let model = Interpreter::new(&loaded.model, Vec::new());
    let property = PropertyProcess::new(&model).unwrap();
    let error = search_error(&Product::new(&model, &property, DeadlockRuns::Stutter)).to_string();
    assert!(error.contains("256 does not fit into L->n"), "{error}");

    let loaded = load_text(
        "byte i; byte a[2]; process P { state s; init s; trans s -> s { guard i < 2; effect i = i + 1; }; } system async;",
    );
    let automaton = not_infinitely_often("a[i] == 0");
    let model = Interpreter::new(&loaded.model, labels(&automaton, &loaded));
    let watcher = AutomatonWatcher::new(&automaton);
    match search_error(&Product::new(&model, &watcher, DeadlockRuns::Stutter)) {
        SearchError::Graph(GraphError::NoValue { what, why }) => {
            assert_eq!(what, "the proposition `a[i] == 0`");
            assert!(why.starts_with("index 2 is outside a"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn property_processes_that_communicate_are_refused() {
    let text = "channel c; process P { state a; init a; trans a -> a { sync c!; }; }
        process L { state q; init q; accept q; trans q -> q { sync c?; }; } system async property L;";
    let loaded = load_text(text);
    let model = Interpreter::new(&loaded.model, Vec::<Label>::new());
    match PropertyProcess::new(&model).map(|_| ()) {
        Err(PropertyError::Synchronises { process, line }) => assert_eq!((process.as_str(), line), ("L", 2)),
        other => panic!("{other:?}"),
    }
    let loaded = load_text(ENDS);
    let model = Interpreter::new(&loaded.model, Vec::<Label>::new());
    assert_eq!(PropertyProcess::new(&model).map(|_| ()).unwrap_err(), PropertyError::Missing);
}

#[test]
fn runs_that_are_allowed_or_are_none_are_told_apart() {
    let loaded = load_text(ENDS);
    let automaton = not_infinitely_often("P.a");
    let model = Interpreter::new(&loaded.model, labels(&automaton, &loaded));
    let watcher = AutomatonWatcher::new(&automaton);
    let mut rows = RowBuffer::new(model.row_bytes());
    rows.push(&model.initial_row());
    for last in 0..2 {
        let target = model.steps(rows.row(last))[0].target.clone();
        rows.push(&target);
    }
    let good = Run { rows: rows.clone(), loop_to: 2 };
    assert!(model.ends_in_deadlock(&good));
    let what = model.run_violation(&watcher, &good).unwrap();
    assert_eq!(what, "after 2 steps there is a deadlock, which counts as staying there for ever");
    let trace = model.run_trace(&good).unwrap();
    assert!(trace.steps.from(2).next().unwrap().moves.is_empty());
    assert_eq!((trace.loop_to, trace.steps.len()), (Some(2), 3));
    // The loop is not closed by a transition.
    assert!(model.run_trace(&Run { rows: rows.clone(), loop_to: 1 }).is_err());
    // A wrong number in the trace.
    assert!(model.retrace_run(&lariat_base::trace::Trace { loop_to: Some(1), ..trace.clone() }).is_err());
    assert!(model.retrace_run(&lariat_base::trace::Trace { loop_to: None, ..trace }).is_err());
    // The run is one, but nothing is wrong with it.
    let fine = common::not_infinitely_often("P.c");
    let model = Interpreter::new(&loaded.model, labels(&fine, &loaded));
    assert!(model.run_violation(&AutomatonWatcher::new(&fine), &good).is_err());
    let mut initial = RowBuffer::new(model.row_bytes());
    model.initial(&mut initial);
    assert_eq!(initial.row(0), good.rows.row(0));
}
