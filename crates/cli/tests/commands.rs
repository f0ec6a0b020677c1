//! The command line as `docs/interface.md` promises it: exit codes, the JSON object, traces, limits.

#![allow(clippy::disallowed_methods, reason = "these tests write models and read traces")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::{command, lariat, model, scratch, tampered_versions, write};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

const RACE: &str = "byte x; byte lock;
process A { byte i; state idle, in, out; init idle; trans
  idle -> in { guard lock == 0; effect lock = 1; },
  in -> out { effect x = x + 1, i = x; },
  out -> idle { guard x < 4; effect lock = 0; }; }
process B { state idle, in; init idle; trans
  idle -> in { guard lock == 0; },
  in -> idle { effect x = 0; }; }
system async;
";

#[test]
fn the_json_object_has_every_field() {
    let found = lariat(&["explore", &model("peterson.mdve"), "--json"]).expect(0).json();
    assert_eq!(found["lariat"], env!("CARGO_PKG_VERSION"));
    assert_eq!(found["command"], "explore");
    assert_eq!(found["verdict"], "complete");
    assert_eq!(found["algorithm"], "ram");
    assert_eq!(found["properties"], Value::Array(Vec::new()));
    for path in [
        "/model/state_bytes",
        "/model/processes",
        "/states",
        "/transitions",
        "/levels",
        "/deadlocks",
        "/accepting",
        "/seconds",
        "/memory/budget",
        "/memory/peak",
        "/disk/peak",
        "/disk/stored",
        "/disk/bytes_per_state",
        "/io/read_ops",
        "/io/write_ops",
        "/io/random_reads",
        "/io/random_writes",
        "/io/bytes_read",
        "/io/bytes_written",
        "/io/block",
    ] {
        assert!(found.pointer(path).is_some_and(Value::is_number), "{path}");
    }
    assert!(found["phases"][0]["name"].is_string() && found["phases"][0]["seconds"].is_number());
    assert!(found["model"]["file"].as_str().is_some_and(|f| f.ends_with("peterson.mdve")));
}

