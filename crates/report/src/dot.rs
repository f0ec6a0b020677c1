//! A trace as a graph for Graphviz.

use crate::trace_text::{changes, moves_text};
use lariat_base::trace::{Trace, TraceState};
use std::io::{self, Write};

/// Writes the trace as a chain of states, with a loop at its end for a lasso; states show what changed, edges who moved.
pub fn trace_dot(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph trace {{\n  rankdir = TB;\n  node [shape = box, fontname = \"monospace\"];")?;
    if !trace.what.is_empty() {
        writeln!(out, "  label = \"{}\";", escape(&trace.what))?;
    }
    let mut initial = vec!["0: initial state".to_owned()];
    if let TraceState::Values(values) = &trace.initial {
        initial.extend(trace.variables.iter().zip(values).map(|(v, value)| format!("{}: {value}", v.name)));
    }
    node(out, 0, &initial, false)?;
    let mut before = trace.initial.clone();
    let n_steps = trace.steps.len();
    for (i, step) in trace.steps.iter().enumerate() {
        // The last state of a lasso is one that is there already.
        let target = trace.loop_to.filter(|_| i + 1 == n_steps).unwrap_or(i + 1);
        if target == i + 1 {
            let mut lines = vec![format!("{}", i + 1)];
            lines.extend(changes(&trace.variables, &before, &step.state, &[]));
            node(out, i + 1, &lines, trace.loop_to.is_none() && i + 1 == n_steps)?;
        }
        writeln!(out, "  s{i} -> s{target} [label = \"{}\"];", escape(&moves_text(&step.moves)))?;
        before = step.state;
    }
    writeln!(out, "}}")
}

fn node(out: &mut dyn Write, number: usize, lines: &[String], last: bool) -> io::Result<()> {
    let label: Vec<String> = lines.iter().map(|line| escape(line)).collect();
    let style = if last { ", color = red" } else { "" };
    writeln!(out, "  s{number} [label = \"{}\\l\"{style}];", label.join("\\l"))
}

/// Text for inside a quoted DOT string.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
