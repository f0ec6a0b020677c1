//! Models and answers of other tools, which live outside of the repository.

use std::path::PathBuf;

/// The folder that `LARIAT_SHARED` names. Where the variable is set the folder must be there: a test that relies on it
/// then fails and does not pass for want of data. Where it is not set, such tests have nothing to compare.
pub fn shared_folder() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("LARIAT_SHARED")?);
    // Tests run in the folders of their crates, while people name the folder as seen from the repository's root.
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = if folder.is_absolute() { folder } else { root.join(folder) };
    assert!(folder.join("truth/beem.csv").is_file(), "LARIAT_SHARED is set, but {} has no truth", folder.display());
    Some(folder)
}

/// What is known about a BEEM model.
#[derive(Clone, Debug)]
pub struct BeemRow {
    /// The name of the model, without its ending.
    pub model: String,
    /// The model's file.
    pub path: PathBuf,
    /// Reachable states.
    pub states: u64,
    /// Edges, parallel ones counted.
    pub transitions: u64,
    /// Non-empty BFS levels.
    pub levels: u64,
    /// Deadlocks.
    pub deadlocks: u64,
}

/// The complete rows of `truth/beem.csv`; none if there is no shared folder.
pub fn beem_rows() -> Vec<BeemRow> {
    let Some(folder) = shared_folder() else { return Vec::new() };
    let text = std::fs::read_to_string(folder.join("truth/beem.csv")).expect("truth/beem.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("model,states,transitions,levels,deadlocks,complete"));
    let rows: Vec<BeemRow> = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|fields| fields[5] == "yes")
        .map(|fields| BeemRow {
            model: fields[0].to_owned(),
            path: folder.join("beem").join(format!("{}.dve", fields[0])),
            states: fields[1].parse().expect("states"),
            transitions: fields[2].parse().expect("transitions"),
            levels: fields[3].parse().expect("levels"),
            deadlocks: fields[4].parse().expect("deadlocks"),
        })
        .collect();
    assert!(!rows.is_empty(), "truth/beem.csv has no rows");
    rows
}

/// What is known about a BEEM model and a formula.
#[derive(Clone, Debug)]
pub struct LtlRow {
    /// The name of the model, without its ending.
    pub model: String,
    /// The model's file.
    pub path: PathBuf,
    /// The formula.
    pub formula: String,
    /// `holds` or `violated`, with deadlocks extended by stuttering.
    pub verdict: String,
    /// States of the product with the automaton of `truth/products.md`.
    pub states: u64,
    /// Edges of the product.
    pub transitions: u64,
    /// Non-empty BFS levels of the product.
    pub levels: u64,
    /// Accepting states of the product.
    pub accepting: u64,
}

/// The rows of `truth/ltl.csv`; none if there is no shared folder.
pub fn ltl_rows() -> Vec<LtlRow> {
    let Some(folder) = shared_folder() else { return Vec::new() };
    let text = std::fs::read_to_string(folder.join("truth/ltl.csv")).expect("truth/ltl.csv");
    let mut lines = text.lines();
    let head = "model,formula,verdict,product_states,product_transitions,product_levels,accepting_states";
    assert_eq!(lines.next(), Some(head));
    let number = |text: &str| text.parse().expect("a number");
    let rows: Vec<LtlRow> = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|fields| LtlRow {
            model: fields[0].to_owned(),
            path: folder.join("beem").join(format!("{}.dve", fields[0])),
            formula: fields[1].to_owned(),
            verdict: fields[2].to_owned(),
            states: number(fields[3]),
            transitions: number(fields[4]),
            levels: number(fields[5]),
            accepting: number(fields[6]),
        })
        .collect();
    assert!(!rows.is_empty(), "truth/ltl.csv has no rows");
    rows
}

/// The sizes that other tools reach for a formula; none where a tool gave up.
#[derive(Clone, Debug)]
pub struct LtlSizeRow {
    /// The formula.
    pub formula: String,
    /// States of Spot's Büchi automaton.
    pub spot: Option<usize>,
    /// States of ltl3ba's.
    pub ltl3ba: Option<usize>,
}

/// The rows of `truth/ltl_sizes.csv`; none if there is no shared folder.
pub fn ltl_size_rows() -> Vec<LtlSizeRow> {
    let Some(folder) = shared_folder() else { return Vec::new() };
    let text = std::fs::read_to_string(folder.join("truth/ltl_sizes.csv")).expect("truth/ltl_sizes.csv");
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|titles| titles.starts_with("family,formula,spot_ba_states,")));
    lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|fields| LtlSizeRow {
            formula: fields[1].to_owned(),
            spot: fields[2].parse().ok(),
            ltl3ba: fields[6].parse().ok(),
        })
        .collect()
}
