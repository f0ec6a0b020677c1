//! Building a perfect hash function: hashes are handed out to pages, and the pages' functions are found by all threads.
//!
//! How many rows come is known before, so the page of a row is known as soon as it is hashed, and nothing is sorted. Where not all pages' hashes fit into
//! memory, ranges of pages have a queue on disk each, and one range after the other is handed out to its pages; or to smaller ranges, if it is
//! still too large.
//!
//! # Invariants
//! 1. A hash is in the queue of the range, or in the place in memory, that its page belongs to.
//! 2. Pages are written in their order. What a page holds depends on its rows and their order, not on threads or memory.
//!
//! # Cost
//! 9 bytes a row in memory, of those pages that are in memory; else 16 bytes a row are written and read once, or twice where memory is a ten-thousandth of that.

use super::page::{KEYS_MAX, KEYS_MEAN, PageBuilder};
use super::{BUFFERS, CONTENTS_MAX, HASH_BYTES, page_of};
use crate::block_file::{BlockFileKind, BlockWriter, Buffers, FileShape};
use crate::hash::hash_row_128;
use crate::{Reservation, ReservedVec, RowLogOptions, RowQueue, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind, PAGE_BYTES};
use std::ops::Range;

/// Pages that a thread builds before they are written.
const PAGES_AT_ONCE: usize = 16;
/// Rows that are taken from a queue at once.
const ROWS_AT_ONCE: usize = 1024;

/// What a function is built for, and with.
#[derive(Clone, Copy, Debug)]
pub struct PerfectHashOptions {
    /// How many rows are going to come.
    pub rows: u64,
    /// Threads that build pages.
    pub threads: usize,
    /// Memory that building takes, if that is not very little.
    pub memory_bytes: usize,
}

impl PerfectHashOptions {
    fn n_pages(&self) -> u64 {
        self.rows.div_ceil(KEYS_MEAN as u64)
    }

    /// Places for the hashes of a page.
    fn keys_max(&self) -> usize {
        usize::try_from(self.rows).unwrap_or(usize::MAX).clamp(1, KEYS_MAX)
    }

    /// Pages whose hashes are in memory at once.
    fn pages_max(&self) -> u64 {
        (self.memory_bytes / 4 * 3 / (8 * self.keys_max() + 4)).max(1) as u64
    }

    /// Memory of all queues, and how many there may be.
    fn queue_bytes(&self) -> usize {
        self.memory_bytes / 8
    }

    fn queues_max(&self) -> u64 {
        (self.queue_bytes() / (4 * PAGE_BYTES)).max(2) as u64
    }

    fn n_builders(&self) -> usize {
        let of_builder = PageBuilder::MEMORY_BYTES as usize + PAGES_AT_ONCE * PAGE_BYTES;
        self.threads.min(self.memory_bytes / 8 / of_builder).max(1)
    }
}

/// A set of rows that is to get numbers.
pub struct PerfectHashBuilder<'b> {
    source: Source<'b>,
    pages: Pages<'b>,
    n_pushed: u64,
}

/// What all ranges of pages know.
struct Source<'b> {
    disk: &'b dyn Disk,
    name: String,
    budget: &'b MemoryBudget,
    options: PerfectHashOptions,
    n_pages: u64,
}

/// The hashes of a range of pages.
struct Pages<'b> {
    range: Range<u64>,
    hashes: Hashes<'b>,
}

enum Hashes<'b> {
    /// For each page its place for hashes, of which only the low half is needed, and how many there are.
    Memory { keys: ReservedVec<'b, u64>, counts: ReservedVec<'b, u32> },
    /// A queue for each of so many pages.
    Disk { queues: Vec<RowQueue<'b>>, of_queue: u64 },
}

impl<'b> PerfectHashBuilder<'b> {
    /// Begins a function in a file.
    pub fn new(
        disk: &'b dyn Disk,
        name: &str,
        options: PerfectHashOptions,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let n_pages = options.n_pages();
        let source = Source { disk, name: name.to_owned(), budget, options, n_pages };
        let pages = source.pages(0..n_pages)?;
        Ok(Self { source, pages, n_pushed: 0 })
    }

