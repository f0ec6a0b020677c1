//! Going on with a check that was interrupted: its directory says what it was.

use crate::failure::{ExitStatus, Failure};
use crate::options::{Command, Options, ResumeOptions, SearchOptions};
use crate::{check, explore, load};
use clap::Parser;
use lariat_base::MemoryBudget;
use lariat_disk::{DiskError, SystemDisk, SystemDiskOptions};
use lariat_storage::{Manifest, StorageError};
use std::path::Path;

const ARGUMENTS: &str = "arguments";
const WORKING_DIRECTORY: &str = "working-directory";
const MODEL_DIGEST: &str = "model-digest";

/// What is noted on disk about a check, so that it can be gone on with.
pub type Labels = Vec<(&'static str, String)>;

/// The labels of a check that begins now.
pub fn labels(model: &str) -> Result<Labels, Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let directory =
        std::env::current_dir().map_err(|error| Failure::machine(format!("no working directory: {error}")))?;
    Ok(vec![
        (ARGUMENTS, serde_json::json!(arguments).to_string()),
        (WORKING_DIRECTORY, directory.display().to_string()),
        (MODEL_DIGEST, digest(model)?),
    ])
}

fn digest(model: &str) -> Result<String, Failure> {
    Ok(format!("{:016x}", lariat_storage::hash_row(load::read_text(model)?.as_bytes())))
}

/// Goes on with what is in a directory.
pub fn resume(options: &ResumeOptions) -> Result<ExitStatus, Failure> {
    let manifest = read_manifest(&options.directory)?;
    let text = |key| manifest.text(key).map_err(|error| Failure::machine(error.to_string()));
    let arguments: Vec<String> = serde_json::from_str(text(ARGUMENTS)?)
        .map_err(|error| Failure::machine(format!("{}: {error}", options.directory.display())))?;
    let directory = std::fs::canonicalize(&options.directory)
        .map_err(|error| Failure::input(format!("{}: {error}", options.directory.display())))?;
    std::env::set_current_dir(text(WORKING_DIRECTORY)?).map_err(|error| {
        Failure::input(format!("the check began in {}: {error}", manifest.text(WORKING_DIRECTORY).unwrap_or_default()))
    })?;
    let parsed = Options::try_parse_from(arguments).map_err(|error| Failure::machine(error.to_string()))?;
    let same_model = |model: &str| -> Result<(), Failure> {
        if digest(model)? == text(MODEL_DIGEST)? {
            return Ok(());
        }
        Err(Failure::input(format!("{model} is not what it was when the check began; start the check again")))
    };
    let mut noted = Labels::new();
    for key in [ARGUMENTS, WORKING_DIRECTORY, MODEL_DIGEST] {
        noted.push((key, text(key)?.to_owned()));
    }
    match parsed.command {
        Command::Check(mut check) => {
            same_model(&check.source.model)?;
            adapt(&mut check.search, options, noted, &directory);
            check::check(&check)
        }
        Command::Explore(mut explore) => {
            same_model(&explore.source.model)?;
            adapt(&mut explore.search, options, noted, &directory);
            explore::explore(&explore)
        }
        _ => Err(Failure::machine(format!("{} holds no check", directory.display()))),
    }
}

/// What was asked for then, but for what is asked for now.
fn adapt(search: &mut SearchOptions, options: &ResumeOptions, labels: Labels, directory: &Path) {
    search.disk.resumes = Some(labels);
    search.disk.disk = Some(directory.to_owned());
    search.memory = options.memory.or(search.memory);
    search.threads = options.threads.or(search.threads);
    search.time_limit = options.time_limit.or(search.time_limit);
    search.disk.disk_limit = options.disk_limit.or(search.disk.disk_limit);
    search.display.json |= options.json;
    search.display.quiet |= options.quiet;
    search.stats |= options.stats;
}

fn read_manifest(directory: &Path) -> Result<Manifest, Failure> {
    let nothing = || Failure::input(format!("{} holds no check that can be gone on with", directory.display()));
    if !directory.is_dir() {
        return Err(nothing());
    }
    let refused = |error: DiskError| match error {
        DiskError::Locked { .. } => Failure::input(error.to_string()),
        _ => Failure::machine(error.to_string()),
    };
    // Not yet in use: nothing is removed before it is known what is there.
    let disk = SystemDisk::open(directory, SystemDiskOptions::default()).map_err(refused)?;
    let manifest = Manifest::read(&disk, &MemoryBudget::new(128 << 20))
        .map_err(|error: StorageError| Failure::machine(error.to_string()))?;
    manifest.ok_or_else(nothing)
}
