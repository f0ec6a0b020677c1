//! Explores models with Lariat and with SPIN, and compares speed and memory.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]

use clap::Parser;
use lariat_base::size::format_count;
use lariat_bench::child::Finished;
use lariat_bench::lariat::{self, Exploration, Explored, How};
use lariat_bench::spin::{self, Model, Verified, When};
use lariat_bench::table::{Column, Table};
use lariat_bench::temporary::TemporaryFolder;
use lariat_bench::{child, data, select};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Compare Lariat's speed and memory with SPIN's.
///
/// Both explore the same models in turn, and the fastest run of each counts: minimum CPU time, which is that of the
/// whole process; SPIN's without generating and compiling its verifier. Exit codes: 0 compared, 2 something failed.
#[derive(Parser)]
#[command(name = "spin")]
struct Options {
    /// Only the four smallest models
    #[arg(long, conflicts_with = "all")]
    quick: bool,

    /// Also the largest models, which take minutes and gigabytes
    #[arg(long)]
    all: bool,

    /// Compare on this model only, for example at.4 (may be repeated; mcs.5 and peterson.5 need --all)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Lariat's threads where it is compared with SPIN
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: u16,

    /// How often each tool runs on each model
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// The lariat executable [default: built from this repository]
    #[arg(long, value_name = "PATH")]
    lariat: Option<PathBuf>,
}

