//! The searches for accepting cycles on disk agree with `scc`, their lassos are lassos, and a disk that fails never makes them wrong.

use crate::reference::ExplicitGraph;
use crate::{Context, Lasso, LassoSearch, SearchError, dac, flash, ioemc, las, map, proof, scc};
use lariat_base::{Limit, MemoryBudget, Random, SilentObserver, StopSignal};
use lariat_disk::{Disk, FaultPlan, FaultyDisk, FileKind};
use lariat_graph::{Graph, Strength, components};
use lariat_storage::{RowLogOptions, RunOptions, SortOptions};
use lariat_testkit::RandomGraph;
use std::ops::Range;
use std::time::Duration;

/// A search, with shares that are drawn so small that everything goes to disk, or as they are if there is nothing to draw from.
type Search = fn(&RandomGraph, &Context<'_>, Option<&mut Random>) -> Result<LassoSearch, SearchError>;

struct Algorithm {
    name: &'static str,
    search: Search,
}

fn run_dac(
    graph: &RandomGraph,
    context: &Context<'_>,
    random: Option<&mut Random>,
) -> Result<LassoSearch, SearchError> {
    let Some(random) = random else {
        return dac::find_lasso(graph, dac::Options::default(), context);
    };
    let options = dac::Options {
        candidates: [dac::Candidates::Ram, dac::Candidates::Disk][random.below(2)],
        initialise: [dac::Initialise::Leading, dac::Initialise::All][usize::from(random.one_in(3))],
        merging: [dac::Merging::Delayed, dac::Merging::EachLevel][usize::from(random.one_in(4))],
    };
    let run = RunOptions { block_bytes: 4096, group_rows: 64, buffers: 2, ..RunOptions::new(graph.row_bytes()) }
        .with_values(4);
    let (rows_max, runs_max, batch_rows) = (2 + random.below(60), 2 + random.below(5), 1 + random.below(30));
    let shares = dac::Shares {
        filter_bytes: 8 << random.below(8),
        cache_bytes: 16 << random.below(6),
        sort: SortOptions { rows_max, runs_max, batch_rows, run },
        queue: RowLogOptions::smallest(graph.row_bytes(), FileKind::Queue),
        run,
        batch_rows,
        tiers_max: 2 + random.below(6),
        rows_to_share: random.below(100) as u64,
        checkpoint_rows: random.below(200) as u64,
        publish_after: Duration::ZERO,
    };
    dac::find_lasso_within(graph, options, context, Some(shares))
}

fn run_map(
    graph: &RandomGraph,
    context: &Context<'_>,
    random: Option<&mut Random>,
) -> Result<LassoSearch, SearchError> {
    let Some(random) = random else {
        return map::find_lasso(graph, context);
    };
    let row_bytes = graph.row_bytes();
    let value_bytes = lariat_storage::for_row_width!(row_bytes, K => map::value_bytes::<K>(row_bytes));
    let run = RunOptions { block_bytes: 4096, group_rows: 64, buffers: 2, ..RunOptions::new(row_bytes) }
        .with_values(value_bytes);
    let (rows_max, runs_max, batch_rows) = (2 + random.below(60), 2 + random.below(5), 1 + random.below(30));
    let sort = SortOptions { rows_max, runs_max, batch_rows, run };
    let shares = map::Shares {
        filter_bytes: 8 << random.below(8),
        cache_bytes: 16 << random.below(6),
        sort,
        fresh: sort,
        queue: RowLogOptions::smallest(row_bytes + value_bytes, FileKind::Queue),
        run,
        batch_rows,
        tiers_max: 2 + random.below(6),
        rows_to_share: random.below(100) as u64,
        checkpoint_rows: random.below(200) as u64,
        publish_after: Duration::ZERO,
    };
    map::find_lasso_within(graph, context, Some(shares))
}

fn run_ioemc(
    graph: &RandomGraph,
    context: &Context<'_>,
    random: Option<&mut Random>,
) -> Result<LassoSearch, SearchError> {
    let Some(random) = random else {
        return ioemc::find_lasso(graph, ioemc::Options::default(), context);
    };
    let fraction = |random: &mut Random| [0.02, 0.3, 0.6, 0.9][random.below(4)];
    let options = ioemc::Options { rho1: fraction(random), rho2: fraction(random) };
    let shares = ioemc::Shares {
        recent_bytes: (2 + random.below(40)) * (graph.row_bytes() + 8),
        stack_bytes: 4096 * (1 + random.below(3)),
        run: ioemc::table_shape(graph.row_bytes(), 0),
        merged_max: 1 + random.below(40),
    };
    ioemc::find_lasso_within(graph, options, context, Some(shares))
}

fn run_flash(
    graph: &RandomGraph,
    context: &Context<'_>,
    random: Option<&mut Random>,
) -> Result<LassoSearch, SearchError> {
    use flash::Strategy::{Compressing, Mapping, Merging, Padding, Slicing};
    let strategies = [Mapping, Merging, Compressing, Padding, Slicing];
    let Some(random) = random else {
        let strategy = strategies[context.budget.max() as usize / (4 << 20) % strategies.len()];
        return flash::find_lasso(graph, strategy, 0.9, context);
    };
    let strategy = strategies[random.below(5)];
    let small = (2 + random.below(40)) * (3 * graph.row_bytes() + 48);
    let shares = flash::Shares {
        stack_bytes: 4096 * (1 + random.below(3)),
        // Where all positions are in memory, there must be room for them.
        table_bytes: if strategy == Compressing { 1 << 20 } else { small },
        copies_bytes: random.below(3) * 10_000,
        slots_min: 1 + random.below(50) as u64,
        states_to_publish: 1 + random.below(50) as u64,
    };
    flash::find_lasso_within(graph, strategy, 0.5, context, Some(shares))
}

/// Its shares are those of the search for states, which has tests of its own.
fn run_las(
    graph: &RandomGraph,
    context: &Context<'_>,
    _random: Option<&mut Random>,
) -> Result<LassoSearch, SearchError> {
    las::find_lasso(graph, context)
}

/// Its shares are those of the searches that it is made of. Weak graphs are known as weak most of the time.
fn run_proof(
    graph: &RandomGraph,
    context: &Context<'_>,
    random: Option<&mut Random>,
) -> Result<LassoSearch, SearchError> {
    let knows = random.is_none_or(|random| random.below(4) > 0);
    let strength = if knows && is_weak(graph) { Strength::Weak } else { Strength::Strong };
    proof::find_lasso(graph, strength, context)
}

/// Whether the states of a component all accept, or none does.
fn is_weak(graph: &RandomGraph) -> bool {
    let reference = ExplicitGraph::explore(graph, usize::MAX).unwrap();
    let found = components(&reference.successors);
    let accepting: Vec<bool> = reference.rows.iter().map(|row| graph.is_accepting(row)).collect();
    let mut of_component = vec![None; found.cyclic.len()];
    found.of.iter().zip(&accepting).all(|(component, accepts)| {
        let component = *component as usize;
        !found.cyclic[component] || *of_component[component].get_or_insert(*accepts) == *accepts
    })
}

/// Graphs of all shapes: narrow and wide rows, weak ones, chains, rings, and ones where all or no states accept.
fn graph_of(seed: u64, states_max: usize) -> RandomGraph {
    let graph = match seed % 12 {
        0 | 1 => RandomGraph::new_weak(seed, states_max),
        2 => RandomGraph::new(seed, states_max).with_all_accepting(true),
        3 => RandomGraph::new(seed, states_max).with_all_accepting(false),
        4 => RandomGraph::chain(1 + seed as u32 % states_max as u32),
        5 => RandomGraph::ring(seed, 1 + seed as u32 % states_max as u32, Some(seed as u32 % 7)),
        _ => RandomGraph::new(seed, if seed.is_multiple_of(3) { 12 } else { states_max }),
    };
    match seed % 40 {
        7 => graph.with_row_bytes(100),
        8 => graph.with_row_bytes(700),
        _ => graph,
    }
}

fn context_in<'c>(budget: &'c MemoryBudget, stop: &'c StopSignal, disk: &'c FaultyDisk, threads: usize) -> Context<'c> {
    Context { budget, stop, observer: &SilentObserver, threads, disk: Some(disk), labels: &[] }
}

