//! The rows of a level in the order in which they were found, beside a visited set that keeps them in another.
//!
//! States that were found one after the other have successors in common, so expanding them one after the other finds duplicates while
//! they are still in the processor's cache. As many of a level's rows as there is room for are copied here for that; the others are taken
//! from the visited set. For the same reason a thread takes what it found itself first, and then from the far end of what others found.

use crate::pages::Pages;
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that are allocated at once; at least one row.
const CHUNK_BYTES: usize = 64 << 10;
/// Rows that a thread takes at once: few, so that all threads are done with a level at the same time.
const TAKE_ROWS: Range<usize> = 64..512;
/// A thread takes so often from a level, at least, as long as there are that many rows.
const TAKES_PER_LEVEL: usize = 8;
/// Chunks that are kept for the next use and not given back to the system.
const SPARE_CHUNKS: usize = 1;

/// Two levels: the one that is being taken, and the one that is being filled.
pub struct LevelQueue<'b> {
    width: usize,
    rows_per_chunk: usize,
    budget: &'b MemoryBudget,
    n_chunks: AtomicU64,
    chunks: Mutex<Chunks>,
}

struct Chunks {
    /// Rows that are taken at once in this level.
    take_rows: usize,
    /// For each thread what it found and nobody has taken yet.
    taken: Vec<VecDeque<Taken>>,
    filled: Vec<VecDeque<Chunk>>,
    free: Vec<Chunk>,
}

struct Chunk {
    pages: Pages,
    n_rows: usize,
}

/// Rows of a chunk.
pub struct Taken {
    chunk: Arc<Chunk>,
    range: Range<usize>,
}

impl Taken {
    fn all_of(chunk: Chunk) -> Self {
        Self { range: 0..chunk.n_rows, chunk: Arc::new(chunk) }
    }

    /// Divides off `n` rows, the first or the last ones, or all if there are fewer.
    fn divide(&mut self, n: usize, first: bool) -> Self {
        let n = n.min(self.range.len());
        let range = if first { self.range.start..self.range.start + n } else { self.range.end - n..self.range.end };
        self.range = if first { range.end..self.range.end } else { self.range.start..range.start };
        Self { chunk: self.chunk.clone(), range }
    }
}

/// One thread's end of the queue: the chunk that it fills.
pub struct LevelQueueWriter {
    thread: usize,
    chunk: Option<Chunk>,
    /// Empty chunks to be filled next.
    spare: Vec<Chunk>,
    /// Rows that the chunk has room for.
    n_rows_left: usize,
    /// Whether there was no chunk left for this level.
    full: bool,
}

impl LevelQueueWriter {
    /// The end of a thread with this number.
    pub fn new(thread: usize) -> Self {
        Self { thread, chunk: None, spare: Vec::new(), n_rows_left: 0, full: false }
    }
}

impl<'b> LevelQueue<'b> {
    /// An empty queue of `n_threads` for rows of `width` bytes.
    pub fn new(width: usize, n_threads: usize, budget: &'b MemoryBudget) -> Self {
        let rows_per_chunk = (CHUNK_BYTES / width).max(1);
        let taken = (0..n_threads).map(|_| VecDeque::new()).collect();
        let filled = (0..n_threads).map(|_| VecDeque::new()).collect();
        let chunks = Mutex::new(Chunks { take_rows: TAKE_ROWS.end, taken, filled, free: Vec::new() });
        Self { width, rows_per_chunk, budget, n_chunks: AtomicU64::new(0), chunks }
    }

