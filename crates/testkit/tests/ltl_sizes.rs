//! The automata of the standard formula families are no larger than those of other tools.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::Random;
use lariat_ltl::{Bare, Formulas, buchi, parse, word};
use lariat_testkit::{ltl_size_rows, shared_folder};

#[test]
fn automata_are_no_larger_than_those_of_others() {
    if shared_folder().is_none() {
        return;
    }
    let rows = ltl_size_rows();
    assert!(rows.len() > 400, "{} rows", rows.len());
    let (mut ours, mut spots) = (0, 0);
    for row in &rows {
        let mut formulas = Formulas::new();
        let formula = parse(&row.formula, &mut formulas, Bare::Words).unwrap();
        let states = buchi(&mut formulas, formula, false).expect(&row.formula).states.len();
        if let Some(ltl3ba) = row.ltl3ba {
            // ltl3ba writes no state for `false`.
            assert!(states <= ltl3ba.max(1), "{states} states, ltl3ba {ltl3ba}: {}", row.formula);
        }
        if let (Some(spot), Some(_)) = (row.spot, row.ltl3ba) {
            ours += states;
            spots += spot;
        }
    }
    assert!(ours <= spots, "{ours} states in all, Spot {spots}");
}

#[test]
fn automata_of_the_families_accept_the_right_words() {
    let mut random = Random::new(17);
    for row in ltl_size_rows() {
        let mut formulas = Formulas::new();
        let formula = parse(&row.formula, &mut formulas, Bare::Words).unwrap();
        let automaton = buchi(&mut formulas, formula, false).expect(&row.formula);
        for _ in 0..40 {
            let lasso = word::random_lasso(&mut random, formulas.propositions().len(), 6);
            let holds = word::holds(&formulas, formula, &lasso);
            assert_eq!(word::accepts(&automaton, &lasso), holds, "{} on {lasso:?}", row.formula);
        }
    }
}
