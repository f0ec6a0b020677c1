//! Tests of the evaluation of words: the meaning of every operator by example, laws on random words, and small automata.

use super::*;
use crate::automaton::{BuchiEdge, BuchiState, Cube, Label};
use crate::parse::{Bare, parse};

/// A word written as `ab b|a -`: letters are sets of `a`, `b`, `c`; `-` is the empty set; the cycle begins after `|`.
fn lasso(text: &str) -> Lasso {
    let letters = |part: &str| -> Vec<u64> {
        let letter = |word: &str| word.bytes().filter(|b| *b != b'-').map(|b| 1 << (b - b'a')).sum();
        part.split_whitespace().map(letter).collect()
    };
    let (prefix, cycle) = text.split_once('|').unwrap();
    Lasso { prefix: letters(prefix), cycle: letters(cycle) }
}

#[test]
fn operators() {
    let check = |formula: &str, word: &str, expect: bool| {
        let mut formulas = Formulas::new();
        for name in ["a", "b", "c"] {
            formulas.proposition(name);
        }
        let f = parse(formula, &mut formulas, Bare::Words).unwrap();
        assert_eq!(holds(&formulas, f, &lasso(word)), expect, "{formula} on {word}");
    };
    check("a", "a|-", true);
    check("a", "|-", false);
    check("Xa", "a|-", false);
    check("XXa", "|- - a", true);
    check("XXXa", "b|a -", true);
    check("XXXXa", "b|a -", false);
    check("Fa", "- -|- a", true);
    check("Fa", "|b", false);
    check("Ga", "a a|a", true);
    check("Ga", "a a|a -", false);
    check("GFa", "-|- a", true);
    check("FGa", "-|- a", false);
    check("FGa", "- -|a", true);
    check("a U b", "a a|b", true);
    check("a U b", "a -|b", false);
    check("a U b", "|a", false);
    check("a W b", "|a", true);
    check("a W b", "a|- b", false);
    check("a R b", "b b|ab -", true);
    check("a R b", "|b", true);
    check("a R b", "b|a", false);
    check("a M b", "|b", false);
    check("a M b", "b ab|-", true);
    check("a -> b", "|c", true);
    check("a <-> b", "|a", false);
    check("a xor b", "|a", true);
    check("a && !c || b", "|a", true);
    check("true & !false", "|a", true);
}

#[test]
fn laws() {
    let laws = [
        ("!(p0 U p1)", "!p0 R !p1"),
        ("p0 W p1", "(p0 U p1) | G p0"),
        ("p0 M p1", "(p0 R p1) & F p0"),
        ("!X p0", "X !p0"),
        ("F p0", "true U p0"),
        ("G p0", "!F !p0"),
        ("p0 xor p1", "!(p0 <-> p1)"),
        ("p0 R p1", "p1 W (p0 & p1)"),
        ("G F (p0 | p1)", "G F p0 | G F p1"),
    ];
    let mut random = Random::new(3);
    let mut formulas = Formulas::new();
    for (left, right) in laws {
        let left = parse(left, &mut formulas, Bare::Words).unwrap();
        let right = parse(right, &mut formulas, Bare::Words).unwrap();
        for _ in 0..500 {
            let word = random_lasso(&mut random, 2, 5);
            assert_eq!(holds(&formulas, left, &word), holds(&formulas, right, &word), "{word:?}");
        }
    }
    for round in 0..2000 {
        let f = random_formula(&mut random, &mut formulas, 3, 1 + round % 15);
        let word = random_lasso(&mut random, 3, 5);
        let unrolled = Lasso {
            prefix: [word.prefix.clone(), word.cycle.clone()].concat(),
            cycle: [word.cycle.clone(), word.cycle.clone()].concat(),
        };
        let expect = holds(&formulas, f, &word);
        assert_eq!(holds(&formulas, f, &unrolled), expect);
        let not = formulas.not(f);
        assert_eq!(holds(&formulas, not, &word), !expect);
    }
}

fn edge(positive: u64, negative: u64, target: u32) -> BuchiEdge {
    BuchiEdge { label: Label { cubes: vec![Cube { positive, negative }] }, target }
}

#[test]
fn automata() {
    let infinitely_often = BuchiAutomaton {
        propositions: vec!["a".to_owned()],
        initial: vec![0],
        states: vec![
            BuchiState { accepting: false, edges: vec![edge(0, 1, 0), edge(1, 0, 1)] },
            BuchiState { accepting: true, edges: vec![edge(0, 1, 0), edge(1, 0, 1)] },
        ],
    };
    let persistently = BuchiAutomaton {
        propositions: vec!["a".to_owned()],
        initial: vec![0],
        states: vec![
            BuchiState { accepting: false, edges: vec![edge(0, 0, 0), edge(1, 0, 1)] },
            BuchiState { accepting: true, edges: vec![edge(1, 0, 1)] },
        ],
    };
    let mut formulas = Formulas::new();
    let mut random = Random::new(5);
    for (automaton, text) in [(&infinitely_often, "GFa"), (&persistently, "FGa")] {
        let f = parse(text, &mut formulas, Bare::Words).unwrap();
        for _ in 0..1000 {
            let word = random_lasso(&mut random, 1, 6);
            assert_eq!(accepts(automaton, &word), holds(&formulas, f, &word), "{text} {word:?}");
        }
    }
    let nothing = BuchiAutomaton { initial: vec![], ..persistently.clone() };
    assert!(!accepts(&nothing, &lasso("|a")));
    let dead_end = BuchiAutomaton { states: vec![BuchiState { accepting: true, edges: vec![] }], ..persistently };
    assert!(!accepts(&dead_end, &lasso("|a")));
}
