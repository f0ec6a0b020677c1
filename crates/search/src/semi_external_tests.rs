//! The semi-external searches give the answers of the search by components, whatever the memory is, and none where the disk fails.

use crate::reference::ExplicitGraph;
use crate::{Context, HashPlacement, Lasso, LassoSearch, SearchError, ddfs, scc};
use lariat_base::{Limit, MemoryBudget, Random, SilentObserver, StopSignal};
use lariat_disk::{FaultPlan, FaultyDisk};
use lariat_graph::Graph;
use lariat_testkit::RandomGraph;

type Search = fn(&dyn Graph, &Context<'_>, &mut Random) -> Result<LassoSearch, SearchError>;

fn any_placement(random: &mut Random) -> HashPlacement {
    [HashPlacement::Auto, HashPlacement::Memory, HashPlacement::Disk][random.below(3)]
}

const ALGORITHMS: &[(&str, Search)] =
    &[("ddfs", |graph, context, random| ddfs::find_lasso(graph, any_placement(random), context))];

fn graph_of(seed: u64, states_max: usize) -> RandomGraph {
    let graph = match seed % 5 {
        0 => RandomGraph::new_weak(seed, states_max),
        _ => RandomGraph::new(seed, states_max),
    };
    match seed % 7 {
        0 => graph.with_row_bytes(30 + seed as usize % 90),
        1 => graph.with_row_bytes(400 + seed as usize % 90),
        _ => graph,
    }
}

fn search(
    search: Search,
    graph: &dyn Graph,
    disk: &FaultyDisk,
    random: &mut Random,
) -> Result<LassoSearch, SearchError> {
    let budget = MemoryBudget::new([2 << 20, 4 << 20, 64 << 20][random.below(3)]);
    let stop = StopSignal::new(None);
    let threads = 1 + random.below(2);
    let context =
        Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads, disk: Some(disk), labels: &[] };
    let found = search(graph, &context, random);
    assert_eq!(budget.used(), 0, "all memory is given back");
    found
}

/// Looks for an accepting cycle in memory.
fn expected(graph: &dyn Graph) -> LassoSearch {
    let (budget, stop) = (MemoryBudget::new(1 << 28), StopSignal::new(None));
    let observer = &SilentObserver;
    let context = Context { budget: &budget, stop: &stop, observer, threads: 1, disk: None, labels: &[] };
    scc::find_lasso(graph, &context).unwrap()
}

/// Checks that a lasso is one of the graph.
pub(crate) fn check_lasso(graph: &dyn Graph, reference: &ExplicitGraph, lasso: &Lasso, what: &str) {
    let number = |row: &Vec<u8>| reference.rows.iter().position(|r| r == row).expect("a reachable state");
    let path: Vec<usize> = lasso.prefix.iter().chain(&lasso.cycle).map(number).collect();
    assert!(path[0] < reference.n_initial, "{what}: begins at an initial state");
    for pair in path.windows(2) {
        assert!(reference.successors[pair[0]].contains(&(pair[1] as u32)), "{what}: no edge {pair:?}");
    }
    let (first, last) = (path[lasso.prefix.len()], path[path.len() - 1]);
    assert!(reference.successors[last].contains(&(first as u32)), "{what}: no edge back");
    assert!(lasso.cycle.iter().any(|row| graph.is_accepting(row)), "{what}: accepts");
}

fn check(graph: &RandomGraph, seed: u64, name: &str, algorithm: Search) {
    let what = format!("{name}, seed {seed}");
    let reference = ExplicitGraph::explore(graph, usize::MAX).unwrap();
    let expected = expected(graph);
    let found = search(algorithm, graph, &FaultyDisk::default(), &mut Random::new(seed)).expect("no faults");
    assert_eq!(found.limit, None, "{what}");
    assert_eq!(found.lasso.is_some(), expected.lasso.is_some(), "{what}");
    match &found.lasso {
        Some(lasso) => check_lasso(graph, &reference, lasso, &what),
        None => {
            assert!(found.complete, "{what}");
            assert_eq!(found.states, reference.rows.len() as u64, "{what}");
            assert_eq!(found.transitions, reference.n_edges(), "{what}");
        }
    }
}

