//! Searches with hash compaction: nothing is missed where signatures are wide, and something is where they are not.

use super::*;

#[test]
fn wide_signatures_miss_nothing() {
    for algorithm in ALGORITHMS.iter().chain([&DISK]) {
        for seed in 0..600 {
            let graph = graph_of(seed, 300);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let compaction = Compaction::new(64 - (seed % 9) as u32);
            let goals = if seed % 3 == 0 { &[][..] } else { &GOALS };
            let task = Task { compaction, goals, ..Task::everything(&graph) };
            let found = search(algorithm, task, &FaultyDisk::default(), Some(seed)).unwrap();
            let what = format!("seed {seed}");
            check_counts(algorithm, &graph, &reference, &found, &what);
            if seed % 3 != 0 {
                check_paths(algorithm, &graph, &reference, &found, &what);
            }
        }
    }
}

/// With few bits there are only so many states, and what is found is real all the same.
#[test]
fn narrow_signatures_miss_states_and_say_so() {
    let compaction = Compaction::new(16).unwrap();
    let graph = RandomGraph::new(3_000_004, 200_000);
    let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
    assert!(reference.rows.len() > 70_000, "{} states", reference.rows.len());
    for algorithm in ALGORITHMS.iter().chain([&DISK]) {
        let budget = MemoryBudget::new(8 << 20);
        let (disk, stop) = (FaultyDisk::default(), StopSignal::new(None));
        let context = Context {
            budget: &budget,
            stop: &stop,
            observer: &SilentObserver,
            threads: 2,
            disk: Some(&disk),
            labels: &[],
        };
        let task = Task { compaction: Some(compaction), ..Task::everything(&graph) };
        let found = (algorithm.search)(task, &context, None).unwrap();
        assert!(found.complete && (1000..=65_536).contains(&found.states), "{}: {}", algorithm.name, found.states);
        assert!(found.transitions < reference.n_edges(), "{}", algorithm.name);
        assert_eq!(compaction.omission_probability(found.states), 1.0);
        for (goal, path) in GOALS.iter().zip(&found.paths) {
            let Some(path) = path else { continue };
            assert_eq!(path.len() - 1, nearest(&graph, &reference, *goal).unwrap(), "{}", algorithm.name);
        }
    }
}

/// Wide states take much less room when only their signatures are kept.
#[test]
fn signatures_take_less_room() {
    let graph = RandomGraph::new(3_000_001, 60_000).with_row_bytes(100);
    let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
    for algorithm in ALGORITHMS {
        let stored = [None, Compaction::new(48)].map(|compaction| {
            let budget = MemoryBudget::new(16 << 20);
            let (disk, stop) = (FaultyDisk::default(), StopSignal::new(None));
            let context = Context {
                budget: &budget,
                stop: &stop,
                observer: &SilentObserver,
                threads: 1,
                disk: Some(&disk),
                labels: &[],
            };
            let task = Task { compaction, goals: &[], ..Task::everything(&graph) };
            let found = (algorithm.search)(task, &context, None).unwrap();
            check_counts(algorithm, &graph, &reference, &found, "room");
            found.stored_bytes
        });
        assert!(stored[1] * 3 / 2 < stored[0], "{}: {stored:?} bytes", algorithm.name);
    }
}
