//! Temporal properties on the command line: verdicts, lassos that replay, deadlocks, limits, and messages.

#![allow(clippy::disallowed_methods, reason = "these tests write models and read traces")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::{lariat, model, scratch, tampered_versions, write};
use lariat_testkit::{ltl_rows, shared_folder};
use std::path::Path;

/// P may go to `b` and back for ever, or to `c`, where nothing moves.
const FORK: &str = "byte n; byte a[2];
process P { state a, b, c; init a; trans
  a -> b { guard n < 1; effect n = 1; },
  b -> a { effect n = 0; },
  b -> c { }; }
system async;
";

fn fork(folder: &Path) -> String {
    write(folder, "fork.dve", FORK.as_bytes())
}

#[test]
fn formulas_have_verdicts_and_lassos() {
    let file = fork(&scratch("ltl"));
    let found = lariat(&["check", &file, "--ltl", "G F P.a", "--json"]).expect(1).json();
    assert_eq!(found["verdict"], "violated");
    assert_eq!(found["algorithm"], "ndfs");
    assert!(found["levels"].is_null());
    let property = &found["properties"][0];
    assert_eq!((property["name"].as_str(), property["kind"].as_str()), (Some("ltl:G F P.a"), Some("ltl")));
    assert_eq!((property["automaton"]["states"].as_u64(), property["automaton"]["edges"].as_u64()), (Some(2), Some(3)));
    assert_eq!(property["product"]["states"], found["states"]);
    let counterexample = &property["counterexample"];
    assert_eq!((counterexample["prefix"].as_u64(), counterexample["cycle"].as_u64()), (Some(2), Some(1)));
    assert_eq!(counterexample["replayed"], true);
    assert!(counterexample["what"].as_str().unwrap().contains("deadlock"), "{counterexample}");
    let found = lariat(&["check", &file, "--ltl", "G (P.b -> F (P.a || P.c))", "--json"]).expect(0).json();
    assert_eq!(found["properties"][0]["verdict"], "holds");
    let formula = write(&scratch("ltl-file"), "formula.txt", b"  F P.b\n");
    let found = lariat(&["check", &file, "--ltl-file", &formula, "--json"]).expect(0).json();
    assert_eq!(found["properties"][0]["name"], "ltl:F P.b");
}

const NOT_GF_A: &str = "HOA: v1
States: 2
Start: 0
AP: 1 \"P.a\"
acc-name: Buchi
Acceptance: 1 Inf(0)
--BODY--
State: 0
[t] 0
[!0] 1
State: 1 {0}
[!0] 1
--END--
";
const NEVER_GF_A: &str = "never { /* ! G F P.a */
T0_init:
  if
  :: (!(P.a)) -> goto accept_S1
  :: (1) -> goto T0_init
  fi;
accept_S1:
  if
  :: (!(P.a)) -> goto accept_S1
  fi;
}
";

