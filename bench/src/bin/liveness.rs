//! The searches for accepting cycles side by side, on instances of the papers' tables, beside the papers' figures.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]

use clap::Parser;
use lariat_base::size::{format_count, format_size, parse_size};
use lariat_bench::table::{Column, Table};
use lariat_bench::temporary::TemporaryFolder;
use lariat_bench::{child, data, lariat, select};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check temporal properties of the papers' tables with every search for accepting cycles, and print what each takes.
///
/// `disk` is the exploration of the same product, for comparison. Exit codes: 0 all verdicts are right, 1 one is not, 2 nothing could be run.
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

    /// The memory of all searches
    #[arg(long, default_value = "2GiB", value_parser = parse_size)]
    memory: u64,

    /// Seconds after which a search is given up
    #[arg(long, default_value_t = 120)]
    seconds: u64,

    /// The lariat executable [default: built from this repository]
    #[arg(long, value_name = "PATH")]
    lariat: Option<PathBuf>,
}

/// An instance of a paper's table.
#[derive(Clone, Copy)]
struct Instance {
    name: &'static str,
    model: &'static str,
    ltl: &'static str,
    holds: bool,
    large: bool,
    /// The papers' seconds (a 2.4 GHz Pentium 4, 2 GB, hard disk), by algorithm.
    published: &'static [(&'static str, u64)],
}

const INSTANCES: &[Instance] = &[
    Instance {
        name: "Lamport(3),P4",
        model: "lamport.1",
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS)",
        holds: true,
        large: false,
        published: &[],
    },
    Instance {
        name: "Anderson(4),P2",
        model: "anderson.4",
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS)",
        holds: true,
        large: false,
        published: &[],
    },
    Instance {
        name: "Peterson(4),P4",
        model: "peterson.4",
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS)",
        holds: true,
        large: false,
        published: &[],
    },
    Instance {
        name: "Szymanski(4),P2",
        model: "szymanski.4",
        ltl: "G (P_0.p2 -> F P_0.CS)",
        holds: false,
        large: false,
        published: &[("dac", 1260), ("map", 12), ("iddfs", 52), ("ioemc", 3)],
    },
    Instance {
        name: "Lifts(7),P4",
        model: "lifts.7",
        ltl: "(!Wheels.moving_up) U Environment.pressed_up_0",
        holds: false,
        large: false,
        published: &[("minimal", 4035)],
    },
    Instance {
        name: "MCS(5),P4",
        model: "mcs.5",
        ltl: "G F (P_0.CS || P_1.CS || P_2.CS || P_3.CS || P_4.CS)",
        holds: true,
        large: true,
        published: &[("dac", 12_960), ("map", 17_940), ("iddfs", 14_220), ("ioemc", 6_360)],
    },
];

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
    println!("lariat: {}, {} of memory for each search\n", program.display(), format_size(options.memory));
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
        let mut of_disk = None;
        for (search, arguments) in &searches {
            let answer = run(options, &program, &shared, instance, search, arguments)?;
            all_right &= print(&table, instance, search, &answer, &mut of_disk);
        }
    }
    Ok(all_right)
}

/// What a search says: its JSON object, or why there is none.
fn run(
    options: &Options,
    program: &Path,
    shared: &Path,
    instance: &Instance,
    search: &str,
    more: &[&str],
) -> Result<Result<Value, String>, String> {
    let algorithm = search.split(' ').next().unwrap_or(search);
    let command = if algorithm == "disk" { "explore" } else { "check" };
    let model = shared.join("beem").join(format!("{}.dve", instance.model));
    let mut arguments: Vec<OsString> = vec![command.into(), model.into_os_string()];
    let (memory, seconds) = (options.memory.to_string(), format!("{}s", options.seconds));
    let fixed = [
        "--ltl",
        instance.ltl,
        "--algorithm",
        algorithm,
        "--memory",
        &memory,
        "--time-limit",
        &seconds,
        "--json",
        "--quiet",
    ];
    arguments.extend(fixed.iter().chain(more).map(OsString::from));
    // What a search that was given up leaves behind goes with the folder.
    let folder = TemporaryFolder::new("liveness")?;
    arguments.extend(["--disk".into(), folder.path().join("states").into_os_string()]);
    let finished = child::run(program, &arguments, folder.path())?;
    Ok(serde_json::from_str(&finished.stdout).map_err(|_| finished.ending()))
}

/// Prints a row; false if the verdict is wrong.
fn print(
    table: &Table,
    instance: &Instance,
    search: &str,
    answer: &Result<Value, String>,
    of_disk: &mut Option<f64>,
) -> bool {
    let title = format!("{}, {search}", instance.name);
    let found = match answer {
        Ok(found) => found,
        Err(message) => {
            table.row(&[title, "none".to_owned()]);
            table.remark(message);
            return true;
        }
    };
    let verdict = found["verdict"].as_str().unwrap_or("?");
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let seconds = found["seconds"].as_f64().unwrap_or(0.0);
    if search == "disk" {
        *of_disk = Some(seconds);
    }
    let algorithm = search.split(' ').next().unwrap_or(search);
    let published = instance.published.iter().find(|(name, _)| *name == algorithm);
    let io = &found["io"];
    table.row(&[
        title,
        verdict.to_owned(),
        format_count(number(&found["states"])),
        format!("{seconds:.2}"),
        of_disk.map_or(String::new(), |of_disk| format!("{:.2}", seconds / of_disk)),
        published.map_or(String::new(), |(_, seconds)| format!("{seconds}")),
        format_size(number(&found["memory"]["peak"])),
        format_size(number(&found["disk"]["peak"])),
        format_size(number(&io["bytes_read"])),
        format_size(number(&io["bytes_written"])),
        format_count(number(&io["read_ops"]) + number(&io["write_ops"])),
    ]);
    let expected = if instance.holds { "holds" } else { "violated" };
    let is_right = ["unknown", "complete", expected].contains(&verdict);
    if !is_right {
        table.remark(&format!("it {expected}, so this verdict is wrong"));
    }
    is_right
}
