//! The searches for all states side by side: the one in memory, ours on disk, and the published ones, each within the same budget.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]

use clap::Parser;
use lariat_base::size::{format_count, format_size, parse_size};
use lariat_base::{MemoryBudget, SilentObserver, StopSignal};
use lariat_bench::data;
use lariat_bench::table::{Column, Table};
use lariat_bench::temporary::TemporaryFolder;
use lariat_disk::{Disk, SystemDisk, SystemDiskOptions};
use lariat_exec::Interpreter;
use lariat_graph::Graph;
use lariat_jit::Compiled;
use lariat_search::{Context, Exploration, Extent, Goal, SearchError, cbfs, disk, ebfs, local, mono, part, ram};
use lariat_storage::Table as HashTable;
use lariat_testkit::load_model;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Explore models by every search for states, and print what each takes.
#[derive(Parser)]
#[command(name = "reachability")]
struct Options {
    /// The models, without their ending
    #[arg(default_values = ["peterson.4", "szymanski.4", "bakery.4"])]
    models: Vec<String>,

    /// The memory budget of all searches but `ram`
    #[arg(long, default_value = "16MiB", value_parser = parse_size)]
    memory: u64,

    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: usize,

    /// Run these searches only (may be repeated)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Seconds after which a search is given up
    #[arg(long, default_value_t = 300)]
    seconds: u64,
}

type Search = fn(&dyn Graph, &[Goal], Extent, &Context<'_>) -> Result<Exploration, SearchError>;

const SEARCHES: [(&str, Search); 9] = [
    ("ram", ram::explore),
    ("disk", disk::explore),
    ("ebfs", ebfs::explore),
    ("cbfs", cbfs::explore),
    ("part", |graph, goals, extent, context| part::explore(graph, goals, extent, HashTable::Chained, context)),
    ("mono", |graph, goals, extent, context| mono::explore(graph, goals, extent, HashTable::Chained, context)),
    ("mono-open", |graph, goals, extent, context| mono::explore(graph, goals, extent, HashTable::Open, context)),
    ("local", |graph, goals, extent, context| local::explore(graph, goals, extent, HashTable::Chained, context)),
    ("local-open", |graph, goals, extent, context| local::explore(graph, goals, extent, HashTable::Open, context)),
];

fn main() -> ExitCode {
    let options = Options::parse();
    let result = data::shared_folder().and_then(|shared| {
        let columns = [
            ("model, search", 26),
            ("states", 12),
            ("seconds", 8),
            ("of ram", 7),
            ("peak memory", 11),
            ("peak disk", 10),
            ("read", 10),
            ("written", 10),
            ("random reads", 12),
        ];
        let table = Table::start(&columns.map(|(title, width)| Column { title, width }));
        options.models.iter().try_for_each(|model| explore(&options, &shared, model, &table))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("reachability: {message}");
            ExitCode::from(2)
        }
    }
}

fn explore(options: &Options, shared: &Path, model: &str, table: &Table) -> Result<(), String> {
    let loaded = load_model(&shared.join("beem").join(format!("{model}.dve")), &[]);
    let interpreter = Interpreter::new(&loaded.model, Vec::new());
    let compiled = Compiled::new(&interpreter).map_err(|error| error.to_string())?;
    let mut of_ram = None;
    for (name, search) in SEARCHES {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        let folder = TemporaryFolder::new("reachability")?;
        let disk = SystemDisk::open(folder.path(), SystemDiskOptions::default()).map_err(|error| error.to_string())?;
        let budget = MemoryBudget::new(if name == "ram" { 16 << 30 } else { options.memory });
        let stop = StopSignal::new(Some(Duration::from_secs(options.seconds)));
        let context = Context {
            budget: &budget,
            stop: &stop,
            observer: &SilentObserver,
            threads: options.threads,
            disk: Some(&disk),
            labels: &[],
        };
        let start = Instant::now();
        let found = search(&compiled, &[], Extent::Everything, &context);
        let seconds = start.elapsed().as_secs_f64();
        let title = format!("{model}, {name}");
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                table.row(&[title, error.to_string()]);
                continue;
            }
        };
        let reference = *of_ram.get_or_insert(seconds);
        let io = disk.counters().total();
        let states = format_count(found.states);
        table.row(&[
            title,
            if found.complete { states } else { format!("> {states}") },
            format!("{seconds:.2}"),
            format!("{:.2}", seconds / reference),
            format_size(budget.peak()),
            format_size(disk.usage().peak),
            format_size(io.bytes_read()),
            format_size(io.bytes_written()),
            format_count(io.random_reads),
        ]);
    }
    Ok(())
}
