//! Writes automata as never claims of SPIN.
//!
//! A claim has one first state, so several initial states get a new one before them that has all of their edges. Propositions that are
//! model expressions stand in parentheses, any other text in quotes, which Lariat reads back and SPIN does not.

use std::fmt::Write;

use crate::automaton::{BuchiAutomaton, BuchiState, Cube};
use crate::boolean::{LabelStyle, label_text};
use crate::formula::{Formulas, Node};
use crate::parse::{Bare, parse};
use crate::print::proposition;

/// The claim, with the name in a comment.
pub fn write_never(automaton: &BuchiAutomaton, name: Option<&str>) -> String {
    let names: Vec<String> = automaton.propositions.iter().map(|p| operand(p)).collect();
    let style = LabelStyle { truth: "1", falsity: "0", and: " && ", or: " || ", names: &names };
    let comment = name.map_or(String::new(), |name| format!(" /* {} */", name.replace("*/", "* /")));
    let mut text = format!("never {{{comment}\n");
    let (first, fresh) = match automaton.initial.as_slice() {
        [one] => (Some(*one as usize), None),
        several => (None, Some(common_start(automaton, several))),
    };
    if let Some(start) = &fresh {
        write_state(&mut text, "T0_init", start, &style, &|target| label(automaton, target, first));
    }
    // The first state must be written first; the others keep their order.
    let rest = (0..automaton.states.len()).filter(|number| Some(*number) != first);
    for number in first.into_iter().chain(rest) {
        let name = label(automaton, number, first);
        write_state(&mut text, &name, &automaton.states[number], &style, &|target| label(automaton, target, first));
    }
    text.push_str("}\n");
    text
}

/// A state with all edges of the initial ones. It accepts nothing by itself, because no run comes back to it.
fn common_start(automaton: &BuchiAutomaton, initial: &[u32]) -> BuchiState {
    let edges = initial.iter().flat_map(|state| automaton.states[*state as usize].edges.iter().cloned());
    BuchiState { accepting: false, edges: edges.collect() }
}

fn label(automaton: &BuchiAutomaton, number: usize, first: Option<usize>) -> String {
    let accepting = automaton.states[number].accepting;
    match (accepting, first == Some(number)) {
        (true, true) => "accept_init".to_owned(),
        (false, true) => "T0_init".to_owned(),
        (true, false) => format!("accept_S{number}"),
        (false, false) => format!("T0_S{number}"),
    }
}

/// Writing into a string cannot fail.
fn write_state(text: &mut String, name: &str, state: &BuchiState, style: &LabelStyle, label: &dyn Fn(usize) -> String) {
    let _ = writeln!(text, "{name}:");
    let edges: Vec<_> = state.edges.iter().filter(|e| !e.label.cubes.is_empty()).collect();
    if edges.is_empty() {
        text.push_str("  false;\n");
        return;
    }
    text.push_str("  if\n");
    for edge in edges {
        let guard = if edge.label.cubes.contains(&Cube::default()) {
            style.truth.to_owned()
        } else {
            label_text(&edge.label, style)
        };
        let _ = writeln!(text, "  :: ({guard}) -> goto {}", label(edge.target as usize));
    }
    text.push_str("  fi;\n");
}

/// A proposition as an operand of `!` and `&&`.
fn operand(text: &str) -> String {
    let plain = proposition(text);
    let mut formulas = Formulas::new();
    let is_expression = plain != text
        && parse(text, &mut formulas, Bare::Expressions)
            .is_ok_and(|f| matches!(formulas.node(f), Node::Proposition(_)) && formulas.propositions() == [text]);
    if is_expression { format!("({text})") } else { plain }
}
