//! `lariat replay`: a stored counterexample, followed step by step in the model.
//!
//! A trace that is what it says ends with 0, whatever it shows; one that is not ends with 2.

use crate::failure::{ExitStatus, Failure};
use crate::load;
use crate::options::ReplayOptions;
use crate::output;
use crate::temporal::Temporal;
use lariat_base::outcome::PropertyKind;
use lariat_base::trace::{Trace, TraceProperty};
use lariat_exec::Interpreter;
use lariat_lang::Loaded;
use serde_json::json;

pub fn replay(options: &ReplayOptions) -> Result<ExitStatus, Failure> {
    let loaded = load::load(&options.source, options.display.quiet)?;
    let file = &options.trace;
    let text = std::fs::read_to_string(file).map_err(|error| Failure::input(format!("cannot read {file}: {error}")))?;
    let trace = lariat_report::read_itf(&text).map_err(|why| {
        Failure::input(format!("{file} is not a trace in ITF, which `--trace FILE.itf.json` writes: {why}"))
    })?;
    let rejected =
        |why: String| Failure::input(format!("{file} is not a counterexample of {}: {why}", options.source.model));
    let what = match &trace.property {
        Some(property) if matches!(property.kind, PropertyKind::Automaton | PropertyKind::Ltl) => {
            Some(judge_run(&loaded, &trace, property, &rejected)?)
        }
        property => judge_path(&loaded, &trace, property.as_ref(), &rejected)?,
    };
    if let Some(what) = &what
        && *what != trace.what
    {
        return Err(rejected(format!("it says \"{}\", but {what}", trace.what)));
    }
    print(options, &trace, what.as_deref())?;
    Ok(ExitStatus::Fine)
}

/// What is wrong at the end of a finite path; nothing if it is a walk.
fn judge_path(
    loaded: &Loaded,
    trace: &Trace,
    property: Option<&TraceProperty>,
    rejected: &dyn Fn(String) -> Failure,
) -> Result<Option<String>, Failure> {
    if trace.loop_to.is_some() {
        return Err(rejected("it has a loop, and only counterexamples to temporal properties have one".to_owned()));
    }
    let graph = Interpreter::new(&loaded.model, Vec::new());
    let (rows, last_step) = graph.retrace(trace).map_err(|error| rejected(error.to_string()))?;
    let Some(property) = property else { return Ok(None) };
    let has_expression = matches!(property.kind, PropertyKind::Invariant | PropertyKind::Reach);
    let expression = match property.expression.as_str() {
        "" => None,
        text if !has_expression => {
            return Err(rejected(format!("a {} has no expression, but `{text}` is given", property.kind.word())));
        }
        text => Some(load::expression("the trace's property", text, loaded)?),
    };
    let last = rows.row(rows.len() - 1);
    graph
        .violation(property.kind, expression.as_ref().map(|e| &e.expression), last, last_step.as_ref())
        .map(Some)
        .map_err(|error| rejected(error.to_string()))
}

/// What is wrong with an infinite run.
fn judge_run(
    loaded: &Loaded,
    trace: &Trace,
    property: &TraceProperty,
    rejected: &dyn Fn(String) -> Failure,
) -> Result<String, Failure> {
    let property = Temporal::of_trace(property, loaded)?;
    let graph = property.interpreter(loaded)?;
    let watcher = property.watcher(&graph)?;
    let run = graph.retrace_run(trace).map_err(|error| rejected(error.to_string()))?;
    graph.run_violation(&*watcher, &run).map_err(|error| rejected(error.to_string()))
}

fn print(options: &ReplayOptions, trace: &Trace, what: Option<&str>) -> Result<(), Failure> {
    if options.display.json {
        let object = json!({
            "lariat": env!("CARGO_PKG_VERSION"),
            "command": "replay",
            "replayed": true,
            "steps": trace.steps.len(),
            "verdict": if what.is_some() { "violated" } else { "walk" },
            "what": what,
        });
        return output::text(&format!("{object:#}\n"));
    }
    output::stream(&mut |out| lariat_report::trace_text(trace, out))?;
    output::text(&match what {
        Some(what) => format!("\nreplayed: a counterexample of {} steps ({what})\n", trace.steps.len()),
        None => format!("\nreplayed: a walk of {} steps\n", trace.steps.len()),
    })
}
