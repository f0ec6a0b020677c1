//! Merging candidates with what is on disk: which of them are expanded next, and how appendices are kept.
//!
//! The candidates of a round, sorted and combined, become another *tier*: a set of its own, as small as they are. The appendix of a vertex is the
//! sum over all tiers. Few tiers are kept by merging small ones, so a small level is never merged into a large set; and
//! whether a candidate is due is looked up in the blocks that it falls into.

use super::round::{Round, Rule};
use super::{Appendix, FLAG, Merging, Search, combine, count};
use crate::SearchError;
use crate::pool::OpenSet;
use crate::sets::{READ_BUFFERS, Sets, for_stream};
use lariat_storage::run_parts::BoxStream;
use lariat_storage::stream::{Join, Select};
use lariat_storage::{Bounds, CountingFilter, Key, RowFilter, RunParts, StorageError, hash_row, take_smallest};

impl<'s, K: Key> Search<'s, K> {
    /// Merges what a round found: the tier of its candidates, and the next states to be expanded.
    pub(super) fn merge(&mut self, rule: &Rule<'s>, round: Round<'s, K>) -> Result<(), SearchError> {
        self.tally.context.begin_phase("merge");
        let Round { pieces, queue } = round;
        let candidates = self.sets.write_pieces(pieces)?;
        if candidates.rows() > 0 {
            let due = self.write_due(rule, &candidates)?;
            if matches!(rule, Rule::Forward { .. }) {
                self.tally.found_new(due.rows());
            }
            self.push_open(due);
            self.tiers.push(candidates);
            self.merge_tiers(rule)?;
        }
        for waiting in self.sets.write_queue(queue, self.shares.sort.rows_max)? {
            self.push_open(waiting);
        }
        Ok(())
    }

    pub(super) fn push_open(&mut self, parts: RunParts<'s, K>) {
        if parts.rows() > 0 {
            self.open.push(OpenSet { parts, from: None, mark: false });
        }
    }

    /// The candidates that are to be expanded, and were not yet.
    fn write_due(&mut self, rule: &Rule<'s>, candidates: &RunParts<'s, K>) -> Result<RunParts<'s, K>, SearchError> {
        let (tiers, approx) = (&self.tiers, &self.approx);
        let sets = std::slice::from_ref(candidates);
        match rule {
            Rule::Forward { enters_accepting, .. } => {
                self.sets.write(sets, |sets, bounds| due_forward(sets, *enters_accepting, candidates, tiers, bounds))
            }
            Rule::Eliminate { .. } => {
                self.sets.write(sets, |sets, bounds| due_elimination(sets, candidates, tiers, approx, bounds))
            }
        }
    }

    fn merge_tiers(&mut self, rule: &Rule<'s>) -> Result<(), SearchError> {
        let is_each_level = self.options.merging == Merging::EachLevel;
        if is_each_level && matches!(rule, Rule::Eliminate { .. }) {
            // As published: the whole set is written again.
            let (approx, tiers) = (&self.approx, &self.tiers);
            let left = self.sets.write(approx, |sets, bounds| left_of(sets, approx, tiers, bounds))?;
            (self.approx, self.tiers) = (vec![left], Vec::new());
            return Ok(());
        }
        if self.tiers.len() < if is_each_level { 2 } else { self.shares.tiers_max } {
            return Ok(());
        }
        let small =
            if is_each_level { self.tiers.split_off(0) } else { take_smallest(&mut self.tiers, RunParts::rows) };
        let merged = self.sets.write_one(&small)?;
        self.tiers.push(merged);
        Ok(())
    }

    /// A filter that has met all states of the tiers; none where every level is merged.
    pub(super) fn filter(&self) -> Result<Option<RowFilter<'s>>, SearchError> {
        if self.options.merging == Merging::EachLevel {
            return Ok(None);
        }
        let filter = RowFilter::new(self.shares.filter_bytes, self.sets.budget())?;
        for tier in &self.tiers {
            self.sets.for_each(std::slice::from_ref(tier), |row, _| {
                filter.meet(hash_row(row));
                Ok(())
            })?;
        }
        Ok(Some(filter))
    }

    /// Counters for the in-degrees that are left; none where every level is merged.
    pub(super) fn counters(&self) -> Result<Option<CountingFilter<'s>>, SearchError> {
        if self.options.merging == Merging::EachLevel {
            return Ok(None);
        }
        let counters = CountingFilter::new(self.shares.filter_bytes, self.sets.budget())?;
        let width = self.tally.graph.row_bytes();
        self.sets.writer.for_ranges(&self.sets.ranges(&self.approx), |_, bounds| {
            let mut left = left_of(&self.sets, &self.approx, &self.tiers, bounds)?;
            for_stream(&mut left, width, |row, left| {
                counters.add(hash_row(row), u64::from(count(left)));
                Ok(())
            })
        })?;
        Ok(Some(counters))
    }
}

