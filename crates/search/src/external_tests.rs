//! The searches that keep their states on disk give the answers of the plain reference, whatever the shares of memory are, and no answer at all
//! where the disk fails.

use crate::disk::{CompactShares, explore_compact_within};
use crate::reference::ExplicitGraph;
use crate::{Compaction, Context, Exploration, Extent, Goal, SearchError, cbfs, delayed, ebfs, local, mono, part};
use lariat_base::{Limit, MemoryBudget, Random, SilentObserver, StopSignal};
use lariat_disk::{Disk, FaultPlan, FaultyDisk, FileKind};
use lariat_graph::{Graph, RowBuffer};
use lariat_storage::{RowLogOptions, RunOptions, SortOptions, Table};
use lariat_testkit::RandomGraph;
use std::time::Duration;

pub(crate) const GOALS: [Goal; 5] = [Goal::Label(0), Goal::Label(1), Goal::Label(2), Goal::Deadlock, Goal::Error];

mod compaction;
mod going_on;

/// What is looked for.
#[derive(Clone, Copy)]
struct Task<'t> {
    graph: &'t RandomGraph,
    goals: &'t [Goal],
    extent: Extent,
    compaction: Option<Compaction>,
}

impl<'t> Task<'t> {
    fn everything(graph: &'t RandomGraph) -> Self {
        Self { graph, goals: &GOALS, extent: Extent::Everything, compaction: None }
    }
}

/// A search, with shares that are drawn so small that everything goes to disk, or as they are if there is nothing to draw from.
type Search = fn(Task<'_>, &Context<'_>, Option<&mut Random>) -> Result<Exploration, SearchError>;

struct Algorithm {
    name: &'static str,
    search: Search,
    /// Whether it knows levels, and so shortest paths.
    has_levels: bool,
}

const ALGORITHMS: &[Algorithm] = &[
    Algorithm { name: "ebfs", search: run_ebfs, has_levels: true },
    Algorithm { name: "mono", search: run_mono, has_levels: true },
    Algorithm { name: "local", search: run_local, has_levels: true },
    Algorithm { name: "part", search: run_part, has_levels: false },
    Algorithm { name: "cbfs", search: run_cbfs, has_levels: true },
];

/// What is another search with signatures than without, which has tests of its own.
const DISK: Algorithm = Algorithm { name: "disk", search: run_disk, has_levels: false };

fn run_disk(task: Task<'_>, context: &Context<'_>, random: Option<&mut Random>) -> Result<Exploration, SearchError> {
    let Task { graph, goals, extent, compaction } = task;
    let compaction = compaction.or(Compaction::new(64)).unwrap();
    let (key_bytes, value_bytes) = (compaction.bits().div_ceil(8) as usize, graph.row_bytes().max(8));
    let shares = random.map(|random| {
        let block_bytes = if value_bytes > 1000 { 8192 } else { 4096 };
        let run = RunOptions { block_bytes, group_rows: 64, buffers: 2, ..RunOptions::new(key_bytes) };
        let (rows_max, runs_max, batch_rows) = (2 + random.below(60), 2 + random.below(5), 1 + random.below(30));
        CompactShares {
            filter_bytes: 8 << random.below(10),
            new_keys: 2 + random.below(60),
            doubtful: SortOptions { rows_max, runs_max, batch_rows, run: RunOptions { value_bytes, ..run } },
            run,
            queue: RowLogOptions::smallest(graph.row_bytes(), FileKind::Queue),
            batch_rows,
            doubtful_min: random.below(200) as u64,
            publish_after: any_time(random),
        }
    });
    explore_compact_within(graph, goals, extent, compaction, context, shares)
}

