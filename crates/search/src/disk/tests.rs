use super::reading::Readers;
use super::*;
use crate::external_tests::{GOALS, check_path, nearest};
use crate::path_on_disk::Paths;
use crate::reference::ExplicitGraph;
use lariat_base::{MemoryBudget, Random, SilentObserver, StopSignal};
use lariat_disk::{DiskError, FaultPlan, FaultyDisk};
use lariat_graph::Strength;
use lariat_storage::{RunOptions, StorageError};
use lariat_testkit::RandomGraph;
use std::time::Duration;

/// Shares so small that everything is written to disk, compared and merged many times.
fn tiny_shares(random: &mut Random, row_bytes: usize) -> Shares {
    Shares {
        filter_bytes: 8 << random.below(10),
        cache_bytes: 16 << random.below(8),
        new_keys: 2 + random.below(60),
        doubtful_keys: 2 + random.below(30),
        wide_keys: 2 + random.below(60),
        stripe_keys: 1 + random.below(40),
        first_states: random.below(100) as u64,
        few_states: random.below(200) as u64,
        wide_rows_min: random.below(80) as u64,
        narrow_levels_max: random.below(4) as u32,
        run: RunOptions { block_bytes: 4096, group_rows: 64, buffers: 2, ..RunOptions::new(row_bytes) },
        readers: Readers {
            bytes: random.below(1 << 20) as u64,
            threads: 1 + random.below(3),
            block_bytes: 4096,
            // Too much for a short pass now and then.
            step_bytes: if random.below(3) == 0 { 1 << 40 } else { 1 << 10 },
        },
        readers_max: 10 + random.below(20),
        merging_max: 1 + random.below(3),
        writers_bytes: random.below(1 << 10) as u64,
        merger_bytes: if random.below(4) == 0 { u64::MAX } else { 0 },
        found_keys: random.below(60),
        assumed_keys: random.below(200),
        new_quarters: random.below(4),
        kept_bytes: random.below(1 << 17) as u64,
        merge_rows: 1 + random.below(40),
        doubtful_bytes_min: random.below(100_000) as u64,
        publish_after: Duration::from_millis(if random.below(2) == 0 { 0 } else { 60_000 }),
    }
}

fn search(graph: &RandomGraph, goals: &[Goal], extent: Extent, threads: usize, shares: Option<Shares>) -> Exploration {
    let budget = MemoryBudget::new(64 << 20);
    let stop = StopSignal::new(None);
    let disk = FaultyDisk::new(FaultPlan::default());
    let context =
        Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads, disk: Some(&disk), labels: &[] };
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

/// Counts how often a phase begins.
struct PhasesBegun {
    name: &'static str,
    n: AtomicU64,
}

impl PhasesBegun {
    fn new(name: &'static str) -> Self {
        Self { name, n: AtomicU64::new(0) }
    }
}

