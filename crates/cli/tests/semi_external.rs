//! Semi-external searches as a person would run them: verdicts, shortest counterexamples, all counterexamples, limits and going on.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests read what was written")]

mod common;

use common::{lariat, model, scratch};
use serde_json::Value;

const SEARCHES: [&[&str]; 6] = [
    &["--algorithm", "ddfs"],
    &["--algorithm", "ddfs", "--mphf", "disk"],
    &["--algorithm", "iddfs"],
    &["--algorithm", "iddfs", "--depth-step", "3"],
    &["--shortest"],
    &["--all", "--limit", "1"],
];

/// Models, properties, and whether they hold.
const PROPERTIES: [(&str, &[&str], bool); 4] = [
    ("ticket.mdve", &["--property", "Starving"], true),
    ("ticket.mdve", &["-D", "BUG=1", "--property", "Starving"], false),
    ("peterson.mdve", &["-D", "N=3", "--ltl", "G F (P_0.critical || P_1.critical || P_2.critical)"], true),
    ("peterson.mdve", &["-D", "N=3", "--ltl", "G F P_0.critical"], false),
];

fn check(file: &str, what: &[&str], how: &[&str]) -> common::Ran {
    let file = model(file);
    let mut arguments = vec!["check", &file, "--memory", "16MiB", "--json", "--quiet"];
    arguments.extend(what);
    arguments.extend(how);
    lariat(&arguments)
}

#[test]
fn every_search_gives_the_verdict_of_the_one_in_memory() {
    for (file, what, holds) in PROPERTIES {
        check(file, what, &[]).expect(i32::from(!holds));
        for how in SEARCHES {
            let found = check(file, what, how).expect(i32::from(!holds)).json();
            let property = &found["properties"][0];
            assert_eq!(property["verdict"], if holds { "holds" } else { "violated" }, "{file} {what:?} {how:?}");
            let replayed = &property["counterexample"]["replayed"];
            assert_eq!(*replayed, if holds { Value::Null } else { Value::Bool(true) }, "{file} {what:?} {how:?}");
        }
    }
}

#[test]
fn several_properties_have_searches_of_their_own() {
    let formulas = ["--ltl", "G F P_0.critical", "--ltl", "G F (P_0.critical || P_1.critical || P_2.critical)"];
    for how in SEARCHES {
        let found = check("peterson.mdve", &formulas, how).expect(1).json();
        let verdicts = [0, 1].map(|i| found["properties"][i]["verdict"].as_str().unwrap().to_owned());
        assert_eq!(verdicts, ["violated", "holds"], "{how:?}");
    }
}

#[test]
fn properties_of_states_go_with_them() {
    for how in &SEARCHES[..5] {
        let mut more = how.to_vec();
        let folder = scratch("semi-mixed").join("states").display().to_string();
        more.extend(["--disk", &folder, "--time-limit", "0s"]);
        let what = ["--deadlock", "--ltl", "G F P_0.critical"];
        check("peterson.mdve", &what, &more).expect(3);
        let found = lariat(&["resume", &folder, "--time-limit", "10m", "--json", "--quiet"]).expect(1).json();
        let verdicts = [0, 1].map(|i| found["properties"][i]["verdict"].as_str().unwrap().to_owned());
        assert_eq!(verdicts, ["holds", "violated"], "{how:?}");
    }
}

fn length(counterexample: &Value) -> u64 {
    counterexample["prefix"].as_u64().unwrap() + counterexample["cycle"].as_u64().unwrap()
}

#[test]
fn the_shortest_is_not_longer_than_others() {
    for (file, what, _) in PROPERTIES.iter().filter(|(_, _, holds)| !holds) {
        let lengths = [&[][..], &["--algorithm", "ddfs"], &["--shortest"]]
            .map(|how| length(&check(file, what, how).expect(1).json()["properties"][0]["counterexample"]));
        assert!(lengths[2] <= lengths[0] && lengths[2] <= lengths[1], "{file} {what:?}: {lengths:?}");
    }
    let goal = ["--reach", "peg[0] == 2 && peg[1] == 2", "--shortest"];
    let found = check("hanoi.mdve", &goal, &[]).expect(1).json();
    assert_eq!(found["properties"][0]["counterexample"]["prefix"], 3);
}

#[test]
fn all_counterexamples_are_written_and_replayed() {
    let folder = scratch("all-cycles").display().to_string();
    let what = ["-D", "BUG=1", "--property", "Starving", "--all"];
    let found = check("ticket.mdve", &what, &["--trace", &folder]).expect(1).json();
    let property = &found["properties"][0];
    let cycles = &property["cycles"];
    assert_eq!((&cycles["complete"], &cycles["found"]), (&Value::Bool(true), &property["counterexamples"]));
    let n = cycles["found"].as_u64().unwrap();
    assert_eq!(cycles["components"], 1);
    assert_eq!(cycles["first_components"][0]["cycles"], n);
    let file = model("ticket.mdve");
    for i in 1..=n {
        let trace = format!("{folder}/cycle-{i}.itf.json");
        lariat(&["replay", &file, "-D", "BUG=1", &trace, "--quiet"]).expect(0);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count() as u64, n);
}

#[test]
fn a_limit_on_counterexamples_is_said() {
    let folder = scratch("some-cycles");
    let lines = folder.join("cycles.jsonl").display().to_string();
    let what = ["-D", "BUG=1", "--property", "Starving", "--all", "--limit", "3"];
    let found = check("ticket.mdve", &what, &["--trace", &lines]).expect(1).json();
    let cycles = &found["properties"][0]["cycles"];
    assert_eq!((cycles["found"].as_u64(), cycles["complete"].as_bool()), (Some(3), Some(false)));
    assert!(cycles["incomplete"].as_str().unwrap().contains("limit of 3"));
    let lines = std::fs::read_to_string(&lines).unwrap();
    assert_eq!(lines.lines().count(), 3);
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["cycle"].as_u64().unwrap() > 0));
    let file = model("ticket.mdve");
    let text = lariat(&["check", &file, "-D", "BUG=1", "--property", "Starving", "--all", "--limit", "3", "--quiet"]);
    assert!(text.expect(1).out.contains("incomplete: 3 accepting cycles so far"));
}

