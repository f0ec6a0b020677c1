//! What DVE means, fact by fact, on models small enough to check by hand. See `docs/dve.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_exec::{Interpreter, Label};
use lariat_lang::StateExpression;
use lariat_search::reference::ExplicitGraph;
use lariat_testkit::load_text;

struct Facts {
    states: usize,
    transitions: u64,
    deadlocks: usize,
    error: bool,
}

fn explore(text: &str, labels: Vec<Label>) -> (Facts, Vec<bool>) {
    let loaded = load_text(text);
    let n_labels = labels.len();
    let graph = Interpreter::new(&loaded.model, labels);
    let explicit = ExplicitGraph::explore(&graph, 100_000).expect("sound ranges");
    let error_row = graph.layout().error_row();
    let dead_end = |s: &usize| explicit.successors[*s].is_empty();
    let facts = Facts {
        states: explicit.rows.len(),
        transitions: explicit.n_edges(),
        deadlocks: (0..explicit.rows.len()).filter(dead_end).filter(|s| explicit.rows[*s] != error_row).count(),
        error: explicit.rows.iter().any(|row| row == error_row),
    };
    let met = (0..n_labels).map(|i| explicit.labels.iter().any(|bits| bits >> i & 1 == 1)).collect();
    (facts, met)
}

/// States, transitions, deadlocks, and whether the error state is reachable.
fn counts(text: &str, states: usize, transitions: u64, deadlocks: usize, error: bool) {
    let (facts, _) = explore(text, Vec::new());
    assert_eq!(
        (facts.states, facts.transitions, facts.deadlocks, facts.error),
        (states, transitions, deadlocks, error),
        "{text}"
    );
}

fn reaches(text: &str, expression: &str) -> bool {
    let loaded = load_text(text);
    let expression = StateExpression::parse("test", expression, &loaded.model, &loaded.names)
        .unwrap_or_else(|(source, diagnostics)| panic!("{}", diagnostics.render(&source)));
    explore(text, vec![Label::True(expression.expression)]).1[0]
}

/// One process that goes from `a` to `b` once by the transition given.
fn one_step(declarations: &str, transition: &str) -> String {
    format!("{declarations} process P {{ state a, b; init a; trans a -> b {{ {transition} }}; }} system async;")
}

#[test]
fn values_out_of_range_lead_to_the_error_state() {
    counts(&one_step("byte x = 255;", "effect x = x + 1;"), 2, 1, 0, true);
    counts(&one_step("byte x;", "effect x = x - 1;"), 2, 1, 0, true);
    counts(&one_step("int x = 32767;", "effect x = x + 1;"), 2, 1, 0, true);
    counts(&one_step("int x = -32768;", "effect x = x - 1;"), 2, 1, 0, true);
    counts(&one_step("int x = -32768;", "effect x = x + 1;"), 2, 1, 1, false);
}

#[test]
fn indices_and_divisions_lead_to_the_error_state() {
    counts(&one_step("byte a_[2]; byte i = 2;", "effect a_[i] = 1;"), 2, 1, 0, true);
    counts(&one_step("byte a_[2]; int i = -1;", "effect i = a_[i];"), 2, 1, 0, true);
    counts(&one_step("byte x;", "effect x = 1 / x;"), 2, 1, 0, true);
    counts(&one_step("byte x;", "effect x = 1 % x;"), 2, 1, 0, true);
    counts(&one_step("const byte t[2] = {1, 2}; byte i = 5;", "effect i = t[i];"), 2, 1, 0, true);
}

#[test]
fn a_guard_that_cannot_be_evaluated_is_enabled_and_leads_to_the_error_state() {
    counts(&one_step("byte x;", "guard 1 / x == 0;"), 2, 1, 0, true);
    counts(&one_step("byte x;", "guard x != 0 && 1 / x == 0;"), 1, 0, 1, false);
    counts(&one_step("byte x;", "guard x == 0 || 1 / x == 0;"), 2, 1, 1, false);
    counts(&one_step("byte x;", "guard x == 1 imply 1 / x == 0;"), 2, 1, 1, false);
}

#[test]
fn the_error_state_is_one_state_with_all_its_edges_counted() {
    let text = "byte x = 255; process P { state a; init a; trans
        a -> a { effect x = x + 1; }, a -> a { effect x = x + 2; }, a -> a { }; } system async;";
    counts(text, 2, 3, 0, true);
}

#[test]
fn effects_run_from_left_to_right_on_the_new_state() {
    let text = one_step("byte x = 1; byte y = 2;", "effect x = y, y = x;");
    assert!(reaches(&text, "P.b && x == 2 && y == 2"));
    // The location changes before the effects.
    let text = one_step("byte x; byte y;", "effect x = P.b, y = P.a;");
    assert!(reaches(&text, "P.b && x == 1 && y == 0"));
    // An index is evaluated when its assignment runs.
    let text = one_step("byte i; byte t[2];", "effect i = 1, t[i] = 7;");
    assert!(reaches(&text, "t[1] == 7 && t[0] == 0"));
}

