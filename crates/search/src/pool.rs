//! States that wait to be expanded, for searches on disk that do not go level by level: all threads take from it and add to it.
//!
//! What was found lately is in a queue, what was found earlier in sorted sets on disk. Queued states come first, so that few wait.
//!
//! # Invariants
//! 1. A thread that finds nothing waits as long as another one is at work, which may find something.

use crate::SearchError;
use crate::expansion::BATCH_ROWS;
use crate::sets::READ_BUFFERS;
use crate::tally::{Tally, lock};
use lariat_graph::RowBuffer;
use lariat_storage::stream::RowStream;
use lariat_storage::{Key, PartsReader, RowQueue, RunParts, Value};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A thread that waits for work looks up so often whether the search has stopped.
const PATIENCE: Duration = Duration::from_millis(5);
/// With fewer states waiting it is not worth waking a thread.
const ROWS_TO_WAKE: u64 = 64;

/// A set whose states are to be expanded, from a state on.
pub(crate) struct OpenSet<'s, K> {
    pub(crate) parts: RunParts<'s, K>,
    pub(crate) from: Option<K>,
    /// What the search wants to know of all its states.
    pub(crate) mark: bool,
}

/// States that are expanded together.
pub(crate) struct Taken<V> {
    /// What was noted with each state.
    pub(crate) values: Vec<V>,
    /// The mark of the set, or of the queue, that they are from.
    pub(crate) mark: bool,
}

impl<V> Taken<V> {
    pub(crate) fn new() -> Self {
        Self { values: Vec::new(), mark: false }
    }
}

/// The states that wait. Rows of the queue are a state's row, and then what is noted with it.
pub(crate) struct Pool<'s, K: Key, V: Value> {
    tally: &'s Tally<'s>,
    waiting: Mutex<Waiting<'s, K, V>>,
    condition: Condvar,
    n_workers: usize,
    rows_max: u64,
    queue_mark: bool,
}

struct Waiting<'s, K: Key, V: Value> {
    queue: RowQueue<'s>,
    /// The first of the open sets is being read.
    reader: Option<PartsReader<'s, K, V>>,
    open: Vec<OpenSet<'s, K>>,
    row: Vec<u8>,
    n_taken: u64,
    n_idle: usize,
    has_ended: bool,
}

/// What is left when a round has ended.
pub(crate) struct Left<'s, K> {
    pub(crate) queue: RowQueue<'s>,
    pub(crate) open: Vec<OpenSet<'s, K>>,
    pub(crate) n_taken: u64,
}

impl<'s, K: Key, V: Value> Pool<'s, K, V> {
    /// A pool for `n_workers` threads, which ends when about `rows_max` states were taken.
    pub(crate) fn new(
        tally: &'s Tally<'s>,
        queue: RowQueue<'s>,
        open: Vec<OpenSet<'s, K>>,
        n_workers: usize,
        rows_max: u64,
    ) -> Self {
        let row = vec![0; tally.graph.row_bytes()];
        let waiting = Mutex::new(Waiting { queue, reader: None, open, row, n_taken: 0, n_idle: 0, has_ended: false });
        Self { tally, waiting, condition: Condvar::new(), n_workers, rows_max: rows_max.max(1), queue_mark: false }
    }

    /// The mark of states in the queue.
    pub(crate) fn with_queue_mark(self, queue_mark: bool) -> Self {
        Self { queue_mark, ..self }
    }

    /// Takes states; none when the round has ended. It ends when nothing is left, or enough was taken, or `is_full`.
    pub(crate) fn take(&self, batch: &mut RowBuffer, taken: &mut Taken<V>, is_full: bool) -> Result<(), SearchError> {
        taken.values.clear();
        let mut waiting = lock(&self.waiting);
        waiting.has_ended |= is_full || waiting.n_taken >= self.rows_max;
        while !waiting.has_ended && !waiting.take(batch, taken, self)? {
            waiting.n_idle += 1;
            if waiting.n_idle == self.n_workers {
                waiting.has_ended = true;
                break;
            }
            let waited = self.condition.wait_timeout(waiting, PATIENCE);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            if self.tally.is_over() {
                return Ok(());
            }
            if !waiting.has_ended {
                waiting.n_idle -= 1;
            }
        }
        if waiting.has_ended {
            self.condition.notify_all();
        }
        Ok(())
    }

    /// Adds states with what is noted of them.
    pub(crate) fn put(&self, found: &RowBuffer) -> Result<(), SearchError> {
        let mut waiting = lock(&self.waiting);
        waiting.queue.extend(found.as_rows())?;
        if waiting.n_idle > 0 && waiting.queue.len() >= ROWS_TO_WAKE {
            self.condition.notify_one();
        }
        Ok(())
    }

    /// What waits now, when all threads have ended.
    pub(crate) fn finish(self) -> Result<Left<'s, K>, SearchError> {
        let mut waiting = self.waiting.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut reader) = waiting.reader.take() {
            match reader.batch()?.0.first() {
                Some(next) => waiting.open[0].from = Some(*next),
                None => drop(waiting.open.remove(0)),
            }
        }
        Ok(Left { queue: waiting.queue, open: waiting.open, n_taken: waiting.n_taken })
    }
}

impl<'s, K: Key, V: Value> Waiting<'s, K, V> {
    /// Appends states to a batch; false if none are here now.
    fn take(
        &mut self,
        batch: &mut RowBuffer,
        taken: &mut Taken<V>,
        pool: &Pool<'s, K, V>,
    ) -> Result<bool, SearchError> {
        taken.mark = pool.queue_mark;
        let width = self.row.len();
        if !self.queue.is_empty() {
            for row in self.queue.take_rows(BATCH_ROWS)?.iter() {
                batch.push(&row[..width]);
                taken.values.push(V::read(&row[width..]));
            }
        }
        while batch.is_empty() {
            let Some(first) = self.open.first() else { return Ok(false) };
            taken.mark = first.mark;
            if self.reader.is_none() {
                let budget = pool.tally.context.budget;
                self.reader = Some(first.parts.reader((first.from, None), READ_BUFFERS, budget)?);
            }
            let Some(reader) = &mut self.reader else { return Ok(false) };
            let (keys, values) = reader.batch()?;
            let n = keys.len().min(BATCH_ROWS);
            for (key, value) in keys[..n].iter().zip(values) {
                key.write_row(&mut self.row);
                batch.push(&self.row);
                taken.values.push(*value);
            }
            reader.consume(n);
            if n == 0 {
                self.reader = None;
                self.open.remove(0);
            }
        }
        self.n_taken += batch.len() as u64;
        pool.tally.set_frontier(self.queue.len() + self.open.iter().map(|open| open.parts.rows()).sum::<u64>());
        Ok(true)
    }
}
