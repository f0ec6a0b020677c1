//! Writes automata for people, state by state.

use std::fmt::Write;

use crate::automaton::BuchiAutomaton;
use crate::boolean::{LabelStyle, label_text};
use crate::print::proposition;

/// The text of an automaton: each state with what it is, and its edges with what they need.
pub fn write_text(automaton: &BuchiAutomaton, name: Option<&str>) -> String {
    let names: Vec<String> = automaton.propositions.iter().map(|p| proposition(p)).collect();
    let style = LabelStyle { truth: "true", falsity: "false", and: " && ", or: " || ", names: &names };
    let mut text = String::new();
    // Writing into a string cannot fail.
    if let Some(name) = name {
        let _ = writeln!(text, "{name}");
    }
    for (number, state) in automaton.states.iter().enumerate() {
        let initial = if automaton.initial.contains(&(number as u32)) { ", initial" } else { "" };
        let accepting = if state.accepting { ", accepting" } else { "" };
        let _ = writeln!(text, "state {number}{initial}{accepting}");
        for edge in &state.edges {
            let _ = writeln!(text, "  {} -> {}", label_text(&edge.label, &style), edge.target);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bare, Formulas, buchi, parse};

    #[test]
    fn a_formula_state_by_state() {
        let mut formulas = Formulas::new();
        let formula = parse("F p", &mut formulas, Bare::Words).expect("a formula");
        let automaton = buchi(&mut formulas, formula, false).expect("a small automaton");
        let expected = "F p\nstate 0, initial\n  !p -> 0\n  p -> 1\nstate 1, accepting\n  true -> 1\n";
        assert_eq!(write_text(&automaton, Some("F p")), expected);
    }
}
