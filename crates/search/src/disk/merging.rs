//! Merging runs, so that they stay few: as they are written, and before a pass.

use super::garbage::Garbage;
use super::passes::Passes;
use super::reading::Reading;
use super::visited::{Files, Visited};
use crate::SearchError;
use lariat_storage::{Key, Run};
use std::sync::{Mutex, PoisonError};

/// Runs of about the same size are merged when there are this many.
pub(super) const RUNS_TO_MERGE: usize = 8;
/// Runs are about of the same size if their numbers of rows have logarithms with the same third.
const TIER_LOG2: u32 = 3;
/// Fewer rows than this are merged by one thread.
const ROWS_TO_SHARE: u64 = 1 << 20;

/// What a run that may be merged is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Expanded,
    Doubtful,
}

impl<'b, K: Key> Visited<'b, K> {
    /// Takes runs of about the same size that are worth merging, if there are enough of them, and says what they are.
    pub(super) fn take_alike(&mut self) -> Option<(Role, Vec<Run<'b, K>>)> {
        // What a wide level leads to is merged when it is compared.
        let roles: &[Role] = if self.is_wide { &[Role::Expanded] } else { &[Role::Expanded, Role::Doubtful] };
        roles.iter().find_map(|&role| {
            let runs = self.list(role);
            let size = |run: &Run<'b, K>| run.rows().max(1).ilog2() / TIER_LOG2;
            let enough = |tier: u32| runs.iter().filter(|run| size(run) == tier).count() >= RUNS_TO_MERGE;
            let tier = runs.iter().map(size).filter(|tier| enough(*tier)).min()?;
            let alike = runs.extract_if(.., |run| size(run) == tier).take(RUNS_TO_MERGE).collect();
            Some((role, alike))
        })
    }

    fn list(&mut self, role: Role) -> &mut Vec<Run<'b, K>> {
        match role {
            Role::Expanded => &mut self.expanded,
            Role::Doubtful => &mut self.doubtful,
        }
    }

    /// Puts what runs were merged to in their place; those of them that are to be removed now.
    pub(super) fn put_merged(
        &mut self,
        role: Role,
        sources: Vec<Run<'b, K>>,
        merged: Run<'b, K>,
    ) -> Result<Vec<Run<'b, K>>, SearchError> {
        if role == Role::Expanded && sources.iter().map(Run::rows).sum::<u64>() != merged.rows() {
            return Err(SearchError::StateTwice);
        }
        self.list(role).push(merged);
        Ok(self.garbage.keep_published(sources))
    }

    /// Whether there is something that [`Self::merge`] would merge, where nothing waits.
    pub(super) fn is_merging_due(&self, files: &Files<'b>) -> bool {
        let mut expanded = self.expanded.clone();
        expanded.sort_by_key(Run::rows);
        let runs_max = files.readers_max / 3;
        self.doubtful.len() > self.doubtful_max(runs_max)
            || runs_to_merge(files, &self.passes, &expanded, runs_max) > files.readers.threads
    }

    /// How many runs of doubtful states there may be where there may be so many others.
    fn doubtful_max(&self, runs_max: usize) -> usize {
        if self.is_wide { 2 * runs_max } else { runs_max }
    }

    /// Merges runs of about the same size where there are many, and more if there are more runs than can be read at once. `reading`
    /// is the run that is being read: it stays as it is.
    pub(super) fn merge(&mut self, files: &Files<'b>, reading: Option<&str>) -> Result<(), SearchError> {
        let is_read = |run: &Run<'b, K>| Some(run.name()) == reading;
        let (being_read, waiting) = std::mem::take(&mut self.waiting).into_iter().partition::<Vec<_>, _>(is_read);
        let runs_max = files.readers_max.saturating_sub(being_read.len()) / 3;
        let doubtful_max = self.doubtful_max(runs_max);
        let expanded = std::mem::take(&mut self.expanded);
        let rows_before = rows(&expanded) + rows(&waiting);
        let merging = Merging { files, passes: &self.passes, garbage: Mutex::new(&mut self.garbage) };
        (self.expanded, self.waiting) = merging.merge_both(expanded, waiting, runs_max)?;
        if rows(&self.expanded) + rows(&self.waiting) != rows_before {
            return Err(SearchError::StateTwice);
        }
        self.waiting.extend(being_read);
        if self.doubtful.len() > doubtful_max {
            self.doubtful = merging.merge_list(std::mem::take(&mut self.doubtful), 1, 1)?;
        }
        Ok(())
    }
}

