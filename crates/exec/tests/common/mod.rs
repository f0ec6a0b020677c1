//! Automata for tests, built by hand, and searches with room to spare.

#![allow(dead_code, reason = "every test program uses its part")]

use lariat_base::{MemoryBudget, SilentObserver, StopSignal};
use lariat_exec::Label;
use lariat_graph::{Graph, Strength};
use lariat_lang::{Loaded, StateExpression};
use lariat_ltl::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label as EdgeLabel};
use lariat_search::{Context, Exploration, Extent, LassoSearch, ndfs, ram, scc};

/// An edge: the propositions that must hold, those that must not, as bits, and the target.
pub type Edge = (u64, u64, u32);

/// The automaton over these propositions; a state is whether it accepts, and its edges. State 0 is initial.
pub fn automaton(propositions: &[&str], states: &[(bool, &[Edge])]) -> BuchiAutomaton {
    let edge = |(positive, negative, target): &Edge| BuchiEdge {
        label: EdgeLabel { cubes: vec![Cube { positive: *positive, negative: *negative }] },
        target: *target,
    };
    BuchiAutomaton {
        propositions: propositions.iter().map(|p| (*p).to_owned()).collect(),
        initial: vec![0],
        states: states
            .iter()
            .map(|(accepting, edges)| BuchiState { accepting: *accepting, edges: edges.iter().map(edge).collect() })
            .collect(),
    }
}

/// The runs that violate G F p.
pub fn not_infinitely_often(p: &str) -> BuchiAutomaton {
    automaton(&[p], &[(false, &[(0, 0, 0), (0, 1, 1)]), (true, &[(0, 1, 1)])])
}

/// The runs that violate G (a -> F b).
pub fn not_response(a: &str, b: &str) -> BuchiAutomaton {
    automaton(&[a, b], &[(false, &[(0, 0, 0), (1, 2, 1)]), (true, &[(0, 2, 1)])])
}

/// The runs that violate (not a) U b.
pub fn not_until(a: &str, b: &str) -> BuchiAutomaton {
    automaton(&[a, b], &[(true, &[(0, 2, 0), (1, 2, 1)]), (true, &[(0, 0, 1)])])
}

/// The propositions of an automaton as labels of a model.
pub fn labels(automaton: &BuchiAutomaton, loaded: &Loaded) -> Vec<Label> {
    let label = |text: &String| {
        let parsed = StateExpression::parse("test", text, &loaded.model, &loaded.names);
        let expression = parsed.unwrap_or_else(|(source, d)| panic!("{}", d.render(&source))).expression;
        Label::Proposition { text: text.clone(), expression }
    };
    automaton.propositions.iter().map(label).collect()
}

fn with_context<T>(run: impl FnOnce(&Context) -> T) -> T {
    let budget = MemoryBudget::new(1 << 30);
    let stop = StopSignal::new(None);
    run(&Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads: 2, disk: None })
}

/// The whole graph.
pub fn explore(graph: &dyn Graph) -> Exploration {
    with_context(|context| ram::explore(graph, &[], Extent::Everything, context)).expect("no faults")
}

/// What both searches for accepting cycles find; they must agree.
pub fn lasso(graph: &dyn Graph, strength: Strength) -> LassoSearch {
    let found = with_context(|context| ndfs::find_lasso(graph, strength, context)).expect("no faults");
    let strong = with_context(|context| ndfs::find_lasso(graph, Strength::Strong, context)).expect("no faults");
    let reference = with_context(|context| scc::find_lasso(graph, context)).expect("no faults");
    let violated = |found: &LassoSearch| (found.lasso.is_some(), found.complete);
    assert_eq!(violated(&found), violated(&reference));
    assert_eq!(violated(&strong), violated(&reference));
    if found.complete {
        let counts = |found: &LassoSearch| (found.states, found.transitions, found.accepting, found.deadlocks);
        assert_eq!(counts(&found), counts(&reference));
        assert_eq!(counts(&strong), counts(&reference));
    }
    found
}
