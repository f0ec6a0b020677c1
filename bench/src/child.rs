//! Running a program and measuring what it alone took.
//!
//! The system tells a process the peak memory of *all* of its finished children together, and only that. So each
//! program is run by a copy of the current executable that has no other child; the copy measures, and prints what it
//! saw as one JSON object. The executable has to call [`measure_if_asked`] before anything else.

use crate::control_group::ControlGroup;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// The first argument of a copy that measures.
const MEASURE: &str = "--measure-one-program";

/// A program that has ended, and what it took.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// What it wrote to its standard output.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
    /// Seconds from its start to its end.
    pub wall: f64,
    /// CPU seconds, in the program and in the system, of it and of the children it waited for.
    pub cpu: f64,
    /// The most memory that was resident at once, in bytes.
    pub peak: u64,
}

impl Finished {
    /// How it ended and the last line it wrote to standard error, for messages.
    pub fn ending(&self) -> String {
        let how = match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None) => "ended in an unknown way".to_owned(),
        };
        match self.stderr.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => format!("{how}: {}", line.trim()),
            None => how,
        }
    }
}

/// Runs `program` with `arguments` in `folder`, and waits until it ends.
///
/// # Errors
/// If it could not be started or measured. A program that ran and failed is no error here.
pub fn run(program: &Path, arguments: &[OsString], folder: &Path) -> Result<Finished, String> {
    let mut command = vec![program.into()];
    command.extend_from_slice(arguments);
    run_command(&command, folder)
}

/// The same in a control group; the copy that measures stays outside.
///
/// # Errors
/// As [`run`].
pub fn run_in(group: &ControlGroup, program: &Path, arguments: &[OsString], folder: &Path) -> Result<Finished, String> {
    // A shell that joins becomes the program.
    let join = ["sh", "-c", "echo $$ > \"$0\" && exec \"$@\""].map(OsString::from);
    let mut command = join.to_vec();
    command.extend([group.processes().into(), program.into()]);
    command.extend_from_slice(arguments);
    run_command(&command, folder)
}

fn run_command(command: &[OsString], folder: &Path) -> Result<Finished, String> {
    let copy = std::env::current_exe().map_err(|e| format!("the current executable is unknown: {e}"))?;
    let output = Command::new(copy)
        .arg(MEASURE)
        .args(command)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cannot start a copy that measures: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let seen: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("the measurement of {} is unreadable: {e}", command[0].display()))?;
    read(&seen).ok_or_else(|| format!("the measurement of {} is incomplete", command[0].display()))
}

/// Where this process was started as the copy that measures: runs the program, prints the measurement, and gives the
/// code to exit with. Otherwise `None`.
pub fn measure_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(MEASURE)) {
        return None;
    }
    let program = arguments.next().unwrap_or_default();
    Some(match measure(&program, arguments) {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    })
}

fn measure(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> Result<Value, String> {
    let start = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cannot run {}: {e}", program.display()))?;
    let wall = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| format!("cannot measure: {e}"))?;
    // The system counts kilobytes here.
    let peak = u64::try_from(usage.max_rss()).unwrap_or(0) * 1024;
    Ok(json!({
        "code": output.status.code(),
        "signal": output.status.signal(),
        "stdout": String::from_utf8_lossy(&output.stdout),
        "stderr": String::from_utf8_lossy(&output.stderr),
        "wall": wall,
        "cpu": seconds(usage.user_time()) + seconds(usage.system_time()),
        "peak": peak,
    }))
}

fn seconds(time: TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

fn read(seen: &Value) -> Option<Finished> {
    let number = |name: &str| seen[name].as_i64().and_then(|n| i32::try_from(n).ok());
    Some(Finished {
        code: number("code"),
        signal: number("signal"),
        stdout: seen["stdout"].as_str()?.to_owned(),
        stderr: seen["stderr"].as_str()?.to_owned(),
        wall: seen["wall"].as_f64()?,
        cpu: seen["cpu"].as_f64()?,
        peak: seen["peak"].as_u64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Finished {
        let arguments = ["-c", script].map(OsString::from);
        read(&measure(OsStr::new("sh"), arguments.into_iter()).unwrap()).unwrap()
    }

    #[test]
    fn a_program_is_measured() {
        let seen = shell("echo out; echo err >&2; exit 7");
        assert_eq!((seen.code, seen.signal), (Some(7), None));
        assert_eq!((seen.stdout.as_str(), seen.stderr.as_str()), ("out\n", "err\n"));
        assert!(seen.wall > 0.0 && seen.peak > 0, "{seen:?}");
        assert_eq!(seen.ending(), "exit code 7: err");
    }

    #[test]
    fn a_signal_is_seen() {
        let seen = shell("kill -9 $$");
        assert_eq!((seen.code, seen.signal), (None, Some(9)));
        assert_eq!(seen.ending(), "ended by signal 9");
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let error = measure(OsStr::new("/no/such/program"), std::iter::empty()).unwrap_err();
        assert!(error.starts_with("cannot run /no/such/program"), "{error}");
    }
}
