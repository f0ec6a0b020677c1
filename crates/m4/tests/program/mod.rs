//! Runs the program m4, where there is one, to compare with it.

use std::io::Write;
use std::process::{Command, Stdio};

/// What the program m4 makes of `input`; nothing if there is no such program.
pub fn run(input: &str) -> Option<String> {
    let mut child =
        Command::new("m4").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    // An input that ends with m4exit is not read to its end, so the write may fail.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Another m4 may differ in details; the table is about GNU m4 1.4.
pub fn is_gnu() -> bool {
    let output = Command::new("m4").arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with("m4 (GNU M4) 1.4"))
}
