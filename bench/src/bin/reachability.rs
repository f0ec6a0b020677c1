//! The searches for all states side by side: the one in memory, ours on disk, and the published ones, each within the same budget.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]
#![allow(clippy::disallowed_methods, reason = "programs for developers write files")]

use clap::Parser;
use lariat_base::size::{format_count, format_size, parse_size};
use lariat_base::{Event, MemoryBudget, Observer, StopSignal};
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
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Explore models by every search for states, and print what each takes.
///
/// The searches on disk get a part of the memory that `ram` took on the same model, at least 16 MiB. With --plot the table is drawn, too: bars of
/// time, divided into making successors, finding duplicates, and waiting for the disk.
#[derive(Parser)]
#[command(name = "reachability")]
struct Options {
    /// The models: names of BEEM models without their ending, or files
    #[arg(default_values = ["peterson.4", "szymanski.4", "at.4", "bakery.5", "elevator2.3", "fischer.6", "sorter.4"])]
    models: Vec<String>,

    /// The memory budget of all searches but `ram`, instead of a part of what that takes
    #[arg(long, value_parser = parse_size)]
    memory: Option<u64>,

    /// The part of `ram`'s memory, in percent
    #[arg(long, default_value_t = 5.0)]
    percent: f64,

    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: usize,

    /// Run these searches only (may be repeated; `ram` runs in any case)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Seconds after which a search is given up
    #[arg(long, default_value_t = 300)]
    seconds: u64,