fn search(
    algorithm: &Algorithm,
    graph: &RandomGraph,
    disk: &FaultyDisk,
    seed: Option<u64>,
) -> Result<LassoSearch, SearchError> {
    let (budget, stop) = (MemoryBudget::new(64 << 20), StopSignal::new(None));
    let mut random = seed.map(Random::new);
    let threads = random.as_mut().map_or(2, |random| 1 + random.below(3));
    let found = (algorithm.search)(graph, &context_in(&budget, &stop, disk, threads), random.as_mut());
    assert_eq!(budget.used(), 0, "{}: all memory is given back", algorithm.name);
    found
}

/// What is true of a graph.
struct Truth {
    reference: ExplicitGraph,
    accepted: bool,
}

fn truth_of(graph: &RandomGraph) -> Truth {
    let (budget, stop) = (MemoryBudget::new(1 << 30), StopSignal::new(None));
    let disk = FaultyDisk::default();
    let found = scc::find_lasso(graph, &context_in(&budget, &stop, &disk, 1)).unwrap();
    Truth { reference: ExplicitGraph::explore(graph, usize::MAX).unwrap(), accepted: found.lasso.is_some() }
}

fn check_lasso(graph: &RandomGraph, reference: &ExplicitGraph, lasso: &Lasso, what: &str) {
    let path: Vec<&[u8]> = lasso.prefix.iter().chain(lasso.cycle.iter()).chain(lasso.cycle.iter().take(1)).collect();
    let numbers: Vec<usize> =
        path.iter().map(|row| reference.rows.iter().position(|r| r == *row).expect("a reachable state")).collect();
    assert!(numbers[0] < reference.n_initial, "{what}");
    for pair in numbers.windows(2) {
        assert!(reference.successors[pair[0]].contains(&(pair[1] as u32)), "{what}: no edge {pair:?}");
    }
    assert!(lasso.cycle.iter().any(|row| graph.is_accepting(row)), "{what}: the cycle does not accept");
}