fn rows<K: Key>(runs: &[Run<'_, K>]) -> u64 {
    runs.iter().map(Run::rows).sum()
}

type Runs<'b, K> = Vec<Run<'b, K>>;

/// Merges lists of runs, perhaps several at a time.
struct Merging<'m, 'b> {
    files: &'m Files<'b>,
    passes: &'m Passes,
    garbage: Mutex<&'m mut Garbage>,
}

impl<'b> Merging<'_, 'b> {
    /// Merges in both lists, at the same time if all of their runs can be read at once.
    fn merge_both<K: Key>(
        &self,
        one: Runs<'b, K>,
        other: Runs<'b, K>,
        runs_max: usize,
    ) -> Result<(Runs<'b, K>, Runs<'b, K>), SearchError> {
        if self.files.readers.threads == 1 || one.len() + other.len() > self.files.readers_max {
            return Ok((self.merge_list(one, runs_max, 1)?, self.merge_list(other, runs_max, 1)?));
        }
        let mut merged = self.files.crew.each([one, other], |runs| self.merge_list(runs, runs_max, 2))?;
        let other = merged.pop().unwrap_or_default();
        Ok((merged.pop().unwrap_or_default(), other))
    }

    /// Merges the smaller ones of some runs until they are few, with one of `n_shares` of the readers' memory.
    fn merge_list<K: Key>(
        &self,
        mut runs: Runs<'b, K>,
        runs_max: usize,
        n_shares: u64,
    ) -> Result<Runs<'b, K>, SearchError> {
        let files = self.files;
        loop {
            runs.sort_by_key(Run::rows);
            let n = runs_to_merge(files, self.passes, &runs, runs_max);
            if n <= files.readers.threads {
                return Ok(runs);
            }
            let sources: Vec<Run<'b, K>> = runs.drain(..n).collect();
            // Every thread makes a run, and few runs are better than a little time.
            let rows = rows(&sources);
            let Reading { threads, buffers } =
                if rows < ROWS_TO_SHARE { Reading::ALONE } else { files.reading(sources.len(), n_shares) };
            let merged = |bounds| files.write_unless_empty(&mut files.merged(&sources, bounds, buffers)?);
            runs.extend(files.in_ranges(&sources, threads, merged)?.into_iter().flatten());
            self.garbage.lock().unwrap_or_else(PoisonError::into_inner).add(files.disk, sources)?;
        }
    }
}

/// How many of the smallest runs to merge: those in front of the first one that is larger than all before it together, if they are
/// enough, or as many as leave few, or those that passes have read too often.
fn runs_to_merge<K: Key>(files: &Files<'_>, passes: &Passes, runs: &[Run<'_, K>], runs_max: usize) -> usize {
    let runs_max = runs_max.max(files.readers.threads);
    let mut rows = 0;
    let alike = runs.iter().take_while(|run| {
        let fits = rows == 0 || run.rows() <= 2 * rows;
        rows += run.rows();
        fits
    });
    let alike = alike.count();
    let too_many = if runs.len() > runs_max { runs.len() - runs_max / 2 } else { 0 };
    let n = if alike >= RUNS_TO_MERGE { alike.max(too_many) } else { too_many };
    n.max(passes.worth_merging(runs)).min(files.readers_max)
}