impl lariat_base::Observer for PhasesBegun {
    fn event(&self, event: &lariat_base::Event) {
        if matches!(event, lariat_base::Event::Phase(name) if *name == self.name) {
            self.n.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The search goes on without a filter where the graph is wide, and makes another one where it is not any more.
#[test]
fn counts_agree_where_the_graph_becomes_wide_and_narrow() {
    let made = PhasesBegun::new("filter");
    for seed in 0..300 {
        let graph = RandomGraph::new(seed, 4_000);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let mut random = Random::new(seed);
        let tiny = tiny_shares(&mut random, graph.row_bytes());
        let shares = Shares { wide_rows_min: 1, narrow_levels_max: 1, ..tiny };
        let (budget, stop) = (MemoryBudget::new(64 << 20), StopSignal::new(None));
        let disk = FaultyDisk::new(FaultPlan::default());
        let (observer, threads) = (&made, 1 + random.below(3));
        let context = Context { budget: &budget, stop: &stop, observer, threads, disk: Some(&disk), labels: &[] };
        let found = explore_within(&graph, &[], Extent::Everything, &context, Some(shares)).unwrap();
        check(&graph, &reference, &found, &format!("seed {seed}, {threads} threads"));
        assert_eq!(budget.used(), 0, "all memory is given back");
    }
    let made = made.n.into_inner();
    assert!(made > 50, "{made} filters were made again");
}

/// Counts the phases in which states are assumed to be new, and has most of the memory whenever some are compared.
struct Assuming<'a> {
    n: &'a AtomicU64,
    budget: &'a MemoryBudget,
    hoards: bool,
    hoarded: Mutex<u64>,
}

impl lariat_base::Observer for Assuming<'_> {
    fn event(&self, event: &lariat_base::Event) {
        if let lariat_base::Event::Phase(name) = event {
            let mut hoarded = self.hoarded.lock().unwrap();
            self.budget.release(std::mem::take(&mut *hoarded));
            // What is left is enough for any pass, but not for what readers are said to need.
            let hoard = self.budget.left().saturating_sub(8 << 20);
            if self.hoards && *name == "check" && self.budget.reserve(hoard).is_ok() {
                *hoarded = hoard;
            }
            self.n.fetch_add(u64::from(*name == "assume"), Ordering::Relaxed);
        }
    }
}

/// The search goes on with states that may have been met before, rightly and wrongly. Where they cannot be compared in time, they are doubtful again.
#[test]
fn counts_agree_where_states_are_assumed_to_be_new() {
    let n = AtomicU64::new(0);
    for seed in 0..300 {
        let graph = match seed % 4 {
            0 => RandomGraph::chain(2_000 + 10 * seed as u32),
            1 => RandomGraph::new(seed, 1_000),
            2 => RandomGraph::new(seed, 10_000),
            _ => RandomGraph::new(seed, 40_000),
        };
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let mut random = Random::new(seed);
        let tiny = tiny_shares(&mut random, graph.row_bytes());
        let times = if seed % 4 == 3 { 10 } else { 1 };
        let shares = Shares {
            new_keys: times * (20 + random.below(600)),
            doubtful_keys: times * (10 + random.below(300)),
            assumed_keys: times * (100 + random.below(1_000)),
            new_quarters: random.below(2),
            wide_rows_min: u64::MAX,
            first_states: 0,
            doubtful_bytes_min: 1 << 20,
            readers: Readers { step_bytes: 4 << 20, ..tiny.readers },
            readers_max: 30,
            ..tiny
        };
        let (budget, stop) = (MemoryBudget::new(256 << 20), StopSignal::new(None));
        let disk = FaultyDisk::new(FaultPlan::default());
        let observer = &Assuming { n: &n, budget: &budget, hoards: seed % 3 == 0, hoarded: Mutex::new(0) };
        let threads = 1 + random.below(3);
        let context = Context { budget: &budget, stop: &stop, observer, threads, disk: Some(&disk), labels: &[] };
        let found = explore_within(&graph, &[], Extent::Everything, &context, Some(shares)).unwrap();
        check(&graph, &reference, &found, &format!("seed {seed}, {threads} threads"));
        assert_eq!(budget.used(), *observer.hoarded.lock().unwrap(), "all memory is given back");
    }
    let n = n.into_inner();
    assert!(n > 10_000, "{n} times");
}

/// Graphs in which threads leave work to each other while passes come at any time.
#[test]
fn counts_agree_where_threads_share_work() {
    for seed in 0..60 {
        let graph = RandomGraph::new(seed, 40_000);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let mut random = Random::new(seed);
        let shares = Shares {
            filter_bytes: 1 << (10 + random.below(6)),
            new_keys: 700 + random.below(3000),
            doubtful_keys: 50 + random.below(500),
            ..tiny_shares(&mut random, graph.row_bytes())
        };
        let threads = 2 + random.below(3);
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

fn search_on(disk: &FaultyDisk, graph: &RandomGraph, seed: u64) -> Result<Exploration, SearchError> {
    let budget = MemoryBudget::new(64 << 20);
    let stop = StopSignal::new(None);
    let context =
        Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads: 1, disk: Some(disk), labels: &[] };
    let shares = tiny_shares(&mut Random::new(seed), graph.row_bytes());
    explore_within(graph, &[], Extent::Everything, &context, Some(shares))
}

/// The search ends at every single change of the disk, and is gone on with.
#[test]
fn a_crash_at_any_point_costs_nothing_but_time() {
    for seed in 0..12 {
        let graph = RandomGraph::new(seed, 250);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let whole = FaultyDisk::new(FaultPlan::default());
        check(&graph, &reference, &search_on(&whole, &graph, seed).unwrap(), "without a crash");
        for change in 1..=whole.changes() {
            let plan = FaultPlan { crash_at_change: Some(change), seed: seed * 1000 + change, ..FaultPlan::default() };
            let disk = FaultyDisk::new(plan);
            let first = search_on(&disk, &graph, seed);
            assert!(first.is_err() || !disk.has_crashed(), "nothing is done after a crash");
            let after = disk.after_crash(FaultPlan::default());
            let found = search_on(&after, &graph, seed + 1).unwrap();
            check(&graph, &reference, &found, &format!("seed {seed}, crash at change {change}"));
        }
    }
}

/// Every crash is followed by another one, until the search is through.
#[test]
fn many_crashes_cost_nothing_but_time() {
    for seed in 100..400 {
        let graph = RandomGraph::new(seed, 400);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let mut random = Random::new(seed);
        let mut disk = FaultyDisk::new(FaultPlan::default());
        let mut changes_max = 8;
        let found = loop {
            let crash_at_change = Some(1 + random.below(changes_max) as u64);
            let plan = FaultPlan { crash_at_change, seed: random.below(1 << 30) as u64, ..FaultPlan::default() };
            disk = disk.after_crash(plan);
            match search_on(&disk, &graph, random.below(1 << 30) as u64) {
                Ok(found) => break found,
                Err(_) => changes_max += changes_max / 4,
            }
        };
        check(&graph, &reference, &found, &format!("seed {seed}"));
    }
}

#[test]
fn a_full_disk_or_a_failing_one_is_an_error_and_what_was_published_stays() {
    for seed in 0..60 {
        let graph = RandomGraph::new(seed, 400);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let mut random = Random::new(seed);
        let at = Some(1 + random.below(60) as u64);
        let plan = match seed % 6 {
            0 => FaultPlan { size: Some(8192 + random.below(200_000) as u64), ..FaultPlan::default() },
            1 => FaultPlan { limit: Some(8192 + random.below(200_000) as u64), ..FaultPlan::default() },
            2 => FaultPlan { fail_write: at, ..FaultPlan::default() },
            3 => FaultPlan { short_write: at, ..FaultPlan::default() },
            4 => FaultPlan { fail_read: at, ..FaultPlan::default() },
            _ => FaultPlan { fail_sync: at, ..FaultPlan::default() },
        };
        let disk = FaultyDisk::new(plan.clone());
        match search_on(&disk, &graph, seed) {
            Ok(found) => check(&graph, &reference, &found, "the fault was not met"),
            Err(error) => {
                let is_typed = match (&plan, &error) {
                    (FaultPlan { size: Some(_), .. }, error) => {
                        matches!(error, SearchError::Storage(StorageError::Disk(DiskError::Full { .. })))
                    }
                    (FaultPlan { limit: Some(_), .. }, error) => {
                        matches!(error, SearchError::Storage(StorageError::Disk(DiskError::Limit { .. })))
                    }
                    _ => matches!(error, SearchError::Storage(_)),
                };
                assert!(is_typed, "{error}");
                let repaired = FaultyDisk::with_files(FaultPlan::default(), disk.files());
                let found = search_on(&repaired, &graph, seed + 7).unwrap();
                check(&graph, &reference, &found, &format!("seed {seed} after {plan:?}"));
            }
        }
    }
}

/// A search in memory whose memory ends somewhere is gone on with on disk.
#[test]
fn what_was_found_in_memory_is_taken_over() {
    let mut n_handed_over = 0;
    for seed in 0..40 {
        let graph = RandomGraph::new(seed, 150_000);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let disk = FaultyDisk::new(FaultPlan::default());
        let budget = MemoryBudget::new(64 << 20);
        let stop = StopSignal::new(None);
        let threads = 1 + seed as usize % 2;
        let context = Context {
            budget: &budget,
            stop: &stop,
            observer: &SilentObserver,
            threads,
            disk: Some(&disk),
            labels: &[],
        };
        let small = MemoryBudget::new(((340 + 80 * (seed % 10)) << 10) * threads as u64);
        let mut is_handed_over = false;
        let mut successor = |handed: &dyn Handed| {
            is_handed_over = true;
            hand_over(handed, &context)
        };
        let in_memory = Context { budget: &small, ..context_of(&context) };
        let found = crate::ram::explore_or_hand_over(&graph, &[], Extent::Everything, &in_memory, Some(&mut successor));
        let found = match found {
            Err(SearchError::BudgetTooSmall) => continue,
            found => found.unwrap(),
        };
        let found = if is_handed_over {
            n_handed_over += 1;
            explore_within(&graph, &[], Extent::Everything, &context, None).unwrap()
        } else {
            found
        };
        check(&graph, &reference, &found, &format!("seed {seed}, handed over: {is_handed_over}"));
    }
    assert!(n_handed_over > 10, "{n_handed_over} were handed over");
}

/// A hunt whose memory ends somewhere is gone on with by the proof, which finds the same as on its own, and counts everything once.
#[test]
fn what_a_hunt_visited_is_taken_over() {
    let mut n_handed_over = 0;
    for seed in 0..60 {
        let graph = match seed % 3 {
            0 => RandomGraph::new(seed, 60_000).with_all_accepting(false),
            1 => RandomGraph::new_weak(seed, 60_000),
            _ => RandomGraph::chain(20_000 + 1_000 * seed as u32),
        };
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let (budget, stop) = (MemoryBudget::new(64 << 20), StopSignal::new(None));
        let disk = FaultyDisk::new(FaultPlan::default());
        let (observer, threads) = (&SilentObserver, 1 + seed as usize % 2);
        let context = Context { budget: &budget, stop: &stop, observer, threads, disk: Some(&disk), labels: &[] };
        let small = MemoryBudget::new((300 + 40 * (seed % 10)) << 10);
        let mut is_handed_over = false;
        let mut successor = |handed: &dyn Handed| {
            is_handed_over = true;
            hand_over(handed, &context)
        };
        let in_memory = Context { budget: &small, ..context_of(&context) };
        let hunt = crate::ndfs::find_lasso_or_hand_over(&graph, Strength::Weak, &in_memory, None, Some(&mut successor))
            .unwrap();
        assert_eq!(hunt.limit.is_some(), is_handed_over, "seed {seed}");
        if !is_handed_over {
            continue;
        }
        n_handed_over += 1;
        let taken_over = explore_within(&graph, &[], Extent::Everything, &context, None).unwrap();
        check(&graph, &reference, &taken_over, &format!("seed {seed}, handed over"));
        let accepting = reference.rows.iter().filter(|row| graph.is_accepting(row)).count() as u64;
        assert_eq!(taken_over.accepting, accepting, "seed {seed}");
        let alone = crate::scc::find_lasso(&graph, &context).unwrap();
        let proved = crate::proof::find_lasso(&graph, Strength::Weak, &context).unwrap();
        assert_eq!(proved.lasso.is_some(), alone.lasso.is_some(), "seed {seed}");
    }
    assert!(n_handed_over > 15, "{n_handed_over} were handed over");
}

fn context_of<'c>(context: &Context<'c>) -> Context<'c> {
    let Context { budget, stop, observer, threads, disk, labels } = *context;
    Context { budget, stop, observer, threads, disk, labels }
}

