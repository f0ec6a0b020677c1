//! `lariat check`: properties of states, each with its verdict and counterexample.

use crate::failure::{ExitStatus, Failure};
use crate::load;
use crate::options::CheckOptions;
use crate::output;
use crate::run::{Phases, run};
use lariat_base::Verdict;
use lariat_base::outcome::{CounterexampleSummary, Outcome, PropertyKind, PropertyOutcome};
use lariat_base::trace::{Trace, TraceProperty};
use lariat_exec::{Interpreter, Label};
use lariat_lang::{Loaded, StateExpression};
use lariat_search::{Extent, Goal};

/// A property that was asked for.
struct Asked {
    kind: PropertyKind,
    expression: Option<StateExpression>,
}

impl Asked {
    fn name(&self) -> String {
        match &self.expression {
            Some(expression) => format!("{}:{}", self.kind.word(), expression.text),
            None => self.kind.word().to_owned(),
        }
    }
}

pub fn check(options: &CheckOptions) -> Result<ExitStatus, Failure> {
    let mut phases = Phases::begin();
    let loaded = load::load(&options.source, options.search.display.quiet)?;
    let asked = asked(options, &loaded)?;
    if let Some(file) = &options.trace {
        trace_format(file)?;
    }
    let (labels, goals) = labels_and_goals(&asked, &loaded)?;
    let graph = Interpreter::new(&loaded.model, labels);
    phases.end("load");
    let mut found = run("check", &graph, &goals, Extent::UntilGoals, &options.search, &mut phases)?;
    let mut properties = Vec::new();
    let mut traces = Vec::new();
    for (property, path) in asked.iter().zip(std::mem::take(&mut found.exploration.paths)) {
        let counterexample = match path {
            None => None,
            Some(path) => {
                let trace = counterexample(&graph, property, &path)?;
                let file = match &options.trace {
                    Some(file) => Some(write_numbered(file, traces.len(), &trace)?),
                    None => None,
                };
                let summary = CounterexampleSummary {
                    prefix: trace.steps.len() as u64,
                    cycle: 0,
                    file,
                    replayed: true,
                    what: trace.what.clone(),
                };
                traces.push(trace);
                Some(summary)
            }
        };
        let verdict = match &counterexample {
            Some(_) => Verdict::Violated,
            None if found.exploration.complete => Verdict::Holds,
            None => Verdict::Unknown,
        };
        properties.push(PropertyOutcome { name: property.name(), kind: property.kind, verdict, counterexample });
    }
    phases.end("replay");
    let outcome = Outcome { properties, ..found.outcome(phases) };
    print(options, &outcome, &traces)?;
    Ok(match outcome.verdict() {
        Verdict::Holds => ExitStatus::Fine,
        Verdict::Violated => ExitStatus::Violated,
        Verdict::Unknown => ExitStatus::NoAnswer,
    })
}

fn asked(options: &CheckOptions, loaded: &Loaded) -> Result<Vec<Asked>, Failure> {
    let mut asked = Vec::new();
    for text in &options.invariant {
        let expression = Some(load::expression("--invariant", text, loaded)?);
        asked.push(Asked { kind: PropertyKind::Invariant, expression });
    }
    for text in &options.reach {
        let expression = Some(load::expression("--reach", text, loaded)?);
        asked.push(Asked { kind: PropertyKind::Reach, expression });
    }
    let nothing = asked.is_empty() && !options.deadlock && !options.assertions;
    if let (true, Some(process)) = (nothing, loaded.model.property) {
        return Err(Failure::input(format!(
            "the model carries the property process `{}`, and this version of Lariat checks properties of states only; \
             give --deadlock, --assertions, --invariant or --reach",
            loaded.model.process(process).name
        )));
    }
    if options.deadlock || nothing {
        asked.push(Asked { kind: PropertyKind::Deadlock, expression: None });
    }
    if options.assertions || nothing {
        asked.push(Asked { kind: PropertyKind::Assertion, expression: None });
    }
    Ok(asked)
}