fn check(algorithm: &Algorithm, graph: &RandomGraph, truth: &Truth, found: &LassoSearch, what: &str) {
    let what = format!("{}, {what}", algorithm.name);
    let reference = &truth.reference;
    assert_eq!(found.limit, None, "{what}");
    assert_eq!(found.lasso.is_some(), truth.accepted, "{what}");
    // The proof finds all states before it finds a cycle.
    assert_eq!(found.complete, !truth.accepted || algorithm.name == "with_proof", "{what}");
    if let Some(lasso) = &found.lasso {
        return check_lasso(graph, reference, lasso, &what);
    }
    if algorithm.name == "with_las" {
        // It counts pairs.
        assert!(found.states >= reference.rows.len() as u64, "{what}: states");
        return;
    }
    let of = |meets: &dyn Fn(usize) -> bool| (0..reference.rows.len()).filter(|s| meets(*s)).count() as u64;
    let is_error = |state: usize| graph.is_error(&reference.rows[state]);
    assert_eq!(found.states, reference.rows.len() as u64, "{what}: states");
    assert_eq!(found.transitions, reference.n_edges(), "{what}: transitions");
    assert_eq!(found.accepting, of(&|s| graph.is_accepting(&reference.rows[s])), "{what}: accepting");
    assert_eq!(found.deadlocks, of(&|s| reference.successors[s].is_empty() && !is_error(s)), "{what}");
    assert_eq!(found.error_reached, of(&is_error) > 0, "{what}");
}