fn main() -> ExitCode {
    if let Some(code) = child::measure_if_asked() {
        return code;
    }
    match compare(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("spin: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(options: &Options) -> Result<(), String> {
    spin::check_tools()?;
    let shared = data::shared_folder()?;
    let models: Vec<Model> = spin::MODELS.iter().copied().filter(|model| chosen(model, options)).collect();
    let models = select::only(models, &options.only, |model| model.name).map_err(|message| match options.all {
        true => message,
        false => format!("{message}; with --all there are more"),
    })?;
    let program = lariat::find(options.lariat.as_deref())?;
    println!("lariat: {}, {} thread(s)", program.display(), options.threads);
    println!(
        "best of {} run(s) of each; K/s: thousand states per CPU second; bytes: peak memory per state\n",
        options.runs
    );

    let table = Table::start(&[
        Column { title: "model", width: 11 },
        Column { title: "states", width: 11 },
        Column { title: "SPIN's states", width: 11 },
        Column { title: "K/s", width: 6 },
        Column { title: "SPIN's K/s", width: 6 },
        Column { title: "ratio", width: 6 },
        Column { title: "LTSmin's K/s", width: 6 },
        Column { title: "2 threads", width: 6 },
        Column { title: "bytes", width: 6 },
        Column { title: "over row", width: 6 },
        Column { title: "SPIN's bytes", width: 6 },
    ]);
    let mut shown = Vec::new();
    for model in &models {
        let named = |message| format!("{}: {message}", model.name);
        let measured = measure(&program, &shared, model, options).map_err(named)?;
        shown.push((model.name, show(&table, model, &measured)));
    }
    summarise(&shown);
    Ok(())
}

/// What goals are about: the means, and the worst model of each.
fn summarise(shown: &[(&str, Ratios)]) {
    let line = |what: &str, of: fn(&Ratios) -> f64| {
        let mean = geometric_mean(&shown.iter().map(|(_, ratios)| of(ratios)).collect::<Vec<_>>());
        if let Some((name, worst)) = shown.iter().min_by(|(_, a), (_, b)| of(a).total_cmp(&of(b))) {
            println!("{what}: geometric mean {mean:.2}, least {:.2} ({name})", of(worst));
        }
    };
    println!();
    line("ratio, Lariat's speed over SPIN's", |ratios| ratios.speed);
    line("2 threads, wall-clock time of 1 thread over that of 2", |ratios| ratios.threads);
    if let Some((name, most)) = shown.iter().max_by(|(_, a), (_, b)| a.over_row.total_cmp(&b.over_row)) {
        println!(
            "over row, peak memory for each state beyond its packed row: most {:.1} bytes ({name})",
            most.over_row
        );
    }
}

fn chosen(model: &Model, options: &Options) -> bool {
    match model.when {
        When::Always => true,
        When::NotQuick => !options.quick,
        When::OnRequest => options.all,
    }
}

/// The best runs of a model.
struct Measured {
    lariat: Explored,
    spin: Verified,
    /// Wall-clock seconds of Lariat with one thread.
    one: f64,
    /// Wall-clock seconds of Lariat with two threads.
    two: f64,
}

/// Runs both tools in turn, so that what else the machine does hits both alike.
fn measure(program: &Path, shared: &Path, model: &Model, options: &Options) -> Result<Measured, String> {
    let folder = TemporaryFolder::new(model.name)?;
    let pan = spin::compile(&data::promela_file(shared, model.name), folder.path())?;
    let file = data::dve_file(shared, model.name);
    let with = |threads| match lariat::explore(program, &file, How { memory: None, threads: Some(threads) })? {
        Exploration::Complete(explored) => Ok(explored),
        Exploration::Limited(limit) => Err(format!("lariat reached a limit: {limit}")),
        Exploration::Failed(why) => Err(format!("lariat: {why}")),
    };
    let mut best: Option<Measured> = None;
    for _ in 0..options.runs {
        let spin = spin::explore(&pan, model, folder.path())?;
        let lariat = with(options.threads)?;
        let wall = |threads| match threads == options.threads {
            true => Ok(lariat.process.wall),
            false => with(threads).map(|explored| explored.process.wall),
        };
        let (one, two) = (wall(1)?, wall(2)?);
        best = Some(match best {
            None => Measured { lariat, spin, one, two },
            Some(best) => Measured {
                lariat: if lariat.process.cpu < best.lariat.process.cpu { lariat } else { best.lariat },
                spin: if spin.process.cpu < best.spin.process.cpu { spin } else { best.spin },
                one: one.min(best.one),
                two: two.min(best.two),
            },
        });
    }
    best.ok_or_else(|| "no run".to_owned())
}

/// What is summed up.
struct Ratios {
    /// Lariat's speed over SPIN's.
    speed: f64,
    /// Lariat's wall-clock time with one thread over that with two.
    threads: f64,
    /// Lariat's peak memory in bytes for each state beyond its packed row.
    over_row: f64,
}

/// Prints the row of a model.
fn show(table: &Table, model: &Model, measured: &Measured) -> Ratios {
    let Measured { lariat, spin, one, two } = measured;
    let speed = |states: u64, process: &Finished| states as f64 / process.cpu.max(1e-6) / 1e3;
    let bytes = |states: u64, process: &Finished| process.peak as f64 / states.max(1) as f64;
    let ours = speed(lariat.states, &lariat.process);
    let theirs = speed(spin.states, &spin.process);
    let ours_bytes = bytes(lariat.states, &lariat.process);
    let ratios = Ratios { speed: ours / theirs, threads: one / two, over_row: ours_bytes - lariat.state_bytes as f64 };
    table.row(&[
        model.name.to_owned(),
        format_count(lariat.states),
        format_count(spin.states),
        format!("{ours:.0}"),
        format!("{theirs:.0}"),
        format!("{:.2}", ratios.speed),
        model.ltsmin.map_or_else(|| "-".to_owned(), |thousands| thousands.to_string()),
        format!("{:.2}", ratios.threads),
        format!("{ours_bytes:.1}"),
        format!("{:.1}", ratios.over_row),
        format!("{:.1}", bytes(spin.states, &spin.process)),
    ]);
    if !spin.counted(lariat.states) {
        let difference = i128::from(spin.states) - i128::from(lariat.states);
        table.remark(&format!("SPIN counts other states: {difference:+}"));
    }
    ratios
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (logarithms / ratios.len().max(1) as f64).exp()
}