fn run_ebfs(task: Task<'_>, context: &Context<'_>, random: Option<&mut Random>) -> Result<Exploration, SearchError> {
    let Task { graph, goals, extent, compaction } = task;
    let shares = random.map(|random| {
        let (key_bytes, value_bytes) = match compaction {
            Some(compaction) => (compaction.bits().div_ceil(8) as usize, graph.row_bytes().max(8)),
            None => (graph.row_bytes(), 0),
        };
        let block_bytes = if value_bytes > 1000 { 8192 } else { 4096 };
        let run = RunOptions { block_bytes, group_rows: 64, buffers: 2, ..RunOptions::new(key_bytes) };
        let (rows_max, runs_max, batch_rows) = (2 + random.below(60), 2 + random.below(5), 1 + random.below(30));
        ebfs::Shares {
            sort: SortOptions { rows_max, runs_max, batch_rows, run: RunOptions { value_bytes, ..run } },
            run,
            publish_after: any_time(random),
            batch_rows,
            visited_max: 2 + random.below(6),
            rows_to_share: random.below(100) as u64,
        }
    });
    ebfs::explore_within(graph, goals, extent, compaction, context, shares)
}

fn delayed_shares(row_bytes: usize, random: &mut Random) -> delayed::Shares {
    let mut log = RowLogOptions::smallest(row_bytes, FileKind::Table);
    log.blocks_at_once = 1 + random.below(3);
    delayed::Shares { table_bytes: random.below(3000), log, publish_after: any_time(random) }
}

/// Whenever it can, or never.
fn any_time(random: &mut Random) -> Duration {
    if random.one_in(2) { Duration::ZERO } else { Duration::MAX / 100 }
}

fn any_table(random: Option<&mut Random>) -> Table {
    [Table::Chained, Table::Open][random.map_or(0, |random| random.below(2))]
}

fn run_mono(
    task: Task<'_>,
    context: &Context<'_>,
    mut random: Option<&mut Random>,
) -> Result<Exploration, SearchError> {
    let Task { graph, goals, extent, compaction } = task;
    let table = any_table(random.as_deref_mut());
    let shares = random.map(|random| delayed_shares(graph.row_bytes(), random));
    mono::explore_within(graph, goals, extent, table, compaction, context, shares)
}

fn run_local(
    task: Task<'_>,
    context: &Context<'_>,
    mut random: Option<&mut Random>,
) -> Result<Exploration, SearchError> {
    let Task { graph, goals, extent, compaction } = task;
    let table = any_table(random.as_deref_mut());
    let shares = random.map(|random| (delayed_shares(graph.row_bytes(), random), random.below(100) as u64));
    local::explore_within(graph, goals, extent, table, compaction, context, shares)
}

fn run_part(
    task: Task<'_>,
    context: &Context<'_>,
    mut random: Option<&mut Random>,
) -> Result<Exploration, SearchError> {
    let Task { graph, goals, extent, compaction } = task;
    let table = any_table(random.as_deref_mut());
    let shares = random.map(|random| part::Shares {
        table_bytes: random.below(3000),
        pending_bytes: random.below(3000),
        transfer_bytes: 1,
        publish_after: any_time(random),
    });
    part::explore_within(graph, goals, extent, table, compaction, context, shares)
}

fn run_cbfs(task: Task<'_>, context: &Context<'_>, random: Option<&mut Random>) -> Result<Exploration, SearchError> {
    let Task { graph, goals, extent, compaction } = task;
    let shares = random.map(|random| {
        let mut log = RowLogOptions::smallest(graph.row_bytes(), FileKind::Table);
        log.blocks_at_once = 1 + random.below(3);
        let (reads_at_once, batch_rows) = (1 + random.below(8), 1 + random.below(200));
        let table_bytes = if random.one_in(2) { random.below(1000) } else { 10_000 };
        let publish_after = any_time(random);
        cbfs::Shares { table_bytes, log, reads_at_once, batch_rows, frozen_bytes: 10_000, publish_after }
    });
    cbfs::explore_within(graph, goals, extent, compaction, context, shares)
}