#[test]
fn what_was_interrupted_goes_on() {
    for how in SEARCHES {
        let folder = scratch("semi-resume").join("states");
        let directory = folder.display().to_string();
        let mut more = how.to_vec();
        more.extend(["--disk", &directory, "--time-limit", "0s"]);
        check("peterson.mdve", &["-D", "N=3", "--ltl", "G F P_0.critical"], &more).expect(3);
        let found = lariat(&["resume", &directory, "--time-limit", "10m", "--json", "--quiet"]).expect(1).json();
        assert_eq!(found["properties"][0]["verdict"], "violated", "{how:?}");
    }
}

/// The shortest lassos that Edelkamp et al. give in *Flash memory efficient LTL model checking*, section 7.2.
#[test]
#[ignore = "takes minutes"]
fn published_lengths_are_found() {
    let Some(shared) = lariat_testkit::shared_folder() else { return };
    let folder = scratch("published");
    let shortest = |file: &str, automaton: &str| {
        let model = shared.join("beem").join(file).display().to_string();
        let automaton = common::write(&folder, "automaton.hoa", automaton.as_bytes());
        let arguments = ["check", &model, "--automaton", &automaton, "--shortest", "--memory", "256MiB", "--json"];
        lariat(&arguments).expect(1).json()
    };
    let head = "HOA: v1\nStates: 2\nStart: 0\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n";
    let lifts = "AP: 2 \"Wheels.moving_up\" \"Environment.pressed_up_0\"\n--BODY--\nState: 0\n[!1] 0\n[!1 & 0] 1\nState: 1 {0}\n[t] 1\n--END--\n";
    let found = shortest("lifts.7.dve", &format!("{head}{lifts}"));
    let counterexample = &found["properties"][0]["counterexample"];
    assert_eq!((&counterexample["prefix"], &counterexample["cycle"]), (&Value::from(87), &Value::from(2)));
    assert_eq!(found["states"], 7_496_336);
    assert_eq!(counterexample["product"], serde_json::json!({"prefix": 87, "cycle": 2}));
    // The paper says 19 for this product, whose states, edges and accepting states are the same. A lasso of 18 steps is there and was replayed; it has 19 states if the one
    // that closes the loop is counted again.
    let szymanski = "AP: 1 \"P_0.CS\"\n--BODY--\nState: 0\n[t] 0\n[!0] 1\nState: 1 {0}\n[!0] 1\n--END--\n";
    let found = shortest("szymanski.3.dve", &format!("{head}{szymanski}"));
    let counterexample = &found["properties"][0]["counterexample"];
    assert_eq!((length(&counterexample["product"]), length(counterexample)), (18, 18));
    assert_eq!(found["states"], 2_256_741);
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let property = ["--ltl", "G F P_0.critical"];
    let refused: [&[&str]; 8] = [
        &["--shortest", "--algorithm", "scc"],
        &["--all", "--algorithm", "ndfs"],
        &["--all", "--shortest"],
        &["--limit", "3"],
        &["--all", "--deadlock"],
        &["--all", "--limit", "0"],
        &["--all", "--rho", "1.5"],
        &["--algorithm", "iddfs", "--depth-step", "0"],
    ];
    for how in refused {
        check("peterson.mdve", &property, how).expect(2);
    }
    check("peterson.mdve", &["--deadlock"], &["--algorithm", "ddfs"]).expect(2);
    check("peterson.mdve", &["--deadlock"], &["--shortest", "--algorithm", "part"]).expect(2);
    check("peterson.mdve", &["--deadlock"], &["--all"]).expect(2);
}

/// One counterexample, as long as there are states.
const RING: &str = "process A {
int a = 0, b = 0;
state idle, run;
init idle;
trans
idle -> run {},
run -> run { guard a < 999; effect a = a + 1; },
run -> run { guard a == 999 and b < 79; effect a = 0, b = b + 1; },
run -> run { guard a == 999 and b == 79; effect a = 0, b = 0; };
}
system async;
";

#[test]
fn a_very_long_counterexample_takes_little_memory() {
    let folder = scratch("semi-ring");
    let ring = common::write(&folder, "ring.dve", RING.as_bytes());
    let trace = folder.join("trace.itf.json").display().to_string();
    let traces = folder.join("all").display().to_string();
    for how in [["--algorithm", "dac"].as_slice(), &["--shortest", "--trace", &trace], &["--all", "--trace", &traces]] {
        let mut arguments = vec!["check", &ring, "--ltl", "G F A.idle", "--memory", "16MiB", "--json", "--quiet"];
        arguments.extend(how);
        let found = lariat(&arguments).expect(1).json();
        let counterexample = &found["properties"][0]["counterexample"];
        assert_eq!((&counterexample["prefix"], &counterexample["cycle"]), (&Value::from(1), &Value::from(80_000)));
        let peak = found["memory"]["peak"].as_u64().unwrap();
        assert!(peak <= 48 << 20, "{how:?}: {peak} bytes");
    }
    // What was written step by step is the counterexample.
    lariat(&["replay", &ring, &trace, "--json", "--quiet"]).expect(0);
    let all = std::fs::read(folder.join("all").join("cycle-1.itf.json")).unwrap();
    assert!(all == std::fs::read(&trace).unwrap());
}
