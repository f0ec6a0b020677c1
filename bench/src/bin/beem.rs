//! Explores the BEEM models with Lariat and compares what it counts with what is known.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]

use clap::Parser;
use lariat_base::size::{format_count, parse_size};
use lariat_bench::data::{self, Known};
use lariat_bench::lariat::{self, Exploration, Explored, How};
use lariat_bench::table::{Column, Table};
use lariat_bench::{child, select};
use std::path::PathBuf;
use std::process::ExitCode;

/// Explore the BEEM models with Lariat and compare its counts with the known ones.
///
/// Exit codes: 0 all are the same, 1 something differs or failed, 2 nothing could be compared.
#[derive(Parser)]
#[command(name = "beem")]
struct Options {
    /// Leave out models with more states than this
    #[arg(long, value_name = "N")]
    max_states: Option<u64>,

    /// Explore this model only, for example at.4, or this family, for example at (may be repeated)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Lariat's memory budget, for example 2GiB [default: Lariat's own]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,

    /// Lariat's threads [default: Lariat's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: Option<u16>,

    /// The lariat executable [default: built from this repository]
    #[arg(long, value_name = "PATH")]
    lariat: Option<PathBuf>,
}

/// How many rows ended how.
#[derive(Default)]
struct Tally {
    same: usize,
    different: usize,
    failed: usize,
    skipped: usize,
}

fn main() -> ExitCode {
    if let Some(code) = child::measure_if_asked() {
        return code;
    }
    match compare(&Options::parse()) {
        Ok(tally) if tally.different + tally.failed > 0 => ExitCode::from(1),
        Ok(tally) if tally.same > 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(2),
        Err(message) => {
            eprintln!("beem: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(options: &Options) -> Result<Tally, String> {
    let shared = data::shared_folder()?;
    let mut rows = select::only(data::known_answers(&shared)?, &options.only, |row| &row.model)?;
    let all = rows.len();
    rows.retain(|row| options.max_states.is_none_or(|most| row.states <= most));
    if rows.is_empty() {
        return Err("no model is left: all of them have more states than --max-states".to_owned());
    }
    let program = lariat::find(options.lariat.as_deref())?;
    println!("lariat: {}", program.display());
    println!("models: {} of {all} in {}\n", rows.len(), shared.join("beem").display());

    let table = Table::start(&[
        Column { title: "model", width: 20 },
        Column { title: "states", width: 13 },
        Column { title: "result", width: 9 },
        Column { title: "seconds", width: 9 },
        Column { title: "states/s", width: 11 },
        Column { title: "bytes/state over row", width: 10 },
    ]);
    let how = How { memory: options.memory, threads: options.threads };
    let mut tally = Tally::default();
    for known in &rows {
        let exploration = lariat::explore(&program, &data::dve_file(&shared, &known.model), how)?;
        show(&table, known, &exploration, &mut tally);
    }
    println!(
        "\n{} the same, {} different, {} failed, {} skipped",
        tally.same, tally.different, tally.failed, tally.skipped
    );
    Ok(tally)
}

fn show(table: &Table, known: &Known, exploration: &Exploration, tally: &mut Tally) {
    let plain = |result: &str| table.row(&[known.model.clone(), format_count(known.states), result.to_owned()]);
    match exploration {
        Exploration::Complete(explored) => {
            let differences = differences(known, explored);
            let result = if differences.is_empty() {
                tally.same += 1;
                "ok"
            } else {
                tally.different += 1;
                "DIFFERENT"
            };
            let seconds = explored.process.wall;
            table.row(&[
                known.model.clone(),
                format_count(explored.states),
                result.to_owned(),
                format!("{seconds:.3}"),
                format_count((explored.states as f64 / seconds) as u64),
                format!("{:.1}", explored.overhead()),
            ]);
            differences.iter().for_each(|difference| table.remark(difference));
        }
        Exploration::Limited(limit) => {
            tally.skipped += 1;
            plain("skipped");
            table.remark(&format!("Lariat reached a limit: {limit}"));
        }
        Exploration::Failed(why) => {
            tally.failed += 1;
            plain("FAILED");
            table.remark(why);
        }
    }
}

/// One sentence for each count that is not the known one.
fn differences(known: &Known, explored: &Explored) -> Vec<String> {
    [
        ("states", explored.states, known.states),
        ("transitions", explored.transitions, known.transitions),
        ("levels", explored.levels, known.levels),
        ("deadlocks", explored.deadlocks, known.deadlocks),
    ]
    .into_iter()
    .filter(|(_, counted, truth)| counted != truth)
    .map(|(what, counted, truth)| format!("{what}: {} counted, {} known", format_count(counted), format_count(truth)))
    .collect()
}
