//! Tests of never claims: as other tools write them, round trips, errors with their places, and damaged input.

use lariat_base::Random;

use super::*;
use crate::never::write_never;
use crate::testing::{damage, random_automaton};
use crate::word::{accepts, holds, random_lasso};

/// As SPIN 6 writes `!([]p)`.
const SPIN: &str = "never  {    /* !([]p) */
T0_init:
	do
	:: atomic { (! ((p))) -> assert(!(! ((p)))) }
	:: (1) -> goto T0_init
	od;
accept_all:
	skip
}
";

/// As Spot writes `GFa & Fb`, nearly.
const SPOT: &str = "never { /* GFa & Fb */
T0_init:
  if
  :: ((a) && (b)) -> goto accept_S1
  :: ((!(a)) && (b)) -> goto T0_S2
  :: (!(b)) -> goto T0_init
  fi;
accept_S1:
  if
  :: ((a)) -> goto accept_S1
  :: ((!(a))) -> goto T0_S2
  fi;
T0_S2:
  if
  :: ((!(a))) -> goto T0_S2
  :: ((a)) -> goto accept_S1
  fi;
}";

/// As ltl2ba writes it, with a state that nothing leaves.
const DEAD: &str = "never { // comment\naccept_init:\n\tif\n\t:: (!a) -> goto accept_init\n\t:: (a) -> goto T1\n\tfi;\nT1:\n\tfalse;\n}";

#[test]
fn languages() {
    let check = |text: &str, formula: &str, n_states: usize| {
        let automaton = read_never(text, Bare::Expressions).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(automaton.states.len(), n_states, "{text}");
        let mut formulas = Formulas::new();
        for name in &automaton.propositions {
            formulas.proposition(name);
        }
        let f = parse(formula, &mut formulas, Bare::Words).unwrap();
        let mut random = Random::new(2);
        for _ in 0..1000 {
            let word = random_lasso(&mut random, 3, 5);
            assert_eq!(accepts(&automaton, &word), holds(&formulas, f, &word), "{formula} {word:?}");
        }
    };
    check(SPIN, "F!p", 2);
    check(SPOT, "GFa & Fb", 3);
    check(DEAD, "G!a", 2);
    check("never {}", "true", 1);
    check("never { false; }", "false", 1);
    check("never { accept_all: skip }", "true", 1);
    check("never { T0: do :: (a) -> break :: (1) od; accept: do :: (b) od }", "F(a & XGb)", 2);
    check("never name { if :: a fi; (b); goto x; y: false; x: goto z; z: accept_z: do :: skip od }", "a & X b", 4);
    check(
        "never { T: if :: (x == 1) && !(P->y > 2) -> goto T :: a -> b -> goto accept fi; accept: skip }",
        "(\"x == 1\" & !\"P->y > 2\") U (a -> b)",
        2,
    );
    check("never { do :: d_step { (a) -> assert(b) } :: (!a) od }", "(!a | b) U (a & !b)", 2);
    check("never { if :: \"a ; (b\" -> goto e fi; e: }", "\"a ; (b\"", 2);
    check("never { T: if :: P->x > 1 -> goto T :: (p) goto E fi; E: skip; }", "\"P->x > 1\" U p", 3);
}

#[test]
fn round_trips() {
    let mut random = Random::new(8);
    for _ in 0..2000 {
        let automaton = random_automaton(&mut random);
        let text = write_never(&automaton, Some("G */ a"));
        let again = read_never(&text, Bare::Expressions).unwrap_or_else(|error| panic!("{text}: {error}"));
        let bit = |name: &String| automaton.propositions.iter().position(|p| p == name).unwrap();
        let bits: Vec<usize> = again.propositions.iter().map(bit).collect();
        let letters = |word: &[u64]| -> Vec<u64> {
            let letter = |letter: &u64| bits.iter().enumerate().map(|(new, old)| (letter >> old & 1) << new).sum();
            word.iter().map(letter).collect()
        };
        for _ in 0..30 {
            let word = random_lasso(&mut random, 3, 4);
            let renamed = crate::Lasso { prefix: letters(&word.prefix), cycle: letters(&word.cycle) };
            assert_eq!(accepts(&automaton, &word), accepts(&again, &renamed), "{text}");
        }
        // From the second time on nothing changes any more, except that names of states follow their order.
        let third = read_never(&write_never(&again, None), Bare::Expressions).unwrap();
        assert_eq!(third.states.len(), again.states.len());
        assert_eq!(third.n_edges(), again.n_edges());
    }
}

#[test]
fn text() {
    let automaton = read_never(SPOT, Bare::Expressions).unwrap();
    let expect =
        "never { /* GFa & Fb */\nT0_init:\n  if\n  :: (a && b) -> goto accept_S1\n  :: (b && !a) -> goto T0_S2\n";
    let expect = expect.replace("b && !a", "!a && b");
    assert!(write_never(&automaton, Some("GFa & Fb")).starts_with(&expect));
}

#[test]
fn errors_have_places() {
    let check = |text: &str, line: usize, column: usize, message: &str| {
        let error = read_never(text, Bare::Expressions).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    };
    check("", 1, 1, "begins with `never`");
    check("never { ", 1, 9, "`}` is missing");
    check("never {\n if :: (a) -> goto x fi }", 2, 20, "no label `x`");
    check("never {\n if :: (F a) -> goto x fi }", 2, 8, "temporal");
    check("never {\n if :: (a b) -> goto x fi }", 2, 11, "an operator is missing");
    check("never { if :: else -> goto x fi }", 1, 15, "`else`");
    check("never { if :: -> goto x fi }", 1, 15, "a guard is missing");
    check("never { if (a) fi }", 1, 12, "`::` or `fi`");
    check("never { x: skip; x: skip }", 1, 20, "a second time");
    check("never { x: goto y; y: goto x }", 1, 31, "lead to each other");
    check("never { /* }", 1, 9, "never closed");
    check("never { } x", 1, 11, "something after");
    check("never { if :: (a) -> skip fi }", 1, 22, "`::` or `fi`");
    let many: String = (0..70).map(|n| format!(" :: (p{n}) -> goto x ")).collect();
    check(&format!("never {{ x: if {many} fi }}"), 1, 1289, "more than 64");
}

#[test]
fn damaged_texts_never_panic() {
    let mut random = Random::new(13);
    let seeds =
        [SPIN, SPOT, DEAD, "never { T: do :: d_step { (a[1]) -> assert(\"b\") } :: (P->x == 1) -> break od; E: skip }"];
    for round in 0..20_000 {
        let text = damage(&mut random, seeds[round % seeds.len()]);
        for bare in [Bare::Words, Bare::Expressions] {
            if let Ok(automaton) = read_never(&text, bare) {
                assert!(read_never(&write_never(&automaton, None), Bare::Expressions).is_ok(), "{text}");
            }
        }
    }
}
