//! Writes automata for Graphviz.

use std::fmt::Write;

use crate::automaton::BuchiAutomaton;
use crate::boolean::{LabelStyle, label_text};
use crate::print::{proposition, quote};

/// The text of an automaton as a graph: accepting states have a double circle.
pub fn write_dot(automaton: &BuchiAutomaton, name: Option<&str>) -> String {
    let names: Vec<String> = automaton.propositions.iter().map(|p| proposition(p)).collect();
    let style = LabelStyle { truth: "true", falsity: "false", and: " && ", or: " || ", names: &names };
    let mut text = String::from("digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n");
    // Writing into a string cannot fail.
    if let Some(name) = name {
        let _ = writeln!(text, "  label={};", quote(name));
    }
    for (place, state) in automaton.initial.iter().enumerate() {
        let _ = writeln!(text, "  start{place} [shape=point, label=\"\"];\n  start{place} -> {state};");
    }
    for (number, state) in automaton.states.iter().enumerate() {
        let shape = if state.accepting { " [shape=doublecircle]" } else { "" };
        let _ = writeln!(text, "  {number}{shape};");
        for edge in state.edges.iter().filter(|e| !e.label.cubes.is_empty()) {
            let label = quote(&label_text(&edge.label, &style));
            let _ = writeln!(text, "  {number} -> {} [label={label}];", edge.target);
        }
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::{BuchiEdge, BuchiState, Cube, Label};

    #[test]
    fn a_graph() {
        let label = Label { cubes: vec![Cube { positive: 1, negative: 2 }, Cube { positive: 2, negative: 0 }] };
        let automaton = BuchiAutomaton {
            propositions: vec!["a".to_owned(), "x == 1".to_owned()],
            initial: vec![0],
            states: vec![
                BuchiState { accepting: false, edges: vec![BuchiEdge { label, target: 1 }] },
                BuchiState { accepting: true, edges: vec![BuchiEdge { label: Label::truth(), target: 1 }] },
            ],
        };
        let expect = "digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n  label=\"F a\";\n  \
            start0 [shape=point, label=\"\"];\n  start0 -> 0;\n  0;\n  \
            0 -> 1 [label=\"(a && !\\\"x == 1\\\") || \\\"x == 1\\\"\"];\n  \
            1 [shape=doublecircle];\n  1 -> 1 [label=\"true\"];\n}\n";
        assert_eq!(write_dot(&automaton, Some("F a")), expect);
    }
}
