//! Checks the expansion against a table, and the table against the program m4 where there is one.

mod cases;

use std::io::Write;
use std::process::{Command, Stdio};

use lariat_m4::expand;

fn no_files(name: &str) -> Result<String, String> {
    Err(format!("no file {name}"))
}

fn check(input: &str, expected: &str) {
    match expand(input, &[], &mut no_files) {
        Ok(expansion) => {
            assert_eq!(expansion.text, expected, "input: {input}");
            let lines = expansion.text.lines().count();
            assert_eq!(expansion.origins.len(), lines, "input: {input}");
            let last = input.lines().count() as u32;
            let inside = |line: &u32| (1..=last).contains(line);
            assert!(expansion.origins.iter().all(inside), "input: {input}");
        }
        Err(error) => panic!("{error}\ninput: {input}"),
    }
}

/// What the program m4 makes of `input`; nothing if there is no such program.
fn program(input: &str) -> Option<String> {
    let mut child = Command::new("m4")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    // An input that ends with m4exit is not read to its end, so the write may fail.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Another m4 may differ in details; the table is about GNU m4 1.4.
fn is_gnu() -> bool {
    let output = Command::new("m4").arg("--version").output();
    output
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with("m4 (GNU M4) 1.4"))
}

#[test]
fn the_table_holds() {
    let mut count = 0;
    for (input, expected) in cases::all() {
        check(input, expected);
        count += 1;
    }
    assert!(count > 100);
}

#[test]
fn the_program_agrees_with_the_table() {
    if !is_gnu() {
        return;
    }
    for (input, expected) in cases::all() {
        assert_eq!(program(input).as_deref(), Some(expected), "input: {input}");
    }
}
