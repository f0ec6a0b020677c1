//! Searches that a crash, a failing disk or a limit has ended come to the same end when they are gone on with.

use super::*;
use lariat_base::{Event, Observer};
use lariat_disk::DiskError;
use lariat_storage::{Manifest, StorageError};
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether a search has published something on a disk.
fn is_published(disk: &FaultyDisk) -> bool {
    let manifest = Manifest::read(disk, &MemoryBudget::new(8 << 20)).unwrap();
    manifest.is_some_and(|manifest| manifest.text("algorithm").is_ok())
}

/// All tasks: with whole states, and with signatures so wide that none are equal.
fn tasks(graph: &RandomGraph) -> [Task<'_>; 2] {
    [None, Compaction::new(64)].map(|compaction| Task { compaction, ..Task::everything(graph) })
}

fn check(algorithm: &Algorithm, task: Task<'_>, reference: &ExplicitGraph, found: &Exploration, what: &str) {
    let what = format!("{what}, {:?}", task.compaction);
    check_counts(algorithm, task.graph, reference, found, &what);
    check_paths(algorithm, task.graph, reference, found, &what);
}

/// The search ends at every single change of the disk, and is gone on with.
#[test]
fn a_crash_at_any_point_costs_nothing_but_time() {
    for algorithm in ALGORITHMS.iter().chain([&DISK]) {
        let (mut n_crashes, mut n_published) = (0, 0);
        for seed in 40..60 {
            let graph = graph_of(seed, 120);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let task = tasks(&graph)[seed as usize / 4 % 2];
            let whole = FaultyDisk::default();
            let found = search(algorithm, task, &whole, Some(seed)).unwrap();
            check(algorithm, task, &reference, &found, &format!("seed {seed}"));
            for change in 1..=whole.changes() {
                let plan =
                    FaultPlan { crash_at_change: Some(change), seed: seed * 1000 + change, ..FaultPlan::default() };
                let disk = FaultyDisk::new(plan);
                let first = search(algorithm, task, &disk, Some(seed));
                assert!(first.is_err() || !disk.has_crashed(), "{}: nothing is done after a crash", algorithm.name);
                let after = disk.after_crash(FaultPlan::default());
                n_crashes += 1;
                n_published += u64::from(is_published(&after));
                let found = search(algorithm, task, &after, Some(seed + change)).unwrap();
                check(algorithm, task, &reference, &found, &format!("seed {seed}, crash at change {change}"));
            }
        }
        assert!(n_crashes > 200 && n_published > n_crashes / 4, "{}: {n_published} of {n_crashes}", algorithm.name);
    }
}

/// Every crash is followed by another one, until the search is through.
#[test]
fn many_crashes_cost_nothing_but_time() {
    for algorithm in ALGORITHMS.iter().chain([&DISK]) {
        let mut n_crashes = 0;
        for seed in 100..160 {
            let graph = graph_of(seed, 250);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let task = tasks(&graph)[seed as usize / 4 % 2];
            let mut random = Random::new(seed);
            let mut disk = FaultyDisk::default();
            let mut changes_max = 8;
            let found = loop {
                let crash_at_change = Some(1 + random.below(changes_max) as u64);
                let plan = FaultPlan { crash_at_change, seed: random.below(1 << 30) as u64, ..FaultPlan::default() };
                disk = disk.after_crash(plan);
                match search(algorithm, task, &disk, Some(random.below(1 << 30) as u64)) {
                    Ok(found) => break found,
                    Err(error) => {
                        assert!(disk.has_crashed(), "{}, seed {seed}: {error}", algorithm.name);
                        (changes_max, n_crashes) = (changes_max + changes_max / 4, n_crashes + 1);
                    }
                }
            };
            check(algorithm, task, &reference, &found, &format!("seed {seed}"));
        }
        assert!(n_crashes > 100, "{}: {n_crashes} crashes", algorithm.name);
    }
}

