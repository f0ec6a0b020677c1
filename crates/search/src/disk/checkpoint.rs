//! Publishing how far the search is, and going on from there.
//!
//! Between rounds all states are in runs, so the names of the runs and the counters are everything. The filter is made again from the
//! runs, the doubtful ones too: a pass may find one of their states new, and it must not be found again.

use super::visited::Visited;
use super::{Search, Shared};
use crate::enumerate::Unexpanded;
use crate::path_on_disk::FoundStates;
use crate::{Context, SearchError};
use lariat_storage::stream::RowStream;
use lariat_storage::{Key, Manifest, ManifestFile, RowFilter, Run, RunReader, StorageError, hash_row};

pub(super) const ALGORITHM: &str = "algorithm";
pub(super) const NAME: &str = "disk";
pub(super) const EXPANDED: &str = "expanded";
pub(super) const WAITING: &str = "waiting";
const READING: &str = "reading";
const DOUBTFUL: &str = "doubtful";
pub(super) const ROWS_READ: &str = "rows-read";
pub(super) const RUNS: &str = "runs";
/// States whose bits of the filter are fetched together.
const HASHES_AT_ONCE: usize = 32;

impl<'s, K: Key> Search<'s, K> {
    /// Publishes the state of the search; between rounds only.
    pub(super) fn publish(&self, visited: &mut Visited<'s, K>) -> Result<(), SearchError> {
        let shared = &self.shared;
        let mut manifest = Manifest::new();
        for (key, text) in shared.context.labels {
            manifest.set_text(key, text);
        }
        manifest.set_text(ALGORITHM, NAME);
        manifest.set_number(RUNS, shared.files.n_runs());
        shared.tally.note(&mut manifest);
        let reading = shared.frontier.reading();
        manifest.set_number(ROWS_READ, reading.as_ref().map_or(0, |(_, rows)| *rows));
        let is_read = |run: &Run<'s, K>| reading.as_ref().is_some_and(|(name, _)| name == run.name());
        let roles = [(EXPANDED, &visited.expanded), (WAITING, &visited.waiting), (DOUBTFUL, &visited.doubtful)];
        for (role, run) in roles.into_iter().flat_map(|(role, runs)| runs.iter().map(move |run| (role, run))) {
            if !visited.is_published(run) {
                run.sync()?;
            }
            let role = if is_read(run) { READING } else { role };
            let (name, rows, bytes) = (run.name().to_owned(), run.rows(), run.bytes());
            manifest.add_file(ManifestFile { role: role.to_owned(), name, rows, bytes });
        }
        manifest.publish(shared.files.disk, shared.context.budget)?;
        visited.published(&shared.files, shared.files.n_runs())
    }

    /// Takes up what was published; false if nothing was.
    pub(super) fn take_up(&self) -> Result<bool, SearchError> {
        let shared = &self.shared;
        let Some(manifest) = Manifest::open(shared.files.disk, shared.context.budget)? else {
            return Ok(false);
        };
        if manifest.text(ALGORITHM).is_err() {
            // Only what the check is about was published, before the search began.
            return Ok(false);
        }
        if manifest.text(ALGORITHM)? != NAME {
            return Err(SearchError::OtherSearch);
        }
        shared.context.begin_phase("resume");
        let mut visited = shared.visited();
        let open = |role: &str| -> Result<Vec<Run<'s, K>>, StorageError> {
            manifest.files_of(role).map(|file| shared.open(file)).collect()
        };
        visited.expanded = open(EXPANDED)?;
        visited.waiting = open(WAITING)?;
        visited.doubtful = open(DOUBTFUL)?;
        visited.waiting.iter().for_each(|run| shared.frontier.push(run.clone()));
        for run in open(READING)? {
            shared.frontier.go_on_reading(run.clone(), manifest.number(ROWS_READ)?, shared.context.budget)?;
            visited.waiting.push(run);
        }
        shared.files.go_on_after(manifest.number(RUNS)?);
        visited.published(&shared.files, manifest.number(RUNS)?)?;
        shared.tally.restore(&manifest)?;
        let waiting = visited.waiting.iter().map(Run::rows).sum();
        if shared.is_wide_enough(waiting) {
            self.go_on(&mut visited, true)?;
        } else if let Some(filter) = shared.filter() {
            filter.grow_for(shared.tally.states());
            shared.fill_filter(&filter, &visited.all())?;
        }
        Ok(true)
    }
}

/// Where the states are that were published.
pub(super) fn found_states(context: &Context) -> Result<Option<FoundStates>, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let Some(manifest) = Manifest::read(disk, context.budget)? else { return Ok(None) };
    if manifest.text(ALGORITHM).ok() != Some(NAME) {
        return Ok(None);
    }
    let names = |role: &'static str| manifest.files_of(role).map(|file| file.name.clone()).collect::<Vec<_>>();
    let [expanded, waiting, reading] = [EXPANDED, WAITING, READING].map(names);
    let rows_read = manifest.number(ROWS_READ)?;
    let unexpanded = waiting.iter().map(|run| (run, 0)).chain(reading.iter().map(|run| (run, rows_read)));
    let unexpanded = unexpanded.map(|(run, expanded)| Unexpanded { run: run.clone(), expanded }).collect();
    Ok(Some(FoundStates { runs: [expanded, waiting, reading].concat(), unexpanded }))
}

impl<'s, K: Key> Shared<'s, K> {
    fn open(&self, file: &ManifestFile) -> Result<Run<'s, K>, StorageError> {
        Run::open(self.files.disk, &file.name, self.graph.row_bytes(), 0, self.context.budget)
    }

    /// Lets a filter meet the states of runs: each thread has some of the runs.
    pub(super) fn fill_filter(&self, filter: &RowFilter<'_>, runs: &[&Run<'s, K>]) -> Result<(), SearchError> {
        self.files.crew.each(runs, |run| self.fill_filter_with(filter, run)).map(drop)
    }

    fn fill_filter_with(&self, filter: &RowFilter<'_>, run: &Run<'s, K>) -> Result<(), SearchError> {
        let mut reader: RunReader<'_, K> = RunReader::new(run, super::reading::READER_BUFFERS, self.context.budget)?;
        let mut row = vec![0; self.graph.row_bytes()];
        let mut hashes = Vec::with_capacity(HASHES_AT_ONCE);
        loop {
            let (keys, _) = reader.batch()?;
            let n = keys.len().min(HASHES_AT_ONCE);
            if n == 0 {
                return Ok(());
            }
            hashes.clear();
            for key in &keys[..n] {
                key.write_row(&mut row);
                let hash = hash_row(&row);
                filter.prefetch(hash);
                hashes.push(hash);
            }
            hashes.iter().for_each(|hash| {
                filter.meet(*hash);
            });
            reader.consume(n);
        }
    }
}
