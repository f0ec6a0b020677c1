//! Merging values that were sent with those on disk: states whose value grows are expanded again.

use super::round::Round;
use super::{Search, none};
use crate::SearchError;
use crate::sets::{READ_BUFFERS, Sets};
use lariat_storage::run_parts::BoxStream;
use lariat_storage::stream::{Join, intersect};
use lariat_storage::{
    Bounds, CombiningCache, ExternalSort, Key, RowFilter, RunParts, StorageError, hash_row, take_smallest,
};

/// More bytes of the filter for each state hardly make it more exact.
const FILTER_BYTES_OF_STATE: u64 = 2;

impl<'s, K: Key> Search<'s, K> {
    pub(super) fn merge(&mut self, round: Round<'s, K>) -> Result<(), SearchError> {
        let fresh = self.sets.write_pieces(round.fresh)?;
        self.push_tier(fresh)?;
        let sent = self.sets.write_pieces(round.sent)?;
        if sent.rows() > 0 {
            self.open_due(&sent)?;
            self.push_tier(sent)?;
        }
        for waiting in self.sets.write_queue(round.queue, self.shares.fresh.rows_max)? {
            self.push_open(waiting, self.iteration == 1);
        }
        Ok(())
    }

    /// States to which something larger was sent than is known of them, and states of which nothing is known.
    fn open_due(&mut self, sent: &RunParts<'s, K>) -> Result<(), SearchError> {
        let tiers = &self.tiers;
        let sets = std::slice::from_ref(sent);
        let new = self.sets.write(sets, |this, bounds| {
            let all = Box::new(sent.reader(bounds, READ_BUFFERS, this.budget())?);
            this.without(all, tiers, bounds)
        })?;
        let again = self.sets.write(sets, |this, bounds| grown(this, sent, tiers, bounds))?;
        self.tally.found_new(new.rows());
        let is_first = self.iteration == 1;
        self.push_open(new, is_first);
        if is_first {
            self.push_open(again, false);
            return Ok(());
        }
        let counting = &self.counting;
        let again_sets = std::slice::from_ref(&again);
        let marked = self.sets.write(again_sets, |this, bounds| both(this, again_sets, counting, bounds))?;
        let unmarked = self
            .sets
            .write(again_sets, |this, bounds| this.without(this.union(again_sets, bounds)?, counting, bounds))?;
        self.push_open(marked, true);
        self.push_open(unmarked, false);
        Ok(())
    }

    fn push_tier(&mut self, tier: RunParts<'s, K>) -> Result<(), SearchError> {
        if tier.rows() > 0 {
            self.tiers.push(tier);
        }
        if self.tiers.len() >= self.shares.tiers_max {
            let small = take_smallest(&mut self.tiers, RunParts::rows);
            let merged = self.sets.write_one(&small)?;
            self.tiers.push(merged);
        }
        Ok(())
    }

    /// A filter that has met all states of the tiers.
    pub(super) fn filter(&self) -> Result<RowFilter<'s>, SearchError> {
        // The first iteration finds all states there are; a filter that is as large as they need is cleared, and looked into, faster.
        let needed = if self.iteration == 1 { u64::MAX } else { FILTER_BYTES_OF_STATE * self.tally.states() };
        let filter = RowFilter::new(self.shares.filter_bytes.min(needed), self.sets.budget())?;
        for tier in &self.tiers {
            self.sets.for_each(std::slice::from_ref(tier), |row, _| {
                filter.meet(hash_row(row));
                Ok(())
            })?;
        }
        Ok(filter)
    }

    /// The accepting states that counted, have a value, and are nobody's value.
    pub(super) fn write_left(&mut self) -> Result<RunParts<'s, K>, SearchError> {
        let values = [self.write_values()?];
        let graph = self.tally.graph;
        let mut left = [self.sets.write_chosen(&self.tiers, |row, value: K| {
            (value != none() && graph.is_accepting(row)).then_some(none())
        })?];
        if self.iteration > 1 {
            let counting = &self.counting;
            let both = self.sets.write(counting, |this, bounds| both(this, counting, &left, bounds))?;
            left = [both];
        }
        self.sets.write(&left, |this, bounds| this.without(this.union(&left, bounds)?, &values, bounds))
    }

    /// All values.
    fn write_values(&mut self) -> Result<RunParts<'s, K>, SearchError> {
        let budget = self.sets.budget();
        let mut cache = CombiningCache::<K, K>::new(self.shares.cache_bytes, budget)?;
        let mut sort =
            ExternalSort::new(self.sets.disk(), "values", self.shares.sort, K::max as fn(_, _) -> _, budget)?;
        let mut stream = self.sets.union(&self.tiers, (None, None))?;
        loop {
            let (_, values) = stream.batch()?;
            for value in values.iter().filter(|value| **value != none()) {
                if let Some((value, _)) = cache.push(*value, none(), K::max) {
                    sort.push(value, none())?;
                }
            }
            let n = values.len();
            if n == 0 {
                break;
            }
            stream.consume(n);
        }
        drop(stream);
        for (value, _) in cache.drain() {
            sort.push(value, none())?;
        }
        self.sets.write_pieces(vec![sort.into_pieces()?])
    }
}

/// States to which something larger was sent than is known of them.
fn grown<'i, 's: 'i, K: Key>(
    sets: &Sets<'s, K>,
    sent: &RunParts<'s, K>,
    tiers: &'i [RunParts<'s, K>],
    bounds: Bounds<K>,
) -> Result<BoxStream<'i, K, K>, StorageError> {
    let judge = |sent: K, known: Option<K>| known.filter(|known| sent > *known).map(|_| sent);
    let (all, known) = (sent.reader::<K>(bounds, READ_BUFFERS, sets.budget())?, sets.union(tiers, bounds)?);
    Ok(Box::new(Join::new(all, known, judge, sets.writer.batch_rows, sets.budget())?))
}

/// The states that are in sets and in others, with the values of the first.
fn both<'i, 's: 'i, K: Key>(
    sets: &Sets<'s, K>,
    these: &'i [RunParts<'s, K>],
    others: &'i [RunParts<'s, K>],
    bounds: Bounds<K>,
) -> Result<BoxStream<'i, K, K>, StorageError> {
    let (these, others) = (sets.union(these, bounds)?, sets.union(others, bounds)?);
    Ok(Box::new(intersect(these, others, |value: K, _: K| value, sets.writer.batch_rows, sets.budget())?))
}