    fn lock(&self) -> MutexGuard<'_, Chunks> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn chunk_bytes(&self) -> u64 {
        (self.rows_per_chunk * self.width).next_multiple_of(4096) as u64
    }

    /// Makes room for rows to be appended to the level that is being filled; false if there is none before the next level. All chunks
    /// together take `bytes_max` at most.
    pub fn reserve(&self, writer: &mut LevelQueueWriter, n_rows: usize, bytes_max: u64) -> bool {
        while !writer.full && writer.n_rows_left + writer.spare.len() * self.rows_per_chunk < n_rows {
            let free = self.lock().free.pop();
            match free.or_else(|| self.new_chunk(bytes_max)) {
                Some(chunk) => writer.spare.push(chunk),
                None => writer.full = true,
            }
        }
        !writer.full
    }

    /// Appends a row to the level that is being filled; there must be room.
    #[inline(always)]
    pub fn push(&self, writer: &mut LevelQueueWriter, row: &[u8]) {
        if writer.n_rows_left == 0 {
            self.next_chunk(writer);
        }
        if let Some(chunk) = &mut writer.chunk {
            let at = chunk.n_rows * self.width;
            chunk.pages.bytes_mut()[at..at + self.width].copy_from_slice(row);
            chunk.n_rows += 1;
            writer.n_rows_left -= 1;
        }
    }

    /// Hands the writer's chunk over and goes on with a spare one.
    #[cold]
    fn next_chunk(&self, writer: &mut LevelQueueWriter) {
        self.lock().filled[writer.thread].extend(writer.chunk.take());
        writer.chunk = writer.spare.pop();
        writer.n_rows_left = if writer.chunk.is_some() { self.rows_per_chunk } else { 0 };
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
        let mut chunks = self.lock();
        chunks.filled[writer.thread].extend(writer.chunk.take());
        writer.spare.drain(..).for_each(|chunk| self.give_back(&mut chunks, chunk));
        *writer = LevelQueueWriter::new(writer.thread);
    }

    /// Makes the level that was filled the one that is taken.
    pub fn next_level(&self) {
        let mut chunks = self.lock();
        let left: Vec<Taken> = chunks.taken.iter_mut().flat_map(|taken| taken.drain(..)).collect();
        left.into_iter().for_each(|taken| self.done_with(&mut chunks, taken));
        let n_rows: usize = chunks.filled.iter().flatten().map(|chunk| chunk.n_rows).sum();
        chunks.take_rows = (n_rows / (chunks.filled.len() * TAKES_PER_LEVEL)).clamp(TAKE_ROWS.start, TAKE_ROWS.end);
        let Chunks { taken, filled, .. } = &mut *chunks;
        for (taken, filled) in taken.iter_mut().zip(filled) {
            taken.extend(filled.drain(..).map(Taken::all_of));
        }
    }

    /// Gives rows back and takes the next ones of the level for this thread; none if there are no more.
    pub fn take(&self, thread: usize, done: Option<Taken>) -> Option<Taken> {
        let mut chunks = self.lock();
        if let Some(done) = done {
            self.done_with(&mut chunks, done);
        }
        let take_rows = chunks.take_rows;
        let first = !chunks.taken[thread].is_empty();
        let from =
            if first { &mut chunks.taken[thread] } else { chunks.taken.iter_mut().max_by_key(|taken| taken.len())? };
        let rest = if first { from.front_mut()? } else { from.back_mut()? };
        let rows = rest.divide(take_rows, first);
        if rest.range.is_empty() {
            if first {
                from.pop_front()
            } else {
                from.pop_back()
            };
        }
        Some(rows)
    }

    fn done_with(&self, chunks: &mut Chunks, taken: Taken) {
        // The last one who has rows of the chunk gives it back.
        if let Some(chunk) = Arc::into_inner(taken.chunk) {
            self.give_back(chunks, chunk);
        }
    }

    /// The rows that were taken.
    pub fn rows<'a>(&self, taken: &'a Taken) -> Rows<'a> {
        Rows::new(&taken.chunk.pages.bytes()[taken.range.start * self.width..taken.range.end * self.width], self.width)
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
        let queue = LevelQueue::new(8, 1, &budget);
        let mut writer = LevelQueueWriter::new(0);
        for n_rows in [0u64, 1, 8191, 8192, 8193, 100_000, 5, 20_000] {
            let fit = (0..n_rows).take_while(|i| {
                let room = queue.reserve(&mut writer, 1, 256 << 10);
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
            let mut chunk = queue.take(0, None);
            while let Some(taken) = chunk {
                rows.extend(queue.rows(&taken).iter().map(<[u8]>::to_vec));
                chunk = queue.take(0, Some(taken));
            }
            assert!(rows.iter().eq((0..n_queued).map(|i| i.to_le_bytes().to_vec()).collect::<Vec<_>>().iter()));
            assert!(budget.used() <= 256 << 10);
        }
        drop(queue);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_thread_takes_its_own_chunks_first_and_then_the_last_ones_of_others() {
        let budget = MemoryBudget::new(1 << 20);
        let queue = LevelQueue::new(CHUNK_BYTES, 2, &budget);
        for (thread, values) in [(0, vec![1, 2, 3, 4]), (1, vec![5])] {
            let mut writer = LevelQueueWriter::new(thread);
            for value in values {
                assert!(queue.reserve(&mut writer, 1, 1 << 20));
                queue.push(&mut writer, &[value; CHUNK_BYTES]);
            }
            queue.finish(&mut writer);
        }
        queue.next_level();
        let take = |thread| queue.take(thread, None).map(|taken| queue.rows(&taken).row(0)[0]);
        assert_eq!(
            [take(1), take(1), take(0), take(1), take(0), take(0)],
            [Some(5), Some(4), Some(1), Some(3), Some(2), None]
        );
    }
}