#[test]
fn precedence_is_that_of_the_language() {
    for (expression, value) in [
        ("true || false && false", 0),
        ("1 | 2 & 0", 0),
        ("not 0 == 1", 1),
        ("2 + 3 * 4", 14),
        ("(0-7) / 2", -3),
        ("(0-7) % 2", -1),
        ("1 << 2 + 1", 8),
        ("3 > 2 == 1", 1),
        ("1 == 1 & 0", 0),
        ("6 ^ 3", 5),
        ("~0", -1),
        ("0 imply 0", 1),
        ("1 imply 0 imply 0", 1),
        ("7 - 2 - 1", 4),
        ("1 && -1", 1),
        ("- 3 + 5", 2),
        ("10 / 3 * 3", 9),
    ] {
        let text = one_step("int x = 99;", &format!("effect x = {expression};"));
        assert!(reaches(&text, &format!("P.b && x == {value}")), "{expression} is not {value}");
    }
}

#[test]
fn rendezvous_moves_both_and_evaluates_in_order() {
    // Values and the receiving index are those of the old state; the receiver's effects run before the sender's.
    let text = "channel c; byte v = 3; byte i; byte t[2]; byte seen;
        process S { state a, b; init a; trans a -> b { sync c!v; effect seen = t[0]; }; }
        process R { byte got; state a, b; init a; trans a -> b { sync c?got; effect v = 9, t[0] = got + 1; }; }
        system async;";
    counts(text, 2, 1, 1, false);
    assert!(reaches(text, "S.b && R.b && R->got == 3 && v == 9 && t[0] == 4 && seen == 4"));
    let text = "channel c; byte i; byte t[2];
        process S { state a, b; init a; trans a -> b { sync c!7; }; }
        process R { state a, b; init a; trans a -> b { sync c?t[i]; effect i = 1; }; } system async;";
    assert!(reaches(text, "t[0] == 7 && t[1] == 0 && i == 1"));
}

#[test]
fn every_pair_is_a_transition_and_nobody_talks_to_himself() {
    let text = "channel c;
        process A { state a, b; init a; trans a -> b { sync c!; }, a -> b { sync c?; }; }
        process B { state a, b; init a; trans a -> b { sync c!; }, -> b { sync c?; }; } system async;";
    counts(text, 2, 2, 1, false);
    counts(
        "channel c; process A { state a; init a; trans a -> a { sync c!; }, a -> a { sync c?; }; } system async;",
        1,
        0,
        1,
        false,
    );
    let text = "channel c;
        process S { state a, b; init a; trans a -> b { sync c!; }; }
        process R { state a, b; init a; trans a -> b { sync c?; }, a -> b { sync c?; }; }
        process Q { state a, b; init a; trans a -> b { guard false; sync c?; }, a -> b { sync c?; }; } system async;";
    counts(text, 3, 3, 2, false);
}

#[test]
fn both_partners_assigning_a_global_is_an_error() {
    let pair = |send: &str, receive: &str| {
        format!(
            "channel c; byte g; byte t[2];
            process S {{ byte l; state a, b; init a; trans a -> b {{ sync c!1; effect {send}; }}; }}
            process R {{ byte l; state a, b; init a; trans a -> b {{ sync c?l; effect {receive}; }}; }} system async;"
        )
    };
    counts(&pair("g = 1", "g = 1"), 2, 1, 0, true);
    counts(&pair("t[0] = 1", "t[1] = 1"), 2, 1, 0, true);
    counts(&pair("g = 1", "t[1] = 1"), 2, 1, 1, false);
    counts(&pair("l = 1", "l = 1"), 2, 1, 1, false);
    // A value received into a global does not count.
    let text = "channel c; byte g;
        process S { state a, b; init a; trans a -> b { sync c!1; effect g = 2; }; }
        process R { state a, b; init a; trans a -> b { sync c?g; }; } system async;";
    counts(text, 2, 1, 1, false);
    assert!(reaches(text, "g == 2"));
}

#[test]
fn an_erring_guard_counts_for_its_pair_only() {
    let text = "channel c; byte z;
        process S { state a, b; init b; trans a -> b { sync c!; }; }
        process R { state a, b; init a; trans a -> b { guard 1 / z == 0; sync c?; }; } system async;";
    counts(text, 1, 0, 1, false);
    let text = "channel c; byte z;
        process S { state a, b; init a; trans a -> b { sync c!; }; }
        process R { state a, b; init a; trans a -> b { guard 1 / z == 0; sync c?; }; } system async;";
    counts(text, 2, 1, 0, true);
    let text = "channel c; byte z;
        process S { state a, b; init a; trans a -> b { guard 1 / z == 0; sync c!; }; }
        process R { state a, b; init a; trans a -> b { guard false; sync c?; }; } system async;";
    counts(text, 1, 0, 1, false);
}

#[test]
fn buffered_channels_are_first_in_first_out() {
    let text = "channel {byte} q[2]; byte n;
        process S { state a; init a; trans a -> a { guard n < 3; sync q!n; effect n = n + 1; }; }
        process R { byte got = 9; state a; init a; trans a -> a { sync q?got; }; } system async;";
    // The receiver gets 0, 1, 2 in this order, and the buffer never holds more than two.
    counts(text, 9, 10, 1, false);
    assert!(reaches(text, "R->got == 2"));
    assert!(!reaches(text, "n == 3 && R->got == 9"));
}

