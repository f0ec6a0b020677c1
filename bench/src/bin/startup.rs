//! How long it takes until a model makes its first successors: reading it, compiling it, expanding its initial state.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]
#![allow(clippy::disallowed_methods, reason = "a program for developers reads files")]

use clap::Parser;
use lariat_bench::table::{Column, Table};
use lariat_bench::{data, select};
use lariat_exec::Interpreter;
use lariat_graph::{Edges, Graph, RowBuffer};
use lariat_jit::Compiled;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Measure how long models take from their file to their first successors.
///
/// Each measurement is a process of its own, as it is for a user, so that nothing is warm from the model before. Exit codes: 0 all
/// models are below the limit, 1 some are not, 2 something failed.
#[derive(Parser)]
#[command(name = "startup")]
struct Options {
    /// Measure this model only, for example at.4, or this family, for example at (may be repeated)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// How often each model is measured; the best run counts
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Show this many models, the slowest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// The limit for a model, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 50.0)]
    limit: f64,

    /// Measure the model in this file once, in this process, and print the three times
    #[arg(long, value_name = "FILE", hide = true)]
    one: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(file) = &options.one {
        let times = measure(file);
        println!("{} {} {} {}", times.load, times.compile, times.first, times.transitions);
        return ExitCode::SUCCESS;
    }
    match measure_all(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("startup: {message}");
            ExitCode::from(2)
        }
    }
}

/// Milliseconds.
#[derive(Clone, Copy)]
struct Times {
    /// Reading, parsing, lowering, inferring ranges.
    load: f64,
    /// Making machine code.
    compile: f64,
    /// Expanding the initial state.
    first: f64,
    transitions: usize,
}

impl Times {
    fn all(&self) -> f64 {
        self.load + self.compile + self.first
    }
}

fn measure(file: &Path) -> Times {
    let milliseconds = |since: Instant| since.elapsed().as_secs_f64() * 1e3;
    let started = Instant::now();
    let loaded = lariat_testkit::load_model(file, &[]);
    let load = milliseconds(started);

    let started = Instant::now();
    let interpreter = Interpreter::new(&loaded.model, Vec::new());
    let compiled = Compiled::new(&interpreter);
    let compile = milliseconds(started);
    if let Err(why) = &compiled {
        eprintln!("{}: nothing compiles {why}", file.display());
    }

    let started = Instant::now();
    let graph: &dyn Graph = compiled.as_ref().map_or(&interpreter, |compiled| compiled);
    let mut rows = RowBuffer::new(graph.row_bytes());
    graph.initial(&mut rows);
    let mut edges = Edges::new(graph.row_bytes());
    if let Err(error) = graph.expander().expand(rows.as_rows(), &mut edges) {
        eprintln!("{}: {error}", file.display());
    }
    Times { load, compile, first: milliseconds(started), transitions: loaded.model.transitions.len() }
}

fn measure_all(options: &Options) -> Result<bool, String> {
    let shared = data::shared_folder()?;
    let models = select::only(model_names(&shared.join("beem"))?, &options.only, |name| name)?;
    let mut measured = Vec::with_capacity(models.len());
    for model in models {
        let file = data::dve_file(&shared, &model);
        let mut best = measure_apart(&file)?;
        for _ in 1..options.runs {
            let times = measure_apart(&file)?;
            if times.all() < best.all() {
                best = times;
            }
        }
        measured.push((model, best));
    }
    measured.sort_by(|(_, a), (_, b)| b.all().total_cmp(&a.all()));
    show(&measured, options);
    let slow = measured.iter().filter(|(_, times)| times.all() >= options.limit).count();
    println!(
        "\n{} of {} models take {} ms or more; best of {} run(s)",
        slow,
        measured.len(),
        options.limit,
        options.runs
    );
    Ok(slow == 0)
}

fn show(measured: &[(String, Times)], options: &Options) {
    let table = Table::start(&[
        Column { title: "model", width: 20 },
        Column { title: "transitions", width: 11 },
        Column { title: "load ms", width: 8 },
        Column { title: "compile ms", width: 8 },
        Column { title: "first successors ms", width: 8 },
        Column { title: "together ms", width: 8 },
    ]);
    for (model, times) in measured.iter().take(options.top) {
        table.row(&[
            model.clone(),
            times.transitions.to_string(),
            format!("{:.2}", times.load),
            format!("{:.2}", times.compile),
            format!("{:.3}", times.first),
            format!("{:.2}", times.all()),
        ]);
    }
}

/// The models of a folder, without their ending.
fn model_names(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        names.extend(name.to_str().and_then(|name| name.strip_suffix(".dve")).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Measures a model in a process of its own.
fn measure_apart(file: &Path) -> Result<Times, String> {
    let copy = std::env::current_exe().map_err(|e| format!("the current executable is unknown: {e}"))?;
    let output = Command::new(copy).arg("--one").arg(file).output().map_err(|e| format!("cannot measure: {e}"))?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let [load, compile, first, transitions] = numbers[..] else {
        return Err(format!("{}: no measurement: {}", file.display(), output.status));
    };
    Ok(Times { load, compile, first, transitions: transitions as usize })
}