/// The graph of a seed; the rows of most are so wide that few fit a block.
fn graph_of(seed: u64, states_max: usize) -> RandomGraph {
    let graph = RandomGraph::new(seed, states_max);
    match seed % 4 {
        0 => graph,
        1 => graph.with_row_bytes(30 + seed as usize % 90),
        2 => graph.with_row_bytes(400 + seed as usize % 90),
        _ => graph.with_row_bytes(1300),
    }
}

fn search(
    algorithm: &Algorithm,
    task: Task<'_>,
    disk: &FaultyDisk,
    seed: Option<u64>,
) -> Result<Exploration, SearchError> {
    let budget = MemoryBudget::new(64 << 20);
    let stop = StopSignal::new(None);
    let mut random = seed.map(Random::new);
    let threads = random.as_mut().map_or(2, |random| 1 + random.below(3));
    let context =
        Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads, disk: Some(disk), labels: &[] };
    let found = (algorithm.search)(task, &context, random.as_mut());
    assert_eq!(budget.used(), 0, "{}: all memory is given back", algorithm.name);
    found
}

fn meets(graph: &RandomGraph, reference: &ExplicitGraph, state: usize, goal: Goal) -> bool {
    let dead_end = reference.successors[state].is_empty();
    match goal {
        Goal::Label(label) => reference.labels[state] >> label & 1 == 1,
        Goal::Deadlock => dead_end && !graph.is_error(&reference.rows[state]),
        Goal::Error => graph.is_error(&reference.rows[state]),
    }
}

pub(crate) fn nearest(graph: &RandomGraph, reference: &ExplicitGraph, goal: Goal) -> Option<usize> {
    let state = (0..reference.rows.len()).find(|state| meets(graph, reference, *state, goal))?;
    Some(reference.levels[state] as usize)
}

fn check_counts(
    algorithm: &Algorithm,
    graph: &RandomGraph,
    reference: &ExplicitGraph,
    found: &Exploration,
    what: &str,
) {
    let name = algorithm.name;
    assert!(found.complete && found.limit.is_none(), "{name}, {what}");
    assert_eq!(found.states, reference.rows.len() as u64, "{name}, {what}: states");
    assert_eq!(found.transitions, reference.n_edges(), "{name}, {what}: transitions");
    let levels = if algorithm.has_levels { reference.n_levels() } else { 0 };
    assert_eq!(found.levels, levels, "{name}, {what}: levels");
    let n_states = 0..reference.rows.len();
    let deadlocks = n_states.filter(|state| meets(graph, reference, *state, Goal::Deadlock)).count();
    assert_eq!(found.deadlocks, deadlocks as u64, "{name}, {what}: deadlocks");
    let accepting = reference.rows.iter().filter(|row| graph.is_accepting(row)).count();
    assert_eq!(found.accepting, accepting as u64, "{name}, {what}: accepting");
    assert_eq!(found.error_reached, nearest(graph, reference, Goal::Error).is_some(), "{name}, {what}");
}

/// A path from an initial state to one that meets a goal.
pub(crate) fn check_path(graph: &RandomGraph, reference: &ExplicitGraph, path: &RowBuffer, goal: Goal, what: &str) {
    let number = |row: &[u8]| reference.rows.iter().position(|r| r == row).expect("a reachable state");
    let numbers: Vec<usize> = path.iter().map(number).collect();
    assert!(numbers[0] < reference.n_initial, "{what}: begins at an initial state");
    for pair in numbers.windows(2) {
        assert!(reference.successors[pair[0]].contains(&(pair[1] as u32)), "{what}: no edge {pair:?}");
    }
    assert!(meets(graph, reference, numbers[numbers.len() - 1], goal), "{what}");
}

fn check_paths(algorithm: &Algorithm, graph: &RandomGraph, reference: &ExplicitGraph, found: &Exploration, what: &str) {
    for (goal, path) in GOALS.iter().zip(&found.paths) {
        let what = format!("{}, {what}, {goal:?}", algorithm.name);
        let nearest = nearest(graph, reference, *goal);
        assert_eq!(path.is_some(), nearest.is_some(), "{what}");
        let Some(path) = path else { continue };
        check_path(graph, reference, path, *goal, &what);
        if algorithm.has_levels {
            assert_eq!(Some(path.len() - 1), nearest, "{what}: a shortest path");
        }
    }
}

