//! What developers run: `cargo xtask help`.

#![allow(clippy::print_stderr, reason = "a program for developers")]

use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask ci              format check, clippy with warnings denied, all tests
cargo xtask fuzz [SECONDS]  fuzz the readers of models, formulas and runs (needs `cargo install cargo-fuzz`)
cargo xtask bench           compare with known answers and sizes, then with SPIN (needs spin and gcc)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let fine = match arguments.as_slice() {
        ["ci"] => ci(),
        ["fuzz"] => fuzz("60"),
        ["fuzz", seconds] => fuzz(seconds),
        ["bench"] => bench(),
        _ => {
            eprint!("{HELP}");
            matches!(arguments.as_slice(), ["help" | "--help" | "-h"])
        }
    };
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn ci() -> bool {
    cargo(&["fmt", "--all", "--check"])
        && cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
        && cargo(&["test", "--workspace"])
}

fn fuzz(seconds: &str) -> bool {
    // The sanitizer flags that cargo-fuzz passes are for nightly compilers; this lets a stable one take them.
    let time = format!("-max_total_time={seconds}");
    ["dve", "ltl", "run"]
        .iter()
        .all(|target| run(Command::new("cargo").env("RUSTC_BOOTSTRAP", "1").args(["fuzz", "run", target, "--", &time])))
}

fn bench() -> bool {
    cargo(&["run", "--release", "-p", "lariat-bench", "--bin", "beem"])
        && cargo(&["run", "--release", "-p", "lariat-bench", "--bin", "products"])
        && cargo(&["run", "--release", "-p", "lariat-bench", "--bin", "ltl"])
        && cargo(&["run", "--release", "-p", "lariat-bench", "--bin", "startup"])
        && cargo(&["run", "--release", "-p", "lariat-bench", "--bin", "spin"])
}

fn cargo(arguments: &[&str]) -> bool {
    run(Command::new("cargo").args(arguments))
}

fn run(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot run {command:?}: {error}");
            false
        }
    }
}
