//! The searches for accepting cycles side by side, on instances of the papers' tables, beside the papers' figures.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]

use clap::Parser;
use lariat_base::size::{format_count, format_size, parse_size};
use lariat_bench::instances::{INSTANCES, Instance, Source};
use lariat_bench::spin::{self, Cycle};
use lariat_bench::table::{Column, Table};
use lariat_bench::temporary::TemporaryFolder;
use lariat_bench::{child, data, lariat, select};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check temporal properties of the papers' tables with every search for accepting cycles, and print what each takes.
///
/// `disk` is the exploration of the same product, for comparison, and `spin` is SPIN's search for acceptance cycles in a Promela twin of the model, in as
/// much memory as it takes. Exit codes: 0 all verdicts are right, 1 one is not, 2 nothing could be run.
#[derive(Parser)]
#[command(name = "liveness")]
struct Options {
    /// Also the instances of 10^7 product states and more
    #[arg(long)]
    all: bool,

    /// These instances only, by the beginning of their names (may be repeated)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// These searches only (may be repeated)
    #[arg(long, value_name = "NAME")]
    algorithm: Vec<String>,

    /// The memory of all searches [default: first 2GiB, and then --percent 5]
    #[arg(long, value_parser = parse_size)]
    memory: Option<u64>,

    /// Instead, so many percent of the memory that each product takes in memory, at least 16 MiB
    #[arg(long, value_name = "P", conflicts_with = "memory")]
    percent: Option<f64>,

    /// Seconds after which a search is given up; of SPIN whole minutes
    #[arg(long, default_value_t = 120)]
    seconds: u64,

    /// The lariat executable [default: built from this repository]
    #[arg(long, value_name = "PATH")]
    lariat: Option<PathBuf>,
}

/// The algorithms of papers, which `auto` is compared with.
const PUBLISHED: &[&str] = &["ioemc", "dac", "map", "iddfs", "ddfs", "las", "flash"];
/// The least memory of a search.
const MEMORY_MIN: u64 = 16 << 20;
/// What searches get where nothing is said: as much as the papers' machine had, and then as little as they speak of.
const MEMORY: u64 = 2 << 30;
const PERCENT: f64 = 5.0;

/// How much memory searches get.
#[derive(Clone, Copy)]
enum Memory {
    Bytes(u64),
    Percent(f64),
}

impl Options {
    fn memories(&self) -> Vec<Memory> {
        match (self.memory, self.percent) {
            (Some(bytes), _) => vec![Memory::Bytes(bytes)],
            (None, Some(percent)) => vec![Memory::Percent(percent)],
            (None, None) => vec![Memory::Bytes(MEMORY), Memory::Percent(PERCENT)],
        }
    }
}

/// Searches, and what is asked of them beside their name.
const SEARCHES: &[(&str, &[&str])] = &[
    ("disk", &[]),
    ("auto", &[]),
    ("proof", &[]),
    ("ndfs", &[]),
    ("ioemc", &[]),
    ("dac", &[]),
    ("map", &[]),
    ("iddfs", &[]),
    ("ddfs", &[]),
    ("minimal", &[]),
    ("las", &[]),
    ("flash compressing", &["--strategy", "compressing"]),
    ("flash merging", &["--strategy", "merging"]),
    ("flash padding", &["--strategy", "padding"]),
    ("flash slicing", &["--strategy", "slicing"]),
    ("flash mapping", &["--strategy", "mapping"]),
    ("spin", &[]),
];