    /// Takes a row, which must not come twice.
    #[inline]
    pub fn push(&mut self, row: &[u8]) -> Result<(), StorageError> {
        self.n_pushed += 1;
        if self.n_pushed > self.source.options.rows {
            return Err(self.source.wrong_number(self.n_pushed));
        }
        self.pages.push(hash_row_128(row), &self.source)
    }

    /// Builds the function, and makes its file survive a crash.
    pub fn finish(self) -> Result<(), StorageError> {
        let Self { source, pages, n_pushed } = self;
        if n_pushed != source.options.rows {
            return Err(source.wrong_number(n_pushed));
        }
        let mut writer = PagesWriter::new(&source)?;
        pages.write(&source, &mut writer)?;
        writer.finish(&source)
    }
}

impl<'b> Source<'b> {
    /// A range of pages without hashes.
    fn pages(&self, range: Range<u64>) -> Result<Pages<'b>, StorageError> {
        let n = range.end - range.start;
        let hashes = if n <= self.options.pages_max() {
            let (mut keys, mut counts) = (ReservedVec::new(self.budget), ReservedVec::new(self.budget));
            keys.resize(n as usize * self.options.keys_max(), 0)?;
            counts.resize(n as usize, 0)?;
            Hashes::Memory { keys, counts }
        } else {
            let n_queues = n.div_ceil(self.options.pages_max()).min(self.options.queues_max());
            let of_queue = n.div_ceil(n_queues);
            let memory = self.options.queue_bytes() / n_queues as usize;
            let log = RowLogOptions::within(HASH_BYTES, memory, FileKind::Queue);
            let name = |i| format!("{}-pages-{}", self.name, range.start + i * of_queue);
            // A range that is divided again begins with a page that has given a queue its name already.
            let name = |i| format!("{}-{}", name(i), n);
            let queues = (0..n_queues).map(|i| RowQueue::new(self.disk, &name(i), log, self.budget)).collect();
            Hashes::Disk { queues, of_queue }
        };
        Ok(Pages { range, hashes })
    }

    fn wrong_number(&self, got: u64) -> StorageError {
        let (expected, got) = (format!("{} rows", self.options.rows), format!("{got}"));
        StorageError::Shape { file: self.name.clone(), expected, got }
    }

    fn no_function(&self, page: u64) -> StorageError {
        let (expected, got) = (format!("hashes that differ in page {page}"), "some that do not".to_owned());
        StorageError::Shape { file: self.name.clone(), expected, got }
    }
}

impl Pages<'_> {
    #[inline]
    fn push(&mut self, hash: u128, source: &Source<'_>) -> Result<(), StorageError> {
        let page = page_of(hash, source.n_pages);
        let place = page - self.range.start;
        match &mut self.hashes {
            Hashes::Memory { keys, counts } => {
                let (keys_max, count) = (source.options.keys_max(), &mut counts[place as usize]);
                if *count as usize == keys_max {
                    return Err(source.no_function(page));
                }
                keys[place as usize * keys_max + *count as usize] = hash as u64;
                *count += 1;
                Ok(())
            }
            Hashes::Disk { queues, of_queue } => queues[(place / *of_queue) as usize].push(&hash.to_le_bytes()),
        }
    }

    fn write(self, source: &Source<'_>, writer: &mut PagesWriter<'_>) -> Result<(), StorageError> {
        match self.hashes {
            Hashes::Memory { keys, counts } => {
                let keys_max = source.options.keys_max();
                let at_once = writer.builders.len() * PAGES_AT_ONCE;
                for (keys, counts) in keys.chunks(at_once * keys_max).zip(counts.chunks(at_once)) {
                    let of_pages: Vec<&[u64]> =
                        keys.chunks(keys_max).zip(counts).map(|(keys, count)| &keys[..*count as usize]).collect();
                    writer.write(&of_pages, source)?;
                }
                Ok(())
            }
            Hashes::Disk { mut queues, of_queue } => {
                queues.iter_mut().try_for_each(RowQueue::rest)?;
                let Range { start, end } = self.range;
                for (i, mut queue) in queues.into_iter().enumerate() {
                    let first = start + i as u64 * of_queue;
                    let mut pages = source.pages(first.min(end)..(first + of_queue).min(end))?;
                    loop {
                        let rows = queue.take_rows(ROWS_AT_ONCE)?;
                        if rows.is_empty() {
                            break;
                        }
                        for hash in rows.bytes().as_chunks().0 {
                            pages.push(u128::from_le_bytes(*hash), source)?;
                        }
                    }
                    drop(queue);
                    pages.write(source, writer)?;
                }
                Ok(())
            }
        }
    }
}

