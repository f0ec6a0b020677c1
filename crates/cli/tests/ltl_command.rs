//! `lariat ltl`: formats, statistics, and messages about wrong formulas.

#![allow(clippy::disallowed_methods, reason = "these tests write models and read traces")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::lariat;
use lariat_ltl::{Bare, read_hoa, read_never};

#[test]
fn automata_are_written_in_every_format() {
    let hoa = lariat(&["ltl", "G (p -> F q)"]).expect(0).out;
    let automaton = read_hoa(&hoa).expect("an automaton");
    assert_eq!(automaton.propositions, ["p", "q"]);
    assert_eq!(automaton.states.len(), 2);
    let never = lariat(&["ltl", "G (p -> F q)", "--format", "never"]).expect(0).out;
    assert_eq!(read_never(&never, Bare::Words).expect("a claim").states.len(), 2);
    assert!(lariat(&["ltl", "[] <> p", "--format", "dot"]).expect(0).out.starts_with("digraph"));
    assert!(lariat(&["ltl", "[] <> p", "--format", "text"]).expect(0).out.contains("state 0, initial"));
}

#[test]
fn statistics_do_not_disturb_readers() {
    for format in ["hoa", "never"] {
        let out = lariat(&["ltl", "p U q", "--stats", "--negate", "--format", format]).expect(0).out;
        assert!(out.contains("2 states, "), "{out}");
        match format {
            "hoa" => assert!(read_hoa(&out).is_ok(), "{out}"),
            _ => assert!(read_never(&out, Bare::Words).is_ok(), "{out}"),
        }
    }
    let found = lariat(&["ltl", "F p", "--json"]).expect(0).json();
    assert_eq!((found["states"].as_u64(), found["edges"].as_u64()), (Some(2), Some(3)));
    assert_eq!((found["strength"].as_str(), found["deterministic"].as_bool()), (Some("terminal"), Some(true)));
    let found = lariat(&["ltl", "!F p", "--json", "--negate"]).expect(0).json();
    assert_eq!(found["formula"], "F p");
}

#[test]
fn wrong_formulas_are_refused_with_their_place() {
    let deep = format!("{}p{}", "(".repeat(10_000), ")".repeat(10_000));
    let nots = format!("{}p", "!".repeat(100_000));
    let nexts = format!("{}p", "X ".repeat(50_000));
    for (formula, part) in [
        ("", "no formula"),
        ("(p", "never closed"),
        ("p)", "1:2"),
        ("p U", "1:"),
        ("p q", "1:3"),
        ("p @ q", "1:3"),
        ("\"p", "1:1"),
        (deep.as_str(), "nested too deeply"),
        (nexts.as_str(), "nested too deeply"),
    ] {
        let ran = lariat(&["ltl", formula]).expect(2);
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
        assert!(ran.err.contains("-->") && ran.err.len() < 2000, "{}", ran.err);
    }
    // Negations cancel each other, however many there are.
    lariat(&["ltl", &nots]).expect(0);
    let many: Vec<String> = (0..65).map(|i| format!("q{i}")).collect();
    let ran = lariat(&["ltl", &many.join(" && ")]).expect(2);
    assert!(ran.err.contains("64"), "{}", ran.err);
}
