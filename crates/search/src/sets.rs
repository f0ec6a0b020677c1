//! Sorted sets of states with values on disk, as the searches for accepting cycles use them: named by numbers, made of each other, noted in the manifest.

use crate::pool::OpenSet;
use crate::{SearchError, checkpoint};
use lariat_base::MemoryBudget;
use lariat_disk::Disk;
use lariat_graph::Graph;
use lariat_storage::run_parts::BoxStream;
use lariat_storage::sort::{combine_duplicates, sort_rows_with_values};
use lariat_storage::stream::{RowStream, Select, Subtract};
use lariat_storage::{
    Bounds, Key, Manifest, PartsInput, PartsWriter, ReservedVec, RowQueue, RunOptions, RunParts, SortedPieces,
    StorageError, Value,
};
use std::time::{Duration, Instant};

/// Small merges follow each other quickly; what one of them found is found again in less time than this after a crash.
pub(crate) const PUBLISH_AFTER: Duration = Duration::from_millis(500);
/// Blocks that a reader has in memory.
pub(crate) const READ_BUFFERS: usize = 2;

/// How sets are made, and how many there were.
pub(crate) struct Sets<'s, V> {
    pub(crate) writer: PartsWriter<'s>,
    pub(crate) graph: &'s dyn Graph,
    /// What becomes of the values of a state that is in several sets.
    pub(crate) combine: fn(V, V) -> V,
    /// Sets so far, by which they are named, and those that were published.
    n_sets: u64,
    n_published: u64,
    published: Instant,
    publish_after: Duration,
}

impl<'s, V: Value> Sets<'s, V> {
    pub(crate) fn new(
        writer: PartsWriter<'s>,
        graph: &'s dyn Graph,
        combine: fn(V, V) -> V,
        publish_after: Duration,
    ) -> Self {
        Self { writer, graph, combine, n_sets: 0, n_published: 0, published: Instant::now(), publish_after }
    }