    /// Draw the table into an HTML file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

const MEMORY_MIN: u64 = 16 << 20;
/// Phases in which successors are made; duplicates are found in the others, and on the way.
const GENERATION: [&str; 3] = ["explore", "expand", ""];

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
    match compare(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("reachability: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(options: &Options) -> Result<(), String> {
    let shared = data::shared_folder()?;
    let columns = [
        ("model, search", 24),
        ("states", 12),
        ("seconds", 8),
        ("of ram", 6),
        ("memory", 9),
        ("stored B/st", 11),
        ("peak B/st", 9),
        ("written B/st", 12),
        ("read B/st", 9),
        ("transfers", 9),
        ("random", 8),
        ("make/find/wait %", 16),
    ];
    let table = Table::start(&columns.map(|(title, width)| Column { title, width }));
    let mut bars = Vec::new();
    for model in &options.models {
        explore(options, &shared, model, &table, &mut bars)?;
    }
    let mut of_ram: Vec<f64> = bars.iter().filter(|bar| bar.search == "disk").map(|bar| bar.of_ram).collect();
    if !of_ram.is_empty() {
        let n = of_ram.len() as f64;
        let mean = (of_ram.drain(..).map(f64::ln).sum::<f64>() / n).exp();
        println!("\ndisk takes {mean:.2} times the seconds of ram in the geometric mean");
    }
    options.plot.as_ref().map_or(Ok(()), |file| draw(file, &bars))
}

/// What is drawn of a search.
struct Bar {
    model: String,
    search: &'static str,
    seconds: f64,
    of_ram: f64,
    /// Parts of the time: making successors, finding duplicates, waiting for the disk.
    parts: [f64; 3],
}

/// Adds up the seconds of the phases of a search.
struct Clock(Mutex<(Instant, &'static str, f64)>);

impl Clock {
    fn new() -> Self {
        Self(Mutex::new((Instant::now(), "", 0.0)))
    }

    /// Seconds of making successors so far; another phase begins.
    fn generation(&self, next: &'static str) -> f64 {
        let mut clock = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (since, phase, sum) = *clock;
        let seconds = if GENERATION.contains(&phase) { since.elapsed().as_secs_f64() } else { 0.0 };
        *clock = (Instant::now(), next, sum + seconds);
        clock.2
    }
}

impl Observer for Clock {
    fn event(&self, event: &Event) {
        if let Event::Phase(name) = event {
            self.generation(name);
        }
    }
}

fn explore(options: &Options, shared: &Path, model: &str, table: &Table, bars: &mut Vec<Bar>) -> Result<(), String> {
    let of_beem = shared.join("beem").join(format!("{model}.dve"));
    let file = if of_beem.is_file() { &of_beem } else { Path::new(model) };
    if !file.is_file() {
        return Err(format!("{model}: neither a BEEM model in {} nor a file", shared.join("beem").display()));
    }
    let loaded = load_model(file, &[]);
    let interpreter = Interpreter::new(&loaded.model, Vec::new());
    let compiled = Compiled::new(&interpreter).map_err(|error| error.to_string())?;
    let (mut of_ram, mut memory) = (None, options.memory);
    for (name, search) in SEARCHES {
        if name != "ram" && !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        let folder = TemporaryFolder::new("reachability")?;
        let disk = SystemDisk::open(folder.path(), SystemDiskOptions::default()).map_err(|error| error.to_string())?;
        let budget = MemoryBudget::new(if name == "ram" { 16 << 30 } else { memory.unwrap_or(MEMORY_MIN) });
        let stop = StopSignal::new(Some(Duration::from_secs(options.seconds)));
        let clock = Clock::new();
        let context = Context {
            budget: &budget,
            stop: &stop,
            observer: &clock,
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
        if name == "ram" {
            memory.get_or_insert(((budget.peak() as f64 * options.percent / 100.0) as u64).max(MEMORY_MIN));
        }
        let of_ram = seconds / *of_ram.get_or_insert(seconds);
        let waited = (disk.counters().waited().as_secs_f64() / options.threads as f64).min(seconds);
        let generation = (clock.generation("") - waited).clamp(0.0, seconds - waited);
        let parts = [generation, seconds - waited - generation, waited];
        row(table, title, &found, seconds, of_ram, &budget, &disk, parts);
        bars.push(Bar { model: model.to_owned(), search: name, seconds, of_ram, parts });
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a row has many columns")]
fn row(
    table: &Table,
    title: String,
    found: &Exploration,
    seconds: f64,
    of_ram: f64,
    budget: &MemoryBudget,
    disk: &SystemDisk,
    parts: [f64; 3],
) {
    let io = disk.counters().total();
    let states = format_count(found.states);
    let of_state = |bytes: u64| format!("{:.2}", bytes as f64 / found.states.max(1) as f64);
    let [make, find, wait] = parts.map(|part| (part / seconds * 100.0).round());
    table.row(&[
        title,
        if found.complete { states } else { format!("> {states}") },
        format!("{seconds:.2}"),
        format!("{of_ram:.2}"),
        format_size(budget.peak()),
        of_state(found.stored_bytes),
        of_state(disk.usage().peak),
        of_state(io.bytes_written()),
        of_state(io.bytes_read()),
        format_count(io.reads() + io.writes()),
        format_count(io.random_reads + io.random_writes),
        format!("{make}/{find}/{wait}"),
    ]);
}

const BAR_HEIGHT: usize = 18;
const LABEL_WIDTH: usize = 190;
const BARS_WIDTH: f64 = 640.0;
const COLOURS: [(&str, &str); 3] =
    [("#4878a8", "making successors"), ("#d98a3d", "finding duplicates"), ("#9a9a9a", "waiting for the disk")];

/// Draws bars, each model's to its own scale.
fn draw(file: &Path, bars: &[Bar]) -> Result<(), String> {
    let mut svg = String::new();
    let mut y = 30;
    let mut x = LABEL_WIDTH;
    for (colour, what) in COLOURS {
        let _ = write!(svg, "<rect x='{x}' y='6' width='12' height='12' fill='{colour}'/>");
        let _ = write!(svg, "<text x='{}' y='16'>{what}</text>", x + 16);
        x += 170;
    }
    for (i, bar) in bars.iter().enumerate() {
        let longest =
            bars.iter().filter(|other| other.model == bar.model).map(|other| other.seconds).fold(0.0, f64::max);
        if i > 0 && bars[i - 1].model != bar.model {
            y += BAR_HEIGHT / 2;
        }
        let _ = write!(svg, "<text x='0' y='{}'>{}, {}</text>", y + 13, bar.model, bar.search);
        let mut x = LABEL_WIDTH as f64;
        for (part, (colour, _)) in bar.parts.iter().zip(COLOURS) {
            let width = part / longest * BARS_WIDTH;
            let _ = write!(
                svg,
                "<rect x='{x:.1}' y='{y}' width='{width:.1}' height='{}' fill='{colour}'/>",
                BAR_HEIGHT - 4
            );
            x += width;
        }
        let _ = write!(svg, "<text x='{:.0}' y='{}'>{:.1} s, {:.2}x</text>", x + 6.0, y + 13, bar.seconds, bar.of_ram);
        y += BAR_HEIGHT;
    }
    let page = format!(
        "<!doctype html><meta charset='utf-8'><title>Searches for states</title><h1>Searches for states</h1><p>Wall-clock time; each model to \
         its own scale; x: times the time of ram.</p><svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' \
         font-family='sans-serif' font-size='12'>{svg}</svg>",
        LABEL_WIDTH + BARS_WIDTH as usize + 140,
        y + 10
    );
    std::fs::write(file, page).map_err(|error| format!("{}: {error}", file.display()))
}
