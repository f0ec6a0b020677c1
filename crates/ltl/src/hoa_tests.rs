//! Tests of reading and writing the Hanoi format: known texts, errors with their places, round trips, and damaged input.

use lariat_base::Random;

use super::*;
use crate::automaton::{Label, Strength};
use crate::hoa::write_hoa;
use crate::parse::{Bare, parse};
use crate::testing::{damage, random_automaton};
use crate::word::{accepts, holds, random_lasso};

/// What Spot writes for `GFa & GFb`: generalised, on edges.
const TWO_SETS: &str = r#"HOA: v1
name: "GFa & GFb" tool: "spot" "2.9.4"
States: 1
Start: 0
AP: 2 "a" "b"
acc-name: generalized-Buchi 2
Acceptance: 2 Inf(0)&Inf(1)
properties: trans-labels explicit-labels trans-acc complete
--BODY--
State: 0
[0&1] 0 {0 1}
[!0&!1] 0 /* neither /* at */ all */
[!0&1] 0 {1}
[0&!1] 0 {0}
--END--
"#;

fn wrap(header: &str, body: &str) -> String {
    format!("HOA: v1 AP: 2 \"a\" \"b\" {header}\n--BODY--\n{body}\n--END--")
}

#[test]
fn languages() {
    let check = |text: &str, formula: &str| {
        let automaton = read_hoa(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut formulas = Formulas::new();
        for name in &automaton.propositions {
            formulas.proposition(name);
        }
        let f = parse(formula, &mut formulas, Bare::Words).unwrap();
        let mut random = Random::new(2);
        for _ in 0..1000 {
            let word = random_lasso(&mut random, 2, 5);
            assert_eq!(accepts(&automaton, &word), holds(&formulas, f, &word), "{formula} {word:?}");
        }
    };
    check(TWO_SETS, "GFa & GFb");
    check(&format!("HOA: v1 --ABORT-- {TWO_SETS}"), "GFa & GFb");
    check(&wrap("Start: 0 Acceptance: 1 Inf(0)", "State: 0 [t] 0 [0] 1 State: 1 {0} [0] 1"), "FGa");
    check(&wrap("Start: 0 Acceptance: 1 Inf(0)", "State: 0 [0] 0 {0} [!0] 0"), "GFa");
    check(&wrap("Start: 0 Start: 1 Acceptance: 0 t", "State: 0 [0] 0 State: 1 [1] 1"), "Ga | Gb");
    check(&wrap("Start: 0 Acceptance: 0 f", "State: 0 [t] 0"), "false");
    check(&wrap("Acceptance: 0 t", "State: 0 [t] 0"), "false");
    check(&wrap("Start: 0 Acceptance: 3 (Inf(2)&Inf(0))", "State: 0 [0] 0 {0} [1] 0 {2} [t] 0 {1}"), "GFa & GFb");
    check(&wrap("Start: 0 Acceptance: 0 t", "State: 0 0 1 1 0 State: 1 1 1 1 1"), "true");
    check(&wrap("Start: 0 Acceptance: 1 Inf(0)", "State: 0 0 0 0 1 State: 1 {0} 1 1 1 1"), "F(a & b)");
    check(&wrap("Start: 0 Acceptance: 1 Inf(0)", "State: [!0] 0 \"wait\" 0 1 State: [0] 1 \"a\" {0} 1 0"), "!a & GFa");
    let aliases = "Start: 0 Acceptance: 0 t Alias: @x 0 | 1 Alias: @y-1 !@x";
    check(&wrap(aliases, "State: 0 [!@y-1] 0"), "G(a | b)");
    let by_state = "State: 0 {0} [0] 0 [!0] 1 State: 1 {1} [0] 0 [!0] 1";
    check(&wrap("Start: 0 Acceptance: 2 Inf(0)&Inf(1)", by_state), "GFa & GF!a");
}

/// The same states and edges, with labels that mean the same.
fn same(left: &BuchiAutomaton, right: &BuchiAutomaton) -> bool {
    let shape = |automaton: &BuchiAutomaton| {
        let mut automaton = automaton.clone();
        let mut meanings = Vec::new();
        for edge in automaton.states.iter_mut().flat_map(|s| &mut s.edges) {
            meanings.push((0..8).map(|letter| edge.label.accepts(letter)).collect::<Vec<_>>());
            edge.label = Label::truth();
        }
        (automaton, meanings)
    };
    shape(left) == shape(right)
}

#[test]
fn structure_is_kept() {
    let automaton =
        read_hoa(&wrap("States: 2 Start: 1 Acceptance: 1 Inf(0)", "State: 0 {0} [0&!1 | 1] 1 [f] 0 State: 1 [t] 0"))
            .unwrap();
    let labels: Vec<usize> = automaton.states[0].edges.iter().map(|e| e.label.cubes.len()).collect();
    assert_eq!((labels, automaton.initial.clone()), (vec![2], vec![1]));
    let mut random = Random::new(6);
    for _ in 0..2000 {
        let automaton = random_automaton(&mut random);
        for strength in [Strength::Terminal, Strength::Weak, Strength::Strong] {
            let text = write_hoa(&automaton, Some("a \"name\" with \\"), strength);
            assert!(same(&read_hoa(&text).unwrap(), &automaton), "{text}");
        }
    }
}

#[test]
fn text() {
    let automaton = read_hoa(&wrap("Start: 0 Acceptance: 1 Inf(0)", "State: 0 {0} [0&!1 | 1] 0 [t] 0")).unwrap();
    let expect = "HOA: v1\nname: \"F a\"\ntool: \"lariat\"\nStates: 1\nStart: 0\nAP: 2 \"a\" \"b\"\nacc-name: Buchi\n\
        Acceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels state-acc weak\n--BODY--\n\
        State: 0 {0}\n[1 | 0&!1] 0\n[t] 0\n--END--\n";
    assert_eq!(write_hoa(&automaton, Some("F a"), Strength::Weak), expect);
}

#[test]
fn errors_have_places() {
    let check = |text: &str, line: usize, column: usize, message: &str| {
        let error = read_hoa(text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    };
    check("", 1, 1, "there is no automaton");
    check("HOA: v1", 1, 8, "`--END--` is missing");
    check("HOA: v2 --BODY-- --END--", 1, 6, "only version");
    check("HOA: v1\nStart: 0&1 Acceptance: 0 t --BODY-- --END--", 2, 9, "alternation");
    check("HOA: v1\nAcceptance: 1 Fin(0)\n--BODY-- --END--", 2, 15, "only Büchi");
    check("HOA: v1\nAcceptance: 2 Inf(0) | Inf(1)\n--BODY-- --END--", 2, 22, "only Büchi");
    check("HOA: v1 --BODY-- --END--", 1, 9, "no `Acceptance:`");
    check("HOA: v1 Foo: 3 Acceptance: 0 t --BODY-- --END--", 1, 9, "is not known");
    check("HOA: v1 AP: 65 --BODY-- --END--", 1, 13, "at most 64");
    check("HOA: v1 States: 99999999 --BODY-- --END--", 1, 17, "at most 1000000 states");
    check("HOA: v1 States: 99999999999 --BODY-- --END--", 1, 17, "too large");
    check(&wrap("Acceptance: 0 t", "State: 0 [2] 0"), 3, 11, "no such proposition");
    check(&wrap("Acceptance: 0 t", "State: 0 [@x] 0"), 3, 11, "not defined");
    check(&wrap("Acceptance: 0 t", "State: 0 [0 0"), 3, 13, "`]` is missing");
    check(&wrap("Acceptance: 0 t", "State: 0 [0] 0 1"), 3, 16, "either all edges");
    check(&wrap("Acceptance: 0 t", "State: 0 0 0"), 3, 12, "either all edges");
    check(&wrap("Acceptance: 0 t", "State: 0 {0}"), 3, 11, "no such acceptance set");
    check(&wrap("Acceptance: 0 t", "State: 0 State: 0"), 3, 17, "a second time");
    check(&wrap("States: 1 Acceptance: 0 t", "State: 0 [t] 1"), 3, 14, "only 1 states");
    check(&format!("{TWO_SETS}{TWO_SETS}"), 30, 1, "more than one automaton");
    let deep = format!("State: 0 [{}0{}] 0", "(".repeat(10_000), ")".repeat(10_000));
    check(&wrap("Acceptance: 0 t", &deep), 3, 211, "nested too deeply");
    let chain: String = (1..10_000).map(|n| format!(" Alias: @{n} !@{} | 1", n - 1)).collect();
    let error = read_hoa(&wrap(&format!("Alias: @0 0 {chain} Acceptance: 0 t"), "")).unwrap_err();
    assert!(error.message.contains("nested too deeply"));
}

#[test]
fn damaged_texts_never_panic() {
    let mut random = Random::new(12);
    let seeds = [
        TWO_SETS.to_owned(),
        wrap("Start: 0 Acceptance: 1 Inf(0) Alias: @a 0&!1", "State: [@a] 0 \"x\" {0} 1 State: 1 0 0 1 1"),
        write_hoa(&random_automaton(&mut random), Some("F a"), Strength::Weak),
    ];
    for round in 0..20_000 {
        let text = damage(&mut random, &seeds[round % seeds.len()]);
        if let Ok(automaton) = read_hoa(&text) {
            let again = write_hoa(&automaton, None, Strength::Strong);
            assert!(read_hoa(&again).is_ok(), "{text}");
        }
    }
}