    pub(crate) fn disk(&self) -> &'s dyn Disk {
        self.writer.disk
    }

    pub(crate) fn budget(&self) -> &'s MemoryBudget {
        self.writer.budget
    }

    pub(crate) fn options(&self) -> &RunOptions {
        &self.writer.options
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.n_sets += 1;
        self.n_sets - 1
    }

    pub(crate) fn next_name(&mut self) -> String {
        format!("set-{}", self.next_number())
    }

    /// Sets as one, within bounds.
    pub(crate) fn union<'i, K: Key>(
        &self,
        sets: &'i [RunParts<'s, K>],
        bounds: Bounds<K>,
    ) -> Result<BoxStream<'i, K, V>, StorageError>
    where
        's: 'i,
    {
        let inputs: Vec<PartsInput<'i, 's, K, V>> = sets.iter().map(PartsInput::Parts).collect();
        self.writer.union(&inputs, self.combine, bounds)
    }

    /// A stream without the states of sets.
    pub(crate) fn without<'i, K: Key>(
        &self,
        mut stream: BoxStream<'i, K, V>,
        sets: &[RunParts<'s, K>],
        bounds: Bounds<K>,
    ) -> Result<BoxStream<'i, K, V>, StorageError>
    where
        's: 'i,
    {
        let (batch_rows, budget): (usize, &'s MemoryBudget) = (self.writer.batch_rows, self.writer.budget);
        // The newest first: most duplicates are there.
        for set in sets.iter().rev() {
            let others = set.reader::<V>(bounds, READ_BUFFERS, budget)?;
            stream = Box::new(Subtract::new(stream, others, batch_rows, budget)?);
        }
        Ok(stream)
    }

    pub(crate) fn ranges<K: Key>(&self, sets: &[RunParts<'s, K>]) -> Vec<Bounds<K>> {
        let inputs: Vec<PartsInput<'_, 's, K, V>> = sets.iter().map(PartsInput::Parts).collect();
        self.writer.ranges(&inputs)
    }

    /// Writes what `make` makes for each range of some sets.
    pub(crate) fn write<'i, K: Key>(
        &mut self,
        sets: &[RunParts<'s, K>],
        make: impl Fn(&Self, Bounds<K>) -> Result<BoxStream<'i, K, V>, StorageError> + Sync,
    ) -> Result<RunParts<'s, K>, SearchError> {
        let name = self.next_name();
        let this = &*self;
        Ok(this.writer.write(&name, &this.ranges(sets), |bounds| make(this, bounds))?)
    }

    /// Makes one set of several.
    pub(crate) fn write_one<K: Key>(&mut self, sets: &[RunParts<'s, K>]) -> Result<RunParts<'s, K>, SearchError> {
        match sets {
            [single] => Ok(single.clone()),
            _ => self.write(sets, |this, bounds| this.union(sets, bounds)),
        }
    }

    /// Writes the states that are chosen by their row and value, with the value that they are given.
    pub(crate) fn write_chosen<K: Key>(
        &mut self,
        sets: &[RunParts<'s, K>],
        choose: impl Fn(&[u8], V) -> Option<V> + Copy + Sync,
    ) -> Result<RunParts<'s, K>, SearchError> {
        self.write(sets, |this, bounds| {
            let mut row = vec![0; this.options().row_bytes];
            let judge = move |key: K, value| {
                key.write_row(&mut row);
                choose(&row, value)
            };
            let rows = this.union(sets, bounds)?;
            Ok(Box::new(Select::new(rows, judge, this.writer.batch_rows, this.writer.budget)?))
        })
    }

    /// Writes what threads have collected, and removes their files.
    pub(crate) fn write_pieces<K: Key>(
        &mut self,
        pieces: Vec<SortedPieces<'s, K, V>>,
    ) -> Result<RunParts<'s, K>, SearchError> {
        let name = self.next_name();
        let runs = pieces.iter().flat_map(|pieces| pieces.runs.iter().map(PartsInput::Run));
        let in_memory = pieces.iter().map(|pieces| PartsInput::Rows(&pieces.keys, &pieces.values));
        let inputs: Vec<PartsInput<'_, 's, K, V>> = runs.chain(in_memory).collect();
        let written = self.writer.write_union::<K, V, ()>(&name, &inputs, self.combine, &[])?;
        drop(inputs);
        for run in pieces.into_iter().flat_map(|pieces| pieces.runs) {
            let name = run.name().to_owned();
            drop(run);
            self.disk().remove(&name).map_err(StorageError::from)?;
        }
        Ok(written)
    }

    /// Writes states in any order.
    pub(crate) fn write_rows<K: Key>(
        &mut self,
        mut keys: ReservedVec<'s, K>,
        mut values: ReservedVec<'s, V>,
    ) -> Result<RunParts<'s, K>, SearchError> {
        sort_rows_with_values(&mut keys, &mut values);
        let n = combine_duplicates(&mut keys, &mut values, self.combine);
        let name = self.next_name();
        let rows = [PartsInput::Rows(&keys[..n], &values[..n])];
        Ok(self.writer.write_union::<K, V, ()>(&name, &rows, self.combine, &[])?)
    }

    /// Writes states that wait in a queue, in sets of `rows_max` at most.
    pub(crate) fn write_queue<K: Key>(
        &mut self,
        mut queue: RowQueue<'s>,
        rows_max: usize,
    ) -> Result<Vec<RunParts<'s, K>>, SearchError> {
        let (width, budget) = (self.options().row_bytes, self.budget());
        let mut written = Vec::new();
        while !queue.is_empty() {
            let n = usize::try_from(queue.len()).unwrap_or(usize::MAX).min(rows_max.max(1));
            let (mut keys, mut values) =
                (ReservedVec::with_capacity(n, budget)?, ReservedVec::with_capacity(n, budget)?);
            while keys.len() < n && !queue.is_empty() {
                for row in queue.take_rows(n - keys.len())?.iter() {
                    keys.push(K::from_row(&row[..width]))?;
                    values.push(V::read(&row[width..]))?;
                }
            }
            written.push(self.write_rows(keys, values)?);
        }
        Ok(written)
    }

    /// Calls `visit` with all states of sets as one, by several threads.
    pub(crate) fn for_each<K: Key>(
        &self,
        sets: &[RunParts<'s, K>],
        visit: impl Fn(&[u8], V) -> Result<(), StorageError> + Sync,
    ) -> Result<(), SearchError> {
        let width = self.options().row_bytes;
        self.writer
            .for_ranges(&self.ranges(sets), |_, bounds| for_stream(&mut self.union(sets, bounds)?, width, &visit))?;
        Ok(())
    }

    /// Notes sets under a role, after making sure that they survive a crash.
    pub(crate) fn note<K: Key>(
        &self,
        manifest: &mut Manifest,
        role: &str,
        sets: &[RunParts<'s, K>],
    ) -> Result<(), StorageError> {
        manifest.set_number("sets", self.n_sets);
        manifest.set_number(role, sets.len() as u64);
        for (i, set) in sets.iter().enumerate() {
            if set.files().any(|name| number_of(name) >= self.n_published) {
                set.sync()?;
            }
            set.note(manifest, &format!("{role}-{i}"));
        }
        Ok(())
    }

    /// Notes open sets, and how far they were read.
    pub(crate) fn note_open<K: Key>(
        &self,
        manifest: &mut Manifest,
        open: &[OpenSet<'s, K>],
    ) -> Result<(), StorageError> {
        let sets: Vec<RunParts<'s, K>> = open.iter().map(|open| open.parts.clone()).collect();
        self.note(manifest, "open", &sets)?;
        for (i, open) in open.iter().enumerate() {
            manifest.set_number(&format!("open-mark-{i}"), u64::from(open.mark));
            if let Some(from) = open.from {
                let mut row = vec![0; self.options().row_bytes];
                from.write_row(&mut row);
                manifest.set_text(&format!("open-from-{i}"), &checkpoint::to_digits(&row));
            }
        }
        Ok(())
    }

    /// Whether enough was done since the last time to publish again.
    pub(crate) fn is_publishing_due(&self) -> bool {
        self.published.elapsed() >= self.publish_after
    }

    /// Publishes a manifest, and removes the files of sets that are not in it.
    pub(crate) fn publish(&mut self, manifest: &Manifest) -> Result<(), SearchError> {
        manifest.publish(self.disk(), self.budget())?;
        self.n_published = self.n_sets;
        self.published = Instant::now();
        Ok(manifest.remove_others(self.disk())?)
    }

    /// The sets that were noted under a role.
    pub(crate) fn take_up<K: Key>(
        &mut self,
        manifest: &Manifest,
        role: &str,
    ) -> Result<Vec<RunParts<'s, K>>, StorageError> {
        self.n_sets = manifest.number("sets")?;
        self.n_published = self.n_sets;
        let widths = (self.options().row_bytes, self.options().value_bytes);
        (0..manifest.number(role)?)
            .map(|i| RunParts::open(manifest, &format!("{role}-{i}"), self.disk(), widths, self.budget()))
            .collect()
    }

    /// The open sets that were noted.
    pub(crate) fn take_up_open<K: Key>(&mut self, manifest: &Manifest) -> Result<Vec<OpenSet<'s, K>>, StorageError> {
        let mut open = Vec::new();
        for (i, parts) in self.take_up(manifest, "open")?.into_iter().enumerate() {
            let from = manifest
                .text(&format!("open-from-{i}"))
                .ok()
                .map(|digits| K::from_row(&checkpoint::from_digits(digits)));
            open.push(OpenSet { parts, from, mark: manifest.number(&format!("open-mark-{i}"))? == 1 });
        }
        Ok(open)
    }
}

/// Calls `visit` with the rest of a stream's states.
pub(crate) fn for_stream<K: Key, V: Value>(
    stream: &mut impl RowStream<K, V>,
    width: usize,
    visit: impl Fn(&[u8], V) -> Result<(), StorageError>,
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

/// The number in a set's name, which is followed by that of the part.
fn number_of(name: &str) -> u64 {
    name.split('-').nth(1).and_then(|number| number.parse().ok()).unwrap_or(u64::MAX)
}
