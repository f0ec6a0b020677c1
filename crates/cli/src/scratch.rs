//! The directory in which a search keeps what does not fit into memory.

use crate::failure::Failure;
use crate::options::DiskOptions;
use crate::output;
use lariat_base::MemoryBudget;
use lariat_base::outcome::{DiskSummary, IoLine, IoSummary};
use lariat_disk::{Disk, DiskError, IoCount, SystemDisk, SystemDiskOptions};
use lariat_storage::Manifest;
use std::path::PathBuf;

/// A directory in use.
pub struct Scratch {
    disk: SystemDisk,
    directory: PathBuf,
    keep: bool,
}

impl Scratch {
    /// Takes the directory that was asked for into use, or a fresh one under the system's temporary directory.
    pub fn open(options: &DiskOptions) -> Result<Self, Failure> {
        let directory = options.disk.clone().unwrap_or_else(fresh_directory);
        let disk = SystemDisk::open(&directory, SystemDiskOptions { limit: options.disk_limit, io_mode: None })
            .map_err(|error| refused(&error))?;
        let files = disk.list().map_err(|error| refused(&error))?;
        if !files.is_empty() && options.resumes.is_none() {
            return Err(Failure::input(format!(
                "{} holds {} files of another check; go on with that by `lariat resume {}`, or give another directory",
                directory.display(),
                files.len(),
                directory.display()
            )));
        }
        Ok(Self { disk, directory, keep: options.keep })
    }

    /// Notes which check the directory belongs to, before anything else is in it.
    pub fn note(&self, labels: &[(&'static str, String)]) -> Result<(), Failure> {
        let mut manifest = Manifest::new();
        labels.iter().for_each(|(key, text)| manifest.set_text(key, text));
        manifest.publish(&self.disk, &MemoryBudget::new(1 << 20)).map_err(|error| Failure::machine(error.to_string()))
    }

    /// How to go on after a limit.
    pub fn advice(&self) -> String {
        format!("go on with: lariat resume {}", self.directory.display())
    }

    /// What to do where nothing can go on with what is there.
    pub fn advice_to_begin_anew(&self) -> String {
        format!("nothing can go on with what is in {}: remove it, and begin anew", self.directory.display())
    }

    pub fn disk(&self) -> &dyn Disk {
        &self.disk
    }

    /// What was on disk, and what went to it and came from it.
    pub fn summary(&self, stored: u64) -> DiskSummary {
        let io = self.disk.counters().total();
        DiskSummary {
            directory: self.directory.display().to_string(),
            mode: self.disk.io_mode().to_string(),
            peak: self.disk.usage().peak,
            stored,
            io: summary_of(&io),
            io_lines: self.disk.counters().lines().into_iter().map(line_of).collect(),
            seconds_waited: self.disk.counters().waited().as_secs_f64(),
        }
    }

    /// Removes the files of a check that is over, and the directory if nothing else is in it.
    pub fn clear(&self) {
        if self.keep {
            return;
        }
        // Whoever is killed on the way leaves nothing that could be gone on with, rather than something that could not.
        let cleared = Manifest::retract(&self.disk).map_err(|error| error.to_string());
        if let Err(error) = cleared.and_then(|()| self.disk.clear().map_err(|error| error.to_string())) {
            output::note(&format!("{} could not be cleared: {error}", self.directory.display()));
        }
    }
}

fn summary_of(io: &IoCount) -> IoSummary {
    IoSummary {
        read_ops: io.reads(),
        write_ops: io.writes(),
        random_reads: io.random_reads,
        random_writes: io.random_writes,
        bytes_read: io.bytes_read(),
        bytes_written: io.bytes_written(),
    }
}

fn line_of(line: lariat_disk::IoLine) -> IoLine {
    IoLine { phase: line.phase, kind: line.kind.name(), io: summary_of(&line.count) }
}

/// A directory that no other check uses.
fn fresh_directory() -> PathBuf {
    let nanoseconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    std::env::temp_dir().join(format!("lariat-{}-{nanoseconds}", std::process::id()))
}

fn refused(error: &DiskError) -> Failure {
    match error {
        DiskError::Locked { .. } => Failure::input(error.to_string()),
        _ => Failure::machine(error.to_string()),
    }
}
