//! Lariat: finding the program, running it, and reading its answer.

use crate::child::{self, Finished};
use crate::data;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The `lariat` executable to use: `named` if there is one, else the one that cargo builds from this repository; where
/// this program was not started by cargo, first the one beside it.
///
/// # Errors
/// If there is none, or cargo could not build it.
pub fn find(named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = named {
        return path.canonicalize().map_err(|e| format!("--lariat {}: {e}", path.display()));
    }
    match std::env::var_os("CARGO") {
        Some(cargo) => build(&cargo),
        None => match beside() {
            Some(path) => Ok(path),
            None => build(&OsString::from("cargo")),
        },
    }
}

fn beside() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name("lariat");
    path.is_file().then_some(path)
}

fn build(cargo: &OsString) -> Result<PathBuf, String> {
    let output = Command::new(cargo)
        .args(["build", "--release", "-p", "lariat-cli"])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(data::root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run cargo to build lariat: {e}; name it with --lariat PATH"))?;
    if !output.status.success() {
        return Err("cargo could not build lariat; name it with --lariat PATH".to_owned());
    }
    executable(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| "cargo does not say where it put lariat; name it with --lariat PATH".to_owned())
}

/// Where cargo put `lariat`, from the messages it prints.
fn executable(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "lariat")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// How to run an exploration.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// The memory budget in bytes; none leaves the choice to Lariat.
    pub memory: Option<u64>,
    /// The number of threads; none leaves the choice to Lariat.
    pub threads: Option<u16>,
}

/// What `lariat explore` counted, and what that took.
#[derive(Clone, Debug)]
pub struct Explored {
    /// States.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// Non-empty BFS levels.
    pub levels: u64,
    /// States without successors.
    pub deadlocks: u64,
    /// Bytes of a packed state.
    pub state_bytes: u64,
    /// Bytes that all stored states take, with the table that finds them.
    pub stored_bytes: u64,
    /// The process that counted them.
    pub process: Finished,
}

impl Explored {
    /// Bytes that a stored state takes beyond its packed row.
    pub fn overhead(&self) -> f64 {
        self.stored_bytes as f64 / self.states.max(1) as f64 - self.state_bytes as f64
    }
}

/// How an exploration ended.
#[derive(Clone, Debug)]
pub enum Exploration {
    /// Every state was seen.
    Complete(Explored),
    /// A limit came first; the word that the JSON object has for it.
    Limited(String),
    /// No answer, and the reason.
    Failed(String),
}

/// Explores the model in `file` with the program `lariat`.
///
/// # Errors
/// If the program could not be run at all.
pub fn explore(lariat: &Path, file: &Path, how: How) -> Result<Exploration, String> {
    let mut arguments: Vec<OsString> = ["explore", "--json", "--quiet"].map(OsString::from).into();
    if let Some(bytes) = how.memory {
        arguments.extend(["--memory".into(), bytes.to_string().into()]);
    }
    if let Some(threads) = how.threads {
        arguments.extend(["--threads".into(), threads.to_string().into()]);
    }
    arguments.push(file.into());
    Ok(read(child::run(lariat, &arguments, data::root())?))
}

fn read(process: Finished) -> Exploration {
    let answer: Value = serde_json::from_str(&process.stdout).unwrap_or_default();
    match process.code {
        Some(0) if answer["verdict"] == "complete" => match counts(&answer, &process) {
            Some(explored) => Exploration::Complete(explored),
            None => Exploration::Failed("its JSON object lacks a count".to_owned()),
        },
        Some(0) => Exploration::Failed("exit code 0, but its JSON object does not say `complete`".to_owned()),
        Some(3) => Exploration::Limited(answer["limit"].as_str().unwrap_or("unknown").to_owned()),
        _ => Exploration::Failed(process.ending()),
    }
}

fn counts(answer: &Value, process: &Finished) -> Option<Explored> {
    Some(Explored {
        states: answer["states"].as_u64()?,
        transitions: answer["transitions"].as_u64()?,
        levels: answer["levels"].as_u64()?,
        deadlocks: answer["deadlocks"].as_u64()?,
        state_bytes: answer["model"]["state_bytes"].as_u64()?,
        stored_bytes: answer["memory"]["stored"].as_u64()?,
        process: process.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"verdict": "complete", "states": 10, "transitions": 20, "levels": 3, "deadlocks": 1,
        "model": {"state_bytes": 5}, "memory": {"stored": 80}}"#;

    fn ended(code: i32, stdout: &str) -> Exploration {
        let (stdout, stderr) = (stdout.to_owned(), "why\n".to_owned());
        read(Finished { code: Some(code), signal: None, stdout, stderr, wall: 1.0, cpu: 1.0, peak: 1 })
    }

    #[test]
    fn a_complete_answer_is_read() {
        let Exploration::Complete(explored) = ended(0, ANSWER) else { panic!("not complete") };
        assert_eq!((explored.states, explored.transitions), (10, 20));
        assert_eq!((explored.levels, explored.deadlocks), (3, 1));
        assert_eq!(explored.overhead(), 3.0);
    }

    #[test]
    fn other_endings_are_told_apart() {
        assert!(matches!(ended(3, r#"{"limit": "memory"}"#), Exploration::Limited(l) if l == "memory"));
        assert!(matches!(ended(2, ""), Exploration::Failed(why) if why == "exit code 2: why"));
        for answer in ["", "{}", r#"{"verdict": "unknown"}"#, r#"{"verdict": "complete"}"#] {
            assert!(matches!(ended(0, answer), Exploration::Failed(_)), "{answer}");
        }
    }

    #[test]
    fn cargo_says_where_lariat_is() {
        let messages = "{\"target\": {\"name\": \"lariat_base\"}, \"executable\": null}\n\
            {\"target\": {\"name\": \"lariat\"}, \"executable\": \"/t/release/lariat\"}\n{\"success\": true}\n";
        assert_eq!(executable(messages), Some(PathBuf::from("/t/release/lariat")));
        assert_eq!(executable("no JSON\n"), None);
    }
}
