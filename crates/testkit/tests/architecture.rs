//! `docs/architecture.md` names every crate, and crates use only what its table allows.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "these tests read manifests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The table's rows: crate to layer and what it may use.
fn table() -> BTreeMap<String, (String, Vec<String>)> {
    let document = text("docs/architecture.md");
    let rows = document.lines().filter(|line| line.starts_with("| ") && line.matches('|').count() == 5);
    rows.filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells[2].strip_prefix('`')?.strip_suffix('`')?;
        let may_use = cells[4].split(',').map(|c| c.trim().to_owned()).filter(|c| c != "–").collect();
        Some((name.to_owned(), (cells[1].to_owned(), may_use)))
    })
    .collect()
}

/// The workspace's own crates that a crate depends on, outside of tests.
fn dependencies(folder: &str) -> BTreeSet<String> {
    let manifest: toml::Table = text(&format!("{folder}/Cargo.toml")).parse().unwrap();
    let list = manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
    list.filter_map(|(name, _)| name.strip_prefix("lariat-")).map(str::to_owned).collect()
}

fn folders() -> BTreeMap<String, String> {
    let mut folders = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        folders.insert(name.clone(), format!("crates/{name}"));
    }
    for name in ["bench", "xtask"] {
        folders.insert(name.to_owned(), name.to_owned());
    }
    folders
}

#[test]
fn the_table_names_every_crate_and_no_other() {
    let documented: BTreeSet<String> = table().into_keys().collect();
    let present: BTreeSet<String> = folders().into_keys().collect();
    assert_eq!(documented, present);
}

#[test]
fn crates_use_only_what_the_table_allows() {
    let table = table();
    for (name, folder) in folders() {
        let (layer, may_use) = &table[&name];
        if may_use.iter().any(|m| m == "any") {
            continue;
        }
        for used in dependencies(&folder) {
            assert!(may_use.contains(&used), "{name} uses {used}, which the table does not allow");
            let used_layer = &table[&used].0;
            assert!(layer == "dev" || used_layer < layer, "{name} (layer {layer}) uses {used} (layer {used_layer})");
        }
    }
}