/// What is looked for, and how far; the ways to it are found on disk.
struct Task<'t> {
    graph: &'t RandomGraph,
    goals: &'t [Goal],
    extent: Extent,
    by_numbers: bool,
}

impl Task<'_> {
    /// Searches, and finds paths without trying in memory first; goes on with what is on disk.
    fn run(&self, disk: &FaultyDisk, seed: u64) -> Result<Exploration, SearchError> {
        let Self { graph, goals, extent, by_numbers } = *self;
        let (budget, stop) = (MemoryBudget::new(64 << 20), StopSignal::new(None));
        let (observer, threads) = (&SilentObserver, 1 + seed as usize % 2);
        let context = Context { budget: &budget, stop: &stop, observer, threads, disk: Some(disk), labels: &[] };
        let paths = Paths { graph, goals, extent, context: &context };
        let shares = tiny_shares(&mut Random::new(seed), graph.row_bytes());
        let mut found = match paths.taken_up()? {
            Some(found) => found,
            None => explore_within(graph, goals, extent, &context, Some(shares))?,
        };
        let text = paths.to_text(&found);
        let states = if by_numbers { checkpoint::found_states(&context)? } else { None };
        assert_eq!(states.is_some(), by_numbers);
        paths.on_disk(&mut found, states, text)?;
        assert_eq!(budget.used(), 0, "all memory is given back");
        Ok(found)
    }

    fn check(&self, reference: &ExplicitGraph, found: &Exploration, what: &str) {
        assert_eq!(found.limit, None, "{what}");
        for (goal, path) in self.goals.iter().zip(&found.paths) {
            let nearest = nearest(self.graph, reference, *goal);
            assert_eq!(path.is_some(), nearest.is_some(), "{what}, {goal:?}");
            let Some(path) = path else { continue };
            check_path(self.graph, reference, path, *goal, what);
            if self.extent != Extent::UntilGoals || !self.by_numbers {
                assert_eq!(Some(path.len() - 1), nearest, "{what}, {goal:?}: a shortest path");
            }
        }
    }
}

