//! `lariat ltl`: a formula as a Büchi automaton, without a model.

use crate::failure::{ExitStatus, Failure};
use crate::options::{AutomatonFormat, LtlOptions};
use crate::output;
use crate::temporal::{render, too_large};
use lariat_graph::strength_of_automaton;
use lariat_ltl::{Bare, BuchiAutomaton, Formulas, Strength, buchi, parse, print};
use serde_json::json;
use std::time::Instant;

pub fn translate(options: &LtlOptions) -> Result<ExitStatus, Failure> {
    let started = Instant::now();
    let mut formulas = Formulas::new();
    let formula = parse(&options.formula, &mut formulas, Bare::Words)
        .map_err(|error| render("the formula", &options.formula, error.span, error.message, error.help))?;
    let automaton = buchi(&mut formulas, formula, options.negate).map_err(|error| too_large("the formula", error))?;
    let seconds = started.elapsed().as_secs_f64();
    let shown = if options.negate { formulas.not(formula) } else { formula };
    let name = print(&formulas, shown);
    if options.json {
        output::text(&as_json(&automaton, &name, seconds))?;
        return Ok(ExitStatus::Fine);
    }
    output::text(&match options.format {
        AutomatonFormat::Hoa => lariat_ltl::write_hoa(&automaton, Some(&name), strength_of_automaton(&automaton)),
        AutomatonFormat::Dot => lariat_ltl::write_dot(&automaton, Some(&name)),
        AutomatonFormat::Never => lariat_ltl::write_never(&automaton, Some(&name)),
        AutomatonFormat::Text => lariat_ltl::write_text(&automaton, Some(&name)),
    })?;
    if options.stats {
        let stats = format!(
            "{} states, {} edges, {} accepting, {}, {}; {seconds:.3} s",
            automaton.states.len(),
            automaton.n_edges(),
            automaton.states.iter().filter(|s| s.accepting).count(),
            strength_word(&automaton),
            if is_deterministic(&automaton) { "deterministic" } else { "nondeterministic" },
        );
        // As a comment of the format, so that what reads the automaton reads on.
        output::text(&match options.format {
            AutomatonFormat::Hoa | AutomatonFormat::Never => format!("/* {stats} */\n"),
            AutomatonFormat::Dot => format!("// {stats}\n"),
            AutomatonFormat::Text => format!("{stats}\n"),
        })?;
    }
    Ok(ExitStatus::Fine)
}

fn strength_word(automaton: &BuchiAutomaton) -> &'static str {
    match strength_of_automaton(automaton) {
        Strength::Terminal => "terminal",
        Strength::Weak => "weak",
        Strength::Strong => "strong",
    }
}

/// Whether there is one initial state and no letter for which a state has two edges.
fn is_deterministic(automaton: &BuchiAutomaton) -> bool {
    let overlap = |a: &lariat_ltl::Label, b: &lariat_ltl::Label| {
        a.cubes.iter().any(|x| b.cubes.iter().any(|y| x.positive & y.negative == 0 && x.negative & y.positive == 0))
    };
    automaton.initial.len() == 1
        && automaton
            .states
            .iter()
            .all(|s| s.edges.iter().enumerate().all(|(i, e)| s.edges[..i].iter().all(|f| !overlap(&e.label, &f.label))))
}

fn as_json(automaton: &BuchiAutomaton, name: &str, seconds: f64) -> String {
    let object = json!({
        "lariat": env!("CARGO_PKG_VERSION"),
        "command": "ltl",
        "formula": name,
        "states": automaton.states.len(),
        "edges": automaton.n_edges(),
        "accepting": automaton.states.iter().filter(|s| s.accepting).count(),
        "strength": strength_word(automaton),
        "deterministic": is_deterministic(automaton),
        "seconds": seconds,
        "hoa": lariat_ltl::write_hoa(automaton, Some(name), strength_of_automaton(automaton)),
    });
    format!("{object:#}\n")
}