/// Candidates that no tier has. Those with the flag were expanded when they were found.
fn due_forward<'i, 's: 'i, K: Key>(
    sets: &Sets<'s, Appendix>,
    enters_accepting: bool,
    candidates: &RunParts<'s, K>,
    tiers: &[RunParts<'s, K>],
    bounds: Bounds<K>,
) -> Result<BoxStream<'i, K, Appendix>, StorageError> {
    let (batch_rows, budget, graph) = (sets.writer.batch_rows, sets.budget(), sets.graph);
    let mut row = vec![0; graph.row_bytes()];
    let judge = move |key: K, value: Appendix| {
        key.write_row(&mut row);
        (value & FLAG == 0 && (enters_accepting || !graph.is_accepting(&row))).then_some(0)
    };
    let rows = candidates.reader(bounds, READ_BUFFERS, budget)?;
    sets.without(Box::new(Select::new(rows, judge, batch_rows, budget)?), tiers, bounds)
}

/// Candidates that have lost all their predecessors.
fn due_elimination<'i, 's: 'i, K: Key>(
    sets: &Sets<'s, Appendix>,
    candidates: &RunParts<'s, K>,
    tiers: &'i [RunParts<'s, K>],
    approx: &'i [RunParts<'s, K>],
    bounds: Bounds<K>,
) -> Result<BoxStream<'i, K, Appendix>, StorageError> {
    let (batch_rows, budget) = (sets.writer.batch_rows, sets.budget());
    let rows = candidates.reader(bounds, READ_BUFFERS, budget)?;
    let doubtful = Select::new(rows, |_: K, gone: Appendix| (gone & FLAG == 0).then_some(gone), batch_rows, budget)?;
    let add = |gone: Appendix, before: Option<Appendix>| Some(combine(gone, before.unwrap_or(0)));
    let gone = Join::new(doubtful, sets.union(tiers, bounds)?, add, batch_rows, budget)?;
    let is_last = |gone: Appendix, all: Option<Appendix>| (all.map(count) == Some(count(gone))).then_some(0);
    Ok(Box::new(Join::new(gone, sets.union(approx, bounds)?, is_last, batch_rows, budget)?))
}

/// What is left of the approximation set, with the in-degrees that are left.
pub(super) fn left_of<'i, 's: 'i, K: Key>(
    sets: &Sets<'s, Appendix>,
    approx: &'i [RunParts<'s, K>],
    tiers: &'i [RunParts<'s, K>],
    bounds: Bounds<K>,
) -> Result<BoxStream<'i, K, Appendix>, StorageError> {
    let left = |all: Appendix, gone: Option<Appendix>| {
        let left = count(all) - gone.map_or(0, count);
        (left > 0).then_some(left << 1)
    };
    let (all, gone) = (sets.union(approx, bounds)?, sets.union(tiers, bounds)?);
    Ok(Box::new(Join::new(all, gone, left, sets.writer.batch_rows, sets.budget())?))
}