#[test]
fn counts_and_paths_agree_whatever_the_shares_are() {
    for algorithm in ALGORITHMS {
        let mut io = (0, 0);
        for seed in 0..2000 {
            let graph = graph_of(seed, 300);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let disk = FaultyDisk::default();
            let goals = if seed % 5 == 0 { &[][..] } else { &GOALS };
            let task = Task { goals, ..Task::everything(&graph) };
            let found = search(algorithm, task, &disk, Some(seed)).unwrap();
            let what = format!("seed {seed}");
            check_counts(algorithm, &graph, &reference, &found, &what);
            if seed % 5 != 0 {
                check_paths(algorithm, &graph, &reference, &found, &what);
            }
            let total = disk.counters().total();
            io = (io.0 + total.reads(), io.1 + total.writes());
        }
        assert!(io.0 > 5_000 && io.1 > 5_000, "{} hardly used the disk: {io:?}", algorithm.name);
    }
}

/// The tests above are worth something only if `local` misses duplicates, and `part` splits partitions.
#[test]
fn duplicates_are_missed_and_partitions_are_split() {
    let (mut n_missed, mut n_split) = (0, 0);
    for seed in 0..200 {
        let graph = RandomGraph::new(seed, 1000).with_row_bytes(1300);
        let (disk, budget) = (FaultyDisk::default(), MemoryBudget::new(64 << 20));
        let stop = StopSignal::new(None);
        let context = Context {
            budget: &budget,
            stop: &stop,
            observer: &SilentObserver,
            threads: 1,
            disk: Some(&disk),
            labels: &[],
        };
        let shares = delayed_shares(1300, &mut Random::new(seed));
        let found =
            local::explore_within(&graph, &[], Extent::Everything, Table::Chained, None, &context, Some((shares, 10)));
        let found = found.unwrap();
        n_missed += u64::from(found.stored_bytes / 4096 * 3 > found.states + 3);
        let disk = FaultyDisk::default();
        let context = Context { disk: Some(&disk), ..context };
        run_part(Task { goals: &[], ..Task::everything(&graph) }, &context, Some(&mut Random::new(seed))).unwrap();
        let is_part = |name: &str| name.starts_with("visited-") && name != "visited-0";
        n_split += u64::from(disk.list().unwrap().iter().any(|file| is_part(&file.name)));
    }
    assert!(n_missed > 30 && n_split > 30, "{n_missed} searches missed duplicates, {n_split} split partitions");
}

#[test]
fn a_search_for_one_goal_ends_there() {
    for algorithm in ALGORITHMS {
        for seed in 0..300 {
            let graph = graph_of(10_000 + seed, 300);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            for goal in GOALS {
                let disk = FaultyDisk::default();
                let task = Task { goals: &[goal], extent: Extent::UntilGoals, ..Task::everything(&graph) };
                let found = search(algorithm, task, &disk, Some(seed)).unwrap();
                let length = found.paths[0].as_ref().map(|path| path.len() - 1);
                let nearest = nearest(&graph, &reference, goal);
                assert_eq!(length.is_some(), nearest.is_some(), "{}, seed {seed}, {goal:?}", algorithm.name);
                if algorithm.has_levels {
                    assert_eq!(length, nearest, "{}, seed {seed}, {goal:?}", algorithm.name);
                }
                assert_eq!((found.complete, found.limit), (nearest.is_none(), None));
            }
        }
    }
}