#[test]
fn verdicts_agree_and_lassos_are_real() {
    for (name, algorithm) in ALGORITHMS {
        for seed in 0..1500 {
            check(&graph_of(seed, 200), seed, name, *algorithm);
        }
        for seed in 0..30 {
            check(&graph_of(seed, 20_000), seed, name, *algorithm);
        }
    }
}

#[test]
fn a_deep_stack_goes_to_disk() {
    for (name, algorithm) in ALGORITHMS {
        check(&RandomGraph::chain(60_000).with_row_bytes(64), 0, name, *algorithm);
    }
}

/// Everything that can fail fails once: there is no answer then.
#[test]
fn a_disk_that_fails_gives_no_verdict() {
    for (name, algorithm) in ALGORITHMS {
        for seed in [1, 2, 3, 8] {
            let graph = graph_of(seed, 300);
            let undisturbed = FaultyDisk::default();
            search(*algorithm, &graph, &undisturbed, &mut Random::new(seed)).unwrap();
            let changes = undisturbed.changes();
            for change in (1..=changes).step_by(1 + changes as usize / 40) {
                let plan = FaultPlan { crash_at_change: Some(change), ..FaultPlan::default() };
                let found = search(*algorithm, &graph, &FaultyDisk::new(plan), &mut Random::new(seed));
                assert!(matches!(found, Err(SearchError::Storage(_))), "{name}, seed {seed}, change {change}");
            }
            let reads = lariat_disk::Disk::counters(&undisturbed).total().reads();
            for read in (1..=reads).step_by(1 + reads as usize / 40) {
                let plan = FaultPlan { fail_read: Some(read), ..FaultPlan::default() };
                let found = search(*algorithm, &graph, &FaultyDisk::new(plan), &mut Random::new(seed));
                assert!(matches!(found, Err(SearchError::Storage(_))), "{name}, seed {seed}, read {read}");
            }
        }
    }
}

#[test]
fn too_little_memory_is_a_limit() {
    let graph = RandomGraph::new(2, 20_000);
    for (name, algorithm) in ALGORITHMS {
        for budget in [0, 10_000, 100_000, 300_000] {
            let budget = MemoryBudget::new(budget);
            let (stop, disk) = (StopSignal::new(None), FaultyDisk::default());
            let (disk, observer): (_, &SilentObserver) = (Some(&disk as _), &SilentObserver);
            let context = Context { budget: &budget, stop: &stop, observer, threads: 1, disk, labels: &[] };
            let found = algorithm(&graph, &context, &mut Random::new(1)).expect("a limit");
            assert_eq!(found.limit, Some(Limit::Memory), "{name}");
            assert!(!found.complete && found.lasso.is_none());
        }
    }
}

/// A search that was interrupted at any phase goes on and comes to the same answer.
#[test]
fn what_was_interrupted_goes_on() {
    for (name, algorithm) in ALGORITHMS {
        for seed in 0..40 {
            let graph = graph_of(seed, 2000);
            let expected = expected(&graph);
            let disk = FaultyDisk::default();
            let mut random = Random::new(seed);
            let mut last = None;
            for calls in [1, 300, 3000, u64::MAX] {
                let observer = Interrupter { stop: StopSignal::new(None), left: calls.into() };
                let budget = MemoryBudget::new(64 << 20);
                let (stop, disk) = (&observer.stop, Some(&disk as &dyn lariat_disk::Disk));
                let context = Context { budget: &budget, stop, observer: &observer, threads: 1, disk, labels: &[] };
                let found = algorithm(&graph, &context, &mut random).unwrap();
                let is_answer = found.limit.is_none();
                last = Some(found);
                if is_answer {
                    break;
                }
            }
            let last = last.unwrap();
            assert_eq!(last.limit, None, "{name}, seed {seed}");
            assert_eq!(last.lasso.is_some(), expected.lasso.is_some(), "{name}, seed {seed}");
        }
    }
}

/// Interrupts after some events.
struct Interrupter {
    stop: StopSignal,
    left: std::sync::atomic::AtomicU64,
}

impl lariat_base::Observer for Interrupter {
    fn event(&self, _event: &lariat_base::Event) {
        use std::sync::atomic::Ordering;
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.interrupt();
        }
    }
}
