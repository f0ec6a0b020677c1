//! The searches for accepting cycles on disk, as a person would run them: verdicts, lassos that replay, limits, crashes, and going on.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests write the models that they check")]

mod common;

use common::{command, lariat, scratch, write};
use lariat_testkit::{LtlRow, ltl_rows, shared_folder};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Every algorithm with every way to use it, and whether it counts all states of the product.
const WAYS: [(&[&str], bool); 12] = [
    (&["dac"], true),
    (&["dac", "--candidates", "disk"], true),
    (&["dac", "--initialise", "all"], true),
    (&["dac", "--merge", "level"], true),
    (&["map"], true),
    (&["ioemc"], true),
    (&["flash", "--strategy", "mapping"], true),
    (&["flash", "--strategy", "merging"], true),
    (&["flash", "--strategy", "compressing"], true),
    (&["flash", "--strategy", "padding"], true),
    (&["flash", "--strategy", "slicing"], true),
    (&["las"], false),
];

/// Some processes count up and down; with `stops`, one of them may stay away for ever.
fn counters(folder: &Path, stops: bool) -> String {
    let mut text = "byte turn;\n".to_owned();
    for i in 0..4 {
        let stop = if stops && i == 3 { "work -> gone { }, gone -> gone { }," } else { "" };
        text += &format!(
            "process P{i} {{ byte n; state idle, work, gone; init idle; trans
  idle -> work {{ guard turn == {i}; effect n = (n + 1) % 7, turn = (turn + 1) % 4; }}, {stop}
  work -> idle {{ }}; }}\n"
        );
    }
    write(folder, "counters.dve", (text + "system async;\n").as_bytes())
}

fn check(file: &str, formula: &str, way: &[&str], more: &[&str]) -> common::Ran {
    let mut arguments = vec!["check", file, "--ltl", formula, "--memory", "16MiB", "--json", "--quiet", "--algorithm"];
    arguments.extend(way);
    arguments.extend(more);
    lariat(&arguments)
}

#[test]
fn every_way_finds_the_verdict_and_a_lasso_that_is_replayed() {
    let folder = scratch("liveness-verdicts");
    let file = counters(&folder, true);
    let plain = check(&file, "G F P3.work", &["scc"], &[]).expect(1).json();
    let holds = check(&file, "G (turn < 4)", &["scc"], &[]).expect(0).json();
    assert_eq!(plain["verdict"], "violated");
    for (way, counts_all) in WAYS {
        let trace = folder.join(format!("{}.itf.json", way.join("-"))).display().to_string();
        let found = check(&file, "G F P3.work", way, &["--trace", &trace]).expect(1).json();
        assert_eq!(found["algorithm"], way[0]);
        assert_eq!(found["properties"][0]["counterexample"]["replayed"], true, "{way:?}");
        lariat(&["replay", &file, &trace]).expect(0);
        let found = check(&file, "G (turn < 4)", way, &[]).expect(0).json();
        assert_eq!(found["verdict"], "holds", "{way:?}");
        if counts_all {
            for count in ["states", "transitions", "accepting"] {
                assert_eq!(found[count], holds[count], "{way:?}: {count}");
            }
        }
    }
}

#[test]
fn every_property_has_its_own_search() {
    let folder = scratch("liveness-several");
    let file = counters(&folder, true);
    for (way, _) in WAYS {
        let mut arguments =
            vec!["check", &file, "--ltl", "G (turn < 4)", "--ltl", "G F P3.work", "--ltl", "G (turn < 5)"];
        arguments.extend(["--json", "--quiet", "--memory", "16MiB", "--algorithm"]);
        arguments.extend(way);
        let found = lariat(&arguments).expect(1).json();
        let verdicts: Vec<&str> =
            found["properties"].as_array().unwrap().iter().map(|p| p["verdict"].as_str().unwrap()).collect();
        assert_eq!(verdicts, ["holds", "violated", "holds"], "{way:?}");
    }
}

#[test]
fn an_interrupted_search_is_gone_on_with() {
    let folder = scratch("liveness-interrupted");
    let file = counters(&folder, false);
    let expected = check(&file, "G F P3.work", &["scc"], &[]).json();
    for (i, (way, _)) in WAYS.into_iter().enumerate() {
        let directory = folder.join(format!("states-{i}"));
        let on = directory.display().to_string();
        let mut ran = check(&file, "G F P3.work", way, &["--disk", &on, "--time-limit", "1ms"]);
        let mut limit = 2;
        while ran.code == 3 {
            assert!(directory.exists(), "{way:?}: what was found stays");
            ran = lariat(&["resume", &on, "--time-limit", &format!("{limit}ms"), "--json", "--quiet"]);
            limit += 1 + limit / 2;
        }
        assert_eq!(ran.json()["verdict"], expected["verdict"], "{way:?}");
        assert!(!directory.exists(), "{way:?}: files go when there is an answer");
    }
}