#[test]
fn a_full_disk_or_a_failing_one_is_an_error_and_what_was_published_stays() {
    for algorithm in ALGORITHMS.iter().chain([&DISK]) {
        let mut n_errors = 0;
        for seed in 0..120 {
            let graph = graph_of(seed, 250);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let task = tasks(&graph)[seed as usize / 4 % 2];
            let mut random = Random::new(seed);
            let at = Some(1 + random.below(40) as u64);
            let plan = match seed % 6 {
                0 => FaultPlan { size: Some(8192 + random.below(200_000) as u64), ..FaultPlan::default() },
                1 => FaultPlan { limit: Some(8192 + random.below(200_000) as u64), ..FaultPlan::default() },
                2 => FaultPlan { fail_write: at, ..FaultPlan::default() },
                3 => FaultPlan { short_write: at, ..FaultPlan::default() },
                4 => FaultPlan { fail_read: at, ..FaultPlan::default() },
                _ => FaultPlan { fail_sync: at, ..FaultPlan::default() },
            };
            let disk = FaultyDisk::new(plan.clone());
            let what = format!("seed {seed}, {plan:?}");
            match search(algorithm, task, &disk, Some(seed)) {
                Ok(found) => check(algorithm, task, &reference, &found, &what),
                Err(error) => {
                    n_errors += 1;
                    let is_typed = match (&plan, &error) {
                        (FaultPlan { size: Some(_), .. }, error) => {
                            matches!(error, SearchError::Storage(StorageError::Disk(DiskError::Full { .. })))
                        }
                        (FaultPlan { limit: Some(_), .. }, error) => {
                            matches!(error, SearchError::Storage(StorageError::Disk(DiskError::Limit { .. })))
                        }
                        _ => matches!(error, SearchError::Storage(_)),
                    };
                    assert!(is_typed, "{}, {what}: {error}", algorithm.name);
                    let repaired = FaultyDisk::with_files(FaultPlan::default(), disk.files());
                    let found = search(algorithm, task, &repaired, Some(seed + 7)).unwrap();
                    check(algorithm, task, &reference, &found, &what);
                }
            }
        }
        assert!(n_errors > 15, "{}: {n_errors} errors", algorithm.name);
    }
}

/// Interrupts a search when so many batches were expanded.
struct Interrupting<'i> {
    stop: &'i StopSignal,
    n_left: AtomicU64,
}

impl Observer for Interrupting<'_> {
    fn event(&self, event: &Event) {
        if matches!(event, Event::Progress(_)) && self.n_left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.interrupt();
        }
    }
}

/// A search that is interrupted after every few batches comes to its end, so every time something of it is kept.
#[test]
fn interrupted_again_and_again_a_search_comes_to_its_end() {
    for algorithm in ALGORITHMS.iter().chain([&DISK]) {
        let mut n_interrupted = 0;
        for seed in 0..20 {
            let graph = RandomGraph::new(400 + seed, 6000);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let task = tasks(&graph)[seed as usize % 2];
            let disk = FaultyDisk::default();
            let mut n_batches = 3;
            let (mut rounds, mut before) = (0, (0, 0));
            let found = loop {
                let (budget, stop) = (MemoryBudget::new(64 << 20), StopSignal::new(None));
                let observer = Interrupting { stop: &stop, n_left: AtomicU64::new(n_batches) };
                let context = Context {
                    budget: &budget,
                    stop: &stop,
                    observer: &observer,
                    threads: 1 + seed as usize % 2,
                    disk: Some(&disk),
                    labels: &[],
                };
                let found = (algorithm.search)(task, &context, Some(&mut Random::new(seed + rounds))).unwrap();
                rounds += 1;
                // A level of ebfs and a path are begun anew, so there must be time for the whole.
                let counted = (found.states, found.transitions);
                if counted == before || algorithm.name == "ebfs" {
                    n_batches *= 2;
                }
                before = counted;
                if found.limit.is_none() {
                    break found;
                }
                assert_eq!(found.limit, Some(Limit::Interrupted));
                assert!(!found.complete && rounds < 2000, "{}, seed {seed}: no progress", algorithm.name);
            };
            n_interrupted += rounds - 1;
            check(algorithm, task, &reference, &found, &format!("seed {seed}"));
        }
        assert!(n_interrupted > 40, "{}: {n_interrupted} interrupts", algorithm.name);
    }
}
