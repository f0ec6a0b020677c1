//! `ram` gives the same answers as the plain reference on thousands of random graphs, with any number of threads.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::{Limit, MemoryBudget, SilentObserver, StopSignal};
use lariat_graph::{Graph, RowBuffer};
use lariat_search::reference::ExplicitGraph;
use lariat_search::{Context, Exploration, Extent, Goal, ram};
use lariat_testkit::RandomGraph;
use std::time::Duration;

const GOALS: [Goal; 5] = [Goal::Label(0), Goal::Label(1), Goal::Label(2), Goal::Deadlock, Goal::Error];

fn search(graph: &RandomGraph, goals: &[Goal], extent: Extent, threads: usize, memory: u64) -> Exploration {
    let budget = MemoryBudget::new(memory);
    let stop = StopSignal::new(None);
    let context = Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads, disk: None, labels: &[] };
    let exploration = ram::explore(graph, goals, extent, &context).expect("a search without faults");
    assert!(budget.peak() <= budget.max());
    assert_eq!(budget.used(), 0, "all memory is given back");
    exploration
}

fn meets(graph: &RandomGraph, reference: &ExplicitGraph, state: usize, goal: Goal) -> bool {
    let dead_end = reference.successors[state].is_empty();
    match goal {
        Goal::Label(label) => reference.labels[state] >> label & 1 == 1,
        Goal::Deadlock => dead_end && !graph.is_error(&reference.rows[state]),
        Goal::Error => graph.is_error(&reference.rows[state]),
    }
}

fn nearest(graph: &RandomGraph, reference: &ExplicitGraph, goal: Goal) -> Option<usize> {
    let state = (0..reference.rows.len()).find(|s| meets(graph, reference, *s, goal))?;
    Some(reference.levels[state] as usize)
}

fn check_path(graph: &RandomGraph, reference: &ExplicitGraph, goal: Goal, path: &RowBuffer) {
    let numbers: Vec<usize> =
        path.iter().map(|row| reference.rows.iter().position(|r| r == row).expect("a reachable state")).collect();
    assert!(numbers[0] < reference.n_initial);
    for pair in numbers.windows(2) {
        assert!(reference.successors[pair[0]].contains(&(pair[1] as u32)), "no edge {pair:?}");
    }
    assert!(meets(graph, reference, numbers[numbers.len() - 1], goal));
}

fn check_complete(graph: &RandomGraph, reference: &ExplicitGraph, found: &Exploration) {
    assert!(found.complete && found.limit.is_none());
    assert_eq!(found.states, reference.rows.len() as u64);
    assert_eq!(found.transitions, reference.n_edges());
    assert_eq!(found.levels, reference.n_levels());
    let deadlocks = (0..reference.rows.len()).filter(|s| meets(graph, reference, *s, Goal::Deadlock)).count();
    assert_eq!(found.deadlocks, deadlocks as u64);
    let accepting = reference.rows.iter().filter(|row| graph.is_accepting(row)).count();
    assert_eq!(found.accepting, accepting as u64);
    assert_eq!(found.error_reached, nearest(graph, reference, Goal::Error).is_some());
}

#[test]
fn counts_and_shortest_paths_agree() {
    for seed in 0..3000 {
        let graph = RandomGraph::new(seed, 300);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let threads = 1 + seed as usize % 3;
        let found = search(&graph, &GOALS, Extent::Everything, threads, 8 << 20);
        check_complete(&graph, &reference, &found);
        for (goal, path) in GOALS.iter().zip(&found.paths) {
            let length = path.as_ref().map(|path| path.len() - 1);
            assert_eq!(length, nearest(&graph, &reference, *goal), "seed {seed}, {goal:?}");
            if let Some(path) = path {
                check_path(&graph, &reference, *goal, path);
            }
        }
    }
}

#[test]
fn a_search_for_one_goal_stops_at_a_nearest_one() {
    for seed in 0..1000 {
        let graph = RandomGraph::new(seed, 300);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        for goal in GOALS {
            let found = search(&graph, &[goal], Extent::UntilGoals, 1, 8 << 20);
            let length = found.paths[0].as_ref().map(|path| path.len() - 1);
            assert_eq!(length, nearest(&graph, &reference, goal), "seed {seed}, {goal:?}");
            assert!(found.states <= reference.rows.len() as u64);
            if length.is_none() {
                check_complete(&graph, &reference, &found);
            }
        }
    }
}

/// Large enough that levels are shared between threads, and the table grows while they work.
#[test]
fn threads_share_large_levels_without_losing_or_doubling_states() {
    for seed in 0..12 {
        let graph = RandomGraph::new(1_000_000 + seed, 400_000);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        for threads in [2, 4] {
            let found = search(&graph, &[], Extent::Everything, threads, 256 << 20);
            check_complete(&graph, &reference, &found);
        }
    }
}

#[test]
fn a_small_budget_ends_the_search_without_an_answer() {
    let mut n_limited = 0;
    for seed in 0..40 {
        let graph = RandomGraph::new(2_000_000 + seed, 200_000);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        for threads in [1, 3] {
            let found = search(&graph, &[], Extent::Everything, threads, 1 << 20);
            if found.limit.is_none() {
                check_complete(&graph, &reference, &found);
                continue;
            }
            n_limited += 1;
            assert_eq!(found.limit, Some(Limit::Memory));
            assert!(!found.complete && found.states < reference.rows.len() as u64);
        }
    }
    assert!(n_limited > 10, "the budget was never small enough: {n_limited}");
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
        let found = ram::explore(&graph, &[], Extent::Everything, &context).unwrap();
        assert_eq!((found.limit, found.complete), (Some(limit), false));
    }
}
