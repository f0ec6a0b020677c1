//! Searches that keep their states on disk, as a person would run them: limits, interrupts, crashes, and going on.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests write the models that they check")]

mod common;

use common::{command, lariat, model, scratch};
use std::process::Stdio;
use std::time::Duration;

const ALGORITHMS: [&str; 7] = ["disk", "mono", "local", "part", "ebfs", "cbfs", "auto"];

fn hanoi(algorithm: &str, n: u32, more: &[&str]) -> common::Ran {
    let (file, define) = (model("hanoi.mdve"), format!("N={n}"));
    let mut arguments =
        vec!["explore", &file, "-D", &define, "--algorithm", algorithm, "--memory", "16MiB", "--json", "--quiet"];
    arguments.extend(more);
    lariat(&arguments)
}

#[test]
fn every_algorithm_counts_the_same() {
    for algorithm in ALGORITHMS {
        let found = hanoi(algorithm, 8, &[]).expect(0).json();
        let counts = ["states", "transitions", "deadlocks"].map(|name| found[name].as_u64().unwrap());
        assert_eq!(counts, [6561, 19680, 0], "{algorithm}");
        assert_eq!(found["verdict"], "complete");
    }
}

#[test]
fn every_algorithm_finds_a_counterexample_that_is_replayed() {
    for algorithm in ALGORITHMS {
        let file = model("hanoi.mdve");
        let goal = "peg[0] == 2 && peg[1] == 2 && peg[2] == 2 && peg[3] == 2";
        let arguments =
            ["check", &file, "--reach", goal, "--algorithm", algorithm, "--memory", "16MiB", "--json", "--quiet"];
        let found = lariat(&arguments).expect(1).json();
        let path = &found["properties"][0]["counterexample"];
        assert_eq!(
            (path["replayed"].as_bool(), path["prefix"].as_u64()),
            (Some(true), Some(15)),
            "{algorithm}: {path}"
        );
    }
}

#[test]
fn auto_goes_on_where_memory_ends() {
    let found = hanoi("auto", 14, &[]).expect(0).json();
    assert_eq!((found["states"].as_u64(), found["transitions"].as_u64()), (Some(4_782_969), Some(14_348_904)));
    assert_eq!(found["algorithm"], "disk");
    assert!(found["memory"]["peak"].as_u64().unwrap() <= (16 + 32) << 20, "{found}");
}

#[test]
fn the_directory_is_cleared_after_an_answer_and_kept_if_asked_for() {
    let folder = scratch("disk-keep").join("states");
    let directory = folder.display().to_string();
    let found = hanoi("disk", 9, &["--disk", &directory]).expect(0).json();
    assert!(found["disk"]["peak"].as_u64().unwrap() > 0 && found["io"]["bytes_written"].as_u64().unwrap() > 0);
    assert!(!folder.exists());
    hanoi("disk", 9, &["--disk", &directory, "--keep"]).expect(0);
    assert!(folder.join("manifest.lariat").exists());
    let refused = hanoi("disk", 9, &["--disk", &directory]).expect(2);
    assert!(refused.err.contains("lariat resume"), "{}", refused.err);
}

#[test]
fn a_limit_on_the_disk_ends_the_search_and_it_can_be_gone_on_with() {
    let folder = scratch("disk-limit").join("states");
    let directory = folder.display().to_string();
    let ended = hanoi("disk", 12, &["--disk", &directory, "--disk-limit", "64KiB"]).expect(3);
    assert!(ended.err.contains("resume"), "{}", ended.err);
    let found = lariat(&["resume", &directory, "--disk-limit", "1GiB"]).expect(0).json();
    assert_eq!(found["states"].as_u64(), Some(531_441));
    assert!(!folder.exists());
}

#[test]
fn killed_again_and_again_the_search_comes_to_the_same_end() {
    let folder = scratch("disk-kill").join("states");
    let directory = folder.display().to_string();
    let (file, define) = (model("hanoi.mdve"), "N=13");
    let arguments = [
        "explore",
        &file,
        "-D",
        define,
        "--algorithm",
        "disk",
        "--memory",
        "16MiB",
        "--json",
        "--quiet",
        "--disk",
        &directory,
    ];
    let run_for = |arguments: &[&str], time: Duration| {
        let mut child = command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(time);
        child.kill().unwrap();
        child.wait().unwrap();
    };
    run_for(&arguments, Duration::from_millis(150));
    for i in 1..6 {
        if !folder.exists() {
            break;
        }
        run_for(&["resume", &directory], Duration::from_millis(60 * i));
    }
    let found = if folder.exists() { lariat(&["resume", &directory]) } else { lariat(&arguments) };
    let found = found.expect(0).json();
    assert_eq!((found["states"].as_u64(), found["transitions"].as_u64()), (Some(1_594_323), Some(4_782_966)));
}

#[test]
fn what_cannot_be_gone_on_with_is_said() {
    let folder = scratch("disk-nothing");
    let refused = lariat(&["resume", &folder.display().to_string()]).expect(2);
    assert!(refused.err.contains("no check"), "{}", refused.err);
    let missing = folder.join("missing").display().to_string();
    lariat(&["resume", &missing]).expect(2);
    // A model that has changed is another check.
    let (file, states) = (folder.join("changing.dve"), folder.join("states"));
    let text = |n: u32| {
        format!(
            "byte x = 0;\nprocess P {{ state a; init a; trans a -> a {{ guard x < {n}; effect x = x + 1; }}; }}\nsystem async;\n"
        )
    };
    std::fs::write(&file, text(50)).unwrap();
    let (file, states) = (file.display().to_string(), states.display().to_string());
    lariat(&["explore", &file, "--algorithm", "disk", "--disk", &states, "--keep", "--quiet"]).expect(0);
    std::fs::write(&file, text(60)).unwrap();
    let refused = lariat(&["resume", &states]).expect(2);
    assert!(refused.err.contains("is not what it was"), "{}", refused.err);
}

#[test]
fn two_processes_cannot_use_one_directory() {
    let directory = scratch("disk-two").join("states").display().to_string();
    let (file, define) = (model("hanoi.mdve"), "N=16");
    let arguments =
        ["explore", &file, "-D", define, "--algorithm", "disk", "--memory", "16MiB", "--quiet", "--disk", &directory];
    let mut first = command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let second = lariat(&arguments).expect(2);
    assert!(second.err.contains("uses"), "{}", second.err);
    let _ = first.kill();
    first.wait().unwrap();
}