#[test]
fn small_budgets_are_kept_on_larger_graphs() {
    for algorithm in ALGORITHMS.iter().chain([&DISK]) {
        for (seed, memory) in [(1, 2 << 20), (2, 4 << 20), (3, 2 << 20), (4, 16 << 20)] {
            let graph = RandomGraph::new(3_000_000 + seed, 150_000);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            for threads in [1, 2] {
                let disk = FaultyDisk::default();
                let budget = MemoryBudget::new(memory);
                let stop = StopSignal::new(None);
                let context = Context {
                    budget: &budget,
                    stop: &stop,
                    observer: &SilentObserver,
                    threads,
                    disk: Some(&disk),
                    labels: &[],
                };
                let found = (algorithm.search)(Task::everything(&graph), &context, None).unwrap();
                let what = format!("seed {seed}, {threads} threads, {memory} bytes");
                check_counts(algorithm, &graph, &reference, &found, &what);
            }
        }
    }
}

#[test]
fn a_passed_time_limit_and_an_interrupt_end_the_search() {
    let graph = RandomGraph::new(5, 1000);
    let budget = MemoryBudget::new(8 << 20);
    let late = StopSignal::new(Some(Duration::ZERO));
    let interrupted = StopSignal::new(None);
    interrupted.interrupt();
    for algorithm in ALGORITHMS.iter().chain([&DISK]) {
        for (stop, limit) in [(&late, Limit::Time), (&interrupted, Limit::Interrupted)] {
            let disk = FaultyDisk::default();
            let context = Context {
                budget: &budget,
                stop,
                observer: &SilentObserver,
                threads: 1,
                disk: Some(&disk),
                labels: &[],
            };
            let task = Task { goals: &[], ..Task::everything(&graph) };
            let found = (algorithm.search)(task, &context, None).unwrap();
            assert_eq!((found.limit, found.complete), (Some(limit), false), "{}", algorithm.name);
        }
        let context =
            Context { budget: &budget, stop: &late, observer: &SilentObserver, threads: 1, disk: None, labels: &[] };
        let refused = (algorithm.search)(Task::everything(&graph), &context, None);
        assert!(matches!(refused, Err(SearchError::NoDisk)), "{}", algorithm.name);
    }
}

/// Every failure that the disk can have, at every moment it can have it, is an error or makes no difference.
#[test]
fn a_failing_disk_gives_an_error_and_never_a_wrong_answer() {
    type Fault = fn(u64) -> FaultPlan;
    let faults: [(&str, Fault); 5] = [
        ("crash", |n| FaultPlan { crash_at_change: Some(n), seed: n, ..FaultPlan::default() }),
        ("read", |n| FaultPlan { fail_read: Some(n), ..FaultPlan::default() }),
        ("short read", |n| FaultPlan { short_read: Some(n), ..FaultPlan::default() }),
        ("write", |n| FaultPlan { fail_write: Some(n), ..FaultPlan::default() }),
        ("full", |n| FaultPlan { size: Some(n * 4096), ..FaultPlan::default() }),
    ];
    for algorithm in ALGORITHMS {
        let mut n_errors = 0;
        for seed in 0..12 {
            let graph = graph_of(500 + seed, 150);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let undisturbed = FaultyDisk::default();
            let found = search(algorithm, Task::everything(&graph), &undisturbed, Some(seed)).unwrap();
            check_counts(algorithm, &graph, &reference, &found, "undisturbed");
            let moments = undisturbed.changes().max(undisturbed.counters().total().reads());
            let step = 1 + moments as usize / 150;
            for (fault, plan) in faults {
                for n in (1..=moments).step_by(step) {
                    let disk = FaultyDisk::new(plan(n));
                    match search(algorithm, Task::everything(&graph), &disk, Some(seed)) {
                        Ok(found) => {
                            let what = format!("seed {seed}, {fault} {n}");
                            check_counts(algorithm, &graph, &reference, &found, &what);
                            check_paths(algorithm, &graph, &reference, &found, &what);
                        }
                        Err(SearchError::Storage(_)) => n_errors += 1,
                        Err(other) => panic!("{}, seed {seed}, {fault} {n}: {other}", algorithm.name),
                    }
                }
            }
        }
        assert!(n_errors > 300, "{}: only {n_errors} faults were met", algorithm.name);
    }
}
