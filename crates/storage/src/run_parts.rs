//! A sorted set of rows in several runs, one for each range of keys, so that threads write and read it together.
//!
//! # Invariants
//! 1. The ranges of the parts do not overlap, and the parts are in their order.
//!
//! # Cost
//! Each thread that writes has a writer, and readers for all inputs.

use crate::key::{Key, Value};
use crate::stream::{Merge, RowStream, SliceStream, Subtract, write_all};
use crate::{Manifest, ManifestFile, Run, RunOptions, RunReader, RunWriter, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::Disk;

/// Ranges of keys, at most: as many as there are bits in what remembers them.
const PARTS_MAX: usize = 64;

/// From a key on, and below a key.
pub type Bounds<K> = (Option<K>, Option<K>);

/// One type for all streams: what is called for each batch costs nothing.
pub type BoxStream<'i, K, V> = Box<dyn RowStream<K, V> + 'i>;

/// The parts, in the order of their ranges.
#[derive(Clone)]
pub struct RunParts<'b, K> {
    parts: Vec<Run<'b, K>>,
    /// A bit for each range that has a part.
    places: u64,
}

impl<'b, K: Key> RunParts<'b, K> {
    /// The names of the parts of a set, by its name and its places.
    pub fn names(name: &str, places: u64) -> impl Iterator<Item = String> {
        (0..PARTS_MAX).filter(move |place| places >> place & 1 == 1).map(move |place| format!("{name}-{place}"))
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(Run::rows).sum()
    }

    /// The bytes of its files.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Run::bytes).sum()
    }

    /// The names of its files.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(Run::name)
    }

    /// Which ranges have a part.
    pub fn places(&self) -> u64 {
        self.places
    }

    /// The first row.
    pub fn first(&self) -> Option<K> {
        Some(self.parts.first()?.bounds()?.0)
    }

    /// Makes its files survive a crash.
    pub fn sync(&self) -> Result<(), StorageError> {
        self.parts.iter().try_for_each(Run::sync)
    }

    /// Notes its files under a role.
    pub fn note(&self, manifest: &mut Manifest, role: &str) {
        for part in &self.parts {
            let (name, rows, bytes) = (part.name().to_owned(), part.rows(), part.bytes());
            manifest.add_file(ManifestFile { role: role.to_owned(), name, rows, bytes });
        }
    }

    /// Opens the set whose files were noted under a role.
    pub fn open(
        manifest: &Manifest,
        role: &str,
        disk: &dyn Disk,
        widths: (usize, usize),
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let open = |file: &ManifestFile| Run::open(disk, &file.name, widths.0, widths.1, budget);
        let parts = manifest.files_of(role).map(open).collect::<Result<Vec<_>, _>>()?;
        let places = parts.iter().enumerate().map(|(place, _)| 1 << place).sum();
        Ok(Self { parts, places })
    }

    /// The rows within bounds.
    pub fn reader<V: Value>(
        &self,
        (from, to): Bounds<K>,
        buffers: usize,
        budget: &'b MemoryBudget,
    ) -> Result<PartsReader<'b, K, V>, StorageError> {
        let overlaps = |run: &&Run<'b, K>| {
            run.bounds()
                .is_some_and(|(first, last)| from.is_none_or(|from| last >= from) && to.is_none_or(|to| first < to))
        };
        // They are taken from the end.
        let left: Vec<Run<'b, K>> = self.parts.iter().filter(overlaps).rev().cloned().collect();
        let mut reader = PartsReader { left, current: None, bounds: (from, to), buffers, budget };
        reader.next_part()?;
        Ok(reader)
    }

    /// Removes the files.
    pub fn remove(self, disk: &dyn Disk) -> Result<(), StorageError> {
        for part in self.parts {
            let name = part.name().to_owned();
            drop(part);
            disk.remove(&name)?;
        }
        Ok(())
    }
}

/// The rows of all parts, in order.
pub struct PartsReader<'b, K: Key, V: Value = ()> {
    left: Vec<Run<'b, K>>,
    current: Option<RunReader<'b, K, V>>,
    bounds: Bounds<K>,
    buffers: usize,
    budget: &'b MemoryBudget,
}

