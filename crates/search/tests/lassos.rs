//! `ndfs` and `scc` agree with brute force about accepting cycles on thousands of random graphs, and their lassos are lassos.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::{Limit, MemoryBudget, SilentObserver, StopSignal};
use lariat_graph::{Graph, Strength};
use lariat_search::reference::ExplicitGraph;
use lariat_search::{Context, Lasso, LassoSearch, SearchError, ndfs, scc};
use lariat_testkit::RandomGraph;
use std::time::Duration;

type Search = fn(&dyn Graph, &Context) -> LassoSearch;

const STRONG: [Search; 2] = [
    |graph, context| ndfs::find_lasso(graph, Strength::Strong, context).expect("a search without faults"),
    |graph, context| scc::find_lasso(graph, context).expect("a search without faults"),
];
const WEAK: [Search; 2] = [
    |graph, context| ndfs::find_lasso(graph, Strength::Weak, context).expect("a search without faults"),
    |graph, context| ndfs::find_lasso(graph, Strength::Terminal, context).expect("a search without faults"),
];

fn run(search: Search, graph: &RandomGraph, memory: u64) -> LassoSearch {
    let budget = MemoryBudget::new(memory);
    let stop = StopSignal::new(None);
    let context =
        Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads: 1, disk: None, labels: &[] };
    let found = search(graph, &context);
    assert!(budget.peak() <= budget.max());
    assert_eq!(budget.used(), 0, "all memory is given back");
    found
}

/// Whether an accepting state reaches itself: the definition, followed to the letter.
fn has_accepting_cycle(graph: &RandomGraph, reference: &ExplicitGraph) -> bool {
    (0..reference.rows.len()).filter(|state| graph.is_accepting(&reference.rows[*state])).any(|accepting| {
        let mut seen = vec![false; reference.rows.len()];
        let mut waiting = vec![accepting];
        while let Some(state) = waiting.pop() {
            for target in &reference.successors[state] {
                let target = *target as usize;
                if !std::mem::replace(&mut seen[target], true) {
                    waiting.push(target);
                }
            }
        }
        seen[accepting]
    })
}

fn check_lasso(graph: &RandomGraph, reference: &ExplicitGraph, lasso: &Lasso) {
    let path: Vec<&[u8]> = lasso.prefix.iter().chain(lasso.cycle.iter()).chain(lasso.cycle.iter().take(1)).collect();
    let numbers: Vec<usize> =
        path.iter().map(|row| reference.rows.iter().position(|r| r == *row).expect("a reachable state")).collect();
    assert!(numbers[0] < reference.n_initial);
    for pair in numbers.windows(2) {
        assert!(reference.successors[pair[0]].contains(&(pair[1] as u32)), "no edge {pair:?}");
    }
    assert!(lasso.cycle.iter().any(|row| graph.is_accepting(row)), "the cycle does not accept");
}

fn check(graph: &RandomGraph, reference: &ExplicitGraph, expected: bool, found: &LassoSearch) {
    assert_eq!(found.limit, None);
    assert_eq!(found.lasso.is_some(), expected);
    assert_eq!(found.complete, !expected);
    match &found.lasso {
        Some(lasso) => {
            check_lasso(graph, reference, lasso);
            assert!(found.states <= reference.rows.len() as u64);
        }
        None => {
            let of = |meets: &dyn Fn(usize) -> bool| (0..reference.rows.len()).filter(|s| meets(*s)).count() as u64;
            let is_error = |state: usize| graph.is_error(&reference.rows[state]);
            assert_eq!(found.states, reference.rows.len() as u64);
            assert_eq!(found.transitions, reference.n_edges());
            assert_eq!(found.accepting, of(&|s| graph.is_accepting(&reference.rows[s])));
            assert_eq!(found.deadlocks, of(&|s| reference.successors[s].is_empty() && !is_error(s)));
            assert_eq!(found.error_reached, of(&is_error) > 0);
        }
    }
}

#[test]
fn verdicts_agree_and_lassos_are_lassos() {
    let mut n_accepted = 0;
    for seed in 0..6000 {
        let states_max = if seed % 3 == 0 { 12 } else { 200 };
        let graph = RandomGraph::new(seed, states_max);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let expected = has_accepting_cycle(&graph, &reference);
        n_accepted += usize::from(expected);
        for search in STRONG {
            check(&graph, &reference, expected, &run(search, &graph, 8 << 20));
        }
    }
    assert!((1500..4500).contains(&n_accepted), "both verdicts are frequent: {n_accepted}");
}

#[test]
fn one_search_decides_weak_graphs() {
    let mut n_accepted = 0;
    for seed in 0..4000 {
        let graph = RandomGraph::new_weak(seed, 200);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let expected = has_accepting_cycle(&graph, &reference);
        n_accepted += usize::from(expected);
        for search in WEAK.into_iter().chain(STRONG) {
            check(&graph, &reference, expected, &run(search, &graph, 8 << 20));
        }
    }
    assert!((1000..3000).contains(&n_accepted), "both verdicts are frequent: {n_accepted}");
}

