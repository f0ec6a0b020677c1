use super::*;
use crate::reference::ExplicitGraph;
use lariat_base::{MemoryBudget, Random, SilentObserver, StopSignal};
use lariat_disk::{FaultPlan, FaultyDisk};
use lariat_storage::RunOptions;
use lariat_testkit::RandomGraph;

/// Shares so small that everything is written to disk, compared and merged many times.
fn tiny_shares(random: &mut Random, row_bytes: usize) -> Shares {
    Shares {
        filter_bytes: 8 << random.below(10),
        cache_bytes: 16 << random.below(8),
        new_keys: 2 + random.below(60),
        doubtful_keys: 2 + random.below(30),
        run: RunOptions { block_bytes: 4096, group_rows: 64, buffers: 2, ..RunOptions::new(row_bytes) },
        pass_threads: 1 + random.below(3),
        readers_max: 10 + random.below(20),
        merge_rows: 1 + random.below(40),
        doubtful_bytes_min: random.below(100_000) as u64,
    }
}

fn search(graph: &RandomGraph, goals: &[Goal], extent: Extent, threads: usize, shares: Option<Shares>) -> Exploration {
    let budget = MemoryBudget::new(64 << 20);
    let stop = StopSignal::new(None);
    let disk = FaultyDisk::new(FaultPlan::default());
    let context = Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads, disk: Some(&disk) };
    let exploration = explore_within(graph, goals, extent, &context, shares).expect("a search without faults");
    assert!(budget.peak() <= budget.max());
    assert_eq!(budget.used(), 0, "all memory is given back");
    exploration
}

fn check(graph: &RandomGraph, reference: &ExplicitGraph, found: &Exploration, what: &str) {
    assert!(found.complete && found.limit.is_none());
    assert_eq!(found.states, reference.rows.len() as u64, "{what}");
    assert_eq!(found.transitions, reference.n_edges(), "{what}");
    let dead_ends = (0..reference.rows.len()).filter(|state| reference.successors[*state].is_empty());
    let (errors, deadlocks): (Vec<usize>, Vec<usize>) =
        dead_ends.partition(|state| graph.is_error(&reference.rows[*state]));
    assert_eq!(found.deadlocks, deadlocks.len() as u64, "{what}");
    assert_eq!(found.error_reached, !errors.is_empty(), "{what}");
    let accepting = reference.rows.iter().filter(|row| graph.is_accepting(row)).count();
    assert_eq!(found.accepting, accepting as u64, "{what}");
}

#[test]
fn counts_agree_whatever_the_shares_are() {
    for seed in 0..2000 {
        let graph = RandomGraph::new(seed, 400);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let mut random = Random::new(seed);
        let threads = 1 + random.below(3);
        let shares = tiny_shares(&mut random, graph.row_bytes());
        let found = search(&graph, &[], Extent::Everything, threads, Some(shares));
        check(&graph, &reference, &found, &format!("seed {seed}, {threads} threads"));
    }
}

#[test]
fn deep_graphs_need_few_runs() {
    let graph = RandomGraph::chain(200_000);
    let found = search(&graph, &[], Extent::Everything, 2, None);
    assert_eq!(found.states, 200_000);
}
