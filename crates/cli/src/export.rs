//! `--export`: a small graph as a file, states numbered from 0 in the order of a breadth-first search.

use crate::failure::Failure;
use crate::output;
use lariat_exec::Interpreter;
use lariat_graph::Graph;
use lariat_search::reference::ExplicitGraph;
use std::fmt::Write;

const STATES_MAX: usize = 5_000_000;

/// Whether the file's ending names a format.
pub fn check_name(file: &str) -> Result<(), Failure> {
    if [".edges", ".aut", ".dot"].iter().any(|ending| file.ends_with(ending)) {
        return Ok(());
    }
    Err(Failure::input(format!("--export {file}: the name must end in .edges, .aut or .dot")))
}

/// Writes the graph.
pub fn export(graph: &Interpreter, file: &str) -> Result<(), Failure> {
    let explicit = ExplicitGraph::explore(graph, STATES_MAX).map_err(|error| Failure::machine(error.to_string()))?;
    if explicit.cut {
        return Err(Failure::limit(format!("--export {file}: the graph has more than {STATES_MAX} states")));
    }
    let text = if file.ends_with(".edges") {
        edges(&explicit)
    } else if file.ends_with(".aut") {
        aldebaran(graph, &explicit)
    } else {
        dot(graph, &explicit)
    };
    output::file(file, &text)
}

fn edges(explicit: &ExplicitGraph) -> String {
    let initial: Vec<String> = (0..explicit.n_initial).map(|i| i.to_string()).collect();
    let mut out = format!("states {}\ninitial {}\naccepting\n", explicit.rows.len(), initial.join(" "));
    for (source, targets) in explicit.successors.iter().enumerate() {
        for target in targets {
            let _ = writeln!(out, "{source} {target}");
        }
    }
    out
}

/// The names of the edges that leave a state, in their order.
fn edge_names(graph: &Interpreter, row: &[u8]) -> Vec<String> {
    graph.steps(row).iter().map(|step| lariat_report::moves_text(&graph.trace_moves(step))).collect()
}

fn aldebaran(graph: &Interpreter, explicit: &ExplicitGraph) -> String {
    let mut out = format!("des (0, {}, {})\n", explicit.n_edges(), explicit.rows.len());
    for (source, targets) in explicit.successors.iter().enumerate() {
        for (target, name) in targets.iter().zip(edge_names(graph, &explicit.rows[source])) {
            let _ = writeln!(out, "({source}, \"{}\", {target})", name.replace('"', "'"));
        }
    }
    out
}

fn dot(graph: &Interpreter, explicit: &ExplicitGraph) -> String {
    let mut out = String::from("digraph states {\n  node [shape = box, fontname = \"monospace\"];\n");
    let variables = graph.trace_variables();
    for (number, row) in explicit.rows.iter().enumerate() {
        let state = lariat_report::state_text(&variables, &graph.trace_state(row, None));
        let lines: Vec<String> = state.lines().map(|l| lariat_report::escape_dot(l.trim())).collect();
        let style = if graph.is_error(row) {
            ", color = red"
        } else if number < explicit.n_initial {
            ", style = bold"
        } else {
            ""
        };
        let _ = writeln!(out, "  s{number} [label = \"{number}: {}\"{style}];", lines.join("\\n"));
    }
    for (source, targets) in explicit.successors.iter().enumerate() {
        for (target, name) in targets.iter().zip(edge_names(graph, &explicit.rows[source])) {
            let _ = writeln!(out, "  s{source} -> s{target} [label = \"{}\"];", lariat_report::escape_dot(&name));
        }
    }
    out.push_str("}\n");
    out
}
