//! Merging candidates with what is on disk: which of them are expanded next, and how appendices are kept.
//!
//! The candidates of a round, sorted and combined, become another *tier*: a set of its own, as small as they are. The appendix of a vertex is the
//! sum over all tiers. Few tiers are kept by merging small ones, so a small level is never merged into a large set; and
//! whether a candidate is due is looked up in the blocks that it falls into.

use super::round::{Round, Rule};
use super::shares::READ_BUFFERS;
use super::{Appendix, FLAG, Merging, OpenSet, Search, combine, count};
use crate::SearchError;
use lariat_storage::sort::{drop_duplicates, sort_rows};
use lariat_storage::stream::{Join, RowStream, Select, Subtract};
use lariat_storage::{
    Bounds, CountingFilter, Key, PartsInput, PartsWriter, ReservedVec, RowFilter, RowQueue, RunParts, SortedPieces,
    StorageError, hash_row, take_smallest,
};

type Stream<'i, K> = Box<dyn RowStream<K, Appendix> + 'i>;

impl<'s, K: Key> Search<'s, K> {
    /// Merges what a round found: the tier of its candidates, and the next states to be expanded.
    pub(super) fn merge(&mut self, rule: &Rule<'s>, round: Round<'s, K>) -> Result<(), SearchError> {
        self.begin_phase("merge");
        let Round { pieces, queue } = round;
        let candidates = self.write_candidates(pieces)?;
        if candidates.rows() > 0 {
            let due = self.write_due(rule, &candidates)?;
            if matches!(rule, Rule::Forward { .. }) {
                self.tally.found_new(due.rows());
            }
            self.push_open(due);
            self.tiers.push(candidates);
            self.merge_tiers(rule)?;
        }
        self.save_queue(queue)
    }

    pub(super) fn push_open(&mut self, parts: RunParts<'s, K>) {
        if parts.rows() > 0 {
            self.open.push(OpenSet { parts, from: None });
        }
    }

