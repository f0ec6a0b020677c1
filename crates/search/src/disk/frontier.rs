//! What waits to be expanded: runs of new states on disk, the one that is being read, and states that one worker leaves to another.
//!
//! Workers without work wait here. A round ends when all of them do, or when somebody asks for a pause.

use crate::SearchError;
use lariat_base::MemoryBudget;
use lariat_storage::stream::RowStream;
use lariat_storage::{Key, ReservedVec, Run, RunReader, StorageError};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::reading::READER_BUFFERS;

pub(super) struct Frontier<'b, K: Key> {
    n_workers: usize,
    waiting: Mutex<Waiting<'b, K>>,
    changed: Condvar,
    /// Workers that have nothing to do.
    n_idle: AtomicUsize,
    paused: AtomicBool,
}

struct Waiting<'b, K: Key> {
    runs: VecDeque<Run<'b, K>>,
    reading: Option<Reading<'b, K>>,
    /// The one that is read next, if there is memory for that: its first states are on their way from disk.
    next: Option<Reading<'b, K>>,
    /// States in memory that anybody may take.
    left: Vec<Vec<K>>,
}

struct Reading<'b, K: Key> {
    run: Run<'b, K>,
    rows_read: u64,
    reader: RunReader<'b, K>,
}

impl<'b, K: Key> Reading<'b, K> {
    /// Begins to read a run.
    fn begin(run: &Run<'b, K>, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let mut reader = RunReader::new(run, READER_BUFFERS, budget)?;
        reader.begin()?;
        Ok(Self { run: run.clone(), rows_read: 0, reader })
    }
}

impl<'b, K: Key> Waiting<'b, K> {
    fn has_runs(&self) -> bool {
        !self.runs.is_empty() || self.reading.is_some() || self.next.is_some()
    }

    /// Goes on to the next run, and begins to read the one behind it; false if there is none.
    fn begin_next(&mut self, budget: &'b MemoryBudget) -> Result<bool, StorageError> {
        self.reading = match (self.next.take(), self.runs.front()) {
            (None, Some(run)) => {
                let reading = Reading::begin(run, budget)?;
                self.runs.pop_front();
                Some(reading)
            }
            (next, _) => next,
        };
        if let Some(run) = self.runs.front() {
            self.next = match Reading::begin(run, budget) {
                // It is read when its turn comes.
                Err(StorageError::Memory(_)) => None,
                next => Some(next?),
            };
        }
        if self.next.is_some() {
            self.runs.pop_front();
        }
        Ok(self.reading.is_some())
    }
}

/// What a worker gets.
pub(super) enum Taken<'b, K> {
    /// Some states, and these runs were read to their end on the way.
    Some(Vec<Run<'b, K>>),
    /// States that another worker found and left.
    Left(Vec<K>),
    /// Nothing now.
    Nothing(Vec<Run<'b, K>>),
}

impl<'b, K: Key> Frontier<'b, K> {
    pub(super) fn new(n_workers: usize) -> Self {
        Self {
            n_workers,
            waiting: Mutex::new(Waiting { runs: VecDeque::new(), reading: None, next: None, left: Vec::new() }),
            changed: Condvar::new(),
            n_idle: AtomicUsize::new(0),
            paused: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<'b, K>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn n_workers(&self) -> usize {
        self.n_workers
    }

    pub(super) fn begin_round(&self) {
        self.n_idle.store(0, Ordering::Relaxed);
        self.paused.store(false, Ordering::Relaxed);
    }

    /// Ends the round as soon as all workers see it.
    pub(super) fn pause(&self) {
        self.paused.store(true, Ordering::Relaxed);
        drop(self.lock());
        self.changed.notify_all();
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Whether somebody would be glad of work.
    #[inline(always)]
    pub(super) fn has_idle(&self) -> bool {
        self.n_idle.load(Ordering::Relaxed) > 0
    }

    /// Whether nothing waits; between rounds.
    pub(super) fn is_empty(&self) -> bool {
        let waiting = self.lock();
        !waiting.has_runs() && waiting.left.is_empty()
    }

    /// Takes all runs back but the one that is being read, whose name it tells; between rounds.
    pub(super) fn take_runs(&self) -> Option<String> {
        let mut waiting = self.lock();
        waiting.runs.clear();
        waiting.next = None;
        waiting.reading.as_ref().map(|reading| reading.run.name().to_owned())
    }

    /// The name of the run that is being read, and how many of its states were taken; between rounds.
    pub(super) fn reading(&self) -> Option<(String, u64)> {
        self.lock().reading.as_ref().map(|reading| (reading.run.name().to_owned(), reading.rows_read))
    }

    /// Goes on with a run of which some states were taken before.
    pub(super) fn go_on_reading(
        &self,
        run: Run<'b, K>,
        rows_read: u64,
        budget: &'b MemoryBudget,
    ) -> Result<(), SearchError> {
        let mut reader = RunReader::new(&run, READER_BUFFERS, budget)?;
        let mut left = rows_read;
        while left > 0 {
            let n = reader.batch()?.0.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            if n == 0 {
                break;
            }
            reader.consume(n);
            left -= n as u64;
        }
        self.lock().reading = Some(Reading { run, rows_read, reader });
        Ok(())
    }

    /// Puts a run behind the others.
    pub(super) fn push(&self, run: Run<'b, K>) {
        self.lock().runs.push_back(run);
        self.changed.notify_all();
    }

    /// Takes back what was left and not taken; between rounds.
    pub(super) fn take_left(&self) -> Vec<Vec<K>> {
        std::mem::take(&mut self.lock().left)
    }

    /// Leaves states to others.
    pub(super) fn leave(&self, keys: Vec<K>) {
        self.lock().left.push(keys);
        self.changed.notify_one();
    }

    /// Takes up to `n_max` states of the oldest run.
    pub(super) fn take(
        &self,
        n_max: usize,
        taken: &mut ReservedVec<'_, K>,
        budget: &'b MemoryBudget,
    ) -> Result<Taken<'b, K>, SearchError> {
        let mut waiting = self.lock();
        let mut done = Vec::new();
        loop {
            if let Some(reading) = &mut waiting.reading {
                while taken.len() < n_max {
                    let (keys, _) = reading.reader.batch()?;
                    let n = keys.len().min(n_max - taken.len());
                    if n == 0 {
                        break;
                    }
                    taken.extend_from_slice(&keys[..n]).map_err(StorageError::from)?;
                    reading.reader.consume(n);
                    reading.rows_read += n as u64;
                }
                if !taken.is_empty() {
                    return Ok(Taken::Some(done));
                }
                done.extend(waiting.reading.take().map(|reading| reading.run));
            }
            if !waiting.begin_next(budget)? {
                break;
            }
        }
        Ok(match waiting.left.pop() {
            Some(left) if done.is_empty() => Taken::Left(left),
            left => {
                waiting.left.extend(left);
                Taken::Nothing(done)
            }
        })
    }

    /// Waits for work; false if the round is over.
    pub(super) fn wait(&self) -> bool {
        let mut waiting = self.lock();
        if self.n_idle.fetch_add(1, Ordering::Relaxed) + 1 == self.n_workers {
            self.paused.store(true, Ordering::Relaxed);
            self.changed.notify_all();
        }
        loop {
            if self.is_paused() {
                return false;
            }
            if waiting.has_runs() || !waiting.left.is_empty() {
                self.n_idle.fetch_sub(1, Ordering::Relaxed);
                return true;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