fn main() -> ExitCode {
    if let Some(code) = child::measure_if_asked() {
        return code;
    }
    match compare(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("liveness: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(options: &Options) -> Result<bool, String> {
    let shared = data::shared_folder()?;
    let chosen = |instance: &&Instance| {
        if options.only.is_empty() { options.all || !instance.large } else { true }
    };
    let instances: Vec<Instance> = INSTANCES.iter().filter(chosen).copied().collect();
    let named = |instance: &Instance| {
        options.only.is_empty() || options.only.iter().any(|only| instance.name.starts_with(only.as_str()))
    };
    let instances: Vec<Instance> = instances.into_iter().filter(named).collect();
    let searches = select::only(SEARCHES.to_vec(), &options.algorithm, |search| search.0)?;
    let program = lariat::find(options.lariat.as_deref())?;
    println!("lariat: {}\n", program.display());
    let columns = [
        ("instance, search", 34),
        ("verdict", 9),
        ("states", 12),
        ("seconds", 8),
        ("of disk", 7),
        ("paper", 7),
        ("memory", 9),
        ("disk", 9),
        ("read", 9),
        ("written", 9),
        ("transfers", 10),
    ];
    let table = Table::start(&columns.map(|(title, width)| Column { title, width }));
    let mut all_right = true;
    for instance in &instances {
        let lariat = Lariat { options, program: &program, shared: &shared, instance };
        let has_spin = searches.iter().any(|(search, _)| *search == "spin");
        let spin = if has_spin { run_spin(options, &shared, instance)? } else { None };
        for memory in options.memories() {
            let memory = lariat.memory(memory)?;
            let mut shown = Shown { table: &table, instance, seconds: Vec::new() };
            for (search, arguments) in &searches {
                if *search == "spin" {
                    all_right &= shown.spin(spin.as_ref());
                } else {
                    let command = if *search == "disk" { "explore" } else { "check" };
                    let answer = lariat.run(command, search, Some(memory), arguments)?;
                    all_right &= shown.row(search, &answer);
                }
            }
            shown.compare_auto(memory);
        }
    }
    Ok(all_right)
}

/// Lariat with an instance.
struct Lariat<'l> {
    options: &'l Options,
    program: &'l Path,
    shared: &'l Path,
    instance: &'l Instance,
}

impl Lariat<'_> {
    /// The memory of all searches.
    fn memory(&self, memory: Memory) -> Result<u64, String> {
        let percent = match memory {
            Memory::Bytes(bytes) => return Ok(bytes),
            Memory::Percent(percent) => percent,
        };
        let explored = self.run("explore", "ram", None, &[])?;
        let stored = explored.as_ref().ok().and_then(|found| found["memory"]["stored"].as_u64());
        let stored = stored.ok_or_else(|| format!("{}: its memory is unknown", self.instance.name))?;
        Ok(((stored as f64 * percent / 100.0) as u64).max(MEMORY_MIN))
    }

    /// What a search says: its JSON object, or why there is none.
    fn run(
        &self,
        command: &str,
        search: &str,
        memory: Option<u64>,
        more: &[&str],
    ) -> Result<Result<Value, String>, String> {
        let algorithm = search.split(' ').next().unwrap_or(search);
        // What a search that was given up leaves behind goes with the folder.
        let folder = TemporaryFolder::new("liveness")?;
        let (model, parameters) = self.instance.model.file(self.shared, folder.path())?;
        let mut arguments: Vec<OsString> = vec![command.into(), model.into_os_string()];
        arguments.extend(parameters.into_iter().map(OsString::from));
        let seconds = format!("{}s", self.options.seconds);
        arguments.extend(["--ltl", self.instance.ltl, "--algorithm", algorithm].map(OsString::from));
        if let Some(memory) = memory {
            arguments.extend(["--memory".into(), memory.to_string().into()]);
        }
        arguments.extend(["--time-limit", &seconds, "--json", "--quiet"].iter().chain(more).map(OsString::from));
        arguments.extend(["--disk".into(), folder.path().join("states").into_os_string()]);
        let finished = child::run(self.program, &arguments, folder.path())?;
        Ok(serde_json::from_str(&finished.stdout).map_err(|_| finished.ending()))
    }
}

/// What SPIN says, where it can check the instance.
fn run_spin(options: &Options, shared: &Path, instance: &Instance) -> Result<Option<Result<Cycle, String>>, String> {
    let (Some(claim), Source::Beem(model)) = (&instance.spin, instance.model) else { return Ok(None) };
    spin::check_tools()?;
    let folder = TemporaryFolder::new("liveness-spin")?;
    let promela = data::promela_file(shared, model);
    let pan = spin::compile_claim(&promela, claim, folder.path())?;
    Ok(Some(spin::find_cycle(&pan, claim, options.seconds.div_ceil(60), folder.path())))
}