    fn write_candidates(
        &mut self,
        pieces: Vec<SortedPieces<'s, K, Appendix>>,
    ) -> Result<RunParts<'s, K>, SearchError> {
        let name = self.next_name();
        let runs = pieces.iter().flat_map(|pieces| pieces.runs.iter().map(PartsInput::Run));
        let in_memory = pieces.iter().map(|pieces| PartsInput::Rows(&pieces.keys, &pieces.values));
        let inputs: Vec<PartsInput<'_, 's, K, Appendix>> = runs.chain(in_memory).collect();
        let written = self.writer().write_union::<K, Appendix, ()>(&name, &inputs, combine, &[])?;
        drop(inputs);
        for run in pieces.into_iter().flat_map(|pieces| pieces.runs) {
            let name = run.name().to_owned();
            drop(run);
            self.disk.remove(&name).map_err(StorageError::from)?;
        }
        Ok(written)
    }

    /// The candidates that are to be expanded, and were not yet.
    fn write_due(&mut self, rule: &Rule<'s>, candidates: &RunParts<'s, K>) -> Result<RunParts<'s, K>, SearchError> {
        let (name, writer) = (self.next_name(), self.writer());
        let ranges = writer.ranges(&[PartsInput::<K, Appendix>::Parts(candidates)]);
        let due = match rule {
            Rule::Forward { enters_accepting, .. } => writer
                .write(&name, &ranges, |bounds| self.due_forward(&writer, *enters_accepting, candidates, bounds))?,
            Rule::Eliminate { .. } => {
                writer.write(&name, &ranges, |bounds| self.due_elimination(&writer, candidates, bounds))?
            }
        };
        Ok(due)
    }

    /// Candidates that no tier has. Those with the flag were expanded when they were found.
    fn due_forward<'i>(
        &'i self,
        writer: &PartsWriter<'s>,
        enters_accepting: bool,
        candidates: &'i RunParts<'s, K>,
        bounds: Bounds<K>,
    ) -> Result<Stream<'i, K>, StorageError> {
        let (batch_rows, budget) = (writer.batch_rows, writer.budget);
        let mut is_accepting = self.is_accepting();
        let rows = candidates.reader(bounds, READ_BUFFERS, budget)?;
        let doubtful = Select::new(
            rows,
            move |key: K, value: Appendix| {
                (value & FLAG == 0 && (enters_accepting || !is_accepting(key))).then_some(0)
            },
            batch_rows,
            budget,
        )?;
        let mut stream: Stream<'i, K> = Box::new(doubtful);
        for tier in self.tiers.iter().rev() {
            let known = tier.reader::<Appendix>(bounds, READ_BUFFERS, budget)?;
            stream = Box::new(Subtract::new(stream, known, batch_rows, budget)?);
        }
        Ok(stream)
    }

    /// Candidates that have lost all their predecessors.
    fn due_elimination<'i>(
        &'i self,
        writer: &PartsWriter<'s>,
        candidates: &'i RunParts<'s, K>,
        bounds: Bounds<K>,
    ) -> Result<Stream<'i, K>, StorageError> {
        let (batch_rows, budget) = (writer.batch_rows, writer.budget);
        let rows = candidates.reader(bounds, READ_BUFFERS, budget)?;
        let doubtful =
            Select::new(rows, |_: K, gone: Appendix| (gone & FLAG == 0).then_some(gone), batch_rows, budget)?;
        let before = self.union_of(&self.tiers, writer, bounds)?;
        let add = |gone: Appendix, before: Option<Appendix>| Some(combine(gone, before.unwrap_or(0)));
        let gone = Join::new(doubtful, before, add, batch_rows, budget)?;
        let approx = self.union_of(&self.approx, writer, bounds)?;
        let is_last = |gone: Appendix, all: Option<Appendix>| (all.map(count) == Some(count(gone))).then_some(0);
        Ok(Box::new(Join::new(gone, approx, is_last, batch_rows, budget)?))
    }

    /// Sets as one.
    pub(super) fn union_of<'i>(
        &'i self,
        sets: &'i [RunParts<'s, K>],
        writer: &PartsWriter<'s>,
        bounds: Bounds<K>,
    ) -> Result<Stream<'i, K>, StorageError> {
        let inputs: Vec<PartsInput<'i, 's, K, Appendix>> = sets.iter().map(PartsInput::Parts).collect();
        writer.union(&inputs, combine, bounds)
    }

    /// What is left of the approximation set, with the in-degrees that are left.
    pub(super) fn left_of_approx<'i>(
        &'i self,
        writer: &PartsWriter<'s>,
        bounds: Bounds<K>,
    ) -> Result<Stream<'i, K>, StorageError> {
        let approx = self.union_of(&self.approx, writer, bounds)?;
        let gone = self.union_of(&self.tiers, writer, bounds)?;
        let left = |all: Appendix, gone: Option<Appendix>| {
            let left = count(all) - gone.map_or(0, count);
            (left > 0).then_some(left << 1)
        };
        Ok(Box::new(Join::new(approx, gone, left, writer.batch_rows, writer.budget)?))
    }

    fn merge_tiers(&mut self, rule: &Rule<'s>) -> Result<(), SearchError> {
        let is_each_level = self.options.merging == Merging::EachLevel;
        if is_each_level && matches!(rule, Rule::Eliminate { .. }) {
            // As published: the whole set is written again.
            let (name, writer) = (self.next_name(), self.writer());
            let ranges = self.ranges_of(&self.approx);
            let left = writer.write(&name, &ranges, |bounds| self.left_of_approx(&writer, bounds))?;
            (self.approx, self.tiers) = (vec![left], Vec::new());
            return Ok(());
        }
        if self.tiers.len() < if is_each_level { 2 } else { self.shares.tiers_max } {
            return Ok(());
        }
        let small =
            if is_each_level { self.tiers.split_off(0) } else { take_smallest(&mut self.tiers, RunParts::rows) };
        let merged = self.write_one(&small)?;
        self.tiers.push(merged);
        Ok(())
    }

    /// Makes one set of several.
    pub(super) fn write_one(&mut self, sets: &[RunParts<'s, K>]) -> Result<RunParts<'s, K>, SearchError> {
        if let [single] = sets {
            return Ok(single.clone());
        }
        let name = self.next_name();
        let inputs: Vec<PartsInput<'_, 's, K, Appendix>> = sets.iter().map(PartsInput::Parts).collect();
        Ok(self.writer().write_union::<K, Appendix, ()>(&name, &inputs, combine, &[])?)
    }

    /// Writes states that wait to disk, so that they are there after a crash.
    fn save_queue(&mut self, mut queue: RowQueue<'s>) -> Result<(), SearchError> {
        while !queue.is_empty() {
            let n = usize::try_from(queue.len()).unwrap_or(usize::MAX).min(self.shares.sort.rows_max);
            let budget = self.tally.context.budget;
            let mut keys = ReservedVec::with_capacity(n, budget)?;
            while keys.len() < n && !queue.is_empty() {
                let left = n - keys.len();
                queue.take_rows(left)?.iter().try_for_each(|row| keys.push(K::from_row(row)))?;
            }
            let waiting = self.write_rows(keys)?;
            self.push_open(waiting);
        }
        Ok(())
    }

    /// Writes rows in any order as a set.
    pub(super) fn write_rows(&mut self, mut keys: ReservedVec<'s, K>) -> Result<RunParts<'s, K>, SearchError> {
        sort_rows(&mut keys, &mut []);
        let n = drop_duplicates(&mut keys);
        let mut values = ReservedVec::new(self.tally.context.budget);
        values.resize(n, 0)?;
        let name = self.next_name();
        let rows = [PartsInput::Rows(&keys[..n], &values)];
        Ok(self.writer().write_union::<K, Appendix, ()>(&name, &rows, combine, &[])?)
    }

    pub(super) fn ranges_of(&self, sets: &[RunParts<'s, K>]) -> Vec<Bounds<K>> {
        let inputs: Vec<PartsInput<'_, 's, K, Appendix>> = sets.iter().map(PartsInput::Parts).collect();
        self.writer().ranges(&inputs)
    }

    /// A filter that has met all vertices of the tiers; none where every level is merged.
    pub(super) fn filter(&self) -> Result<Option<RowFilter<'s>>, SearchError> {
        if self.options.merging == Merging::EachLevel {
            return Ok(None);
        }
        let filter = RowFilter::new(self.shares.filter_bytes, self.tally.context.budget)?;
        for tier in &self.tiers {
            self.for_rows(std::slice::from_ref(tier), |row, _| {
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
        let counters = CountingFilter::new(self.shares.filter_bytes, self.tally.context.budget)?;
        let writer = self.writer();
        let width = self.tally.graph.row_bytes();
        writer.for_ranges(&self.ranges_of(&self.approx), |_, bounds| {
            let mut left = self.left_of_approx(&writer, bounds)?;
            for_stream(&mut left, width, |row, left| {
                counters.add(hash_row(row), u64::from(count(left)));
                Ok(())
            })
        })?;
        Ok(Some(counters))
    }

    /// Calls `visit` with all rows of sets as one, by several threads.
    pub(super) fn for_rows(
        &self,
        sets: &[RunParts<'s, K>],
        visit: impl Fn(&[u8], Appendix) -> Result<(), StorageError> + Sync,
    ) -> Result<(), SearchError> {
        let (writer, width) = (self.writer(), self.tally.graph.row_bytes());
        writer.for_ranges(&self.ranges_of(sets), |_, bounds| {
            for_stream(&mut self.union_of(sets, &writer, bounds)?, width, &visit)
        })?;
        Ok(())
    }
}

/// Calls `visit` with the rest of a stream's rows.
pub(super) fn for_stream<K: Key>(
    stream: &mut impl RowStream<K, Appendix>,
    width: usize,
    visit: impl Fn(&[u8], Appendix) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let mut row = vec![0; width];
    loop {
        let (keys, values) = stream.batch()?;
        for (key, value) in keys.iter().zip(values) {
            key.write_row(&mut row);
            visit(&row, *value)?;
        }
        let n = keys.len();
        if n == 0 {
            return Ok(());
        }
        stream.consume(n);
    }
}