/// All tests for every algorithm, each on its own.
macro_rules! tests {
    ($($name:ident: $search:expr;)*) => {$(
        mod $name {
            use super::Algorithm;

            const ALGORITHM: Algorithm = Algorithm { name: stringify!($name), search: $search };

            #[test]
            fn verdicts_agree_whatever_the_shares_are() {
                super::verdicts_agree_whatever_the_shares_are(&ALGORITHM, 0..2000);
            }

            #[test]
            #[ignore = "takes minutes"]
            fn verdicts_agree_in_a_long_run() {
                super::verdicts_agree_whatever_the_shares_are(&ALGORITHM, 2000..22_000);
            }

            #[test]
            fn small_budgets_are_kept_on_larger_graphs() {
                super::small_budgets_are_kept_on_larger_graphs(&ALGORITHM);
            }

            #[test]
            fn a_passed_time_limit_and_an_interrupt_end_the_search() {
                super::a_passed_time_limit_and_an_interrupt_end_the_search(&ALGORITHM);
            }

            #[test]
            fn interrupted_searches_are_gone_on_with() {
                super::interrupted_searches_are_gone_on_with(&ALGORITHM);
            }

            #[test]
            fn a_crash_at_any_point_costs_nothing_but_time() {
                super::a_crash_at_any_point_costs_nothing_but_time(&ALGORITHM);
            }

            #[test]
            fn a_failing_disk_gives_an_error_and_never_a_wrong_answer() {
                super::a_failing_disk_gives_an_error_and_never_a_wrong_answer(&ALGORITHM);
            }
        }
    )*};
}

tests! {
    with_dac: super::run_dac;
    with_map: super::run_map;
    with_ioemc: super::run_ioemc;
    with_flash: super::run_flash;
    with_las: super::run_las;
    with_proof: super::run_proof;
}

fn verdicts_agree_whatever_the_shares_are(algorithm: &Algorithm, seeds: Range<u64>) {
    let (mut n_accepted, mut io) = (0, (0, 0));
    let n_seeds = (seeds.end - seeds.start) as usize;
    for seed in seeds {
        let graph = graph_of(seed, 200);
        let truth = truth_of(&graph);
        n_accepted += usize::from(truth.accepted);
        let disk = FaultyDisk::default();
        let found = search(algorithm, &graph, &disk, Some(seed)).unwrap();
        check(algorithm, &graph, &truth, &found, &format!("seed {seed}"));
        let total = disk.counters().total();
        io = (io.0 + total.reads(), io.1 + total.writes());
    }
    assert!((n_seeds / 5..n_seeds / 5 * 4).contains(&n_accepted), "both verdicts are frequent: {n_accepted}");
    assert!(
        algorithm.name == "with_las" || io.0 > 5_000 && io.1 > 5_000,
        "{} hardly used the disk: {io:?}",
        algorithm.name
    );
}

fn small_budgets_are_kept_on_larger_graphs(algorithm: &Algorithm) {
    for (seed, memory) in [(1, 4 << 20), (2, 8 << 20), (3, 16 << 20), (4, 4 << 20)] {
        let graph = match seed {
            4 => RandomGraph::ring(seed, 60_000, (memory % 3 == 0).then_some(7)),
            _ => RandomGraph::new(3_000_000 + seed, 100_000),
        };
        let truth = truth_of(&graph);
        for threads in [1, 2] {
            let (budget, stop, disk) = (MemoryBudget::new(memory), StopSignal::new(None), FaultyDisk::default());
            let found = (algorithm.search)(&graph, &context_in(&budget, &stop, &disk, threads), None).unwrap();
            let what = format!("seed {seed}, {threads} threads, {memory} bytes");
            assert_eq!((found.lasso.is_some(), found.limit), (truth.accepted, None), "{}, {what}", algorithm.name);
            assert!(budget.peak() <= budget.max());
        }
    }
}

fn a_passed_time_limit_and_an_interrupt_end_the_search(algorithm: &Algorithm) {
    let graph = RandomGraph::ring(5, 1000, None);
    let budget = MemoryBudget::new(8 << 20);
    let late = StopSignal::new(Some(Duration::ZERO));
    let interrupted = StopSignal::new(None);
    interrupted.interrupt();
    for (stop, limit) in [(&late, Limit::Time), (&interrupted, Limit::Interrupted)] {
        let disk = FaultyDisk::default();
        let found = (algorithm.search)(&graph, &context_in(&budget, stop, &disk, 1), None).unwrap();
        assert_eq!((found.limit, found.complete), (Some(limit), false), "{}", algorithm.name);
    }
    let disk = FaultyDisk::default();
    let context = Context { disk: None, ..context_in(&budget, &late, &disk, 1) };
    let refused = (algorithm.search)(&graph, &context, None);
    assert!(matches!(refused, Err(SearchError::NoDisk)), "{}", algorithm.name);
}