/// The rows of an instance.
struct Shown<'s> {
    table: &'s Table,
    instance: &'s Instance,
    /// Of searches that came to an answer.
    seconds: Vec<(String, f64)>,
}

impl Shown<'_> {
    fn of(&self, search: &str) -> Option<f64> {
        self.seconds.iter().find(|(name, _)| name == search).map(|(_, seconds)| *seconds)
    }

    fn of_disk(&self, seconds: f64) -> String {
        self.of("disk").map_or(String::new(), |disk| format!("{:.2}", seconds / disk))
    }

    /// Prints a row; false if the verdict is wrong.
    fn row(&mut self, search: &str, answer: &Result<Value, String>) -> bool {
        let title = format!("{}, {search}", self.instance.name);
        let found = match answer {
            Ok(found) => found,
            Err(message) => {
                self.table.row(&[title, "none".to_owned()]);
                self.table.remark(message);
                return true;
            }
        };
        let verdict = found["verdict"].as_str().unwrap_or("?");
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let seconds = found["seconds"].as_f64().unwrap_or(0.0);
        if verdict != "unknown" {
            self.seconds.push((search.to_owned(), seconds));
        }
        let algorithm = search.split(' ').next().unwrap_or(search);
        let published = self.instance.published.iter().find(|(name, _)| *name == algorithm);
        let io = &found["io"];
        self.table.row(&[
            title,
            verdict.to_owned(),
            format_count(number(&found["states"])),
            format!("{seconds:.2}"),
            self.of_disk(seconds),
            published.map_or(String::new(), |(_, seconds)| format!("{seconds}")),
            format_size(number(&found["memory"]["peak"])),
            format_size(number(&found["disk"]["peak"])),
            format_size(number(&io["bytes_read"])),
            format_size(number(&io["bytes_written"])),
            format_count(number(&io["read_ops"]) + number(&io["write_ops"])),
        ]);
        self.check(verdict)
    }

    /// Prints SPIN's row, which is empty where there is no Promela twin; false if the verdict is wrong.
    fn spin(&mut self, answer: Option<&Result<Cycle, String>>) -> bool {
        let title = format!("{}, spin", self.instance.name);
        let cycle = match answer {
            Some(Ok(cycle)) => cycle,
            other => {
                self.table.row(&[title]);
                if let Some(Err(message)) = other {
                    self.table.remark(message);
                }
                return true;
            }
        };
        let (verdict, seconds) = (if cycle.found { "violated" } else { "holds" }, cycle.process.wall);
        self.table.row(&[
            title,
            verdict.to_owned(),
            format_count(cycle.states),
            format!("{seconds:.2}"),
            self.of_disk(seconds),
            String::new(),
            format_size(cycle.process.peak),
        ]);
        self.seconds.push(("spin".to_owned(), seconds));
        self.check(verdict)
    }

    fn check(&self, verdict: &str) -> bool {
        let expected = if self.instance.holds { "holds" } else { "violated" };
        let is_right = ["unknown", "complete", expected].contains(&verdict);
        if !is_right {
            self.table.remark(&format!("it {expected}, so this verdict is wrong"));
        }
        is_right
    }

    /// Prints how `auto` does beside the best algorithm of a paper, and beside SPIN.
    fn compare_auto(&self, memory: u64) {
        let is_published = |search: &str| PUBLISHED.iter().any(|name| search.split(' ').next() == Some(name));
        let published = self.seconds.iter().filter(|(search, _)| is_published(search));
        let best = published.min_by(|(_, a), (_, b)| a.total_cmp(b)).cloned();
        let Some(auto) = self.of("auto") else { return };
        let others = best.into_iter().chain(self.of("spin").map(|seconds| ("spin".to_owned(), seconds)));
        let texts: Vec<String> =
            others.map(|(search, seconds)| format!("{:.2} of {search}'s ({seconds:.2} s)", auto / seconds)).collect();
        if !texts.is_empty() {
            let (name, memory) = (self.instance.name, format_size(memory));
            self.table.remark(&format!("{name} in {memory}: auto's time is {}", texts.join(", and ")));
        }
    }
}
