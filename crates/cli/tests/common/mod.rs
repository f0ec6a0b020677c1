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

/// The trace with one thing changed: every number by one, every name to another, every state left out or doubled.
pub fn tampered_versions(good: &str) -> impl Iterator<Item = String> {
    let trace: Value = serde_json::from_str(good).unwrap();
    let mut places = Vec::new();
    collect_places(&trace, String::new(), &mut places);
    let n_states = trace["states"].as_array().unwrap().len();
    let whole = trace.clone();
    let changed = places.into_iter().filter_map(move |place| {
        let mut bad = trace.clone();
        let value = bad.pointer_mut(&place)?;
        match value {
            Value::Number(n) => *value = Value::from(n.as_i64()? + 1),
            Value::String(s) => *value = Value::from(format!("{s}x")),
            _ => return None,
        }
        Some(bad.to_string())
    });
    let cut = (0..n_states).map(move |i| {
        let mut bad = whole.clone();
        let states = bad["states"].as_array_mut().unwrap();
        states.remove(i);
        for (i, state) in states.iter_mut().enumerate() {
            state["#meta"]["index"] = Value::from(i);
        }
        bad.to_string()
    });
    changed.chain(cut)
}

fn collect_places(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        // What describes the file and not the counterexample may say anything.
        _ if ["/#meta/format", "/#meta/description", "/#meta/model"].contains(&place.as_str()) => {}
        Value::Object(fields) => {
            for (key, value) in fields {
                collect_places(value, format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                collect_places(value, format!("{place}/{i}"), places);
            }
        }
        _ => places.push(place),
    }
}
