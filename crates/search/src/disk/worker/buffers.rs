//! What a worker has in memory: new states, of which the first were expanded, and doubtful ones; sorted to be compared, and written to runs when there are many.
//!
//! # Invariants
//! 1. The first `n_expanded` new states were expanded. Stretches of these, which end at `sorted_ends`, are sorted.
//! 2. What is written is sorted, and known to all when [`Worker::end_writing`] has waited for it.

use super::{Worker, Written};
use crate::SearchError;
use crate::expansion::BATCH_ROWS;
use lariat_graph::RowBuffer;
use lariat_storage::sort::{drop_duplicates, merge_rows, sort_rows};
use lariat_storage::{Key, ReservedVec, StorageError};

/// Sorted stretches of new states: with more, to compare with each of them takes as long as to sort them together.
const STRETCHES_MAX: usize = 6;

impl<'w, 's: 'w, K: Key> Worker<'w, 's, K> {
    /// Whether it has states that wait to be expanded.
    pub(in crate::disk) fn has_waiting(&self) -> bool {
        self.n_waiting() > 0
    }

    /// How many it has.
    pub(in crate::disk) fn n_waiting(&self) -> usize {
        self.new.len() - self.n_expanded
    }

    /// How many states it has that are not on disk.
    pub(in crate::disk) fn n_in_memory(&self) -> usize {
        self.new.len() + self.doubtful.len()
    }

    /// Sorts the states that are not on disk; none of them waits. Where it comes soon after the last time, only what is new since then is sorted.
    pub(in crate::disk) fn sort_buffers(&mut self) {
        self.sort_doubtful();
        let are_many = self.sorted_ends.len() >= STRETCHES_MAX;
        if are_many {
            self.sorted_ends.truncate(1);
        }
        let sorted = self.sorted_ends.last().copied().unwrap_or(0);
        if sorted < self.new.len() {
            sort_rows(&mut self.new[sorted..]);
            self.sorted_ends.push(self.new.len());
        }
        if are_many {
            self.join_stretches();
        }
    }

    /// Makes one of two stretches, if there is room to merge them behind what is doubtful.
    pub(super) fn join_stretches(&mut self) {
        let [first, end] = self.sorted_ends[..] else { return };
        let n_doubtful = self.doubtful.len();
        let has_room = n_doubtful + (end - first) <= self.doubtful.capacity();
        if has_room && self.doubtful.extend_from_slice(&self.new[first..end]).is_ok() {
            merge_rows(&mut self.new[..end], first, &self.doubtful[n_doubtful..]);
            self.doubtful.truncate(n_doubtful);
            self.sorted_ends = vec![end];
        }
    }

    /// What was found new and is not on disk, in sorted stretches.
    pub(in crate::disk) fn sorted_new(&self) -> impl Iterator<Item = &[K]> {
        let starts = std::iter::once(0).chain(self.sorted_ends.iter().copied());
        starts.zip(&self.sorted_ends).map(|(start, end)| &self.new[start..*end])
    }

    /// What is doubtful and not on disk; sorted after [`Self::sort_buffers`].
    pub(in crate::disk) fn doubtful_in_memory(&self) -> &[K] {
        &self.doubtful
    }

    /// Forgets what was doubtful: it has been compared.
    pub(in crate::disk) fn forget_doubtful(&mut self) {
        self.doubtful.clear();
    }

    /// How many new states its buffer has room for.
    pub(in crate::disk) fn room(&self) -> usize {
        self.shared.shares.new_keys - self.new.len()
    }

    /// New states that it was given and had no room for.
    pub(in crate::disk) fn take_delayed(&mut self) -> Vec<K> {
        std::mem::take(&mut self.delayed)
    }

    /// Takes states out of the buffer of new ones that are not new, each in one of some sorted lists, and what they counted if they were expanded.
    pub(in crate::disk) fn take_back(&mut self, wrong: &[ReservedVec<'_, K>]) -> Result<(), SearchError> {
        let is_wrong = |key: &K| wrong.iter().any(|keys| keys.binary_search(key).is_ok());
        let (mut n_kept, mut n_expanded, mut n_ends) = (0, 0, 0);
        self.taken.clear();
        for i in 0..self.new.len() {
            let key = self.new[i];
            if !is_wrong(&key) {
                self.new[n_kept] = key;
                n_kept += 1;
            } else if i < self.n_expanded {
                self.taken.push(key).map_err(StorageError::from)?;
                if self.taken.len() == BATCH_ROWS {
                    self.uncount_taken()?;
                }
            }
            if i + 1 == self.n_expanded {
                n_expanded = n_kept;
            }
            while self.sorted_ends.get(n_ends) == Some(&(i + 1)) {
                self.sorted_ends[n_ends] = n_kept;
                n_ends += 1;
            }
        }
        self.new.truncate(n_kept);
        self.n_expanded = n_expanded;
        self.sorted_ends.retain(|end| *end > 0);
        self.sorted_ends.dedup();
        self.uncount_taken()
    }

    /// Takes back what states counted.
    pub(super) fn uncount_taken(&mut self) -> Result<(), SearchError> {
        let width = self.shared.graph.row_bytes();
        let mut rows = RowBuffer::new(width);
        let mut row = vec![0; width];
        for key in self.taken.iter() {
            key.write_row(&mut row);
            rows.push(&row);
        }
        self.taken.clear();
        let mut rest = rows.as_rows();
        while !rest.is_empty() {
            self.edges.clear();
            self.expander.expand(rest, &mut self.edges)?;
            let (rows, others) = rest.split_at(self.edges.n_sources());
            self.shared.tally.uncount_expanded(rows, &self.edges, &vec![1; rows.len()]);
            rest = others;
        }
        Ok(())
    }

    #[inline(always)]
    pub(in crate::disk) fn push_doubtful(&mut self, key: K) -> Result<(), SearchError> {
        if self.doubtful.len() == self.doubtful_max {
            self.make_room_for_doubtful()?;
        }
        Ok(self.doubtful.push(key).map_err(StorageError::from)?)
    }

    /// Writes out what is doubtful, unless half of it was there twice.
    #[cold]
    pub(super) fn make_room_for_doubtful(&mut self) -> Result<(), SearchError> {
        self.sort_doubtful();
        if self.doubtful.len() > self.doubtful_max / 2 { self.write_doubtful() } else { Ok(()) }
    }

    pub(super) fn sort_doubtful(&mut self) {
        sort_rows(&mut self.doubtful);
        let n = drop_duplicates(&mut self.doubtful);
        self.doubtful.truncate(n);
    }

    /// Whether there was room for it.
    #[inline(always)]
    pub(super) fn push_new(&mut self, key: K) -> Result<bool, SearchError> {
        if self.new.len() == self.shared.shares.new_keys {
            if self.shared.is_assuming() {
                return self.delay(key);
            }
            self.make_room()?;
        }
        self.new.push(key).map_err(StorageError::from)?;
        Ok(true)
    }

    /// The buffer cannot be written before what is assumed was compared: the state is doubtful until then.
    #[cold]
    pub(super) fn delay(&mut self, key: K) -> Result<bool, SearchError> {
        self.shared.frontier.pause();
        self.push_doubtful(key)?;
        Ok(false)
    }

    /// Writes out what was expanded if that is the larger part of the buffer; else the half of the others that is expanded last.
    #[cold]
    pub(super) fn make_room(&mut self) -> Result<(), SearchError> {
        let n_waiting = self.n_waiting();
        if n_waiting <= self.n_expanded {
            self.write_expanded()
        } else {
            self.write_waiting(self.n_expanded + n_waiting / 2)
        }
    }

    /// Writes out what was expanded, if it takes most of the buffer.
    pub(in crate::disk) fn write_much_expanded(&mut self) -> Result<(), SearchError> {
        if self.room() < self.shared.shares.new_keys / 2 {
            self.write_expanded()?;
        }
        self.end_writing()
    }

    pub(super) fn write_expanded(&mut self) -> Result<(), SearchError> {
        let n = self.n_expanded;
        if n == 0 {
            return Ok(());
        }
        // It may have been sorted to be compared.
        if self.sorted_ends != [n] {
            sort_rows(&mut self.new[..n]);
        }
        self.end_writing()?;
        self.ending = Some((Written::Expanded, self.shared.files.write(&self.new[..n])?));
        self.new.copy_within(n.., 0);
        let left = self.new.len() - n;
        self.new.truncate(left);
        self.n_expanded = 0;
        self.sorted_ends.clear();
        Ok(())
    }

    /// Writes out states that wait, from this place on.
    pub(super) fn write_waiting(&mut self, n: usize) -> Result<(), SearchError> {
        if n == self.new.len() {
            return Ok(());
        }
        sort_rows(&mut self.new[n..]);
        self.end_writing()?;
        self.ending = Some((Written::Waiting, self.shared.files.write(&self.new[n..])?));
        self.new.truncate(n);
        Ok(())
    }

    /// Writes out what is doubtful, and was sorted.
    pub(super) fn write_doubtful(&mut self) -> Result<(), SearchError> {
        if self.doubtful.is_empty() {
            return Ok(());
        }
        self.end_writing()?;
        self.ending = Some((Written::Doubtful, self.shared.files.write(&self.doubtful)?));
        self.doubtful.clear();
        Ok(())
    }

    /// Waits for the run that was written last, if there is one, and lets everybody know it.
    pub(super) fn end_writing(&mut self) -> Result<(), SearchError> {
        let Some((written, ending)) = self.ending.take() else { return Ok(()) };
        let run = ending.wait()?;
        let mut visited = self.shared.visited();
        match written {
            Written::Expanded => visited.expanded.push(run),
            Written::Doubtful => visited.doubtful.push(run),
            Written::Waiting => {
                visited.waiting.push(run.clone());
                self.shared.frontier.push(run);
            }
        }
        drop(visited);
        self.ask_for_pause();
        Ok(())
    }

    /// Ends the round if there is enough on disk to be compared or merged, or nothing was published for long.
    pub(super) fn ask_for_pause(&self) {
        let visited = self.shared.visited();
        if self.shared.is_pass_due(&visited) || visited.is_publishing_due() {
            self.shared.frontier.pause();
        }
    }
}