impl<K: Key, V: Value> PartsReader<'_, K, V> {
    /// Goes on to the next part; false if there is none.
    fn next_part(&mut self) -> Result<bool, StorageError> {
        // The memory of one part is free before the next one begins.
        self.current = None;
        let Some(run) = self.left.pop() else {
            return Ok(false);
        };
        let mut reader = RunReader::new(&run, self.buffers, self.budget)?;
        if self.bounds != (None, None) {
            reader.limit_to(self.bounds.0, self.bounds.1)?;
        }
        self.current = Some(reader);
        Ok(true)
    }
}

impl<K: Key, V: Value> RowStream<K, V> for PartsReader<'_, K, V> {
    fn batch(&mut self) -> Result<(&[K], &[V]), StorageError> {
        loop {
            let is_at_end = match &mut self.current {
                Some(reader) => reader.batch()?.0.is_empty(),
                None => true,
            };
            if !is_at_end || !self.next_part()? {
                break;
            }
        }
        self.current.as_mut().map_or(Ok((&[], &[])), RunReader::batch)
    }

    fn consume(&mut self, n: usize) {
        if let Some(reader) = &mut self.current {
            reader.consume(n);
        }
    }

    fn skip_to(&mut self, key: K) -> Result<(), StorageError> {
        while let Some(reader) = &mut self.current {
            reader.skip_to(key)?;
            if !reader.batch()?.0.is_empty() || !self.next_part()? {
                break;
            }
        }
        Ok(())
    }
}

/// Something sorted that is merged.
pub enum PartsInput<'i, 'b, K, V = ()> {
    /// A run.
    Run(&'i Run<'b, K>),
    /// Another set.
    Parts(&'i RunParts<'b, K>),
    /// Rows in memory, and their values.
    Rows(&'i [K], &'i [V]),
}

impl<'i, 'b: 'i, K: Key, V: Value> PartsInput<'i, 'b, K, V> {
    fn rows(&self) -> u64 {
        match self {
            PartsInput::Run(run) => run.rows(),
            PartsInput::Parts(parts) => parts.rows(),
            PartsInput::Rows(keys, _) => keys.len() as u64,
        }
    }

    fn stream(
        &self,
        bounds: Bounds<K>,
        buffers: usize,
        budget: &'b MemoryBudget,
    ) -> Result<BoxStream<'i, K, V>, StorageError> {
        Ok(match self {
            PartsInput::Run(run) => {
                let mut reader = RunReader::new(run, buffers, budget)?;
                if bounds != (None, None) {
                    reader.limit_to(bounds.0, bounds.1)?;
                }
                Box::new(reader)
            }
            PartsInput::Parts(parts) => Box::new(parts.reader(bounds, buffers, budget)?),
            PartsInput::Rows(keys, values) => {
                let from = bounds.0.map_or(0, |from| keys.partition_point(|key| *key < from));
                let to = bounds.1.map_or(keys.len(), |to| keys.partition_point(|key| *key < to));
                Box::new(SliceStream::new(&keys[from..to], &values[from..to]))
            }
        })
    }

    /// Keys that cut it into `n` parts of about the same size.
    fn splitters(&self, n: usize) -> Vec<K> {
        match self {
            PartsInput::Run(run) => run.splitters(n),
            PartsInput::Rows(keys, _) => (1..n).filter_map(|i| keys.get(i * keys.len() / n).copied()).collect(),
            PartsInput::Parts(parts) => match parts.parts.as_slice() {
                [single] => single.splitters(n),
                several => several.iter().skip(1).filter_map(|run| Some(run.bounds()?.0)).collect(),
            },
        }
    }
}

/// Writes sets of one shape, by several threads where that is worth it.
pub struct PartsWriter<'b> {
    /// Where files are.
    pub disk: &'b dyn Disk,
    /// Where memory comes from.
    pub budget: &'b MemoryBudget,
    /// How many threads write.
    pub threads: usize,
    /// The shape of runs.
    pub options: RunOptions,
    /// Rows that each step of set algebra puts out at once.
    pub batch_rows: usize,
    /// Blocks that a reader has in memory.
    pub buffers: usize,
    /// Fewer rows than this for each thread are written by one.
    pub rows_to_share: u64,
}

