//! A trace for people: who moved, from where to where, by which line, and what changed.

use lariat_base::trace::{Move, Trace, TraceState, TraceValue, TraceVariable};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes the whole trace.
pub fn trace_text(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", heading(trace))?;
    writeln!(out, "   0  initial state")?;
    out.write_all(state_text(&trace.variables, &trace.initial).as_bytes())?;
    let mut before = trace.initial.clone();
    for (i, step) in trace.steps.iter().enumerate() {
        writeln!(out, "{:>4}  {}", i + 1, moves_text(&step.moves))?;
        for line in changes(&trace.variables, &before, &step.state, &step.moves) {
            writeln!(out, "        {line}")?;
        }
        before = step.state;
    }
    if let Some(to) = trace.loop_to {
        writeln!(out, "      this is state {to} again, and from there on everything is repeated")?;
    }
    if !trace.what.is_empty() {
        writeln!(out, "   => {}", trace.what)?;
    }
    Ok(())
}

fn heading(trace: &Trace) -> String {
    let length = match trace.loop_to {
        None => format!("{} steps", trace.steps.len()),
        Some(to) => format!("{to} steps and a loop of {}", trace.steps.len() - to),
    };
    match &trace.property {
        None => format!("Walk of {length} through {}", trace.model),
        Some(property) => {
            let subject = match property.expression.as_str() {
                "" => property.kind.word().to_owned(),
                expression => format!("{} `{expression}`", property.kind.word()),
            };
            format!("Counterexample to {subject} in {}, {length}", trace.model)
        }
    }
}

/// All values of a state, a few to a line.
pub fn state_text(variables: &[TraceVariable], state: &TraceState) -> String {
    const WIDTH: usize = 100;
    let values = match state {
        TraceState::Error(why) => return format!("        error state: {why}\n"),
        TraceState::Values(values) => values,
    };
    let mut out = String::new();
    let mut line = String::new();
    for (variable, value) in variables.iter().zip(values) {
        let item = if variable.is_location {
            format!("{} at {value}", variable.name)
        } else {
            format!("{} = {value}", variable.name)
        };
        if !line.is_empty() && line.len() + item.len() > WIDTH {
            let _ = writeln!(out, "        {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&item);
    }
    if !line.is_empty() {
        let _ = writeln!(out, "        {line}");
    }
    out
}

/// The moves of a step on one line.
pub fn moves_text(moves: &[Move]) -> String {
    if moves.is_empty() {
        return "(nothing can move; the state repeats for ever)".to_owned();
    }
    let texts: Vec<String> = moves
        .iter()
        .map(|m| {
            let channel = m.channel.as_ref().map_or_else(String::new, |c| format!(" {c}"));
            format!("{}: {} -> {}{channel} (line {})", m.process, m.from, m.to, m.line)
        })
        .collect();
    texts.join("  |  ")
}

/// What changed between two states. Locations of processes that moved are left out: the moves tell them.
pub fn changes(variables: &[TraceVariable], before: &TraceState, after: &TraceState, moves: &[Move]) -> Vec<String> {
    let (before, after) = match (before, after) {
        (TraceState::Values(before), TraceState::Values(after)) => (before, after),
        (_, TraceState::Error(why)) => return vec![format!("error state: {why}")],
        (TraceState::Error(_), TraceState::Values(_)) => return Vec::new(),
    };
    let mut lines = Vec::new();
    for (variable, (old, new)) in variables.iter().zip(before.iter().zip(after)) {
        let told = variable.is_location && moves.iter().any(|m| m.process == variable.name);
        if old == new || told {
            continue;
        }
        match (old, new) {
            (TraceValue::List(old), TraceValue::List(new)) if old.len() == new.len() => {
                for (i, (old, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new) {
                    lines.push(format!("{}[{i}]: {old} -> {new}", variable.name));
                }
            }
            _ => lines.push(format!("{}: {old} -> {new}", variable.name)),
        }
    }
    lines
}
