//! The rows of a level in the order in which they were found, beside a visited set that keeps them in another.
//!
//! States that were found one after the other have successors in common, so expanding them one after the other finds duplicates while
//! they are still in the processor's cache. As many of a level's rows as there is room for are copied here for that; the others are taken
//! from the visited set.

use crate::pages::Pages;
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that are handed from thread to thread at once; at least one row.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that are kept for the next use and not given back to the system.
const SPARE_CHUNKS: usize = 8;

/// Two levels: the one that is being taken, and the one that is being filled.
pub struct LevelQueue<'b> {
    width: usize,
    rows_per_chunk: usize,
    budget: &'b MemoryBudget,
    n_chunks: AtomicU64,
    chunks: Mutex<Chunks>,
}

#[derive(Default)]
struct Chunks {
    taken: VecDeque<Chunk>,
    filled: VecDeque<Chunk>,
    free: Vec<Chunk>,
}

/// Rows that are handed over together.
pub struct Chunk {
    pages: Pages,
    n_rows: usize,
}

/// One thread's end of the queue: the chunk that it fills.
#[derive(Default)]
pub struct LevelQueueWriter {
    chunk: Option<Chunk>,
    /// Rows that the chunk has room for.
    n_rows_left: usize,
    /// Whether there was no chunk left for this level.
    full: bool,
}

impl<'b> LevelQueue<'b> {
    /// An empty queue for rows of `width` bytes.
    pub fn new(width: usize, budget: &'b MemoryBudget) -> Self {
        let rows_per_chunk = (CHUNK_BYTES / width).max(1);
        Self { width, rows_per_chunk, budget, n_chunks: AtomicU64::new(0), chunks: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Chunks> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn chunk_bytes(&self) -> u64 {
        (self.rows_per_chunk * self.width).next_multiple_of(4096) as u64
    }

    /// Whether a row can be appended to the level that is being filled; all chunks together take `bytes_max` at most.
    #[inline(always)]
    pub fn has_room(&self, writer: &mut LevelQueueWriter, bytes_max: u64) -> bool {
        writer.n_rows_left > 0 || self.next_chunk(writer, bytes_max)
    }

    /// Appends a row to the level that is being filled; there must be room.
    #[inline(always)]
    pub fn push(&self, writer: &mut LevelQueueWriter, row: &[u8]) {
        if let Some(chunk) = &mut writer.chunk {
            let at = chunk.n_rows * self.width;
            chunk.pages.bytes_mut()[at..at + self.width].copy_from_slice(row);
            chunk.n_rows += 1;
            writer.n_rows_left -= 1;
        }
    }

    /// Hands the writer's chunk over and gives it another one, if there is one.
    #[cold]
    fn next_chunk(&self, writer: &mut LevelQueueWriter, bytes_max: u64) -> bool {
        if writer.full {
            return false;
        }
        let mut chunks = self.lock();
        chunks.filled.extend(writer.chunk.take());
        writer.chunk = chunks.free.pop().or_else(|| self.new_chunk(bytes_max));
        // If there is none there is none before the next level.
        writer.full = writer.chunk.is_none();
        writer.n_rows_left = if writer.full { 0 } else { self.rows_per_chunk };
        !writer.full
    }

    fn new_chunk(&self, bytes_max: u64) -> Option<Chunk> {
        let bytes = self.chunk_bytes();
        if (self.n_chunks.load(Ordering::Relaxed) + 1) * bytes > bytes_max || self.budget.reserve(bytes).is_err() {
            return None;
        }
        let Some(pages) = Pages::new(self.rows_per_chunk * self.width) else {
            self.budget.release(bytes);
            return None;
        };
        self.n_chunks.fetch_add(1, Ordering::Relaxed);
        Some(Chunk { pages, n_rows: 0 })
    }

    fn give_back(&self, chunks: &mut Chunks, mut chunk: Chunk) {
        if chunks.free.len() < SPARE_CHUNKS {
            chunk.n_rows = 0;
            chunks.free.push(chunk);
        } else {
            drop(chunk);
            self.n_chunks.fetch_sub(1, Ordering::Relaxed);
            self.budget.release(self.chunk_bytes());
        }
    }

    /// Hands over what a thread has in hand; to be called by each before [`LevelQueue::next_level`].
    pub fn finish(&self, writer: &mut LevelQueueWriter) {
        self.lock().filled.extend(writer.chunk.take());
        *writer = LevelQueueWriter::default();
    }

    /// Makes the level that was filled the one that is taken.
    pub fn next_level(&self) {
        let mut chunks = self.lock();
        let left = std::mem::take(&mut chunks.taken);
        left.into_iter().for_each(|chunk| self.give_back(&mut chunks, chunk));
        chunks.taken = std::mem::take(&mut chunks.filled);
    }

    /// Gives a chunk back and takes the next one of the level; none if there are no more.
    pub fn take(&self, done: Option<Chunk>) -> Option<Chunk> {
        let mut chunks = self.lock();
        if let Some(done) = done {
            self.give_back(&mut chunks, done);
        }
        chunks.taken.pop_front()
    }

    /// The rows of a chunk.
    pub fn rows<'a>(&self, chunk: &'a Chunk) -> Rows<'a> {
        Rows::new(&chunk.pages.bytes()[..chunk.n_rows * self.width], self.width)
    }
}

impl Drop for LevelQueue<'_> {
    fn drop(&mut self) {
        self.budget.release(self.n_chunks.load(Ordering::Relaxed) * self.chunk_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_beginning_of_each_level_back_in_order() {
        let budget = MemoryBudget::new(1 << 20);
        let queue = LevelQueue::new(8, &budget);
        let mut writer = LevelQueueWriter::default();
        for n_rows in [0u64, 1, 8191, 8192, 8193, 100_000, 5, 20_000] {
            let fit = (0..n_rows).take_while(|i| {
                let room = queue.has_room(&mut writer, 256 << 10);
                if room {
                    queue.push(&mut writer, &i.to_le_bytes());
                }
                room
            });
            let n_queued = fit.count() as u64;
            assert_eq!(n_queued, n_rows.min((256 << 10) / 8));
            queue.finish(&mut writer);
            queue.next_level();
            let mut rows = Vec::new();
            let mut chunk = queue.take(None);
            while let Some(taken) = chunk {
                rows.extend(queue.rows(&taken).iter().map(<[u8]>::to_vec));
                chunk = queue.take(Some(taken));
            }
            assert!(rows.iter().eq((0..n_queued).map(|i| i.to_le_bytes().to_vec()).collect::<Vec<_>>().iter()));
            assert!(budget.used() <= 256 << 10);
        }
        drop(queue);
        assert_eq!(budget.used(), 0);
    }
}
