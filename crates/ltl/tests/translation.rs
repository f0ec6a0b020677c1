//! The automaton of a formula accepts just the words that satisfy it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a long run is asked for through the environment")]

use lariat_base::Random;
use lariat_ltl::{Bare, Formulas, buchi, parse, print, word};

const N_PROPOSITIONS: usize = 3;

/// Compares the automata of a formula and of its negation with the formula on random words.
fn check(formulas: &mut Formulas, formula: lariat_ltl::Formula, random: &mut Random, n_words: usize) {
    let automata = [false, true].map(|negated| buchi(formulas, formula, negated).expect("a small automaton"));
    for _ in 0..n_words {
        let lasso = word::random_lasso(random, formulas.propositions().len().max(1), 5);
        let holds = word::holds(formulas, formula, &lasso);
        for (automaton, expected) in automata.iter().zip([holds, !holds]) {
            let accepted = word::accepts(automaton, &lasso);
            assert_eq!(accepted, expected, "{} on {lasso:?}\n{automaton:?}", print(formulas, formula));
        }
    }
}

#[test]
fn automata_of_random_formulas_accept_the_right_words() {
    let n: u64 = std::env::var("LARIAT_LONG_RUN").map_or(4000, |n| n.parse().expect("a number"));
    for seed in 0..n {
        let mut random = Random::new(seed);
        let mut formulas = Formulas::new();
        let size = 2 + random.below(9);
        let formula = word::random_formula(&mut random, &mut formulas, N_PROPOSITIONS, size);
        check(&mut formulas, formula, &mut random, 30);
    }
}

#[test]
fn automata_of_known_formulas_are_small() {
    for (text, states) in [
        ("true", 1),
        ("false", 1),
        ("p", 2),
        ("G p", 1),
        ("F p", 2),
        ("G F p", 2),
        ("F G p", 2),
        ("p U q", 2),
        ("G(p -> F q)", 2),
        ("!G(p -> F q)", 2),
        ("G F p && G F q", 3),
        ("X X p", 4),
    ] {
        let mut formulas = Formulas::new();
        let formula = parse(text, &mut formulas, Bare::Words).unwrap();
        let automaton = buchi(&mut formulas, formula, false).unwrap();
        assert_eq!(automaton.states.len(), states, "{text}: {automaton:?}");
        check(&mut formulas, formula, &mut Random::new(1), 100);
    }
}
