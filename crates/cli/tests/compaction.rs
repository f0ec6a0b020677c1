//! `--compact`: signatures instead of visited states, and what is said about it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests write the models that they check")]

mod common;

use common::{lariat, model};

const ALGORITHMS: [&str; 7] = ["auto", "disk", "mono", "local", "part", "ebfs", "cbfs"];

fn explore(algorithm: &str, n: u32, bits: &str, more: &[&str]) -> common::Ran {
    let (file, define) = (model("hanoi.mdve"), format!("N={n}"));
    let mut arguments = vec!["explore", &file, "-D", &define, "--algorithm", algorithm, "--memory", "16MiB", "--quiet"];
    arguments.extend(["--compact", bits]);
    arguments.extend(more);
    lariat(&arguments)
}

#[test]
fn many_bits_find_everything_and_few_do_not() {
    for algorithm in ALGORITHMS {
        let found = explore(algorithm, 11, "64", &["--json"]).expect(0).json();
        let counts = ["states", "transitions", "deadlocks"].map(|name| found[name].as_u64().unwrap());
        assert_eq!(counts, [177_147, 531_438, 0], "{algorithm}");
        let p = found["compact"]["omission_probability"].as_f64().unwrap();
        assert!(found["compact"]["bits"] == 64 && p > 0.0 && p < 1e-8, "{algorithm}: {}", found["compact"]);

        let found = explore(algorithm, 11, "16", &["--json"]).expect(0).json();
        assert!(found["states"].as_u64().unwrap() <= 65_536, "{algorithm}");
        assert_eq!(found["compact"]["omission_probability"].as_f64(), Some(1.0), "{algorithm}");
    }
    let whole = lariat(&["explore", &model("hanoi.mdve"), "--json", "--quiet"]).expect(0).json();
    assert!(whole["compact"].is_null());
}

#[test]
fn verdicts_say_that_a_state_may_have_been_missed() {
    let file = model("hanoi.mdve");
    for algorithm in ALGORITHMS {
        let check = |what: &[&str]| {
            let mut arguments =
                vec!["check", &file, "-D", "N=6", "--algorithm", algorithm, "--compact", "40", "--quiet"];
            arguments.extend(what);
            lariat(&arguments)
        };
        let holds = check(&["--deadlock"]).expect(0);
        assert!(holds.out.contains("deadlock: holds (with hash compaction"), "{algorithm}: {}", holds.out);
        assert!(holds.out.contains("probability ≤ 2.4e-7"), "{algorithm}: {}", holds.out);
        let goal = "peg[0] == 2 && peg[1] == 2 && peg[2] == 2 && peg[3] == 2";
        let found = check(&["--reach", goal, "--json"]).expect(1).json();
        let path = &found["properties"][0]["counterexample"];
        assert_eq!((path["replayed"].as_bool(), path["prefix"].as_u64()), (Some(true), Some(15)), "{algorithm}");
    }
}

#[test]
fn what_cannot_be_compact_is_refused() {
    let file = model("hanoi.mdve");
    for algorithm in ["ram", "ndfs", "ddfs"] {
        let refused = lariat(&["explore", &file, "--algorithm", algorithm, "--compact", "40"]).expect(2);
        assert!(refused.err.contains("mono"), "{algorithm}: {}", refused.err);
    }
    let refused = lariat(&["check", &file, "--ltl", "G F \"peg[0] == 1\"", "--compact", "40"]).expect(2);
    assert!(refused.err.contains("temporal"), "{}", refused.err);
    for bits in ["15", "65", "many"] {
        lariat(&["explore", &file, "--compact", bits]).expect(2);
    }
}