/// A search that is cut short has no lasso, or a true one; it never reads as complete.
#[test]
fn a_small_budget_ends_the_search_without_a_wrong_answer() {
    let (mut n_limited, mut n_answered) = (0, 0);
    for seed in 0..300 {
        let graph = RandomGraph::new(3_000_000 + seed, 60_000);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        for (i, search) in STRONG.into_iter().enumerate() {
            let found = run(search, &graph, (200 << 10) << ((seed as usize + i) % 2));
            if found.limit.is_none() {
                n_answered += 1;
                assert_eq!(found.complete, found.lasso.is_none());
                if let Some(lasso) = &found.lasso {
                    check_lasso(&graph, &reference, lasso);
                } else {
                    assert_eq!(found.states, reference.rows.len() as u64);
                }
                continue;
            }
            n_limited += 1;
            assert_eq!((found.limit, &found.lasso, found.complete), (Some(Limit::Memory), &None, false));
        }
    }
    assert!(n_limited > 20 && n_answered > 20, "{n_limited} limited, {n_answered} answered");
}

#[test]
fn deep_graphs_need_no_deep_recursion() {
    let found = run(STRONG[0], &RandomGraph::chain(1_000_000), 256 << 20);
    assert!(found.lasso.is_none() && found.complete);
    assert_eq!(found.states, 1_000_000);
    assert_eq!(run(STRONG[1], &RandomGraph::chain(1_000_000), 256 << 20).states, 1_000_000);
}

#[test]
fn a_passed_time_limit_and_an_interrupt_end_the_search() {
    let graph = RandomGraph::new(5, 1000);
    let budget = MemoryBudget::new(8 << 20);
    let late = StopSignal::new(Some(Duration::ZERO));
    let interrupted = StopSignal::new(None);
    interrupted.interrupt();
    for (stop, limit) in [(&late, Limit::Time), (&interrupted, Limit::Interrupted)] {
        let context = Context { budget: &budget, stop, observer: &SilentObserver, threads: 1, disk: None, labels: &[] };
        for search in STRONG {
            let found = search(&graph, &context);
            assert_eq!((found.limit, found.complete, found.lasso), (Some(limit), false, None));
        }
    }
}

/// A look at what is near finds real lassos only, and says that it is complete only where it has seen everything.
#[test]
fn what_is_near_is_found_and_nothing_else_is_said() {
    let (mut n_found, mut n_cut) = (0, 0);
    for seed in 0..2000 {
        let graph = RandomGraph::new(seed, 60);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let expected = has_accepting_cycle(&graph, &reference);
        for n_states in [0, 5, 20, 1000, u64::MAX] {
            let budget = MemoryBudget::new(64 << 20);
            let stop = StopSignal::new(None);
            let observer = &SilentObserver;
            let context = Context { budget: &budget, stop: &stop, observer, threads: 1, disk: None, labels: &[] };
            let found = ndfs::find_lasso_nearby(&graph, Strength::Strong, n_states, &context).unwrap();
            match &found.lasso {
                Some(lasso) => check_lasso(&graph, &reference, lasso),
                None if found.complete => assert!(!expected, "seed {seed}, {n_states} states"),
                None => assert!(n_states < 1000, "nothing is left out where there are no bounds"),
            }
            n_found += u32::from(found.lasso.is_some() && n_states == 20);
            n_cut += u32::from(!found.complete && found.lasso.is_none());
        }
    }
    assert!(n_found > 100 && n_cut > 100, "{n_found} found near, {n_cut} not complete");
}

/// Something else is tried when the search has become large, and does not change the answer unless it finds one.
#[test]
fn something_else_is_tried_on_the_way() {
    let (mut n_tried, mut n_found) = (0, 0);
    for seed in 0..200 {
        let graph = RandomGraph::new(seed, 60);
        let budget = MemoryBudget::new(16 << 20);
        let stop = StopSignal::new(None);
        let context =
            Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads: 1, disk: None, labels: &[] };
        let plain = ndfs::find_lasso(&graph, Strength::Strong, &context).unwrap();
        let search = |attempt: &mut dyn FnMut(u64) -> Result<Option<Lasso>, SearchError>| {
            let pause = ndfs::Pause { states: &[10, 20], attempt };
            ndfs::find_lasso_or_hand_over(&graph, Strength::Strong, &context, Some(pause), None).unwrap()
        };
        let mut times = Vec::new();
        let found = search(&mut |n_visits| {
            times.push(n_visits);
            Ok(None)
        });
        assert_eq!(found, plain, "seed {seed}");
        assert!([10, 20].starts_with(&times), "seed {seed}: {times:?}");
        n_tried += times.len();
        if let (false, Some(lasso)) = (times.is_empty(), &plain.lasso) {
            n_found += 1;
            let earlier = search(&mut |_| Ok(Some(lasso.clone())));
            assert_eq!(earlier.lasso.as_ref(), Some(lasso), "seed {seed}");
            assert!(earlier.states <= plain.states, "seed {seed}");
        }
    }
    assert!(n_tried > 20 && n_found > 5, "{n_tried}, {n_found}");
}
