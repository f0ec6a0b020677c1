//! The BEEM models of the shared folder: all of them are understood, and the smaller ones have the known counts. (The larger
//! ones are compared by the program `beem` under `bench/`.)

#![allow(clippy::disallowed_methods, reason = "these tests write models and read traces")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::lariat;
use lariat_testkit::{beem_rows, load_model, shared_folder};
use std::sync::atomic::{AtomicUsize, Ordering};

const STATES_MAX: u64 = 1_200_000;

#[test]
fn all_models_parse() {
    let Some(folder) = shared_folder() else { return };
    let mut n_models = 0;
    for folder in [folder.join("beem"), folder.join("beem/papers")] {
        for entry in std::fs::read_dir(&folder).expect("the models") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|e| e == "dve") {
                load_model(&path, &[]);
                n_models += 1;
            }
        }
    }
    assert!(n_models >= 160, "{n_models} models");
}

#[test]
fn counts_agree_with_other_tools() {
    let mut rows = beem_rows();
    if shared_folder().is_none() {
        return;
    }
    rows.retain(|row| row.states <= STATES_MAX);
    assert!(rows.len() >= 100, "{} rows", rows.len());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for threads in ["1", "3"] {
            let (next, rows) = (&next, &rows);
            scope.spawn(move || {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let path = row.path.display().to_string();
                    let options = ["explore", &path, "--json", "--quiet", "--threads", threads];
                    let found = lariat(&options).expect(0).json();
                    let counts = ["states", "transitions", "levels", "deadlocks"].map(|key| found[key].as_u64());
                    let expected = [row.states, row.transitions, row.levels, row.deadlocks].map(Some);
                    assert_eq!(counts, expected, "{}", row.model);
                }
            });
        }
    });
}