fn labels_and_goals(asked: &[Asked], loaded: &Loaded) -> Result<(Vec<Label>, Vec<Goal>), Failure> {
    let mut labels = Vec::new();
    let mut goals = Vec::new();
    for property in asked {
        let label = match (property.kind, &property.expression) {
            (PropertyKind::Invariant, Some(e)) => Label::False(e.expression.clone()),
            (PropertyKind::Reach, Some(e)) => Label::True(e.expression.clone()),
            // Without assertions only the error state is left to look for, and that needs no label.
            (PropertyKind::Assertion, _) if loaded.model.assertions.is_empty() => {
                goals.push(Goal::Error);
                continue;
            }
            (PropertyKind::Assertion, _) => Label::AssertionFailed,
            _ => {
                goals.push(Goal::Deadlock);
                continue;
            }
        };
        goals.push(Goal::Label(labels.len() as u32));
        labels.push(label);
    }
    if labels.len() > 64 {
        return Err(Failure::input("at most 64 expressions can be checked at once"));
    }
    Ok((labels, goals))
}

/// Replays a path and names what is wrong at its end.
fn counterexample(graph: &Interpreter, property: &Asked, path: &[Vec<u8>]) -> Result<Trace, Failure> {
    let broken = |error| Failure::machine(format!("internal error: the counterexample cannot be replayed: {error}"));
    let steps = graph.replay(path).map_err(broken)?;
    let expression = property.expression.as_ref();
    let last = &path[path.len() - 1];
    let what = graph.violation(property.kind, expression.map(|e| &e.expression), last, steps.last()).map_err(broken)?;
    let trace = graph.trace(path).map_err(broken)?;
    let property =
        TraceProperty { kind: property.kind, expression: expression.map_or_else(String::new, |e| e.text.clone()) };
    Ok(Trace { property: Some(property), what, ..trace })
}

fn print(options: &CheckOptions, outcome: &Outcome, traces: &[Trace]) -> Result<(), Failure> {
    if options.search.display.json {
        return output::text(&lariat_report::outcome_json(outcome, env!("CARGO_PKG_VERSION")));
    }
    if options.trace.is_none() {
        for trace in traces {
            output::text(&format!("{}\n", lariat_report::trace_text(trace)))?;
        }
    }
    output::text(&lariat_report::outcome_text(outcome, options.search.stats))
}

/// How a trace file is written, by its ending.
#[derive(Clone, Copy)]
enum TraceFormat {
    Text,
    Itf,
    Dot,
}

fn trace_format(file: &str) -> Result<TraceFormat, Failure> {
    match std::path::Path::new(file).extension().and_then(|e| e.to_str()) {
        Some("txt") => Ok(TraceFormat::Text),
        Some("json") => Ok(TraceFormat::Itf),
        Some("dot") => Ok(TraceFormat::Dot),
        _ => Err(Failure::input(format!("--trace {file}: the name must end in .txt, .itf.json, .json or .dot"))),
    }
}

/// Writes a trace in the form that the file's ending asks for.
pub fn write_trace(file: &str, trace: &Trace) -> Result<(), Failure> {
    let contents = match trace_format(file)? {
        TraceFormat::Text => lariat_report::trace_text(trace),
        TraceFormat::Itf => lariat_report::trace_itf(trace),
        TraceFormat::Dot => lariat_report::trace_dot(trace),
    };
    output::file(file, &contents)
}

/// The first trace goes to the file itself, further ones to files with their number before the ending.
fn write_numbered(file: &str, n_before: usize, trace: &Trace) -> Result<String, Failure> {
    let name = match n_before {
        0 => file.to_owned(),
        n => {
            let ending =
                if file.ends_with(".itf.json") { ".itf.json".len() } else { file.len() - file.rfind('.').unwrap_or(0) };
            let (stem, ending) = file.split_at(file.len() - ending);
            format!("{stem}.{}{ending}", n + 1)
        }
    };
    write_trace(&name, trace)?;
    Ok(name)
}