#[test]
fn automata_and_formulas_come_from_files() {
    let folder = scratch("property-files");
    let file = fork(&folder);
    let trace = folder.join("t.itf.json").display().to_string();
    for (name, text) in [("a.hoa", NOT_GF_A), ("never.txt", NEVER_GF_A)] {
        let automaton = write(&folder, name, text.as_bytes());
        let options = ["check", &file, "--automaton", &automaton, "--json", "--trace", &trace];
        let found = lariat(&options).expect(1).json();
        assert_eq!(found["properties"][0]["name"], format!("automaton:{automaton}"));
        assert_eq!(found["properties"][0]["kind"], "automaton");
        assert_eq!(found["properties"][0]["automaton"]["states"], 2);
        let found = lariat(&["explore", &file, "--automaton", &automaton, "--json"]).expect(0).json();
        let counts = ["states", "transitions", "levels", "accepting"].map(|key| found[key].as_u64());
        assert_eq!(counts, [5, 8, 3, 2].map(Some));
        // The trace carries the automaton.
        std::fs::remove_file(&automaton).unwrap();
        lariat(&["replay", &file, &trace]).expect(0);
        let weaker = std::fs::read_to_string(&trace).unwrap().replace("P.a", "P.c");
        std::fs::write(&trace, weaker).unwrap();
        let ran = lariat(&["replay", &file, &trace]).expect(2);
        assert!(ran.err.contains("the property allows this run"), "{}", ran.err);
    }
    let broken = write(&folder, "broken.hoa", NOT_GF_A.replace("[!0] 1", "[!7] 1").as_bytes());
    let ran = lariat(&["check", &file, "--automaton", &broken]).expect(2);
    assert!(ran.err.contains("broken.hoa:10:"), "{}", ran.err);
    let properties = write(&folder, "p.ltl", b"#define in_a P.a // a place\n#property G F in_a\n#property F P.b\n");
    let found = lariat(&["check", &file, "--ltl-file", &properties, "--json"]).expect(1).json();
    let verdicts: Vec<&str> =
        found["properties"].as_array().unwrap().iter().map(|p| p["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["violated", "holds"]);
}

#[test]
fn runs_that_end_in_a_deadlock_are_judged_or_ignored() {
    let file = fork(&scratch("deadlock-runs"));
    let text = lariat(&["check", &file, "--ltl", "G F P.a"]).expect(1).out;
    assert!(text.contains("   3  (nothing can move; the state repeats for ever)"), "{text}");
    assert!(text.contains("this is state 2 again"), "{text}");
    assert!(text.contains("after 2 steps there is a deadlock, which counts as staying there for ever"), "{text}");
    lariat(&["check", &file, "--ltl", "G F P.a", "--deadlock-runs", "ignore"]).expect(0);
    // The run that goes round is judged either way.
    let text = lariat(&["check", &file, "--ltl", "F P.c", "--deadlock-runs", "ignore"]).expect(1).out;
    assert!(text.contains("0 steps and a loop of 2"), "{text}");
}

#[test]
fn lassos_are_replayed_and_tampered_ones_rejected() {
    let folder = scratch("lassos");
    let file = fork(&folder);
    let trace = folder.join("t.itf.json").display().to_string();
    let ticket = model("ticket.mdve");
    let checks: [(&str, &[&str]); 4] = [
        (&file, &["--ltl", "G F P.a"]),
        (&file, &["--ltl", "F P.c"]),
        (&file, &["--ltl", "G F P.b", "--algorithm", "scc"]),
        (&ticket, &["-D", "BUG=1", "-D", "N=2"]),
    ];
    for (file, options) in checks {
        let defines: Vec<&str> = options.iter().copied().filter(|_| options[0] == "-D").collect();
        lariat(&[&["check", file, "--trace", &trace], options].concat()).expect(1);
        let replay = [&["replay", file, &trace], &defines[..]].concat();
        let ran = lariat(&replay).expect(0);
        assert!(ran.out.contains("replayed: a counterexample"), "{}", ran.out);
        let good = std::fs::read_to_string(&trace).unwrap();
        let n = tampered_versions(&good).inspect(|bad| {
            std::fs::write(&trace, bad).unwrap();
            assert_eq!(lariat(&replay).code, 2, "accepted:\n{bad}");
        });
        assert!(n.count() > 15);
        let without_loop = good.replacen("\"loop\"", "\"pool\"", 1);
        std::fs::write(&trace, without_loop).unwrap();
        lariat(&replay).expect(2);
    }
}

#[test]
fn lassos_come_as_text_and_graph_too() {
    let folder = scratch("lasso-formats");
    let file = fork(&folder);
    for (name, part) in [("t.txt", "this is state 0 again"), ("t.dot", "  s1 -> s0 [label"), ("t.json", "\"loop\": 0")]
    {
        let trace = folder.join(name).display().to_string();
        lariat(&["check", &file, "--ltl", "F P.c", "--trace", &trace]).expect(1);
        let written = std::fs::read_to_string(&trace).unwrap();
        assert!(written.contains(part), "{name}: {written}");
    }
}

#[test]
fn the_model_s_own_property_is_the_default() {
    let ticket = model("ticket.mdve");
    let found = lariat(&["check", &ticket, "--json"]).expect(0).json();
    assert_eq!(found["properties"].as_array().unwrap().len(), 1);
    assert_eq!(found["properties"][0]["name"], "property:Starving");
    assert_eq!(found["properties"][0]["kind"], "automaton");
    assert_eq!(found["properties"][0]["automaton"]["states"], 2);
    lariat(&["check", &ticket, "-D", "BUG=1"]).expect(1);
    // What is asked for is what is checked.
    let found = lariat(&["check", &ticket, "-D", "BUG=1", "--deadlock", "--json"]).expect(0).json();
    assert_eq!(found["properties"][0]["name"], "deadlock");
}

#[test]
fn properties_of_states_and_of_runs_go_together() {
    let folder = scratch("together");
    let file = fork(&folder);
    let trace = folder.join("t.itf.json").display().to_string();
    let options = ["--deadlock", "--ltl", "F P.c", "--ltl", "F P.b", "--invariant", "n < 2", "--trace", &trace];
    let found = lariat(&[&["check", &file, "--json"], &options[..]].concat()).expect(1).json();
    let verdicts: Vec<&str> =
        found["properties"].as_array().unwrap().iter().map(|p| p["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["holds", "violated", "violated", "holds"]);
    assert_eq!(found["properties"][2]["counterexample"]["file"], trace.replace("t.itf", "t.2.itf"));
    // The counts are those of the first temporal property's product.
    assert_eq!(found["states"], found["properties"][2]["product"]["states"]);
    assert_eq!(found["algorithm"], "ndfs");
}

#[test]
fn products_are_explored_and_exported() {
    let folder = scratch("products");
    let file = fork(&folder);
    let edges = folder.join("g.edges").display().to_string();
    let found = lariat(&["explore", &file, "--ltl", "G F P.a", "--json", "--export", &edges]).expect(0).json();
    assert_eq!(found["verdict"], "complete");
    let counts = ["states", "transitions", "levels", "deadlocks", "accepting"].map(|key| found[key].as_u64());
    // (a,0) -> (b,0) -> (a,0), (a,1), which is blocked, (c,0) and (c,1), which stay.
    assert_eq!(counts, [5, 8, 3, 1, 2].map(Some));
    let written = std::fs::read_to_string(&edges).unwrap();
    assert!(written.starts_with("states 5\ninitial 0\naccepting "), "{written}");
    assert_eq!(written.lines().nth(2).unwrap().split(' ').count(), 1 + 2);
    assert_eq!(written.lines().count(), 3 + 8);
    let aut = folder.join("g.aut").display().to_string();
    lariat(&["explore", &file, "--ltl", "G F P.a", "--export", &aut]).expect(0);
    let written = std::fs::read_to_string(&aut).unwrap();
    assert!(written.starts_with("des (0, 8, 5)\n") && written.contains("(nothing can move"), "{written}");
    let dot = folder.join("g.dot").display().to_string();
    lariat(&["explore", &model("ticket.mdve"), "--property", "Starving", "--export", &dot]).expect(0);
    let written = std::fs::read_to_string(&dot).unwrap();
    assert!(written.contains("\\nStarving at waits\", peripheries = 2]"), "{written}");
    lariat(&["explore", &file, "--ltl", "F P.a", "--ltl", "F P.b"]).expect(2);
}

#[test]
fn wrong_properties_are_refused_with_their_place() {
    let folder = scratch("wrong-properties");
    let file = fork(&folder);
    let refused = |options: &[&str], part: &str| {
        let ran = lariat(&[&["check", &file], options].concat()).expect(2);
        assert!(ran.err.contains(part), "{options:?}: {}", ran.err);
    };
    refused(&["--ltl", "G F (P.a"], "--ltl:1:");
    refused(&["--ltl", "G F P.nowhere"], "the formula:1:7");
    refused(&["--ltl", ""], "there is no formula");
    refused(&["--property", "P"], "the model has no such property; it carries none");
    refused(&["--ltl-file", "no-such-file"], "cannot read no-such-file");
    refused(&["--automaton", "no-such-file"], "cannot read no-such-file");
    refused(&["--ltl", "G F a[n + P.c * 2] == 0"], "has no value in a reachable state: index 3 is outside a");
    refused(&["--ltl", "G F P.a", "--algorithm", "ram"], "ram and the algorithms on disk look for states");
    refused(&["--deadlock", "--algorithm", "ndfs"], "nothing here needs one");
    let text = "channel c; process P { state a; init a; trans a -> a { sync c!; }; }
        process L { state q; init q; accept q; trans q -> q { sync c?; }; } system async property L;";
    let observer = write(&folder, "observer.dve", text.as_bytes());
    let ran = lariat(&["check", &observer]).expect(2);
    assert!(ran.err.contains("line 2: the property process L receives on a channel"), "{}", ran.err);
}

#[test]
fn a_limit_is_no_verdict() {
    let hanoi = model("hanoi.mdve");
    for algorithm in ["ndfs", "scc"] {
        let options = ["-D", "N=15", "--ltl", "G peg[0] < 3", "--algorithm", algorithm, "--json", "--quiet"];
        for (limit, word) in [(["--memory", "16MiB"], "memory"), (["--time-limit", "100ms"], "time")] {
            let found = lariat(&[&["check", &hanoi], &options[..], &limit].concat()).expect(3).json();
            assert_eq!((found["verdict"].as_str(), found["limit"].as_str()), (Some("unknown"), Some(word)));
            assert_eq!(found["properties"][0]["verdict"], "unknown");
            assert!(found["memory"]["peak"].as_u64().unwrap() <= (16 + 32) << 20 || word == "time", "{found}");
        }
    }
}

#[test]
fn runs_into_the_error_state_are_not_judged_and_that_is_said() {
    let folder = scratch("error-runs");
    let text = "byte x = 250; process P { state a; init a; trans a -> a { effect x = x + 2; }; } system async;";
    let file = write(&folder, "overflow.dve", text.as_bytes());
    let ran = lariat(&["check", &file, "--ltl", "G F x < 3"]).expect(0);
    assert!(ran.out.contains("the error state is reachable: runs that end in it are not judged"), "{}", ran.out);
    lariat(&["check", &file, "--ltl", "G F x < 3", "--assertions"]).expect(1);
}

/// Verdicts of formulas on BEEM models are those of other tools, whatever the automaton looks like.
#[test]
fn verdicts_agree_with_other_tools() {
    let mut rows = ltl_rows();
    if shared_folder().is_none() {
        return;
    }
    rows.retain(|row| row.states <= 350_000);
    assert!(rows.len() >= 60, "{} rows", rows.len());
    for row in rows {
        let path = row.path.display().to_string();
        let found = lariat(&["check", &path, "--ltl", &row.formula, "--json", "--quiet"]).json();
        let place = format!("{} {}", row.model, row.formula);
        assert_eq!(found["verdict"], row.verdict.as_str(), "{place}");
        assert_eq!(found["properties"][0]["counterexample"].is_null(), row.verdict == "holds", "{place}");
    }
}