#[test]
fn several_properties_get_their_own_verdicts() {
    let folder = scratch("several");
    let file = write(&folder, "race.dve", RACE.as_bytes());
    let found = lariat(&[
        "check",
        &file,
        "--json",
        "--invariant",
        "x <= 4",
        "--invariant",
        "x < 2",
        "--reach",
        "A.out && B.in",
        "--reach",
        "x > 5",
        "--deadlock",
        "--assertions",
    ])
    .expect(1)
    .json();
    let verdicts: Vec<_> = (0..6).map(|i| found["properties"][i]["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["holds", "violated", "violated", "holds", "violated", "holds"]);
    assert_eq!(found["properties"][1]["name"], "invariant:x < 2");
    assert_eq!(found["properties"][1]["kind"], "invariant");
    assert_eq!(found["properties"][4]["kind"], "deadlock");
    assert_eq!(found["properties"][5]["kind"], "assertion");
    assert_eq!(found["verdict"], "violated");
}

#[test]
fn without_properties_deadlocks_and_assertions_are_checked() {
    let found = lariat(&["check", &model("peterson.mdve"), "--json"]).expect(0).json();
    let kinds: Vec<_> = (0..2).map(|i| found["properties"][i]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["deadlock", "assertion"]);
}

#[test]
fn a_counterexample_says_who_moved_and_what_changed() {
    let folder = scratch("text");
    let file = write(&folder, "race.dve", RACE.as_bytes());
    let text = lariat(&["check", &file, "--invariant", "x < 1"]).expect(1).out;
    assert!(text.contains("Counterexample to invariant `x < 1`"), "{text}");
    assert!(text.contains("   1  A: idle -> in (line 3)\n        lock: 0 -> 1\n"), "{text}");
    assert!(text.contains("   2  A: in -> out (line 4)\n        x: 0 -> 1\n        A->i: 0 -> 1\n"), "{text}");
    assert!(text.contains("invariant:x < 1: violated"), "{text}");
}

#[test]
fn what_leads_to_the_error_state_is_named() {
    let folder = scratch("error");
    let text = "byte x = 250; process P { state a; init a; trans a -> a { effect x = x + 2; }; } system async;";
    let file = write(&folder, "overflow.dve", text.as_bytes());
    let found = lariat(&["explore", &file, "--json"]).expect(0).json();
    assert_eq!((found["states"].as_u64(), found["deadlocks"].as_u64()), (Some(4), Some(0)));
    assert!(found["error"].as_str().unwrap().contains("256 does not fit into x, which holds 0..255"), "{found}");
    let text = lariat(&["check", &file]).expect(1).out;
    assert!(text.contains("error state: 256 does not fit into x"), "{text}");
    assert!(text.contains("deadlock: holds") && text.contains("assertion: violated"), "{text}");
}

#[test]
fn traces_are_replayed_and_tampered_ones_rejected() {
    let folder = scratch("replay");
    let file = write(&folder, "race.dve", RACE.as_bytes());
    let trace = folder.join("t.itf.json").display().to_string();
    for property in [&["--invariant", "x < 3"][..], &["--reach", "A.out && B.in && x == 2"], &["--deadlock"]] {
        let mut arguments = vec!["check", &file, "--trace", &trace];
        arguments.extend_from_slice(property);
        lariat(&arguments).expect(1);
        lariat(&["replay", &file, &trace]).expect(0);
        let good = std::fs::read_to_string(&trace).unwrap();
        let n = tampered_versions(&good).inspect(|bad| {
            std::fs::write(&trace, bad).unwrap();
            let ran = lariat(&["replay", &file, &trace]);
            assert_eq!(ran.code, 2, "accepted:\n{bad}");
        });
        assert!(n.count() > 50);
    }
}

#[test]
fn traces_come_as_text_and_graph_too() {
    let folder = scratch("formats");
    let file = write(&folder, "race.dve", RACE.as_bytes());
    for (name, part) in [("t.txt", "A: idle -> in (line 3)"), ("t.dot", "digraph trace"), ("t.json", "\"vars\"")] {
        let trace = folder.join(name).display().to_string();
        lariat(&["check", &file, "--invariant", "x < 1", "--trace", &trace]).expect(1);
        assert!(std::fs::read_to_string(&trace).unwrap().contains(part), "{name}");
    }
    let trace = folder.join("t.itf.json").display().to_string();
    let found =
        lariat(&["check", &file, "--invariant", "x < 1", "--deadlock", "--trace", &trace, "--json"]).expect(1).json();
    assert_eq!(found["properties"][1]["counterexample"]["file"], trace.replace("t.itf", "t.2.itf"));
    lariat(&["replay", &file, &trace.replace("t.itf", "t.2.itf")]).expect(0);
    lariat(&["check", &file, "--deadlock", "--trace", "t.png"]).expect(2);
}

#[test]
fn limits_end_without_an_answer() {
    let hanoi = model("hanoi.mdve");
    let arguments = ["explore", &hanoi, "-D", "N=15", "--memory", "16MiB", "--algorithm", "ram", "--json", "--quiet"];
    let found = lariat(&arguments).expect(3).json();
    assert_eq!((found["verdict"].as_str(), found["limit"].as_str()), (Some("unknown"), Some("memory")));
    assert!(found["states"].as_u64().unwrap() > 100_000);
    assert!(found["memory"]["peak"].as_u64().unwrap() <= (16 + 32) << 20, "{found}");
    let found = lariat(&["check", &hanoi, "-D", "N=15", "--time-limit", "100ms", "--reach", "false", "--json"]);
    let found = found.expect(3).json();
    assert_eq!((found["verdict"].as_str(), found["limit"].as_str()), (Some("unknown"), Some("time")));
    assert_eq!(found["properties"][0]["verdict"], "unknown");
    let text = lariat(&["explore", &hanoi, "-D", "N=15", "--time-limit", "100ms"]).expect(3).out;
    assert!(text.contains("the time limit was reached"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_with_what_was_reached() {
    let hanoi = model("hanoi.mdve");
    let child = command(&["explore", &hanoi, "-D", "N=15", "--json", "--threads", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    wait_for_signal_handler(&id);
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ran: common::Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.expect(3).json()["limit"], "interrupted");
}

/// Waits until the process catches SIGINT; Hanoi with 15 discs takes many seconds from then on.
#[cfg(target_os = "linux")]
fn wait_for_signal_handler(id: &str) {
    loop {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("a running process");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("SigCgt");
        let caught = u64::from_str_radix(caught.trim(), 16).expect("a mask");
        if caught >> 1 & 1 == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn walks_are_named_by_their_seed() {
    let elevator = model("elevator.mdve");
    let walk = |seed: &str| lariat(&["simulate", &elevator, "--seed", seed, "--steps", "30"]).expect(0).out;
    assert_eq!(walk("1"), walk("1"));
    assert_ne!(walk("1"), walk("2"));
    let folder = scratch("walk");
    let trace = folder.join("walk.itf.json").display().to_string();
    lariat(&["simulate", &elevator, "--seed", "3", "--trace", &trace]).expect(0);
    lariat(&["replay", &elevator, &trace]).expect(0);
}

#[test]
fn walks_can_be_taken_step_by_step() {
    let folder = scratch("interactive");
    let file = write(&folder, "race.dve", RACE.as_bytes());
    let mut child = command(&["simulate", &file, "-i"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"1\nx\n99\nb\n2\ns\nr\nq\n").unwrap();
    let ran: common::Ran = child.wait_with_output().unwrap().into();
    let out = ran.expect(0).out;
    assert!(out.contains("   1  A: idle -> in (line 3)\n        lock: 0 -> 1"), "{out}");
    assert!(out.contains("`x`: give a number from 1 to 1") && out.contains("`99`"), "{out}");
    assert!(out.contains("   1  B: idle -> in (line 7)"), "{out}");
    assert!(out.contains("state after 1 steps"), "{out}");
}

#[test]
fn graphs_are_exported() {
    let folder = scratch("export");
    let text = "byte x; process P { state a, b; init a; trans a -> b { }, a -> b { guard x == 0; }, b -> b { }, b -> a { effect x = 256; }; } system async;";
    let file = write(&folder, "small.dve", text.as_bytes());
    let export = |name: &str| {
        let path = folder.join(name).display().to_string();
        lariat(&["explore", &file, "--export", &path]).expect(0);
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(export("g.edges"), "states 3\ninitial 0\naccepting\n0 1\n0 1\n1 1\n1 2\n");
    let aut = export("g.aut");
    assert!(aut.starts_with("des (0, 4, 3)\n(0, \"P: a -> b (line 1)\", 1)\n"), "{aut}");
    assert!(export("g.dot").contains("s1 -> s2"));
    lariat(&["explore", &file, "--export", "g.png"]).expect(2);
}

#[test]
fn models_are_described() {
    let text = lariat(&["model", &model("msi.mdve")]).expect(0).out;
    assert!(text.contains("committed") && text.contains("line "), "{text}");
    let found = lariat(&["model", &model("peterson.mdve"), "-D", "N=2", "--json"]).expect(0).json();
    assert_eq!(found["processes"].as_array().unwrap().len(), 2);
    assert_eq!(found["processes"][0]["transitions"][0]["from"], "outside");
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    assert!(lariat(&["completions", "bash"]).expect(0).out.contains("lariat"));
    assert!(lariat(&["man"]).expect(0).out.contains(".TH lariat"));
    assert!(lariat(&["check", "--help"]).expect(0).out.contains("--invariant"));
}

#[test]
fn an_outside_macro_processor_can_be_used() {
    let ran = lariat(&["explore", &model("peterson.mdve"), "--m4", "no-such-program"]).expect(2);
    assert!(ran.err.contains("cannot run no-such-program"), "{}", ran.err);
}

#[test]
fn both_engines_give_the_same_answers() {
    for engine in ["jit", "interpreter"] {
        let found = lariat(&["explore", &model("peterson.mdve"), "--engine", engine, "--json"]).expect(0);
        let wanted = lariat(&["explore", &model("peterson.mdve"), "--json"]).expect(0);
        assert_eq!(found.err, "");
        for field in ["states", "transitions", "levels", "deadlocks"] {
            assert_eq!(found.json()[field], wanted.json()[field], "{field}");
        }
        let folder = scratch(&format!("engine_{engine}"));
        lariat(&["check", &write(&folder, "race.dve", RACE.as_bytes()), "--engine", engine, "--deadlock"]).expect(1);
    }
    let synchronous = model("arbiter.mdve");
    let [jit, interpreter] = ["jit", "interpreter"].map(|engine| {
        let found = lariat(&["explore", &synchronous, "--engine", engine, "--json"]).expect(0);
        assert_eq!(found.err, "");
        ["states", "transitions", "levels", "deadlocks"].map(|field| found.json()[field].clone())
    });
    assert_eq!(jit, interpreter);
}

#[test]
fn a_model_with_too_many_moves_is_interpreted_with_a_note() {
    let pairs = |process: &str, sync: &str| {
        let moves: Vec<String> = (0..300).map(|i| format!("s{i} -> s{} {{ sync {sync}; }}", (i + 1) % 300)).collect();
        let locations: Vec<String> = (0..300).map(|i| format!("s{i}")).collect();
        format!("process {process} {{ state {}; init s0; trans {}; }}\n", locations.join(", "), moves.join(", "))
    };
    let text = format!("channel c;\n{}{}system async;\n", pairs("P", "c!"), pairs("Q", "c?"));
    let file = write(&scratch("many_moves"), "pairs.dve", text.as_bytes());
    let note = "note: the model is interpreted";
    let ran = lariat(&["explore", &file]).expect(0);
    assert!(ran.err.contains(note) && ran.out.contains("300 states"), "{}{}", ran.err, ran.out);
    assert!(!lariat(&["explore", &file, "--quiet"]).expect(0).err.contains(note));
    assert!(!lariat(&["explore", &file, "--engine", "interpreter"]).expect(0).err.contains(note));
}