/// Tasks of all kinds for a graph.
fn tasks(graph: &RandomGraph) -> impl Iterator<Item = Task<'_>> {
    let goals = GOALS.chunks(1).chain([&GOALS[..], &GOALS[1..3]]);
    goals.flat_map(move |goals| {
        [Extent::UntilGoals, Extent::UntilNearest, Extent::Everything]
            .into_iter()
            .flat_map(move |extent| [true, false].map(|by_numbers| Task { graph, goals, extent, by_numbers }))
    })
}

#[test]
fn paths_are_found_on_disk() {
    for seed in 0..150 {
        let graph = RandomGraph::new(seed, 400);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        for (i, task) in tasks(&graph).enumerate() {
            let found = task.run(&FaultyDisk::new(FaultPlan::default()), seed).unwrap();
            task.check(&reference, &found, &format!("seed {seed}, task {i}"));
        }
    }
}

/// A limit that is reached while paths are looked for: what is not found is not shown.
#[test]
fn a_limit_while_paths_are_found_leaves_none_that_is_half() {
    let mut n_left = 0;
    for seed in 0..40 {
        let graph = RandomGraph::new(seed, 400);
        for task in tasks(&graph) {
            let disk = FaultyDisk::new(FaultPlan::default());
            let (budget, late) = (MemoryBudget::new(64 << 20), StopSignal::new(Some(Duration::ZERO)));
            let never = StopSignal::new(None);
            let Task { goals, extent, by_numbers, .. } = task;
            let context = Context {
                budget: &budget,
                stop: &never,
                observer: &SilentObserver,
                threads: 1,
                disk: Some(&disk),
                labels: &[],
            };
            let mut found = explore_within(&graph, goals, extent, &context, None).unwrap();
            let states = if by_numbers { checkpoint::found_states(&context).unwrap() } else { None };
            let paths = Paths { graph: &graph, goals, extent, context: &Context { stop: &late, ..context } };
            let text = paths.to_text(&found);
            paths.on_disk(&mut found, states, text).unwrap();
            n_left += u32::from(found.limit.is_some());
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            for (goal, path) in goals.iter().zip(found.paths) {
                path.iter().for_each(|path| check_path(&graph, &reference, path, *goal, "at a limit"));
            }
        }
    }
    assert!(n_left > 100, "{n_left}");
}

