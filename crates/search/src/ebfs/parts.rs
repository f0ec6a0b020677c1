//! A sorted set of states in several runs, one for each range of keys, so that threads write it together.

use super::shares::READ_BUFFERS;
use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_disk::Disk;
use lariat_storage::stream::{Merge, RowStream, SliceStream, Subtract, write_all};
use lariat_storage::{Key, Run, RunOptions, RunReader, RunWriter, StorageError};

/// Ranges of keys, at most: as many as there are bits in what remembers them.
const PARTS_MAX: usize = 64;

/// From a key on, and below a key.
type Bounds<K> = (Option<K>, Option<K>);

/// The parts, in the order of their ranges.
#[derive(Clone)]
pub(super) struct RunParts<'b, K> {
    parts: Vec<Run<'b, K>>,
    /// A bit for each range that has a part.
    places: u64,
    is_level: bool,
}

/// The names of the parts that there are.
pub(super) fn names(name: &str, places: u64) -> impl Iterator<Item = String> {
    (0..PARTS_MAX).filter(move |place| places >> place & 1 == 1).map(move |place| format!("{name}-{place}"))
}

impl<'b, K: Key> RunParts<'b, K> {
    pub(super) fn rows(&self) -> u64 {
        self.parts.iter().map(Run::rows).sum()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(Run::bytes).sum()
    }

    /// The names of the files.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(Run::name)
    }

    pub(super) fn places(&self) -> u64 {
        self.places
    }

    pub(super) fn into_level(self) -> Self {
        Self { is_level: true, ..self }
    }

    pub(super) fn is_level(&self) -> bool {
        self.is_level
    }

    /// The rows within bounds.
    pub(super) fn reader(
        &self,
        (from, to): Bounds<K>,
        buffers: usize,
        budget: &'b MemoryBudget,
    ) -> Result<PartsReader<'b, K>, StorageError> {
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
    pub(super) fn remove(self, disk: &dyn Disk) -> Result<(), StorageError> {
        for part in self.parts {
            let name = part.name().to_owned();
            drop(part);
            disk.remove(&name)?;
        }
        Ok(())
    }
}

/// The rows of all parts, in order.
pub(super) struct PartsReader<'b, K: Key> {
    left: Vec<Run<'b, K>>,
    current: Option<RunReader<'b, K>>,
    bounds: Bounds<K>,
    buffers: usize,
    budget: &'b MemoryBudget,
}

impl<K: Key> PartsReader<'_, K> {
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

