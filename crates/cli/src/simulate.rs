//! `lariat simulate`: a walk through a model, random or step by step.

use crate::failure::{ExitStatus, Failure};
use crate::load;
use crate::options::SimulateOptions;
use crate::{output, trace_file};
use lariat_base::Random;
use lariat_base::trace::Trace;
use lariat_exec::{Interpreter, Step};
use lariat_graph::{Graph, RowBuffer};
use std::io::BufRead;

pub fn simulate(options: &SimulateOptions) -> Result<ExitStatus, Failure> {
    let loaded = load::load(&options.source, options.quiet)?;
    let graph = Interpreter::new(&loaded.model, Vec::new());
    let seed = options.seed.unwrap_or_else(clock_seed);
    let rows =
        if options.interactive { interactive_walk(&graph, seed)? } else { random_walk(&graph, seed, options.steps) };
    let broken = |error| Failure::machine(format!("internal error: the walk cannot be replayed: {error}"));
    let mut trace = graph.trace(rows.as_rows(), None).map_err(broken)?;
    if graph.steps(last(&rows)).is_empty() {
        trace.what = "no process can move".to_owned();
    }
    match &options.trace {
        Some(file) => trace_file::write(file, &trace)?,
        None if options.interactive => {}
        None => print_walk(&trace, seed)?,
    }
    Ok(ExitStatus::Fine)
}

fn clock_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |d| d.as_nanos() as u64 % 1_000_000)
}

fn print_walk(trace: &Trace, seed: u64) -> Result<(), Failure> {
    output::stream(&mut |out| {
        lariat_report::trace_text(trace, out)?;
        writeln!(out, "seed {seed}")
    })
}

/// A walk that has not begun.
fn standing(graph: &Interpreter) -> RowBuffer {
    let mut rows = RowBuffer::new(graph.row_bytes());
    rows.push(&graph.initial_row());
    rows
}

/// Where a walk is.
fn last(rows: &RowBuffer) -> &[u8] {
    rows.row(rows.len() - 1)
}

fn random_walk(graph: &Interpreter, seed: u64, n_steps: u64) -> RowBuffer {
    let mut random = Random::new(seed);
    let mut rows = standing(graph);
    for _ in 0..n_steps {
        let steps = graph.steps(last(&rows));
        if steps.is_empty() {
            break;
        }
        rows.push(&steps[random.below(steps.len())].target);
    }
    rows
}

const HELP: &str = "\
number  take this step        r  take a random step
b       go back one step      s  show the whole state
q       leave                 ?  this help
";

fn interactive_walk(graph: &Interpreter, seed: u64) -> Result<RowBuffer, Failure> {
    let mut random = Random::new(seed);
    let mut rows = standing(graph);
    let mut lines = std::io::stdin().lock().lines();
    show_state(graph, &rows)?;
    loop {
        let steps = graph.steps(last(&rows));
        show_steps(graph, last(&rows), &steps)?;
        output::text("> ")?;
        let line = match lines.next() {
            Some(Ok(line)) => line,
            Some(Err(error)) => return Err(Failure::machine(format!("cannot read standard input: {error}"))),
            None => break,
        };
        match line.trim() {
            "q" | "quit" => break,
            "" | "?" | "h" | "help" => output::text(HELP)?,
            "s" | "state" => show_state(graph, &rows)?,
            "b" | "back" => {
                if rows.len() > 1 {
                    rows.truncate(rows.len() - 1);
                }
                show_state(graph, &rows)?;
            }
            "r" | "random" if !steps.is_empty() => take(graph, &mut rows, &steps[random.below(steps.len())])?,
            "r" | "random" => output::text("there is no step to take; b goes back\n")?,
            word => match word.parse::<usize>() {
                Ok(n) if (1..=steps.len()).contains(&n) => take(graph, &mut rows, &steps[n - 1])?,
                _ => output::text(&format!("`{word}`: give a number from 1 to {}, or ? for help\n", steps.len()))?,
            },
        }
    }
    Ok(rows)
}

fn take(graph: &Interpreter, rows: &mut RowBuffer, step: &Step) -> Result<(), Failure> {
    let before = graph.trace_state(last(rows), None);
    let after = graph.trace_state(&step.target, Some(step));
    let moves = graph.trace_moves(step);
    let mut text = format!("{:>4}  {}\n", rows.len(), lariat_report::moves_text(&moves));
    for line in lariat_report::changes(&graph.trace_variables(), &before, &after, &moves) {
        text.push_str(&format!("        {line}\n"));
    }
    rows.push(&step.target);
    output::text(&text)
}

fn show_state(graph: &Interpreter, rows: &RowBuffer) -> Result<(), Failure> {
    let state = graph.trace_state(last(rows), None);
    let values = lariat_report::state_text(&graph.trace_variables(), &state);
    output::text(&format!("state after {} steps\n{values}", rows.len() - 1))
}

fn show_steps(graph: &Interpreter, row: &[u8], steps: &[Step]) -> Result<(), Failure> {
    let mut text = String::new();
    for (i, step) in steps.iter().enumerate() {
        let error = if step.fault.is_some() { "  [leads to the error state]" } else { "" };
        text.push_str(&format!("  {:>3}) {}{error}\n", i + 1, lariat_report::moves_text(&graph.trace_moves(step))));
    }
    if steps.is_empty() {
        let error = *row == *graph.layout().error_row();
        text.push_str(if error { "  this is the error state\n" } else { "  deadlock: no process can move\n" });
    }
    output::text(&text)
}
