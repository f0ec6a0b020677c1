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

/// The number that a run's name ends with: larger for those that were made later.
pub(super) fn number_of(name: &str) -> u64 {
    name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn remove(disk: &dyn Disk, name: &str) -> Result<(), SearchError> {
    Ok(disk.remove(name).map_err(StorageError::Disk)?)
}

/// Removes the files of runs.
pub(super) fn remove_runs<K: Key>(disk: &dyn Disk, runs: Vec<Run<'_, K>>) -> Result<(), SearchError> {
    runs.into_iter().try_for_each(|run| {
        let name = run.name().to_owned();
        drop(run);
        remove(disk, &name)
    })
}

impl Garbage {
    /// Whether what was published last names the run.
    pub(super) fn is_published<K: Key>(&self, run: &Run<'_, K>) -> bool {
        number_of(run.name()) < self.published
    }

    /// Removes runs now, or later if what was published last names them.
    pub(super) fn add<K: Key>(&mut self, disk: &dyn Disk, runs: Vec<Run<'_, K>>) -> Result<(), SearchError> {
        remove_runs(disk, self.keep_published(runs))
    }

    /// Keeps runs for later that what was published last names; the others, which may be removed now.
    pub(super) fn keep_published<'b, K: Key>(&mut self, mut runs: Vec<Run<'b, K>>) -> Vec<Run<'b, K>> {
        for run in runs.extract_if(.., |run| number_of(run.name()) < self.published) {
            self.names.push(run.name().to_owned());
            self.bytes += run.bytes();
        }
        runs
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
