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
fn what_is_damaged_is_named_and_nothing_goes_on_with_it() {
    let folder = scratch("disk-damage").join("states");
    let directory = folder.display().to_string();
    hanoi("disk", 12, &["--disk", &directory, "--keep"]).expect(0);
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let runs = entries.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("run-")));
    for run in runs {
        let mut bytes = std::fs::read(&run).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&run, bytes).unwrap();
    }
    let ended = lariat(&["resume", &directory]).expect(4);
    assert!(ended.err.contains("run-") && ended.err.contains("begin anew"), "{}", ended.err);
    assert!(!ended.err.contains("go on with: "), "{}", ended.err);
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
    // A process that is killed before it has published anything, or while it clears up, leaves no manifest.
    let is_there = || folder.join("manifest.lariat").exists();
    for i in 1..6 {
        if is_there() {
            run_for(&["resume", &directory], Duration::from_millis(60 * i));
        }
    }
    let found = if is_there() {
        lariat(&["resume", &directory])
    } else {
        let _ = std::fs::remove_dir_all(&folder);
        lariat(&arguments)
    };
    let found = found.expect(0).json();
    assert_eq!((found["states"].as_u64(), found["transitions"].as_u64()), (Some(1_594_323), Some(4_782_966)));
}

/// Three counters with `n` values each, so many that the algorithm takes some time.
fn counters(folder: &std::path::Path, n: u64) -> String {
    let last = n - 1;
    let process = |name: &str, cell: &str| {
        format!(
            "process {name} {{ state a; init a; trans a -> a {{ guard {cell} < {last}; effect {cell} = {cell} + 1; }}; }}\n"
        )
    };
    let processes = process("P", "x") + &process("Q", "y") + &process("R", "z");
    common::write(folder, "counters.dve", format!("byte x; byte y; byte z;\n{processes}system async;\n").as_bytes())
}

/// Does `run` with as many values of a counter as are needed for the machine not to be done before it is interrupted:
/// a million states, or six for algorithms that are fast, or more until `run` says that it was not too late.
fn with_enough_values(algorithm: &str, run: impl Fn(u64) -> bool) {
    let first = if ["part", "disk"].contains(&algorithm) { 180 } else { 100 };
    let mut numbers = (0..5).map(|i| (first + first * i / 3).min(256));
    assert!(numbers.any(run), "{algorithm} was always done before it was interrupted");
}

/// Starts a search, and waits until it has published something; none, if it came to its end before.
fn start_until_published(arguments: &[&str], directory: &std::path::Path) -> Option<std::process::Child> {
    let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let manifest = || std::fs::read_to_string(directory.join("manifest.lariat")).unwrap_or_default();
    while !manifest().contains("text algorithm") {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.code().is_some_and(|code| code <= 1), "{arguments:?}: {status}");
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(child)
}

