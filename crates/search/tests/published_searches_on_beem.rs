//! The published searches on disk count what other tools count on BEEM models, on a real disk, within small budgets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "these tests make directories")]

use lariat_base::{MemoryBudget, SilentObserver, StopSignal};
use lariat_disk::{SystemDisk, SystemDiskOptions};
use lariat_exec::Interpreter;
use lariat_graph::Graph;
use lariat_jit::Compiled;
use lariat_search::{Context, Exploration, Extent, Goal, SearchError, cbfs, ebfs, local, mono, part};
use lariat_storage::Table;
use lariat_testkit::{BeemRow, beem_rows, load_model};
use std::path::PathBuf;

type Search = fn(&dyn Graph, &[Goal], Extent, &Context<'_>) -> Result<Exploration, SearchError>;

/// Each with its name, and whether it knows levels.
const SEARCHES: [(&str, bool, Search); 8] = [
    ("ebfs", true, ebfs::explore),
    ("cbfs", true, cbfs::explore),
    ("mono", true, |graph, goals, extent, context| mono::explore(graph, goals, extent, Table::Chained, context)),
    ("mono-open", true, |graph, goals, extent, context| mono::explore(graph, goals, extent, Table::Open, context)),
    ("local", true, |graph, goals, extent, context| local::explore(graph, goals, extent, Table::Chained, context)),
    ("local-open", true, |graph, goals, extent, context| local::explore(graph, goals, extent, Table::Open, context)),
    ("part", false, |graph, goals, extent, context| part::explore(graph, goals, extent, Table::Chained, context)),
    ("part-open", false, |graph, goals, extent, context| part::explore(graph, goals, extent, Table::Open, context)),
];

/// Wide and narrow, shallow and deep, with and without deadlocks.
const MODELS: [&str; 8] =
    ["at.2", "bakery.4", "bridge.2", "cyclic_scheduler.3", "leader_election.2", "lifts.5", "peterson.3", "sorter.5"];

/// A directory that is removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lariat-published-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn check(row: &BeemRow, graph: &dyn Graph, name: &str, has_levels: bool, search: Search, threads: usize) {
    let directory = Directory::new(&format!("{}-{name}-{threads}", row.model));
    let disk = SystemDisk::open(&directory.0, SystemDiskOptions::default()).unwrap();
    // What `cbfs` needs for each state of the largest model comes to the least budget.
    let budget = MemoryBudget::new(if name == "cbfs" { 16 << 20 } else { 2 << 20 });
    let stop = StopSignal::new(None);
    let context =
        Context { budget: &budget, stop: &stop, observer: &SilentObserver, threads, disk: Some(&disk), labels: &[] };
    let found = search(graph, &[], Extent::Everything, &context).unwrap();
    assert!(found.complete, "{}, {name}: {:?}", row.model, found.limit);
    let counts = [found.states, found.transitions, found.deadlocks, found.levels];
    let levels = if has_levels { row.levels } else { 0 };
    assert_eq!(counts, [row.states, row.transitions, row.deadlocks, levels], "{}, {name}", row.model);
    assert_eq!(budget.used(), 0);
}

#[test]
fn counts_are_those_of_other_tools() {
    let rows = beem_rows();
    if rows.is_empty() {
        return;
    }
    for model in MODELS {
        let row = rows.iter().find(|row| row.model == model).unwrap_or_else(|| panic!("{model} is not known"));
        let loaded = load_model(&row.path, &[]);
        let interpreter = Interpreter::new(&loaded.model, Vec::new());
        let compiled = Compiled::new(&interpreter).unwrap();
        for (i, (name, has_levels, search)) in SEARCHES.into_iter().enumerate() {
            check(row, &compiled, name, has_levels, search, 1 + i % 2);
            check(row, &compiled, name, has_levels, search, 2 - i % 2);
        }
    }
}