/// Builds pages and writes them, in their order.
struct PagesWriter<'b> {
    writer: BlockWriter<'b>,
    builders: Vec<PageBuilder>,
    built: Vec<Built>,
    /// The number of the next page, and of its first row.
    page: u64,
    first: u64,
    _memory: Reservation<'b>,
}

/// A page that was built.
struct Built {
    bytes: Box<[u8; CONTENTS_MAX]>,
    used: Option<usize>,
}

impl<'b> PagesWriter<'b> {
    fn new(source: &Source<'b>) -> Result<Self, StorageError> {
        let shape = FileShape {
            kind: BlockFileKind::PerfectHash,
            row_bytes: HASH_BYTES,
            value_bytes: 0,
            block_bytes: PAGE_BYTES,
            group_rows: KEYS_MAX,
        };
        let n = source.options.n_builders();
        let memory = n as u64 * (PageBuilder::MEMORY_BYTES + (PAGES_AT_ONCE * PAGE_BYTES) as u64);
        let memory = Reservation::new(memory, source.budget)?;
        let buffers = Buffers { n: 2, blocks_at_once: BUFFERS / 2 };
        let writer = BlockWriter::new(source.disk, &source.name, FileKind::Table, shape, buffers, source.budget)?;
        let built = || Built { bytes: Box::new([0; CONTENTS_MAX]), used: None };
        Ok(Self {
            writer,
            builders: (0..n).map(|_| PageBuilder::new()).collect(),
            built: (0..n * PAGES_AT_ONCE).map(|_| built()).collect(),
            page: 0,
            first: 0,
            _memory: memory,
        })
    }

    /// Builds the functions of the next pages, and writes them.
    fn write(&mut self, pages: &[&[u64]], source: &Source<'_>) -> Result<(), StorageError> {
        let mut firsts = Vec::with_capacity(pages.len());
        for keys in pages {
            firsts.push(self.first);
            self.first += keys.len() as u64;
        }
        let share = pages.len().div_ceil(self.builders.len());
        let shares = self.built.chunks_mut(share).zip(pages.chunks(share)).zip(firsts.chunks(share));
        let is_shared = self.builders.len() > 1 && share > 1;
        let work = self.builders.iter_mut().zip(shares);
        if !is_shared {
            work.for_each(|(builder, ((built, pages), firsts))| builder.build_all(pages, firsts, built));
        } else {
            std::thread::scope(|scope| {
                work.for_each(|(builder, ((built, pages), firsts))| {
                    scope.spawn(move || builder.build_all(pages, firsts, built));
                });
            });
        }
        for (built, keys) in self.built.iter().zip(pages) {
            let used = built.used.ok_or_else(|| source.no_function(self.page))?;
            self.writer.contents_mut()[..used].copy_from_slice(&built.bytes[..used]);
            self.page += 1;
            self.writer.end_block(used, keys.len() as u32, self.page == source.n_pages)?;
        }
        Ok(())
    }

    fn finish(self, source: &Source<'_>) -> Result<(), StorageError> {
        let (blocks, end) = (self.writer.blocks(), self.writer.bytes());
        Ok(self.writer.finish(source.options.rows, blocks, end)?.file.sync()?)
    }
}

impl PageBuilder {
    fn build_all(&mut self, pages: &[&[u64]], firsts: &[u64], built: &mut [Built]) {
        for ((keys, first), built) in pages.iter().zip(firsts).zip(built) {
            built.used = self.build(keys, *first, &mut built.bytes[..]);
        }
    }
}
