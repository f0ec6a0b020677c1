//! The searches for all states side by side: the one in memory, ours on disk, and the published ones, each within the same budget.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]

use clap::Parser;
use lariat_base::size::{format_count, format_size, parse_size};
use lariat_bench::bars::{self, Bar};
use lariat_bench::control_group::ControlGroup;
use lariat_bench::table::{Column, Table};
use lariat_bench::temporary::TemporaryFolder;
use lariat_bench::{child, data, lariat};
use serde_json::Value;
use std::cell::Cell;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Explore models by every search for states, and print what each takes.
///
/// The searches on disk get a part of the memory that `ram` took on the same model, at least 16 MiB, and run in a memory control group of that and 32 MiB, so that
/// the page cache does not help them. Exit codes: 0 all count the same, 1 some do not, 2 something failed. With --plot the table is drawn, too: bars of time, divided into making successors, finding duplicates, and waiting for the disk.
#[derive(Parser)]
#[command(name = "reachability")]
struct Options {
    /// The models: names of BEEM models without their ending, or files; parameters of a file follow it, as in models/hanoi.mdve:N=15
    #[arg(default_values = ["peterson.4", "szymanski.4", "at.4", "bakery.5", "elevator2.3", "fischer.6", "sorter.4", "models/hanoi.mdve:N=15"])]
    models: Vec<String>,

    /// Larger models, too: bakery.7, anderson.3, mcs.5, peterson.5 and a Tower of Hanoi with 17 discs
    #[arg(long)]
    all: bool,

    /// The memory budget of all searches but `ram`, instead of a part of what that takes
    #[arg(long, value_parser = parse_size)]
    memory: Option<u64>,

    /// The part of `ram`'s memory, in percent
    #[arg(long, default_value_t = 5.0, conflicts_with = "memory")]
    percent: f64,

    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: usize,

    /// Run these searches only (may be repeated; `ram` runs in any case)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// How often each search runs, in turn; the fastest run counts
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Seconds after which a search is given up
    #[arg(long, default_value_t = 300)]
    seconds: u64,

    /// Draw the table into an HTML file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// The lariat executable [default: built from this repository]
    #[arg(long, value_name = "PATH")]
    lariat: Option<PathBuf>,
}

const LARGE: [&str; 5] = ["bakery.7", "anderson.3", "mcs.5", "peterson.5", "models/hanoi.mdve:N=17"];
const MEMORY_MIN: u64 = 16 << 20;
/// What a process may take beside its budget.
const BESIDE_BUDGET: u64 = 32 << 20;
/// Graphs with more levels are deep.
const LEVELS_DEEP: u64 = 200;
/// Numbers of states that are about 10^7, and about 10^8.
const TEN_MILLION: Range<u64> = 5_000_000..30_000_000;
const HUNDRED_MILLION: Range<u64> = 60_000_000..300_000_000;
/// Phases in which successors are made; duplicates are found in the others, and on the way.
const GENERATION: [&str; 3] = ["explore", "expand", "search"];

/// Searches, and what is asked of them beside their name.
const SEARCHES: [(&str, &[&str]); 9] = [
    ("ram", &["ram"]),
    ("disk", &["disk"]),
    ("ebfs", &["ebfs"]),
    ("cbfs", &["cbfs"]),
    ("part", &["part", "--table", "chained"]),
    ("mono", &["mono", "--table", "chained"]),
    ("mono-open", &["mono", "--table", "open"]),
    ("local", &["local", "--table", "chained"]),
    ("local-open", &["local", "--table", "open"]),
];

