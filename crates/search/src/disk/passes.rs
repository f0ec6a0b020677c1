//! What passes have read of each run, and when merging runs would have been cheaper.
//!
//! A large run takes fewer bytes a row than the small ones that it was made of, and bytes are what a pass costs. So runs that pass after pass goes
//! over are merged as soon as they have cost more than the merging: whatever comes, at most twice as much is spent as by somebody who knew
//! how many passes there would be.

use super::garbage::number_of;
use lariat_storage::{Key, Run};
use std::collections::VecDeque;

/// Merging a row costs about as much as reading so many bytes in a pass.
const BYTES_TO_MERGE_A_ROW: f64 = 3.0;
/// A merged run has at least this part of the bytes, and takes no less for a row than a run that has this part of its rows.
const MERGED_PART_MIN: f64 = 0.5;
const ROWS_TO_COMPARE: f64 = 0.25;
/// Passes that are remembered.
const PASSES_MAX: usize = 512;

/// The passes so far.
#[derive(Default)]
pub(super) struct Passes {
    /// How many runs had been made when each of them went over all there were.
    n_runs: VecDeque<u64>,
}

impl Passes {
    /// Notes a pass.
    pub(super) fn add(&mut self, n_runs: u64) {
        self.n_runs.truncate(PASSES_MAX - 1);
        self.n_runs.push_front(n_runs);
    }

    /// How many went over a run.
    fn over<K: Key>(&self, run: &Run<'_, K>) -> usize {
        let number = number_of(run.name());
        self.n_runs.partition_point(|n_runs| number < *n_runs)
    }

    /// How many of the first runs should be merged; the smallest come first.
    pub(super) fn worth_merging<K: Key>(&self, runs: &[Run<'_, K>]) -> usize {
        let sizes = runs.iter().map(|run| (run.rows() as f64, run.bytes() as f64, self.over(run) as f64));
        worth_merging(&sizes.collect::<Vec<_>>())
    }
}

/// The same for runs with so many rows and bytes, that were read so many times.
fn worth_merging(runs: &[(f64, f64, f64)]) -> usize {
    let densest = |rows_min: f64| {
        let large = runs.iter().filter(|(rows, ..)| *rows >= rows_min);
        large.map(|(rows, bytes, _)| bytes / rows.max(1.0)).reduce(f64::min).unwrap_or(0.0)
    };
    let (mut rows, mut bytes, mut bytes_read) = (0.0, 0.0, 0.0);
    let (mut best, mut best_gain) = (0, 0.0);
    for (i, run) in runs.iter().enumerate() {
        rows += run.0;
        bytes += run.1;
        bytes_read += run.1 * run.2;
        let merged_part = (densest(ROWS_TO_COMPARE * rows) * rows / bytes).max(MERGED_PART_MIN);
        let gain = bytes_read * (1.0 - merged_part) - BYTES_TO_MERGE_A_ROW * rows;
        if gain > best_gain {
            (best, best_gain) = (i + 1, gain);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: f64 = 1e6;

    #[test]
    fn runs_are_merged_when_passes_have_cost_as_much() {
        let small = |passes| vec![(M, 2.0 * M, passes); 6];
        assert_eq!(worth_merging(&small(2.0)), 0);
        assert_eq!(worth_merging(&small(4.0)), 6);
        assert_eq!(worth_merging(&[]), 0);
    }

    #[test]
    fn a_large_run_is_merged_only_for_much() {
        let mut runs = vec![(M, 2.0 * M, 10.0); 6];
        runs.push((60.0 * M, 12.0 * M, 10.0));
        assert_eq!(worth_merging(&runs), 6);
        runs.iter_mut().for_each(|run| run.2 = 100.0);
        assert_eq!(worth_merging(&runs), 7);
    }

    #[test]
    fn what_is_as_dense_as_any_stays_as_it_is() {
        let half = (30.0 * M, 6.0 * M, 500.0);
        assert_eq!(worth_merging(&[half, half]), 0);
        assert_eq!(worth_merging(&[(M, 0.2 * M, 500.0), half, half]), 0);
    }

    #[test]
    fn only_passes_since_a_run_was_made_count() {
        let mut passes = Passes::default();
        (0..2 * PASSES_MAX as u64).for_each(|n_runs| passes.add(n_runs));
        assert_eq!(passes.n_runs.len(), PASSES_MAX);
        let over = |number: u64| passes.n_runs.partition_point(|n_runs| number < *n_runs);
        assert_eq!(over(2 * PASSES_MAX as u64 - 11), 10);
        assert_eq!(over(0), PASSES_MAX);
    }
}