/// The search is interrupted again and again, after more and more time, and gone on with until it is through.
fn interrupted_searches_are_gone_on_with(algorithm: &Algorithm) {
    for seed in 0..40 {
        let graph = graph_of(700 + seed, 400);
        let truth = truth_of(&graph);
        let disk = FaultyDisk::default();
        let budget = MemoryBudget::new(64 << 20);
        let mut micros = 1;
        let found = loop {
            let stop = StopSignal::new(Some(Duration::from_micros(micros)));
            let mut random = Random::new(seed);
            let found = (algorithm.search)(&graph, &context_in(&budget, &stop, &disk, 2), Some(&mut random)).unwrap();
            if found.limit.is_none() {
                break found;
            }
            assert!(found.lasso.is_none() && !found.complete);
            micros += micros / 2 + 1;
        };
        check(algorithm, &graph, &truth, &found, &format!("seed {seed}, after interrupts"));
    }
}

/// The search ends at every change of the disk, or at many, and is gone on with.
fn a_crash_at_any_point_costs_nothing_but_time(algorithm: &Algorithm) {
    let mut n_crashes = 0;
    for seed in 0..40 {
        let graph = graph_of(seed, 100);
        let truth = truth_of(&graph);
        let whole = FaultyDisk::default();
        let found = search(algorithm, &graph, &whole, Some(seed)).unwrap();
        check(algorithm, &graph, &truth, &found, &format!("seed {seed}, without a crash"));
        let step = 1 + whole.changes() as usize / 100;
        for change in (1..=whole.changes()).step_by(step) {
            let plan = FaultPlan { crash_at_change: Some(change), seed: seed * 1000 + change, ..FaultPlan::default() };
            let disk = FaultyDisk::new(plan);
            let first = search(algorithm, &graph, &disk, Some(seed));
            assert!(first.is_err() || !disk.has_crashed(), "nothing is done after a crash");
            n_crashes += usize::from(disk.has_crashed());
            let after = disk.after_crash(FaultPlan::default());
            let found = search(algorithm, &graph, &after, Some(seed)).unwrap();
            check(algorithm, &graph, &truth, &found, &format!("seed {seed}, crash at change {change}"));
        }
    }
    assert!(n_crashes > 250, "{}: {n_crashes} crashes", algorithm.name);
}

/// Every failure that the disk can have is an error or makes no difference, and what was published can be gone on with.
fn a_failing_disk_gives_an_error_and_never_a_wrong_answer(algorithm: &Algorithm) {
    type Fault = fn(u64) -> FaultPlan;
    let faults: [(&str, Fault); 6] = [
        ("read", |n| FaultPlan { fail_read: Some(n), ..FaultPlan::default() }),
        ("short read", |n| FaultPlan { short_read: Some(n), ..FaultPlan::default() }),
        ("write", |n| FaultPlan { fail_write: Some(n), ..FaultPlan::default() }),
        ("short write", |n| FaultPlan { short_write: Some(n), ..FaultPlan::default() }),
        ("sync", |n| FaultPlan { fail_sync: Some(n), ..FaultPlan::default() }),
        ("full", |n| FaultPlan { size: Some(n * 4096), ..FaultPlan::default() }),
    ];
    let mut n_errors = 0;
    for seed in 0..40 {
        let graph = graph_of(500 + seed, 150);
        let truth = truth_of(&graph);
        for (fault, plan) in faults {
            for n in (1..200).step_by(9) {
                let disk = FaultyDisk::new(plan(n));
                let what = format!("seed {seed}, {fault} {n}");
                match search(algorithm, &graph, &disk, Some(seed)) {
                    Ok(found) => check(algorithm, &graph, &truth, &found, &what),
                    Err(SearchError::Storage(_) | SearchError::OutOfDisk { .. }) => {
                        n_errors += 1;
                        let repaired = FaultyDisk::with_files(FaultPlan::default(), disk.files());
                        let found = search(algorithm, &graph, &repaired, Some(seed)).unwrap();
                        check(algorithm, &graph, &truth, &found, &format!("{what}, repaired"));
                    }
                    Err(other) => panic!("{}, {what}: {other}", algorithm.name),
                }
            }
        }
    }
    assert!(algorithm.name == "with_las" || n_errors > 200, "{}: only {n_errors} faults were met", algorithm.name);
}
