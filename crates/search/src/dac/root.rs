//! An accepting state on a cycle, in a set where every state has a predecessor and every state can be reached from accepting ones.
//!
//! Not every accepting state of the set is on a cycle: some only come after one. But a component of the set that no other leads to has a cycle, since its
//! states have predecessors, and it has an accepting state, since something accepting leads to it. An accepting state of such a component is
//! found by going forwards only: from one accepting state, then from one that was not met, and so on until all are met. Whatever
//! leads to the *last* of these was not met before, or the last would have been met with it. So all that leads to it was met from
//! it, and it is on a cycle.
//!
//! To begin so often would take long where many components come first. So the beginnings are taken in batches that grow, and if the last batch has
//! several states, the same is done among these, as if what was met before that batch were not there.
//!
//! # Cost
//! One forward search of the set for each time that the batches begin anew, which a logarithm of the accepting states bounds.

use super::Search;
use crate::SearchError;
use lariat_storage::stream::RowStream;
use lariat_storage::{Key, Manifest, ReservedVec, RunParts, StorageError};

/// By how much a batch is larger than the one before.
const GROWTH: usize = 4;

impl<'s, K: Key> Search<'s, K> {
    /// The row of an accepting state on a cycle; `approx` has all accepting states of the set. None if the search is stopped.
    pub(super) fn find_root(&mut self) -> Result<Option<Vec<u8>>, SearchError> {
        let mut beginnings = self.approx.clone();
        let mut blocked: Vec<RunParts<'s, K>> = Vec::new();
        loop {
            let (mut batch_rows, mut last, mut before_last) = (1, Vec::new(), blocked.clone());
            self.tiers = blocked.clone();
            loop {
                let batch = self.not_met(&beginnings, batch_rows)?;
                if batch.rows() == 0 {
                    break;
                }
                before_last = self.tiers.clone();
                last = vec![batch.clone()];
                self.tiers.push(batch.clone());
                self.push_open(batch);
                self.sweep("find-root", true)?;
                if self.tally.is_stopped() {
                    return Ok(None);
                }
                let kept = [&beginnings, &blocked, &before_last, &last, &self.tiers, &self.approx];
                self.remove_others(&kept)?;
                batch_rows = batch_rows.saturating_mul(GROWTH).min(self.shares.sort.rows_max);
            }
            match last.first() {
                Some(batch) if batch.rows() == 1 => {
                    let mut row = vec![0; self.tally.graph.row_bytes()];
                    let key = batch.first().ok_or(SearchError::PathLost)?;
                    key.write_row(&mut row);
                    return Ok(Some(row));
                }
                Some(_) => (beginnings, blocked) = (last, before_last),
                None => return Err(SearchError::PathLost),
            }
        }
    }

    /// Some of the states that no tier has, as a set.
    fn not_met(&mut self, states: &[RunParts<'s, K>], n_max: usize) -> Result<RunParts<'s, K>, SearchError> {
        let (mut keys, mut values) = (ReservedVec::new(self.sets.budget()), ReservedVec::new(self.sets.budget()));
        let all = self.sets.union(states, (None, None))?;
        let mut stream = self.sets.without(all, &self.tiers, (None, None))?;
        while keys.len() < n_max {
            let (batch, _) = stream.batch()?;
            let n = batch.len().min(n_max - keys.len());
            if n == 0 {
                break;
            }
            keys.extend_from_slice(&batch[..n])?;
            stream.consume(n);
        }
        drop(stream);
        values.resize(keys.len(), 0)?;
        self.sets.write_rows(keys, values)
    }

    /// Removes the files of all other sets. What is published stays: `approx` is among the kept ones.
    fn remove_others(&self, kept: &[&Vec<RunParts<'s, K>>]) -> Result<(), StorageError> {
        let mut manifest = Manifest::new();
        kept.iter().flat_map(|sets| sets.iter()).for_each(|set| set.note(&mut manifest, "kept"));
        manifest.remove_others(self.sets.disk())
    }
}
