//! `lariat replay`: a stored counterexample, followed step by step in the model.
//!
//! A trace that is what it says ends with 0, whatever it shows; one that is not ends with 2.

use crate::failure::{ExitStatus, Failure};
use crate::load;
use crate::options::ReplayOptions;
use crate::output;
use lariat_base::outcome::PropertyKind;
use lariat_base::trace::Trace;
use lariat_exec::Interpreter;
use serde_json::json;

pub fn replay(options: &ReplayOptions) -> Result<ExitStatus, Failure> {
    let loaded = load::load(&options.source, options.display.quiet)?;
    let file = &options.trace;
    let text = std::fs::read_to_string(file).map_err(|error| Failure::input(format!("cannot read {file}: {error}")))?;
    let trace = lariat_report::read_itf(&text).map_err(|why| {
        Failure::input(format!("{file} is not a trace in ITF, which `--trace FILE.itf.json` writes: {why}"))
    })?;
    let graph = Interpreter::new(&loaded.model, Vec::new());
    let rejected =
        |why: String| Failure::input(format!("{file} is not a counterexample of {}: {why}", options.source.model));
    if trace.loop_to.is_some() {
        return Err(rejected("it has a loop, and this version checks properties of states only".to_owned()));
    }
    let (rows, steps) = graph.retrace(&trace).map_err(|error| rejected(error.to_string()))?;
    let what = match &trace.property {
        None => None,
        Some(property) => {
            let has_expression = matches!(property.kind, PropertyKind::Invariant | PropertyKind::Reach);
            let expression = match property.expression.as_str() {
                "" => None,
                text if !has_expression => {
                    return Err(rejected(format!(
                        "a {} has no expression, but `{text}` is given",
                        property.kind.word()
                    )));
                }
                text => Some(load::expression("the trace's property", text, &loaded)?),
            };
            let last = &rows[rows.len() - 1];
            let what = graph
                .violation(property.kind, expression.as_ref().map(|e| &e.expression), last, steps.last())
                .map_err(|error| rejected(error.to_string()))?;
            if what != trace.what {
                return Err(rejected(format!("it says \"{}\", but {what}", trace.what)));
            }
            Some(what)
        }
    };
    print(options, &trace, what.as_deref())?;
    Ok(ExitStatus::Fine)
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
    output::text(&lariat_report::trace_text(trace))?;
    output::text(&match what {
        Some(what) => format!("\nreplayed: a counterexample of {} steps ({what})\n", trace.steps.len()),
        None => format!("\nreplayed: a walk of {} steps\n", trace.steps.len()),
    })
}