#[test]
fn killed_again_and_again_a_search_comes_to_the_same_end() {
    let folder = scratch("liveness-killed");
    let file = counters(&folder, false);
    let expected = check(&file, "G F P3.work", &["scc"], &[]).json();
    for (i, (way, counts_all)) in WAYS.into_iter().enumerate() {
        let directory = folder.join(format!("states-{i}"));
        let on = directory.display().to_string();
        let mut arguments = vec!["check", &file, "--ltl", "G F P3.work", "--memory", "16MiB", "--json", "--quiet"];
        arguments.extend(["--disk", &on, "--algorithm"]);
        arguments.extend(way);
        let run_for = |arguments: &[&str], time: Duration| {
            let mut child = command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(time);
            let _ = child.kill();
            child.wait().unwrap();
        };
        run_for(&arguments, Duration::from_millis(15));
        for time in [10, 20, 40] {
            if directory.join("manifest.lariat").exists() {
                run_for(&["resume", &on], Duration::from_millis(time));
            }
        }
        let is_there = directory.join("manifest.lariat").exists();
        let found = if is_there { lariat(&["resume", &on, "--json"]) } else { check(&file, "G F P3.work", way, &[]) };
        let found = found.json();
        assert_eq!(found["verdict"], expected["verdict"], "{way:?}");
        if counts_all && found["verdict"] == "holds" {
            assert_eq!(found["states"], expected["states"], "{way:?}");
        }
    }
}

#[test]
fn a_full_disk_ends_liveness_as_safety_and_says_how_far_it_came() {
    let folder = scratch("liveness-full");
    let file = counters(&folder, false);
    let on = folder.join("states").display().to_string();
    let ended = check(&file, "G F (P0.work || P1.work)", &["las"], &["--disk", &on, "--disk-limit", "16KiB"]).expect(3);
    assert!(ended.err.contains("pairs of states were stored") && ended.err.contains("resume"), "{}", ended.err);
}

#[test]
fn what_an_algorithm_is_not_for_is_said() {
    let file = counters(&scratch("liveness-refused"), false);
    for algorithm in ["dac", "map", "ioemc", "flash", "las"] {
        let refused = lariat(&["check", &file, "--deadlock", "--algorithm", algorithm]).expect(2);
        assert!(refused.err.contains("accepting cycles"), "{}", refused.err);
    }
    let refused = check(&file, "G F P0.work", &["ioemc", "--rho1", "1.5"], &[]).expect(2);
    assert!(refused.err.contains("fraction"), "{}", refused.err);
}

fn check_row(row: &LtlRow, way: &[&str], counts_all: bool) {
    let path = row.path.display().to_string();
    let found = check(&path, &row.formula, way, &[]).json();
    let place = format!("{} {} {way:?}", row.model, row.formula);
    assert_eq!(found["verdict"], row.verdict.as_str(), "{place}: {found}");
    let counterexample = &found["properties"][0]["counterexample"];
    assert_eq!(counterexample.is_null(), row.verdict == "holds", "{place}");
    if row.verdict == "holds" && counts_all {
        assert_eq!(found["states"].as_u64(), Some(row.states), "{place}");
    } else if row.verdict == "violated" {
        assert_eq!(counterexample["replayed"], true, "{place}");
    }
}

/// What other tools say of BEEM models, by each algorithm; what takes long is left out.
#[test]
fn verdicts_and_sizes_are_those_that_other_tools_found() {
    if shared_folder().is_none() {
        return;
    }
    let rows = ltl_rows();
    let (mut n_holds, mut n_violated) = (0, 0);
    for (way, counts_all) in WAYS {
        let states_max = match way {
            ["dac"] => 120_000,
            ["dac", ..] | ["ioemc"] => 30_000,
            _ => 3_000,
        };
        for row in rows.iter().filter(|row| row.states <= states_max) {
            // Pairs of states are far too many where nothing is found early.
            if way[0] == "las" && row.verdict == "holds" && row.states > 3_000 {
                continue;
            }
            check_row(row, way, counts_all);
            if row.verdict == "holds" { n_holds += 1 } else { n_violated += 1 }
        }
    }
    assert!(n_holds > 20 && n_violated > 100, "{n_holds} hold, {n_violated} are violated");
}