impl<'b> PartsWriter<'b> {
    /// Writes the union of inputs, where `combine` makes one of the values of a row, without the rows of other sets, which have values of type `W`.
    pub fn write_union<K: Key, V: Value, W: Value>(
        &self,
        name: &str,
        inputs: &[PartsInput<'_, 'b, K, V>],
        combine: impl Fn(V, V) -> V + Copy + Sync,
        without: &[RunParts<'b, K>],
    ) -> Result<RunParts<'b, K>, StorageError> {
        self.write(name, &self.ranges(inputs), |bounds| {
            let mut stream = self.union(inputs, combine, bounds)?;
            // The newest first: most duplicates are there.
            for set in without.iter().rev() {
                let others = set.reader::<W>(bounds, self.buffers, self.budget)?;
                stream = Box::new(Subtract::new(stream, others, self.batch_rows, self.budget)?);
            }
            Ok(stream)
        })
    }

    /// The union of inputs within bounds.
    pub fn union<'i, K: Key, V: Value>(
        &self,
        inputs: &[PartsInput<'i, 'b, K, V>],
        combine: impl Fn(V, V) -> V + Copy + 'i,
        bounds: Bounds<K>,
    ) -> Result<BoxStream<'i, K, V>, StorageError>
    where
        'b: 'i,
    {
        let (buffers, budget): (usize, &'b MemoryBudget) = (self.buffers, self.budget);
        let mut streams =
            inputs.iter().map(|input| input.stream(bounds, buffers, budget)).collect::<Result<Vec<_>, _>>()?;
        if streams.len() == 1
            && let Some(only) = streams.pop()
        {
            return Ok(only);
        }
        Ok(Box::new(Merge::new(streams, combine, self.batch_rows, budget)?))
    }

    /// Writes what `make` makes for each range.
    pub fn write<'i, K: Key, V: Value>(
        &self,
        name: &str,
        ranges: &[Bounds<K>],
        make: impl Fn(Bounds<K>) -> Result<BoxStream<'i, K, V>, StorageError> + Sync,
    ) -> Result<RunParts<'b, K>, StorageError> {
        let written = self.for_ranges(ranges, |place, bounds| {
            let mut stream = make(bounds)?;
            if stream.batch()?.0.is_empty() {
                return Ok(None);
            }
            let mut writer = RunWriter::new(self.disk, &format!("{name}-{place}"), &self.options, self.budget)?;
            write_all(&mut stream, &mut writer)?;
            writer.finish().map(Some)
        })?;
        let places = written.iter().enumerate().map(|(place, run)| u64::from(run.is_some()) << place).sum();
        Ok(RunParts { parts: written.into_iter().flatten().collect(), places })
    }

    /// Does something for each range, each in a thread of its own.
    pub fn for_ranges<K: Key, T: Send>(
        &self,
        ranges: &[Bounds<K>],
        work: impl Fn(usize, Bounds<K>) -> Result<T, StorageError> + Sync,
    ) -> Result<Vec<T>, StorageError> {
        if let [all] = ranges {
            return Ok(vec![work(0, *all)?]);
        }
        std::thread::scope(|scope| {
            let threads: Vec<_> = ranges
                .iter()
                .enumerate()
                .map(|(place, bounds)| {
                    let builder = std::thread::Builder::new().name("lariat-merge".to_owned());
                    let work = &work;
                    builder
                        .spawn_scoped(scope, move || work(place, *bounds))
                        .map_err(|error| StorageError::Thread(error.to_string()))
                })
                .collect();
            let broken = |_| StorageError::Thread("it panicked".to_owned());
            threads.into_iter().map(|thread| thread?.join().map_err(broken)?).collect()
        })
    }

    /// A range for each thread, if there is enough to do.
    pub fn ranges<K: Key, V: Value>(&self, inputs: &[PartsInput<'_, 'b, K, V>]) -> Vec<Bounds<K>> {
        let rows: u64 = inputs.iter().map(PartsInput::rows).sum();
        let n = self.threads.clamp(1, PARTS_MAX);
        let largest = inputs.iter().max_by_key(|input| input.rows());
        let mut splitters = match largest {
            Some(largest) if n > 1 && rows >= self.rows_to_share * n as u64 => largest.splitters(n),
            _ => Vec::new(),
        };
        splitters.truncate(n - 1);
        splitters.dedup();
        let from = std::iter::once(None).chain(splitters.iter().copied().map(Some));
        let to = splitters.iter().copied().map(Some).chain(std::iter::once(None));
        from.zip(to).collect()
    }
}