fn main() -> ExitCode {
    if let Some(code) = child::measure_if_asked() {
        return code;
    }
    match compare(&Options::parse()) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("reachability: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(options: &Options) -> Result<ExitCode, String> {
    if let Some(unknown) = options.only.iter().find(|only| !SEARCHES.iter().any(|(name, _)| name == only)) {
        let names = SEARCHES.map(|(name, _)| name).join(", ");
        return Err(format!("--only {unknown}: there is no such search; there are: {names}"));
    }
    let bench = Bench {
        options,
        shared: data::shared_folder()?,
        program: lariat::find(options.lariat.as_deref())?,
        table: Table::start(&COLUMNS.map(|(title, width)| Column { title, width })),
        is_grouped: match ControlGroup::new(MEMORY_MIN) {
            Ok(_) => true,
            Err(why) => {
                eprintln!("reachability: no control group, so the page cache may help: {why}");
                false
            }
        },
        is_wrong: Cell::new(false),
    };
    let large = LARGE.map(str::to_owned);
    let models = options.models.iter().chain(if options.all { large.iter() } else { [].iter() });
    let mut measured = Vec::new();
    for model in models {
        measured.extend(bench.explore(model)?);
    }
    sum_up(&measured);
    let bars: Vec<Bar> = measured.iter().map(|measured| measured.bar.clone()).collect();
    options.plot.as_ref().map_or(Ok(()), |file| bars::draw(file, &bars))?;
    Ok(if bench.is_wrong.get() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

const COLUMNS: [(&str, usize); 14] = [
    ("model, search", 24),
    ("states", 12),
    ("levels", 6),
    ("seconds", 8),
    ("of ram", 6),
    ("ns/state", 8),
    ("memory", 9),
    ("stored B/st", 11),
    ("peak B/st", 9),
    ("written B/st", 12),
    ("read B/st", 9),
    ("transfers", 9),
    ("random", 8),
    ("make/find/wait %", 16),
];

/// What a search took.
struct Measured {
    bar: Bar,
    /// Of the graph; known from `ram`.
    levels: u64,
    states: u64,
    stored: f64,
    peak: f64,
}

struct Bench<'b> {
    options: &'b Options,
    shared: PathBuf,
    program: PathBuf,
    table: Table,
    is_grouped: bool,
    /// Whether some search counted otherwise than `ram`.
    is_wrong: Cell<bool>,
}

impl Bench<'_> {
    /// The model's file, and the arguments that belong to it.
    fn file(&self, model: &str) -> Result<(PathBuf, Vec<OsString>), String> {
        let of_beem = data::dve_file(&self.shared, model);
        if of_beem.is_file() {
            return Ok((of_beem, Vec::new()));
        }
        let (file, parameters) = model.split_once(':').unwrap_or((model, ""));
        let file = Path::new(file)
            .canonicalize()
            .map_err(|e| format!("{model}: neither a BEEM model in {} nor a file: {e}", self.shared.display()))?;
        let parameters = parameters.split(',').filter(|parameter| !parameter.is_empty());
        Ok((file, parameters.flat_map(|parameter| ["-D".into(), parameter.into()]).collect()))
    }

    /// Runs all searches on a model, in turn.
    fn explore(&self, model: &str) -> Result<Vec<Measured>, String> {
        let (file, parameters) = self.file(model)?;
        let only = &self.options.only;
        let chosen = |name: &str| name == "ram" || only.is_empty() || only.iter().any(|only| only == name);
        let searches: Vec<_> = SEARCHES.into_iter().filter(|(name, _)| chosen(name)).collect();
        let mut best: Vec<Option<Result<Value, String>>> = vec![None; searches.len()];
        let mut memory = self.options.memory;
        for _ in 0..self.options.runs {
            for ((name, arguments), best) in searches.iter().zip(&mut best) {
                let given = if *name == "ram" { None } else { memory.or(Some(MEMORY_MIN)) };
                let found = self.run(&file, &parameters, arguments, given)?;
                if let Ok(ram) = &found
                    && *name == "ram"
                {
                    let taken = number(&ram["memory"]["stored"]) as f64;
                    memory.get_or_insert(((taken * self.options.percent / 100.0) as u64).max(MEMORY_MIN));
                }
                let seconds = |found: &Result<Value, String>| found.as_ref().map_or(f64::MAX, seconds);
                if best.as_ref().is_none_or(|best| seconds(&found) < seconds(best)) {
                    *best = Some(found);
                }
            }
        }
        Ok(self.rows(model, searches.iter().map(|(name, _)| *name).zip(best.into_iter().flatten())))
    }

    /// What a search says: its JSON object, or why there is none.
    fn run(
        &self,
        file: &Path,
        parameters: &[OsString],
        search: &[&str],
        memory: Option<u64>,
    ) -> Result<Result<Value, String>, String> {
        // What a search that was given up leaves behind goes with the folder.
        let folder = TemporaryFolder::new("reachability")?;
        let mut arguments: Vec<OsString> = vec!["explore".into(), file.into()];
        arguments.extend_from_slice(parameters);
        arguments.extend(["--json", "--quiet", "--algorithm"].iter().chain(search).map(OsString::from));
        let number = |n: u64| OsString::from(n.to_string());
        arguments.extend(["--threads".into(), number(self.options.threads as u64)]);
        arguments.extend(["--time-limit".into(), format!("{}s", self.options.seconds).into()]);
        arguments.extend(["--disk".into(), folder.path().join("states").into()]);
        let finished = match memory {
            Some(bytes) => {
                arguments.extend(["--memory".into(), number(bytes)]);
                if self.is_grouped {
                    let group = ControlGroup::new(bytes + BESIDE_BUDGET)?;
                    child::run_in(&group, &self.program, &arguments, folder.path())?
                } else {
                    child::run(&self.program, &arguments, folder.path())?
                }
            }
            None => child::run(&self.program, &arguments, folder.path())?,
        };
        Ok(serde_json::from_str(&finished.stdout).map_err(|_| finished.ending()))
    }

    /// Prints the rows of a model.
    fn rows(&self, model: &str, found: impl Iterator<Item = (&'static str, Result<Value, String>)>) -> Vec<Measured> {
        let mut of_ram = None;
        let mut levels = 0;
        let mut measured = Vec::new();
        for (search, found) in found {
            let title = format!("{model}, {search}");
            let found = match found {
                Ok(found) => found,
                Err(message) => {
                    self.table.row(&[title, "none".to_owned()]);
                    self.table.remark(&message);
                    continue;
                }
            };
            let ram = of_ram.get_or_insert_with(|| found.clone());
            let counts = |found: &Value| ["states", "transitions", "deadlocks"].map(|name| number(&found[name]));
            if is_complete(&found) && is_complete(ram) && counts(&found) != counts(ram) {
                self.table.remark(&format!("WRONG: {search} and ram do not count the same"));
                self.is_wrong.set(true);
            }
            levels = levels.max(number(&found["levels"]));
            let parts = self.parts(&found);
            let of_ram = seconds(&found) / seconds(ram);
            self.row(title, &found, of_ram, parts);
            if is_complete(&found) {
                let of_state = |bytes: &Value| number(bytes) as f64 / number(&found["states"]).max(1) as f64;
                let (stored, peak) = (of_state(&found["disk"]["stored"]), of_state(&found["disk"]["peak"]));
                let bar = Bar { model: model.to_owned(), search, seconds: seconds(&found), of_ram, parts };
                let states = number(&found["states"]);
                measured.push(Measured { bar, levels, states, stored, peak });
            }
        }
        measured
    }

    /// Seconds of making successors, finding duplicates, and waiting for the disk.
    fn parts(&self, found: &Value) -> [f64; 3] {
        let phases = found["phases"].as_array().map_or(&[][..], Vec::as_slice);
        let is_generation = |phase: &&Value| phase["name"].as_str().is_some_and(|name| GENERATION.contains(&name));
        let generation: f64 = phases.iter().filter(is_generation).map(seconds).sum();
        let all = seconds(found);
        let waited = found["io"]["seconds_waited"].as_f64().unwrap_or(0.0) / self.options.threads as f64;
        let waited = waited.min(all);
        let generation = (generation - waited).clamp(0.0, all - waited);
        [generation, all - waited - generation, waited]
    }

    fn row(&self, title: String, found: &Value, of_ram: f64, parts: [f64; 3]) {
        let states = number(&found["states"]);
        let of_state = |bytes: &Value| format!("{:.2}", number(bytes) as f64 / states.max(1) as f64);
        let sum = |counts: [&Value; 2]| format_count(counts.map(number).iter().sum());
        let seconds = seconds(found);
        let [make, find, wait] = parts.map(|part| (part / seconds * 100.0).round());
        let io = &found["io"];
        let counted = format_count(states);
        self.table.row(&[
            title,
            if is_complete(found) { counted } else { format!("> {counted}") },
            found["levels"].as_u64().map_or_else(String::new, format_count),
            format!("{seconds:.2}"),
            format!("{of_ram:.2}"),
            format!("{:.0}", seconds * 1e9 / states.max(1) as f64),
            format_size(number(&found["memory"]["peak"])),
            of_state(&found["disk"]["stored"]),
            of_state(&found["disk"]["peak"]),
            of_state(&io["bytes_written"]),
            of_state(&io["bytes_read"]),
            sum([&io["read_ops"], &io["write_ops"]]),
            sum([&io["random_reads"], &io["random_writes"]]),
            format!("{make}/{find}/{wait}"),
        ]);
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn seconds(value: &Value) -> f64 {
    value["seconds"].as_f64().unwrap_or(0.0)
}

fn is_complete(found: &Value) -> bool {
    found["verdict"] == "complete"
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0, 0.0), |(n, sum), value| (n + 1, sum + value.ln()));
    (n > 0).then(|| (sum / f64::from(n)).exp())
}

/// Prints how `disk` does beside the others.
fn sum_up(measured: &[Measured]) {
    let disk: Vec<&Measured> = measured.iter().filter(|measured| measured.bar.search == "disk").collect();
    println!();
    for (what, is_deep) in [("up to 200 levels", false), ("deeper", true)] {
        let some = || disk.iter().filter(|measured| (measured.levels > LEVELS_DEEP) == is_deep);
        if let Some(mean) = geometric_mean(some().map(|measured| measured.bar.of_ram)) {
            let most = some().map(|measured| measured.bar.of_ram).fold(0.0, f64::max);
            println!("disk takes {mean:.2} times the seconds of ram in the geometric mean, {most:.2} at most ({what})");
        }
    }
    let of_state = |states: &Range<u64>| {
        let some = disk.iter().filter(|measured| states.contains(&measured.states));
        geometric_mean(some.map(|measured| measured.bar.seconds * 1e9 / measured.states as f64))
    };
    if let (Some(fewer), Some(more)) = (of_state(&TEN_MILLION), of_state(&HUNDRED_MILLION)) {
        let times = more / fewer;
        println!(
            "disk takes {fewer:.0} ns a state at about 10^7 states and {more:.0} at about 10^8, {times:.2} times that, in the geometric means"
        );
    }
    if let (Some(stored), Some(peak)) = (
        geometric_mean(disk.iter().map(|measured| measured.stored)),
        geometric_mean(disk.iter().map(|measured| measured.peak)),
    ) {
        println!(
            "disk stores {stored:.2} bytes a state, and takes {peak:.2} at the peak, {:.1} times that",
            peak / stored
        );
    }
    for (search, _) in SEARCHES.iter().skip(2) {
        let ratios = disk.iter().filter_map(|disk| {
            let other = |other: &&Measured| other.bar.search == *search && other.bar.model == disk.bar.model;
            let other = measured.iter().find(other)?;
            Some((other.bar.seconds / disk.bar.seconds, &disk.bar.model))
        });
        if let Some((least, model)) = ratios.clone().min_by(|a, b| a.0.total_cmp(&b.0)) {
            let mean = geometric_mean(ratios.map(|(ratio, _)| ratio)).unwrap_or(least);
            println!(
                "{search} takes {mean:.1} times the seconds of disk in the geometric mean, {least:.2} at least ({model})"
            );
        }
    }
}
