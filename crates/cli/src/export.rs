//! `--export`: a small graph as a file, states numbered from 0 in the order of a breadth-first search.

use crate::failure::Failure;
use crate::output;
use lariat_exec::Interpreter;
use lariat_graph::{Graph, Watcher};
use lariat_search::reference::ExplicitGraph;
use std::fmt::Write;

const STATES_MAX: usize = 5_000_000;

/// A graph and where its names come from.
pub struct Exported<'e> {
    pub model: &'e Interpreter<'e>,
    /// The model itself, or its product with the watcher.
    pub graph: &'e dyn Graph,
    pub watcher: Option<&'e dyn Watcher>,
}

/// Whether the file's ending names a format.
pub fn check_name(file: &str) -> Result<(), Failure> {
    if [".edges", ".aut", ".dot"].iter().any(|ending| file.ends_with(ending)) {
        return Ok(());
    }
    Err(Failure::input(format!("--export {file}: the name must end in .edges, .aut or .dot")))
}

/// Writes the graph.
pub fn export(exported: &Exported, file: &str) -> Result<(), Failure> {
    let explicit =
        ExplicitGraph::explore(exported.graph, STATES_MAX).map_err(|error| Failure::machine(error.to_string()))?;
    if explicit.cut {
        return Err(Failure::limit(format!("--export {file}: the graph has more than {STATES_MAX} states")));
    }
    let text = if file.ends_with(".edges") {
        exported.edges(&explicit)
    } else if file.ends_with(".aut") {
        exported.aldebaran(&explicit)
    } else {
        exported.dot(&explicit)
    };
    output::file(file, &mut |out| out.write_all(text.as_bytes()))
}

impl Exported<'_> {
    /// The model's row in a row of the graph.
    fn model_row<'r>(&self, row: &'r [u8]) -> &'r [u8] {
        &row[..self.model.row_bytes()]
    }

    fn edges(&self, explicit: &ExplicitGraph) -> String {
        let accepting = |state: &usize| self.graph.is_accepting(&explicit.rows[*state]);
        let list = |numbers: Vec<String>| [vec![String::new()], numbers].concat().join(" ");
        let initial = list((0..explicit.n_initial).map(|i| i.to_string()).collect());
        let accepting = list((0..explicit.rows.len()).filter(accepting).map(|i| i.to_string()).collect());
        let mut out = format!("states {}\ninitial{initial}\naccepting{accepting}\n", explicit.rows.len());
        for (source, targets) in explicit.successors.iter().enumerate() {
            for target in targets {
                let _ = writeln!(out, "{source} {target}");
            }
        }
        out
    }

    /// The names of the edges that leave a state, in their order. In a product each edge of the model comes as often as the watcher
    /// has moves; where the model has none, the watcher moves alone.
    fn edge_names(&self, row: &[u8], n_edges: usize) -> Vec<String> {
        let steps = self.model.steps(self.model_row(row));
        let mut names: Vec<String> =
            steps.iter().map(|step| lariat_report::moves_text(&self.model.trace_moves(step))).collect();
        if names.is_empty() {
            names.push(lariat_report::moves_text(&[]));
        }
        let n_moves = n_edges / names.len();
        names.into_iter().flat_map(|name| std::iter::repeat_n(name, n_moves)).collect()
    }

    fn aldebaran(&self, explicit: &ExplicitGraph) -> String {
        let mut out = format!("des (0, {}, {})\n", explicit.n_edges(), explicit.rows.len());
        for (source, targets) in explicit.successors.iter().enumerate() {
            for (target, name) in targets.iter().zip(self.edge_names(&explicit.rows[source], targets.len())) {
                let _ = writeln!(out, "({source}, \"{}\", {target})", name.replace('"', "'"));
            }
        }
        out
    }

    fn dot(&self, explicit: &ExplicitGraph) -> String {
        let mut out = String::from("digraph states {\n  node [shape = box, fontname = \"monospace\"];\n");
        let variables = self.model.trace_variables();
        for (number, row) in explicit.rows.iter().enumerate() {
            let state = lariat_report::state_text(&variables, &self.model.trace_state(self.model_row(row), None));
            let watcher = self.watcher.map(|w| w.describe(&row[self.model.row_bytes()..]));
            let lines = state.lines().map(str::trim).chain(watcher.as_deref());
            let lines: Vec<String> = lines.map(lariat_report::escape_dot).collect();
            let mut style = String::new();
            if self.graph.is_error(row) {
                style.push_str(", color = red");
            } else if number < explicit.n_initial {
                style.push_str(", style = bold");
            }
            if self.graph.is_accepting(row) {
                style.push_str(", peripheries = 2");
            }
            let _ = writeln!(out, "  s{number} [label = \"{number}: {}\"{style}];", lines.join("\\n"));
        }
        for (source, targets) in explicit.successors.iter().enumerate() {
            for (target, name) in targets.iter().zip(self.edge_names(&explicit.rows[source], targets.len())) {
                let _ = writeln!(out, "  s{source} -> s{target} [label = \"{}\"];", lariat_report::escape_dot(&name));
            }
        }
        out.push_str("}\n");
        out
    }
}
