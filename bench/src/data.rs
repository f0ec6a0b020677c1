//! The models and their known answers, which live outside of the repository.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The data folder: what `LARIAT_SHARED` names (as seen from the repository's root), else `../shared`.
///
/// # Errors
/// If there is no such folder, or it has no known answers.
pub fn shared_folder() -> Result<PathBuf, String> {
    let named = std::env::var_os("LARIAT_SHARED").map(PathBuf::from);
    let folder = root().join(named.as_deref().unwrap_or(Path::new("../shared")));
    if folder.join("truth/beem.csv").is_file() {
        return Ok(folder);
    }
    let why = match named {
        Some(_) => "LARIAT_SHARED names this folder",
        None => "LARIAT_SHARED is not set, so ../shared beside the repository is used",
    };
    Err(format!("no models: {} has no truth/beem.csv ({why})", folder.display()))
}

/// What is known about the state space of a BEEM model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The name of the model, without its ending.
    pub model: String,
    /// Reachable states.
    pub states: u64,
    /// Edges, parallel ones counted.
    pub transitions: u64,
    /// Non-empty BFS levels.
    pub levels: u64,
    /// States without successors.
    pub deadlocks: u64,
}

/// The complete rows of `truth/beem.csv`, the smallest state space first.
///
/// # Errors
/// If the file cannot be read, or is not what it should be.
pub fn known_answers(shared: &Path) -> Result<Vec<Known>, String> {
    let path = shared.join("truth/beem.csv");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut rows = parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    rows.sort_by(|a, b| (a.states, &a.model).cmp(&(b.states, &b.model)));
    Ok(rows)
}

fn parse(text: &str) -> Result<Vec<Known>, String> {
    let mut lines = text.lines();
    if lines.next() != Some("model,states,transitions,levels,deadlocks,complete") {
        return Err("the first line does not name the expected columns".to_owned());
    }
    let mut rows = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [model, states, transitions, levels, deadlocks, complete] = fields[..] else {
            return Err(format!("`{line}` does not have six fields"));
        };
        if complete != "yes" {
            continue;
        }
        let number = |field: &str| field.parse().map_err(|_| format!("`{field}` in `{line}` is no number"));
        rows.push(Known {
            model: model.to_owned(),
            states: number(states)?,
            transitions: number(transitions)?,
            levels: number(levels)?,
            deadlocks: number(deadlocks)?,
        });
    }
    Ok(rows)
}

/// The DVE file of a model.
pub fn dve_file(shared: &Path, model: &str) -> PathBuf {
    shared.join("beem").join(format!("{model}.dve"))
}

/// The Promela file of a model.
pub fn promela_file(shared: &Path, model: &str) -> PathBuf {
    shared.join("beem/promela").join(format!("{model}.pml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "model,states,transitions,levels,deadlocks,complete\n";

    #[test]
    fn complete_rows_are_read() {
        let rows = parse(&format!("{HEAD}a.1,10,20,3,1,yes\nb.1,5,,,,no\n")).unwrap();
        let a = Known { model: "a.1".to_owned(), states: 10, transitions: 20, levels: 3, deadlocks: 1 };
        assert_eq!(rows, [a]);
    }

    #[test]
    fn bad_rows_are_errors() {
        for text in ["", "model\n", &format!("{HEAD}a,1,2\n"), &format!("{HEAD}a,x,2,3,4,yes\n")] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
