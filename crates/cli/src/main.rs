//! The `lariat` command. The only place that reads the environment, opens files, prints, or knows exit codes.
//!
//! | command | file |
//! |---|---|
//! | options and help of all commands | `options.rs` |
//! | `check` | `check.rs`, `temporal.rs` |
//! | `explore`, `--export` | `explore.rs`, `export.rs` |
//! | `resume` | `resume.rs` |
//! | `ltl` | `ltl.rs` |
//! | `model` | `describe.rs` |
//! | `simulate` | `simulate.rs` |
//! | `replay` | `replay.rs` |
//! | reading a model, macros included | `load.rs` |
//! | running searches; files of traces | `run.rs`, `trace_file.rs` |
//! | the directory for what does not fit into memory | `scratch.rs` |
//! | the machine: memory, signals | `machine.rs` |
//! | the progress line | `progress.rs` |

#![allow(clippy::disallowed_methods, reason = "the command line is where files are opened and the program ends")]

mod algorithms;
mod all_cycles;
mod check;
mod describe;
mod engine;
mod explore;
mod export;
mod failure;
mod good_runs;
mod liveness;
mod load;
mod ltl;
mod machine;
mod options;
mod output;
mod program_memory;
mod progress;
mod replay;
mod resume;
mod run;
mod scratch;
mod simulate;
mod temporal;
mod trace_file;

use clap::{CommandFactory, Parser};
use failure::{ExitStatus, Failure};
use options::{Command, Options};

/// The parser and the interpreter recurse on expressions, whose depth the front end bounds with this in mind.
const STACK_BYTES: usize = 256 << 20;

fn main() -> std::process::ExitCode {
    lariat_disk::program_pages::keep_little_freed();
    let options = Options::parse();
    let worker = std::thread::Builder::new().name("lariat".to_owned()).stack_size(STACK_BYTES);
    let result = match worker.spawn(move || dispatch(options)) {
        Ok(thread) => thread.join().unwrap_or_else(|_| {
            Err(Failure::machine("internal error: please report it with the model and the command"))
        }),
        Err(error) => Err(Failure::machine(format!("cannot start a thread: {error}"))),
    };
    let status = match result {
        Ok(status) => status,
        Err(failure) => {
            output::error(&failure.message);
            failure.status
        }
    };
    std::process::ExitCode::from(status as u8)
}

fn dispatch(options: Options) -> Result<ExitStatus, Failure> {
    match options.command {
        Command::Check(options) => check::check(&options),
        Command::Explore(options) => explore::explore(&options),
        Command::Resume(options) => resume::resume(&options),
        Command::Ltl(options) => ltl::translate(&options),
        Command::Model(options) => describe::describe(&options),
        Command::Simulate(options) => simulate::simulate(&options),
        Command::Replay(options) => replay::replay(&options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Options::command(), "lariat", &mut script);
            output::bytes(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            let written = clap_mangen::Man::new(Options::command()).render(&mut page);
            written.map_err(|error| Failure::machine(format!("cannot write the manual page: {error}")))?;
            output::bytes(&page)
        }
    }
}
