//! Every case of `models/expected.toml`, through the command line.

#![allow(clippy::disallowed_methods, reason = "these tests write models and read traces")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::{Ran, lariat, model};
use lariat_testkit::{ExpectedCase, expected_cases, models_folder};
use std::collections::BTreeSet;

fn run(command: &str, case: &ExpectedCase, options: &[String]) -> Ran {
    let mut arguments = vec![command.to_owned(), model(&case.model), "--json".to_owned(), "--quiet".to_owned()];
    for (name, value) in &case.parameters {
        arguments.extend(["-D".to_owned(), format!("{name}={value}")]);
    }
    arguments.extend_from_slice(options);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    lariat(&arguments)
}

#[test]
fn counts_are_as_expected() {
    for case in expected_cases() {
        let found = run("explore", &case, &[]).expect(0).json();
        let counts = ["states", "transitions", "levels", "deadlocks"].map(|key| found[key].as_u64());
        let expected = [case.states, case.transitions, case.levels, case.deadlocks].map(Some);
        assert_eq!(counts, expected, "{} {:?}", case.model, case.parameters);
        assert_eq!(!found["error"].is_null(), case.error, "{} {:?}", case.model, case.parameters);
    }
}

#[test]
fn verdicts_and_shortest_counterexamples_are_as_expected() {
    let mut n_violated = 0;
    for case in expected_cases() {
        for check in &case.checks {
            let place = format!("{} {:?} {:?}", case.model, case.parameters, check.options);
            let code = if check.verdict == "violated" { 1 } else { 0 };
            let found = run("check", &case, &check.options).expect(code).json();
            assert_eq!(found["verdict"], check.verdict.as_str(), "{place}");
            let counterexample = &found["properties"][0]["counterexample"];
            match check.length {
                None => assert!(check.verdict == "holds" && counterexample.is_null(), "{place}"),
                Some(length) => {
                    n_violated += 1;
                    assert_eq!(counterexample["prefix"], length, "{place}");
                    assert_eq!(counterexample["replayed"], true, "{place}");
                }
            }
        }
    }
    assert!(n_violated > 50, "bugs are found: {n_violated}");
}

#[test]
fn property_processes_and_their_products_are_as_expected() {
    let mut n_violated = 0;
    for case in expected_cases() {
        for product in &case.products {
            let place = format!("{} {:?} {}", case.model, case.parameters, product.property);
            let property = ["--property".to_owned(), product.property.clone()];
            let found = run("explore", &case, &property).expect(0).json();
            let counts = ["states", "transitions", "accepting"].map(|key| found[key].as_u64());
            let expected = [product.states, product.transitions, product.accepting].map(Some);
            assert_eq!(counts, expected, "{place}");
            let code = if product.verdict == "violated" { 1 } else { 0 };
            n_violated += code;
            for algorithm in ["auto", "ndfs", "scc"] {
                let options = [&property[..], &["--algorithm".to_owned(), algorithm.to_owned()]].concat();
                let found = run("check", &case, &options).expect(code).json();
                assert_eq!(found["properties"][0]["verdict"], product.verdict.as_str(), "{place}");
                if code == 0 {
                    let counts = ["states", "transitions", "accepting"].map(|key| found[key].as_u64());
                    assert_eq!(counts, expected, "{place}");
                }
            }
        }
    }
    assert!(n_violated > 1, "bugs are found: {n_violated}");
}

#[test]
fn every_model_has_expected_facts() {
    let known: BTreeSet<String> = expected_cases().into_iter().map(|case| case.model).collect();
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(models_folder()).expect("the models") {
        let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
        if name.ends_with(".dve") || name.ends_with(".mdve") {
            files.insert(name);
        }
    }
    assert_eq!(known, files);
    assert!(files.len() >= 14);
}