/// Kills a search; tells whether that came before its end.
fn kill(child: &mut std::process::Child) -> bool {
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

/// Every search is killed as soon as it has published something, and again soon after, and goes on from there.
#[test]
fn every_algorithm_goes_on_after_it_was_killed() {
    let runs: [(&str, &[&str]); 10] = [
        ("mono", &[]),
        ("mono", &["--table", "open", "--compact", "60"]),
        ("local", &[]),
        ("local", &["--compact", "60"]),
        ("part", &["--table", "open"]),
        ("part", &["--compact", "60"]),
        ("ebfs", &[]),
        ("ebfs", &["--compact", "60"]),
        ("cbfs", &[]),
        ("disk", &["--compact", "60"]),
    ];
    for (algorithm, more) in runs {
        with_enough_values(algorithm, |n| is_killed_and_goes_on(algorithm, more, n));
    }
}

/// False if the search was too fast to be killed twice.
fn is_killed_and_goes_on(algorithm: &str, more: &[&str], n: u64) -> bool {
    let folder = scratch("disk-kill-all");
    let (file, states) = (counters(&folder, n), folder.join("states"));
    let directory = states.display().to_string();
    let mut arguments = vec!["explore", &file, "--algorithm", algorithm, "--memory", "16MiB"];
    arguments.extend(["--json", "--quiet", "--disk", &directory]);
    arguments.extend(more);
    let Some(mut child) = start_until_published(&arguments, &states) else {
        return false;
    };
    if !kill(&mut child) {
        return false;
    }
    let mut child = command(&["resume", &directory]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    // What is left of a directory while it is cleared holds no manifest.
    if !kill(&mut child) || !states.join("manifest.lariat").exists() {
        return false;
    }
    let found = lariat(&["resume", &directory]).expect(0).json();
    let counts = ["states", "transitions", "deadlocks"].map(|name| found[name].as_u64().unwrap());
    assert_eq!(counts, [n * n * n, 3 * (n - 1) * n * n, 1], "{algorithm} {more:?}");
    let levels = if ["part", "disk"].contains(&algorithm) { None } else { Some(3 * (n - 1) + 1) };
    assert_eq!(found["levels"].as_u64(), levels, "{algorithm} {more:?}");
    let phases = found["phases"].as_array().unwrap();
    assert!(phases.iter().any(|phase| phase["name"] == "resume"), "{algorithm} {more:?} began again");
    assert!(!states.exists());
    true
}

/// After an interrupt the output says how to go on, and that works for checks and explorations.
#[test]
fn every_algorithm_goes_on_after_an_interrupt() {
    for algorithm in ["mono", "local", "part", "ebfs", "cbfs"] {
        for is_check in [false, true] {
            with_enough_values(algorithm, |n| is_interrupted_and_goes_on(algorithm, is_check, n));
        }
    }
}

/// False if the search was too fast to be interrupted.
fn is_interrupted_and_goes_on(algorithm: &str, is_check: bool, n: u64) -> bool {
    let folder = scratch("disk-interrupt-all");
    let (file, states) = (counters(&folder, n), folder.join("states"));
    let directory = states.display().to_string();
    let goal = format!("x + y + z == {}", 3 * (n - 1));
    let mut arguments = if is_check { vec!["check", &file, "--reach", &goal] } else { vec!["explore", &file] };
    arguments.extend(["--algorithm", algorithm, "--memory", "16MiB", "--quiet", "--disk", &directory]);
    let Some(child) = start_until_published(&arguments, &states) else {
        return false;
    };
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let ended = common::Ran::from(child.wait_with_output().unwrap());
    if ended.code == if is_check { 1 } else { 0 } {
        return false;
    }
    let ended = ended.expect(3);
    assert!(ended.out.contains(&format!("lariat resume {directory}")), "{algorithm}: {}", ended.out);
    let resumed = lariat(&["resume", &directory, "--json"]);
    if is_check {
        let found = resumed.expect(1).json();
        let path = &found["properties"][0]["counterexample"];
        let (replayed, prefix) = (path["replayed"].as_bool(), path["prefix"].as_u64());
        assert_eq!((replayed, prefix), (Some(true), Some(3 * (n - 1))), "{algorithm}");
    } else {
        assert_eq!(resumed.expect(0).json()["states"].as_u64(), Some(n * n * n), "{algorithm}");
    }
    assert!(!states.exists());
    true
}

/// The successors of one state may not take more than the memory.
#[test]
fn a_state_with_too_many_successors_is_a_limit() {
    let folder = scratch("disk-wide");
    // Six processes at once, each with 13 choices: five million successors of the first state.
    let process = |i: u32| {
        let moves: Vec<String> = (1..=13).map(|v| format!("a -> b {{ effect x{i} = {v}; }}")).collect();
        format!("byte x{i};\nprocess P{i} {{ state a, b; init a; trans {}; }}\n", moves.join(", "))
    };
    let text = (0..6).map(process).collect::<String>() + "system sync;\n";
    let file = common::write(&folder, "wide.dve", text.as_bytes());
    for algorithm in ["disk", "mono", "part", "ebfs", "cbfs", "ram"] {
        for engine in ["jit", "interpreter"] {
            let arguments =
                ["explore", &file, "--algorithm", algorithm, "--memory", "16MiB", "--engine", engine, "--quiet"];
            let ended = lariat(&arguments).expect(3);
            assert!(ended.err.contains("successors of one state"), "{algorithm}: {}", ended.err);
        }
    }
    for algorithm in ["auto", "scc", "ndfs", "dac", "map", "ioemc", "flash", "iddfs", "ddfs", "las", "daac", "minimal"]
    {
        let arguments = ["check", &file, "--ltl", "G F P0.b", "--algorithm", algorithm, "--memory", "16MiB", "--quiet"];
        let ended = lariat(&arguments).expect(3);
        assert!(ended.err.contains("successors of one state"), "{algorithm}: {}", ended.err);
    }
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
    let folder = scratch("disk-two").join("states");
    let directory = folder.display().to_string();
    let (file, define) = (model("hanoi.mdve"), "N=16");
    let arguments =
        ["explore", &file, "-D", define, "--algorithm", "disk", "--memory", "16MiB", "--quiet", "--disk", &directory];
    let mut first = start_until_published(&arguments, &folder).expect("a search of many seconds");
    let second = lariat(&arguments).expect(2);
    assert!(second.err.contains("uses"), "{}", second.err);
    let _ = first.kill();
    first.wait().unwrap();
}
