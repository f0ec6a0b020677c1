//! The semi-external searches give the answers of the search by components, whatever the memory is, and none where the disk fails.

use crate::daac::CycleSearch;
use crate::iddfs::Deepening;
use crate::reference::ExplicitGraph;
use crate::{Context, Generation, HashPlacement, Lasso, LassoSearch, SearchError, daac, ddfs, iddfs, minimal, scc};
use lariat_base::{Limit, MemoryBudget, Random, SilentObserver, StopSignal};
use lariat_disk::{FaultPlan, FaultyDisk};
use lariat_graph::Graph;
use lariat_testkit::RandomGraph;
use std::collections::BTreeSet;
use std::sync::Mutex;

type Search = fn(&dyn Graph, &Context<'_>, &mut Random) -> Result<LassoSearch, SearchError>;

fn any_placement(random: &mut Random) -> HashPlacement {
    [HashPlacement::Auto, HashPlacement::Memory, HashPlacement::Disk][random.below(3)]
}

const ALGORITHMS: &[(&str, Search)] = &[
    ("ddfs", |graph, context, random| {
        let generation = if random.below(2) == 0 { Generation::Levels } else { Generation::Disk };
        ddfs::find_lasso(graph, generation, any_placement(random), context)
    }),
    ("iddfs", |graph, context, random| {
        let deepening = match random.below(3) {
            0 => Deepening::Levels(1 + random.below(9) as u64),
            1 => Deepening::Work { states_min: random.below(50) as u64 },
            _ => Deepening::default(),
        };
        iddfs::find_lasso(graph, any_placement(random), deepening, context)
    }),
    ("minimal", |graph, context, random| minimal::find_lasso(graph, any_placement(random), context)),
    ("daac", |graph, context, random| {
        let mut lasso = None;
        let found = daac::find_cycles(graph, any_placement(random), daac::RHO, context, &mut |cycle| {
            lasso = Some(cycle.lasso()?);
            Ok(false)
        })?;
        Ok(LassoSearch { lasso, ..found.search })
    }),
];

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
    let number = |row: &[u8]| reference.rows.iter().position(|r| r == row).expect("a reachable state");
    let path: Vec<usize> = lasso.prefix.iter().chain(lasso.cycle.iter()).map(number).collect();
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
#[ignore = "takes minutes"]
fn verdicts_agree_in_a_long_run() {
    for (name, algorithm) in ALGORITHMS {
        for seed in 1500..21_500 {
            check(&graph_of(seed, 200), seed, name, *algorithm);
        }
    }
}

#[test]
fn a_deep_stack_goes_to_disk() {
    for (name, algorithm) in ALGORITHMS {
        // A level for each state is hard on iddfs.
        let n_states = if *name == "iddfs" { 2_000 } else { 60_000 };
        check(&RandomGraph::chain(n_states).with_row_bytes(64), 0, name, *algorithm);
    }
}

/// The length of a shortest lasso, by looking at all pairs of an accepting state and a seed.
fn shortest_length(graph: &RandomGraph, reference: &ExplicitGraph) -> Option<u64> {
    let distances: Vec<Vec<u64>> = (0..reference.rows.len()).map(|from| distances_from(reference, from)).collect();
    let accepting = (0..reference.rows.len()).filter(|state| graph.is_accepting(&reference.rows[*state]));
    let lengths = accepting.flat_map(|accepting| {
        let distances = &distances;
        (0..reference.rows.len()).filter_map(move |seed| {
            let there = distances[seed][accepting];
            let back = if seed == accepting { 0 } else { distances[accepting][seed] };
            (there != u64::MAX && back != u64::MAX).then(|| u64::from(reference.levels[seed]) + there + back)
        })
    });
    lengths.min()
}

/// The lengths of shortest ways with at least one edge.
fn distances_from(reference: &ExplicitGraph, from: usize) -> Vec<u64> {
    let mut distances = vec![u64::MAX; reference.rows.len()];
    let mut queue = std::collections::VecDeque::from([(from, 0)]);
    while let Some((state, distance)) = queue.pop_front() {
        for target in &reference.successors[state] {
            if distances[*target as usize] == u64::MAX {
                distances[*target as usize] = distance + 1;
                queue.push_back((*target as usize, distance + 1));
            }
        }
    }
    distances
}

#[test]
fn no_lasso_is_shorter_than_the_shortest() {
    let (_, algorithm) = ALGORITHMS.iter().find(|(name, _)| *name == "minimal").unwrap();
    let mut n_lassos = 0;
    for seed in 0..4000 {
        let graph = match seed % 4 {
            0 => RandomGraph::rings(seed, 60),
            _ => graph_of(seed, if seed % 10 == 0 { 150 } else { 40 }),
        };
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let found = search(*algorithm, &graph, &FaultyDisk::default(), &mut Random::new(seed)).unwrap();
        let length = found.lasso.map(|lasso| (lasso.prefix.len() + lasso.cycle.len()) as u64);
        assert_eq!(length, shortest_length(&graph, &reference), "seed {seed}");
        n_lassos += u64::from(length.is_some());
    }
    assert!(n_lassos > 500);
}

/// A cycle as numbers of states, from its smallest on.
fn rotated(cycle: &[usize]) -> Vec<usize> {
    let smallest = (0..cycle.len()).min_by_key(|i| cycle[*i]).unwrap_or(0);
    cycle[smallest..].iter().chain(&cycle[..smallest]).copied().collect()
}

/// All elementary cycles with an accepting state, by trying all paths; none if there are too many.
fn accepting_cycles(graph: &RandomGraph, reference: &ExplicitGraph, cycles_max: usize) -> Option<BTreeSet<Vec<usize>>> {
    let accepting: Vec<bool> = reference.rows.iter().map(|row| graph.is_accepting(row)).collect();
    let mut found = BTreeSet::new();
    let mut steps_left = 300_000;
    for start in 0..reference.rows.len() {
        // The cycles whose smallest state is the start.
        let mut path = vec![(start, 0)];
        while let Some((state, edge)) = path.last().copied() {
            steps_left -= 1;
            if found.len() > cycles_max || steps_left == 0 {
                return None;
            }
            let Some(target) = reference.successors[state].get(edge).map(|target| *target as usize) else {
                path.pop();
                continue;
            };
            let last = path.len() - 1;
            path[last].1 += 1;
            if target == start && path.iter().any(|(state, _)| accepting[*state]) {
                found.insert(path.iter().map(|(state, _)| *state).collect());
            } else if target > start && path.iter().all(|(state, _)| *state != target) {
                path.push((target, 0));
            }
        }
    }
    Some(found)
}

/// All cycles that are found, as numbers, and what is known of them.
fn found_cycles(
    graph: &RandomGraph,
    reference: &ExplicitGraph,
    limit: usize,
    seed: u64,
) -> (Vec<Vec<usize>>, CycleSearch) {
    let mut random = Random::new(seed);
    let budget = MemoryBudget::new([2 << 20, 64 << 20][random.below(2)]);
    let (stop, disk) = (StopSignal::new(None), FaultyDisk::default());
    let (disk, observer): (_, &SilentObserver) = (Some(&disk as _), &SilentObserver);
    let context = Context { budget: &budget, stop: &stop, observer, threads: 1, disk, labels: &[] };
    let mut cycles = Vec::new();
    let (placement, rho) = (any_placement(&mut random), [0.02, 0.5, daac::RHO][random.below(3)]);
    // With little room near the starts, long cycles are left to the search on disk.
    let near_max = [0, 1, 3, 10, 30, 100, u64::from(u32::MAX)][random.below(7)];
    let portions = daac::Portions { rho, near_max };
    let found = daac::find_in_portions(graph, placement, portions, &context, &mut |cycle| {
        let lasso = cycle.lasso()?;
        assert_eq!(lasso.cycle.len(), cycle.length());
        check_lasso(graph, reference, &lasso, &format!("seed {seed}"));
        let number = |row: &[u8]| reference.rows.iter().position(|r| r == row).unwrap();
        cycles.push(rotated(&lasso.cycle.iter().map(number).collect::<Vec<_>>()));
        let nearest = lasso.cycle.iter().map(|row| reference.levels[number(row)]).min();
        assert_eq!(nearest, Some(lasso.prefix.len() as u32), "seed {seed}: the nearest way in");
        Ok(cycles.len() < limit)
    });
    (cycles, found.unwrap())
}

#[test]
fn every_accepting_cycle_is_found_once() {
    let (n_graphs, n_cycles) = compare_cycles(0..3000, 300);
    assert!(n_graphs > 1500 && n_cycles > 10_000, "{n_graphs} graphs, {n_cycles} cycles");
}

#[test]
#[ignore = "takes minutes"]
fn every_accepting_cycle_of_many_more_graphs_is_found_once() {
    compare_cycles(3000..60_000, 5000);
}

/// Compares the cycles of graphs with those that are found by trying all paths; how many graphs and cycles that were.
fn compare_cycles(seeds: std::ops::Range<u64>, cycles_max: usize) -> (usize, usize) {
    let (mut n_graphs, mut n_cycles) = (0, 0);
    for seed in seeds {
        let graph = match seed % 8 {
            0 => RandomGraph::rings(seed, 40),
            _ => graph_of(seed, 5 + seed as usize % 40),
        };
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        let Some(expected) = accepting_cycles(&graph, &reference, cycles_max) else { continue };
        let (cycles, found) = found_cycles(&graph, &reference, usize::MAX, seed);
        assert_eq!(cycles.len(), expected.len(), "seed {seed}");
        assert_eq!(cycles.into_iter().collect::<BTreeSet<_>>(), expected, "seed {seed}");
        assert!(found.search.complete && found.search.limit.is_none());
        assert_eq!(found.cycles, expected.len() as u64);
        check_components(&graph, &reference, &found, seed);
        n_graphs += 1;
        n_cycles += expected.len();
    }
    (n_graphs, n_cycles)
}

fn check_components(graph: &RandomGraph, reference: &ExplicitGraph, found: &CycleSearch, seed: u64) {
    let components = lariat_graph::components(&reference.successors);
    let accepting = |state: usize| graph.is_accepting(&reference.rows[state]);
    let mut expected = Vec::new();
    for (component, is_cyclic) in components.cyclic.iter().enumerate() {
        let states: Vec<usize> =
            (0..reference.rows.len()).filter(|state| components.of[*state] as usize == component).collect();
        let n_accepting = states.iter().filter(|state| accepting(**state)).count();
        if *is_cyclic && n_accepting > 0 {
            let inside = |target: &u32| components.of[*target as usize] as usize == component;
            let targets =
                |state: &usize| reference.successors[*state].iter().copied().filter(inside).collect::<BTreeSet<u32>>();
            let edges = states.iter().map(|state| targets(state).len()).sum::<usize>();
            expected.push((states.len() as u64, n_accepting as u64, edges as u64));
        }
    }
    let mut got: Vec<_> = found.components.iter().map(|c| (c.states, c.accepting, c.edges)).collect();
    expected.sort_unstable();
    got.sort_unstable();
    assert_eq!(got, expected, "seed {seed}: components");
    assert_eq!(found.n_components, expected.len() as u64);
    assert_eq!(found.components.iter().map(|c| c.cycles).sum::<u64>(), found.cycles);
}

#[test]
fn a_limit_on_cycles_is_kept_and_said() {
    for seed in 0..200 {
        let graph = RandomGraph::new(seed, 60);
        let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
        for limit in [1, 3] {
            let (cycles, found) = found_cycles(&graph, &reference, limit, seed);
            assert!(cycles.len() <= limit);
            assert_eq!(cycles.iter().collect::<BTreeSet<_>>().len(), cycles.len(), "different ones");
            assert!(cycles.len() == limit || found.search.complete);
        }
    }
}

/// Everything that can fail fails once: there is no answer then.
#[test]
fn a_disk_that_fails_gives_no_verdict() {
    for (name, algorithm) in ALGORITHMS {
        for seed in [1, 2, 3, 8] {
            let graph = graph_of(seed, 300);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let undisturbed = FaultyDisk::default();
            search(*algorithm, &graph, &undisturbed, &mut Random::new(seed)).unwrap();
            let mut n_errors = 0;
            let changes = undisturbed.changes();
            for change in (1..=changes).step_by(1 + changes as usize / 40) {
                let plan = FaultPlan { crash_at_change: Some(change), ..FaultPlan::default() };
                let found = search(*algorithm, &graph, &FaultyDisk::new(plan), &mut Random::new(seed));
                let found = found.map(|found| found.lasso);
                assert!(
                    matches!(found, Err(SearchError::Storage(_))),
                    "{name}, seed {seed}, change {change}: {found:?}"
                );
            }
            let reads = lariat_disk::Disk::counters(&undisturbed).total().reads();
            for read in (1..=reads).step_by(1 + reads as usize / 40) {
                let plan = FaultPlan { fail_read: Some(read), ..FaultPlan::default() };
                match search(*algorithm, &graph, &FaultyDisk::new(plan), &mut Random::new(seed)) {
                    Err(SearchError::Storage(_)) => n_errors += 1,
                    // What was read ahead, and then not needed since a cycle was found before.
                    Ok(LassoSearch { lasso: Some(lasso), .. }) => {
                        check_lasso(&graph, &reference, &lasso, &format!("{name}, seed {seed}, read {read}"));
                    }
                    other => panic!("{name}, seed {seed}, read {read}: {other:?}"),
                }
            }
            assert!(n_errors > 0, "{name}, seed {seed}: no errors");
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

/// The search ends at every single change of the disk, and is gone on with: the answer is that of a search without a crash.
#[test]
fn a_crash_at_any_change_costs_nothing_but_time() {
    for name in ["minimal", "daac"] {
        let (_, algorithm) = ALGORITHMS.iter().find(|(known, _)| *known == name).unwrap();
        let (mut n_crashes, mut n_lassos) = (0, 0);
        for seed in 0..12 {
            let graph = graph_of(seed, 60);
            let reference = ExplicitGraph::explore(&graph, usize::MAX).unwrap();
            let whole = FaultyDisk::default();
            let length = |found: &LassoSearch| found.lasso.as_ref().map(|l| (l.prefix.len(), l.cycle.len()));
            let expected = search(*algorithm, &graph, &whole, &mut Random::new(seed)).unwrap();
            n_lassos += usize::from(expected.lasso.is_some());
            for change in 1..=whole.changes() {
                let what = format!("{name}, seed {seed}, crash at change {change}");
                let plan =
                    FaultPlan { crash_at_change: Some(change), seed: seed * 1000 + change, ..FaultPlan::default() };
                let disk = FaultyDisk::new(plan);
                let first = search(*algorithm, &graph, &disk, &mut Random::new(seed));
                assert!(first.is_err() || !disk.has_crashed(), "{what}: nothing is done after a crash");
                n_crashes += usize::from(disk.has_crashed());
                let after = disk.after_crash(FaultPlan::default());
                let found = search(*algorithm, &graph, &after, &mut Random::new(seed)).expect("no more faults");
                assert_eq!(length(&found), length(&expected), "{what}");
                assert_eq!((found.states, found.limit), (expected.states, None), "{what}");
                if let Some(lasso) = &found.lasso {
                    check_lasso(&graph, &reference, lasso, &what);
                }
            }
        }
        assert!(n_crashes > 250 && n_lassos > 3, "{name}: {n_crashes} crashes, {n_lassos} lassos");
    }
}

/// What was published is not done again: a search that is interrupted when a phase begins goes on with that phase.
#[test]
fn phases_that_are_published_are_not_repeated() {
    let phases = ["hash", "reach", "edges", "components"];
    for (name, last) in [("minimal", "shortest"), ("daac", "cycles")] {
        let (_, algorithm) = ALGORITHMS.iter().find(|(known, _)| *known == name).unwrap();
        let mut n_resumed = 0;
        for seed in 0..40 {
            let graph = graph_of(seed, 2000);
            let disk = FaultyDisk::default();
            for (i, until) in phases[1..].iter().chain([&last]).enumerate() {
                let observer = PhaseInterrupter { stop: StopSignal::new(None), until, begun: Mutex::default() };
                let budget = MemoryBudget::new(64 << 20);
                let (stop, disk) = (&observer.stop, Some(&disk as &dyn lariat_disk::Disk));
                let context = Context { budget: &budget, stop, observer: &observer, threads: 1, disk, labels: &[] };
                algorithm(&graph, &context, &mut Random::new(seed)).unwrap();
                let begun = observer.begun.into_inner().unwrap();
                if i > 0 && begun.contains(until) {
                    n_resumed += 1;
                    // The phases before the one that was interrupted last time.
                    for repeated in &phases[..i] {
                        assert!(!begun.contains(repeated), "{name}, seed {seed}, until {until}: {begun:?}");
                    }
                }
            }
        }
        assert!(n_resumed > 20, "{name}: {n_resumed}");
    }
}

/// Interrupts when a phase begins, and notes those that began.
struct PhaseInterrupter {
    stop: StopSignal,
    until: &'static str,
    begun: Mutex<Vec<&'static str>>,
}

impl lariat_base::Observer for PhaseInterrupter {
    fn event(&self, event: &lariat_base::Event) {
        if let lariat_base::Event::Phase(name) = event {
            self.begun.lock().unwrap().push(name);
            if *name == self.until {
                self.stop.interrupt();
            }
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