#[test]
fn buffered_values_are_wrapped_and_handled_before_the_effects() {
    let text = "channel {byte, int} q[1]; byte v = 5;
        process S { state a, b; init a; trans a -> b { sync q!{v + 255, 0 - 1}; effect v = 6; }; }
        process R { int x; int y; byte copy; state a, b; init a; trans a -> b { sync q?{x, y}; effect copy = x; }; }
        system async;";
    assert!(reaches(text, "R.b && R->x == 4 && R->y == -1 && R->copy == 4"));
    // Typed channels of capacity 0 are rendezvous, with the values wrapped on the way.
    let text = "channel {byte} q[0];
        process S { state a, b; init a; trans a -> b { sync q!(0 - 1); }; }
        process R { int x; state a, b; init a; trans a -> b { sync q?x; }; } system async;";
    counts(text, 2, 1, 1, false);
    assert!(reaches(text, "R->x == 255"));
    // Untyped ones do not wrap: the value does not fit.
    let text = text.replace("channel {byte} q[0]", "channel q").replace("int x", "byte x");
    counts(&text, 2, 1, 0, true);
}

#[test]
fn committed_locations_have_priority() {
    let two = |commit: &str| {
        format!(
            "process A {{ state a, b, c; init a; {commit} trans a -> b {{ }}, b -> c {{ }}; }}
            process B {{ state a, b; init a; trans a -> b {{ }}; }} system async;"
        )
    };
    counts(&two(""), 6, 7, 1, false);
    // In A.b only A moves.
    counts(&two("commit b;"), 6, 6, 1, false);
    // A committed location that cannot be left is a deadlock, whatever the others could do.
    counts(&two("commit c;"), 6, 6, 2, false);
    // A rendezvous needs both partners committed.
    let pair = |commit: &str| {
        format!(
            "channel c; process A {{ state a, b; init a; commit a; trans a -> b {{ sync c!; }}; }}
            process B {{ state a, b; init a; {commit} trans a -> b {{ sync c?; }}; }} system async;"
        )
    };
    counts(&pair(""), 1, 0, 1, false);
    counts(&pair("commit a;"), 2, 1, 1, false);
}

#[test]
fn synchronous_systems_move_all_processes_at_once() {
    let text = "byte x;
        process A { state a; init a; trans a -> a { guard x < 3; effect x = x + 1; }; }
        process B { byte y; state a, b; init a; trans a -> b { }, b -> a { effect y = x; }; } system sync;";
    // x = 3 blocks A, and with it everything. B does not see what A does in the same step.
    counts(text, 4, 3, 1, false);
    assert!(reaches(text, "B->y == 1") && !reaches(text, "B->y == 2"));
    let text = "byte x = 1; byte y = 2;
        process A { state a, b; init a; trans a -> b { effect x = y + B.b; }; }
        process B { state a, b; init a; trans a -> b { effect y = x + A.b; }; } system sync;";
    assert!(reaches(text, "x == 2 && y == 1"));
    let text = "byte x;
        process A { state a; init a; trans a -> a { effect x = 1; }, a -> a { }; }
        process B { state a; init a; trans a -> a { effect x = 2; }, a -> a { }; } system sync;";
    // Four combinations, one of which writes x twice; from each of x = 0, 1, 2.
    counts(text, 4, 12, 0, true);
}

#[test]
fn parallel_edges_and_self_loops_are_kept() {
    counts(
        "process A { state a, b; init a; trans a -> a { }, a -> b { }, a -> b { guard true; }; } system async;",
        2,
        3,
        1,
        false,
    );
}

#[test]
fn a_property_process_is_not_part_of_the_state() {
    let text = "byte x; process A { state a; init a; trans a -> a { effect x = 1 - x; }; }
        process L { byte n; state p, q; init p; accept q; trans p -> q { guard A->y == 0; }, q -> p { }; }
        system async property L;"
        .replace("A->y", "x");
    counts(&text, 2, 2, 0, false);
}

#[test]
fn initial_values_follow_the_declarations() {
    let text = "const byte n = 2; byte x = n + 1; byte y = x * 2; byte t[3] = {n, y}; byte u[2] = {1, 2, 3};
        process A { byte l = x; state a, b; init b; trans ; } system async;";
    assert!(reaches(text, "x == 3 && y == 6 && t[0] == 2 && t[1] == 6 && t[2] == 0 && u[1] == 2 && A->l == 3 && A.b"));
}

#[test]
fn assertions_hold_where_they_stand() {
    let text = "byte x; process A { state a, b; init a; assert b: x == 1, a: x == 0;
        trans a -> b { effect x = VALUE; }; } system async;";
    let failed = |value: &str| explore(&text.replace("VALUE", value), vec![Label::AssertionFailed]).1[0];
    assert!(!failed("1"));
    assert!(failed("2"));
    assert!(failed("300"), "the error state fails every assertion");
}
