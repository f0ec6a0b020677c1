//! A trace as a graph for Graphviz.

use crate::trace_text::{changes, moves_text};
use lariat_base::trace::{Trace, TraceState};
use std::fmt::Write;

/// The trace as a chain of states; states show what changed, edges who moved.
pub fn trace_dot(trace: &Trace) -> String {
    let mut out = String::from("digraph trace {\n  rankdir = TB;\n  node [shape = box, fontname = \"monospace\"];\n");
    if !trace.what.is_empty() {
        let _ = writeln!(out, "  label = \"{}\";", escape(&trace.what));
    }
    let mut initial = vec!["0: initial state".to_owned()];
    if let TraceState::Values(values) = &trace.initial {
        initial.extend(trace.variables.iter().zip(values).map(|(v, value)| format!("{}: {value}", v.name)));
    }
    node(&mut out, 0, &initial, false);
    let mut before = &trace.initial;
    for (i, step) in trace.steps.iter().enumerate() {
        let mut lines = vec![format!("{}", i + 1)];
        lines.extend(changes(&trace.variables, before, &step.state, &[]));
        node(&mut out, i + 1, &lines, i + 1 == trace.steps.len());
        let _ = writeln!(out, "  s{i} -> s{} [label = \"{}\"];", i + 1, escape(&moves_text(&step.moves)));
        before = &step.state;
    }
    if let Some(to) = trace.loop_to {
        let _ = writeln!(out, "  s{} -> s{to} [style = dashed];", trace.steps.len());
    }
    out.push_str("}\n");
    out
}

fn node(out: &mut String, number: usize, lines: &[String], last: bool) {
    let label: Vec<String> = lines.iter().map(|line| escape(line)).collect();
    let style = if last { ", color = red" } else { "" };
    let _ = writeln!(out, "  s{number} [label = \"{}\\l\"{style}];", label.join("\\l"));
}

/// Text for inside a quoted DOT string.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
