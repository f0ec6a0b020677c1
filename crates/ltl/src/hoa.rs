//! Writes automata in the Hanoi omega-automata format (HOA, version 1).

use std::fmt::Write;

use crate::automaton::{BuchiAutomaton, Strength};
use crate::boolean::{LabelStyle, label_text};
use crate::print::quote;

/// The text of an automaton. Edges that nothing can take are left out.
pub fn write_hoa(automaton: &BuchiAutomaton, name: Option<&str>, strength: Strength) -> String {
    let mut text = String::from("HOA: v1\n");
    // Writing into a string cannot fail.
    let _ = write_header(&mut text, automaton, name, strength);
    let numbers: Vec<String> = (0..automaton.propositions.len()).map(|n| n.to_string()).collect();
    let style = LabelStyle { truth: "t", falsity: "f", and: "&", or: " | ", names: &numbers };
    for (number, state) in automaton.states.iter().enumerate() {
        let _ = writeln!(text, "State: {number}{}", if state.accepting { " {0}" } else { "" });
        for edge in state.edges.iter().filter(|e| !e.label.cubes.is_empty()) {
            let _ = writeln!(text, "[{}] {}", label_text(&edge.label, &style), edge.target);
        }
    }
    text.push_str("--END--\n");
    text
}

fn write_header(
    text: &mut String,
    automaton: &BuchiAutomaton,
    name: Option<&str>,
    strength: Strength,
) -> std::fmt::Result {
    if let Some(name) = name {
        writeln!(text, "name: {}", quote(name))?;
    }
    writeln!(text, "tool: \"lariat\"")?;
    writeln!(text, "States: {}", automaton.states.len())?;
    for state in &automaton.initial {
        writeln!(text, "Start: {state}")?;
    }
    write!(text, "AP: {}", automaton.propositions.len())?;
    for proposition in &automaton.propositions {
        write!(text, " {}", quote(proposition))?;
    }
    writeln!(text, "\nacc-name: Buchi\nAcceptance: 1 Inf(0)")?;
    let more = match strength {
        Strength::Terminal => " weak terminal",
        Strength::Weak => " weak",
        Strength::Strong => "",
    };
    writeln!(text, "properties: trans-labels explicit-labels state-acc{more}")?;
    writeln!(text, "--BODY--")
}
