//! Running the command as a person would.

#![allow(dead_code, reason = "every test program uses its part")]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

/// What a command left behind.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The JSON object on standard output, which must be all there is.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("not JSON: {e}\n{}\n{}", self.out, self.err))
    }

    /// Fails unless the command ended with this code.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The command with these arguments, ready to run.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lariat"));
    command.args(arguments);
    command
}

/// Runs the command to its end.
pub fn lariat(arguments: &[&str]) -> Ran {
    command(arguments).output().expect("the command starts").into()
}

/// A model of ours.
pub fn model(name: &str) -> String {
    lariat_testkit::models_folder().join(name).display().to_string()
}

/// A folder of its own for a test, empty.
pub fn scratch(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// A file in that folder.
pub fn write(folder: &std::path::Path, name: &str, contents: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, contents).expect("a file for the test");
    path.display().to_string()
}