/// The search for a path ends at every single change of the disk, and is gone on with: what was found before it is not looked for again.
#[test]
fn a_crash_while_paths_are_found_costs_nothing_but_time() {
    let mut n_taken_up = 0;
    for seed in 0..10 {
        let graph = RandomGraph::new(seed, 120);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let task = tasks(&graph).nth(seed as usize * 5 % 42).unwrap();
        let whole = FaultyDisk::new(FaultPlan::default());
        let expected = task.run(&whole, seed).unwrap();
        for change in 1..=whole.changes() {
            let plan = FaultPlan { crash_at_change: Some(change), seed: seed * 1000 + change, ..FaultPlan::default() };
            let disk = FaultyDisk::new(plan);
            let first = task.run(&disk, seed);
            assert!(first.is_err() || !disk.has_crashed(), "nothing is done after a crash");
            let after = disk.after_crash(FaultPlan::default());
            let manifest = lariat_storage::Manifest::read(&after, &MemoryBudget::new(8 << 20)).unwrap();
            n_taken_up += u32::from(manifest.is_some_and(|manifest| manifest.text("found").is_ok()));
            let found = task.run(&after, seed + 1).unwrap();
            task.check(&reference, &found, &format!("seed {seed}, crash at change {change}"));
            if task.extent == Extent::Everything {
                assert_eq!((found.states, found.transitions), (expected.states, expected.transitions));
            }
        }
    }
    assert!(n_taken_up > 50, "{n_taken_up}");
}
