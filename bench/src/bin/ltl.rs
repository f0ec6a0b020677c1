//! Translates the standard formula families and compares the sizes of the automata with those of other tools.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program exists to print a table")]
#![allow(clippy::disallowed_methods, reason = "programs for developers read files and the environment")]

use clap::Parser;
use lariat_bench::data;
use lariat_bench::table::{Column, Table};
use lariat_ltl::{Bare, Formulas, buchi, parse};
use std::process::ExitCode;
use std::time::Instant;

/// Translate the formulas of truth/ltl_sizes.csv and compare the sizes of the automata with Spot's and ltl3ba's.
///
/// Exit codes: 0 no larger in all than Spot's and none larger than ltl3ba's, 1 otherwise, 2 nothing could be compared.
#[derive(Parser)]
#[command(name = "ltl")]
struct Options {
    /// Show all formulas, and not only those where another tool has fewer states
    #[arg(long)]
    all: bool,
}

/// A row of the file: formula, and states by tool where that finished.
struct Row {
    formula: String,
    spot: Option<usize>,
    ltl3ba: Option<usize>,
}

/// Sums over all formulas.
#[derive(Default)]
struct Sums {
    n: usize,
    ours: usize,
    edges: usize,
    spot: usize,
    ltl3ba: usize,
    worse_than_ltl3ba: usize,
    worse_than_spot: usize,
    better_than_spot: usize,
    slowest: f64,
}

fn main() -> ExitCode {
    match compare(&Options::parse()) {
        Ok(sums) if sums.ours <= sums.spot && sums.worse_than_ltl3ba == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(message) => {
            eprintln!("ltl: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(options: &Options) -> Result<Sums, String> {
    let rows = rows()?;
    let columns = [("ours", 5), ("Spot", 5), ("ltl3ba", 7), ("edges", 6), ("seconds", 8)]
        .map(|(title, width)| Column { title, width });
    let mut all_columns = columns.to_vec();
    all_columns.push(Column { title: "formula", width: 0 });
    let table = Table::start(&all_columns);
    let mut sums = Sums::default();
    for row in &rows {
        let started = Instant::now();
        let mut formulas = Formulas::new();
        let formula =
            parse(&row.formula, &mut formulas, Bare::Words).map_err(|e| format!("{}: {}", row.formula, e.message))?;
        let automaton = buchi(&mut formulas, formula, false);
        let seconds = started.elapsed().as_secs_f64();
        let show = |n: Option<usize>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let (ours, edges) = match &automaton {
            Ok(automaton) => (Some(automaton.states.len()), automaton.n_edges()),
            Err(_) => (None, 0),
        };
        sums.add(row, ours, edges, seconds);
        let smaller_elsewhere = [row.spot, row.ltl3ba].into_iter().flatten().any(|n| ours.is_none_or(|ours| n < ours));
        if options.all || smaller_elsewhere {
            let cells = [show(ours), show(row.spot), show(row.ltl3ba), edges.to_string(), format!("{seconds:.3}")];
            table.row(&cells.into_iter().chain([row.formula.clone()]).collect::<Vec<_>>());
        }
    }
    println!(
        "\n{} formulas: {} states and {} edges; Spot {}, ltl3ba {} states. Fewer than Spot {} times, more {} times; more than ltl3ba {} times. Slowest {:.2} s.",
        sums.n,
        sums.ours,
        sums.edges,
        sums.spot,
        sums.ltl3ba,
        sums.better_than_spot,
        sums.worse_than_spot,
        sums.worse_than_ltl3ba,
        sums.slowest
    );
    Ok(sums)
}

impl Sums {
    fn add(&mut self, row: &Row, ours: Option<usize>, edges: usize, seconds: f64) {
        self.slowest = self.slowest.max(seconds);
        if let Some(ltl3ba) = row.ltl3ba {
            // ltl3ba writes no state at all for `false`.
            self.worse_than_ltl3ba += usize::from(ours.is_none_or(|ours| ours > ltl3ba.max(1)));
        }
        if let (Some(ours), Some(spot), Some(ltl3ba)) = (ours, row.spot, row.ltl3ba) {
            self.n += 1;
            self.ours += ours;
            self.edges += edges;
            self.spot += spot;
            self.ltl3ba += ltl3ba;
            self.better_than_spot += usize::from(ours < spot);
            self.worse_than_spot += usize::from(ours > spot);
        }
    }
}

/// The rows of `truth/ltl_sizes.csv`; formulas contain no commas.
fn rows() -> Result<Vec<Row>, String> {
    let path = data::shared_folder()?.join("truth/ltl_sizes.csv");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            match fields.as_slice() {
                [_, formula, spot, _, _, _, ltl3ba, ..] => {
                    Ok(Row { formula: (*formula).to_owned(), spot: spot.parse().ok(), ltl3ba: ltl3ba.parse().ok() })
                }
                _ => Err(format!("{}: `{line}` has too few fields", path.display())),
            }
        })
        .collect()
}
