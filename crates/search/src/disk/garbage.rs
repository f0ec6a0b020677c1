//! Runs that nobody needs any more. What was published last may name them; then their files stay until something else is published.

use crate::SearchError;
use lariat_disk::Disk;
use lariat_storage::{Key, Run, StorageError};

#[derive(Default)]
pub(super) struct Garbage {
    names: Vec<String>,
    bytes: u64,
    /// Files made before this number are named by what was published last.
    published: u64,
}

fn number_of(name: &str) -> u64 {
    name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn remove(disk: &dyn Disk, name: &str) -> Result<(), SearchError> {
    Ok(disk.remove(name).map_err(StorageError::Disk)?)
}

impl Garbage {
    /// Whether what was published last names the run.
    pub(super) fn is_published<K: Key>(&self, run: &Run<'_, K>) -> bool {
        number_of(run.name()) < self.published
    }

    /// Removes runs now, or later if what was published last names them.
    pub(super) fn add<K: Key>(&mut self, disk: &dyn Disk, runs: Vec<Run<'_, K>>) -> Result<(), SearchError> {
        for run in runs {
            let name = run.name().to_owned();
            if self.is_published(&run) {
                self.names.push(name);
                self.bytes += run.bytes();
            } else {
                drop(run);
                remove(disk, &name)?;
            }
        }
        Ok(())
    }

    /// What the files take that stay for now.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Notes that all runs with smaller numbers are named by what was published, and removes what is not any more.
    pub(super) fn published(&mut self, disk: &dyn Disk, n_runs: u64) -> Result<(), SearchError> {
        self.published = n_runs;
        self.bytes = 0;
        self.names.drain(..).try_for_each(|name| remove(disk, &name))
    }
}
