//! `lariat explore`: the whole state space.

use crate::export;
use crate::failure::{ExitStatus, Failure};
use crate::load;
use crate::options::ExploreOptions;
use crate::output;
use crate::run::{Phases, run};
use lariat_base::outcome::Outcome;
use lariat_exec::Interpreter;
use lariat_search::{Extent, Goal};

pub fn explore(options: &ExploreOptions) -> Result<ExitStatus, Failure> {
    let mut phases = Phases::begin();
    let loaded = load::load(&options.source, options.search.display.quiet)?;
    let graph = Interpreter::new(&loaded.model, Vec::new());
    if let Some(file) = &options.export {
        export::check_name(file)?;
    }
    phases.end("load");
    let found = run("explore", &graph, &[Goal::Error], Extent::Everything, &options.search, &mut phases)?;
    let error_state = match &found.exploration.paths[0] {
        Some(path) => Some(what_led_to_error(&graph, path)?),
        None => None,
    };
    phases.end("replay");
    let complete = found.exploration.complete;
    if let (Some(file), true) = (&options.export, complete) {
        export::export(&graph, file)?;
        phases.end("export");
    }
    let outcome = Outcome { error_state, ..found.outcome(phases) };
    output::text(&if options.search.display.json {
        lariat_report::outcome_json(&outcome, env!("CARGO_PKG_VERSION"))
    } else {
        lariat_report::outcome_text(&outcome, options.search.stats)
    })?;
    Ok(if complete { ExitStatus::Fine } else { ExitStatus::NoAnswer })
}

/// The last step of the shortest path into the error state, in words.
fn what_led_to_error(graph: &Interpreter, path: &[Vec<u8>]) -> Result<String, Failure> {
    let broken = |error| Failure::machine(format!("internal error: the path to the error state is broken: {error}"));
    let steps = graph.replay(path).map_err(broken)?;
    let last = steps.last().ok_or_else(|| Failure::machine("internal error: the initial state is the error state"))?;
    let why = last.fault.map_or_else(|| "error".to_owned(), |fault| graph.model().describe_fault(fault));
    let moves = lariat_report::moves_text(&graph.trace_moves(last));
    Ok(format!("{why}, by {moves}, after {} steps", steps.len()))
}
