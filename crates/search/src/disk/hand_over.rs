//! Going on from a search in memory whose memory is used up: its states become runs, and the search on disk takes them up.
//!
//! Of a breadth-first search, the level that was being expanded counts as not expanded, whatever of it was; what was counted in it is forgotten. Its states are
//! expanded again, and find their successors in the runs. Of a depth-first search, states are expanded that have all their successors in the table, wherever they are on the stack.

use super::checkpoint::{ALGORITHM, EXPANDED, NAME, ROWS_READ, RUNS, WAITING};
use super::shares::Shares;
use crate::{Context, SearchError};
use lariat_graph::Rows;
use lariat_storage::sort::sort_rows;
use lariat_storage::stream::{SliceStream, write_all};
use lariat_storage::{
    Key, Manifest, ManifestFile, ReservedVec, Run, RunOptions, RunWriter, StorageError, for_row_width,
};

/// A search in memory that has come to its end.
pub trait Handed {
    /// The width of its rows.
    fn row_bytes(&self) -> usize;

    /// Calls `visit` with all rows that were expanded, or with all others, stretch by stretch.
    fn visit(
        &self,
        expanded: bool,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<(), SearchError>,
    ) -> Result<(), SearchError>;

    /// Notes what was counted of the states that were expanded, and how many states there are.
    fn note(&self, manifest: &mut Manifest);
}

/// Writes the states to disk, so that [`super::explore`] goes on with them.
pub fn hand_over(handed: &dyn Handed, context: &Context) -> Result<(), SearchError> {
    for_row_width!(handed.row_bytes(), K => hand_over_keys::<K>(handed, context))
}

fn hand_over_keys<K: Key>(handed: &dyn Handed, context: &Context) -> Result<(), SearchError> {
    context.begin_phase("hand over");
    let mut manifest = Manifest::new();
    for (key, text) in context.labels {
        manifest.set_text(key, text);
    }
    manifest.set_text(ALGORITHM, NAME);
    handed.note(&mut manifest);
    manifest.set_number(ROWS_READ, 0);
    let mut runs = RunsOfRows::<K>::new(handed.row_bytes(), context)?;
    for (role, expanded) in [(EXPANDED, true), (WAITING, false)] {
        handed.visit(expanded, &mut |rows| rows.iter().try_for_each(|row| runs.push(K::from_row(row))))?;
        for run in runs.finish()? {
            run.sync()?;
            let (name, rows, bytes) = (run.name().to_owned(), run.rows(), run.bytes());
            manifest.add_file(ManifestFile { role: role.to_owned(), name, rows, bytes });
        }
    }
    manifest.set_number(RUNS, runs.n_runs);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    Ok(manifest.publish(disk, context.budget)?)
}

/// Rows in any order, as sorted runs.
struct RunsOfRows<'b, K: Key> {
    context: &'b Context<'b>,
    options: RunOptions,
    keys: ReservedVec<'b, K>,
    keys_max: usize,
    runs: Vec<Run<'b, K>>,
    n_runs: u64,
}

impl<'b, K: Key> RunsOfRows<'b, K> {
    fn new(row_bytes: usize, context: &'b Context<'b>) -> Result<Self, SearchError> {
        let budget = context.budget;
        let memory = usize::try_from(budget.left()).unwrap_or(usize::MAX);
        // The search on disk reads many of them at once, so their blocks are no larger than those of its own.
        let options = Shares::of::<K>(context, row_bytes).run;
        let keys_max = (memory / 2 / size_of::<K>()).max(64);
        let failed = |error| SearchError::Storage(StorageError::Memory(error));
        let keys = ReservedVec::with_capacity(keys_max, budget).map_err(failed)?;
        Ok(Self { context, options, keys, keys_max, runs: Vec::new(), n_runs: 0 })
    }

    fn push(&mut self, key: K) -> Result<(), SearchError> {
        if self.keys.len() == self.keys_max {
            self.write()?;
        }
        Ok(self.keys.push(key).map_err(StorageError::Memory)?)
    }

    fn write(&mut self) -> Result<(), SearchError> {
        if self.keys.is_empty() {
            return Ok(());
        }
        sort_rows(&mut self.keys);
        let disk = self.context.disk.ok_or(SearchError::NoDisk)?;
        let mut writer = RunWriter::new(disk, &format!("run-{}", self.n_runs), &self.options, self.context.budget)?;
        write_all(&mut SliceStream::of_keys(&self.keys), &mut writer)?;
        self.runs.push(writer.finish()?);
        self.n_runs += 1;
        self.keys.clear();
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<Run<'b, K>>, SearchError> {
        self.write()?;
        Ok(std::mem::take(&mut self.runs))
    }
}