impl<K: Key> RowStream<K, ()> for PartsReader<'_, K> {
    fn batch(&mut self) -> Result<(&[K], &[()]), StorageError> {
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
pub(super) enum Input<'i, 'b, K> {
    Run(&'i Run<'b, K>),
    Parts(&'i RunParts<'b, K>),
    Keys(&'i [K]),
}

/// One type for all streams: what is called for each batch costs nothing.
type Stream<'i, K> = Box<dyn RowStream<K, ()> + 'i>;

impl<'i, 'b: 'i, K: Key> Input<'i, 'b, K> {
    fn rows(&self) -> u64 {
        match self {
            Input::Run(run) => run.rows(),
            Input::Parts(parts) => parts.rows(),
            Input::Keys(keys) => keys.len() as u64,
        }
    }

    fn stream(&self, bounds: Bounds<K>, budget: &'b MemoryBudget) -> Result<Stream<'i, K>, StorageError> {
        Ok(match self {
            Input::Run(run) => {
                let mut reader = RunReader::new(run, READ_BUFFERS, budget)?;
                if bounds != (None, None) {
                    reader.limit_to(bounds.0, bounds.1)?;
                }
                Box::new(reader)
            }
            Input::Parts(parts) => Box::new(parts.reader(bounds, READ_BUFFERS, budget)?),
            Input::Keys(keys) => {
                let from = bounds.0.map_or(0, |from| keys.partition_point(|key| *key < from));
                let to = bounds.1.map_or(keys.len(), |to| keys.partition_point(|key| *key < to));
                Box::new(SliceStream::of_keys(&keys[from..to]))
            }
        })
    }

    /// Keys that cut it into `n` parts of about the same size.
    fn splitters(&self, n: usize) -> Vec<K> {
        match self {
            Input::Run(run) => run.splitters(n),
            Input::Keys(keys) => (1..n).filter_map(|i| keys.get(i * keys.len() / n).copied()).collect(),
            Input::Parts(parts) => match parts.parts.as_slice() {
                [single] => single.splitters(n),
                several => several.iter().skip(1).filter_map(|run| Some(run.bounds()?.0)).collect(),
            },
        }
    }
}

/// What merging needs.
pub(super) struct Merging<'b> {
    pub(super) disk: &'b dyn Disk,
    pub(super) budget: &'b MemoryBudget,
    pub(super) threads: usize,
    pub(super) options: RunOptions,
    pub(super) batch_rows: usize,
    pub(super) rows_to_share: u64,
}

impl<'b> Merging<'b> {
    /// Writes the union of inputs without the rows of other sets.
    pub(super) fn write<K: Key>(
        &self,
        name: &str,
        inputs: &[Input<'_, 'b, K>],
        without: &[RunParts<'b, K>],
    ) -> Result<RunParts<'b, K>, SearchError> {
        let ranges = self.ranges(inputs);
        let write_range = |place: usize, bounds| -> Result<Option<Run<'b, K>>, StorageError> {
            let mut stream = self.stream(inputs, without, bounds)?;
            if stream.batch()?.0.is_empty() {
                return Ok(None);
            }
            let mut writer = RunWriter::new(self.disk, &format!("{name}-{place}"), &self.options, self.budget)?;
            write_all(&mut stream, &mut writer)?;
            writer.finish().map(Some)
        };
        let written = match ranges.as_slice() {
            [all] => vec![write_range(0, *all)?],
            _ => std::thread::scope(|scope| {
                let threads: Vec<_> = ranges
                    .iter()
                    .enumerate()
                    .map(|(place, bounds)| {
                        let builder = std::thread::Builder::new().name("lariat-merge".to_owned());
                        let write_range = &write_range;
                        builder
                            .spawn_scoped(scope, move || write_range(place, *bounds))
                            .map_err(|error| SearchError::Thread(error.to_string()))
                    })
                    .collect();
                let broken = |_| SearchError::Thread("it panicked".to_owned());
                threads
                    .into_iter()
                    .map(|thread| Ok(thread?.join().map_err(broken)??))
                    .collect::<Result<Vec<_>, SearchError>>()
            })?,
        };
        let places = written.iter().enumerate().map(|(place, run)| u64::from(run.is_some()) << place).sum();
        Ok(RunParts { parts: written.into_iter().flatten().collect(), places, is_level: false })
    }

    /// A range for each thread, if there is enough to do.
    fn ranges<K: Key>(&self, inputs: &[Input<'_, 'b, K>]) -> Vec<Bounds<K>> {
        let rows: u64 = inputs.iter().map(Input::rows).sum();
        let n = self.threads.min(PARTS_MAX);
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

    /// The rows of inputs within bounds, without those of other sets.
    fn stream<'i, K: Key>(
        &self,
        inputs: &[Input<'i, 'b, K>],
        without: &[RunParts<'b, K>],
        bounds: Bounds<K>,
    ) -> Result<Stream<'i, K>, StorageError>
    where
        'b: 'i,
    {
        let budget: &'b MemoryBudget = self.budget;
        let streams: Result<Vec<_>, _> = inputs.iter().map(|input| input.stream(bounds, budget)).collect();
        let union = Merge::new(streams?, |(), ()| (), self.batch_rows, budget)?;
        let mut stream: Stream<'i, K> = Box::new(union);
        // The newest first: most duplicates are there.
        for set in without.iter().rev() {
            let visited = set.reader(bounds, READ_BUFFERS, budget)?;
            stream = Box::new(Subtract::new(stream, visited, self.batch_rows, budget)?);
        }
        Ok(stream)
    }
}
