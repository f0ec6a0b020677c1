//! A minimal perfect hash function: every row of a fixed set has a number of its own, from 0 on, and the rows themselves are not kept.
//!
//! Rows are hashed to 128 bits. The high half says which *page* a row belongs to; a page is a small perfect hash function of its own, for some
//! 12,600 rows, that says how many rows are in the pages before. So a function of any size is built page by page from the sorted hashes,
//! and a lookup on disk is one read. A row that is not in the set gets a number too, somebody else's.
//!
//! | what | file |
//! |---|---|
//! | the function of a page: a pilot for each bucket of rows | `page.rs` |
//!
//! # Invariants
//! 1. The hashes of two rows of the set differ; where they do not, building is an error, and never a wrong number.
//! 2. The numbers of page `i` are those behind the numbers of all pages before.
//!
//! # Cost
//! 2.6 bits a row, in memory or on disk. Building sorts 16 bytes a row within its share of memory. A lookup touches two cache lines in memory;
//! on disk it is one random read of a page that is not in memory, many of them at once.
//!
//! # Format
//! `docs/formats.md`, perfect hash functions.

mod page;

use crate::block_cache::BlockCache;
use crate::block_file::{BlockFile, BlockFileKind, BlockReader, BlockWriter, Buffers, EDGE_BYTES, FileShape, block};
use crate::hash::hash_row_128;
use crate::number_array::Placement;
use crate::prefetch::prefetch_address;
use crate::stream::RowStream;
use crate::{ExternalSort, Reservation, ReservedVec, SortOptions, StorageError};
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use lariat_disk::{Disk, FileKind, PAGE_BYTES};
use page::{KEYS_MAX, KEYS_MEAN, Page, PageBuilder};

/// Bytes of the hashes that are sorted.
const HASH_BYTES: usize = 16;
/// Blocks that are written, or read in order, at once.
const BUFFERS: usize = 8;
/// Rows that are looked up together.
const LOOKUPS_AT_ONCE: usize = 32;

type Unit = fn((), ()) -> ();
fn unit((): (), (): ()) {}

/// The page of a hash. It never decreases as hashes increase.
#[inline]
fn page_of(hash: u128, pages: u64) -> u64 {
    (((hash >> 64) * u128::from(pages)) >> 64) as u64
}

/// A set of rows that is to get numbers.
pub struct PerfectHashBuilder<'b> {
    disk: &'b dyn Disk,
    name: String,
    budget: &'b MemoryBudget,
    hashes: ExternalSort<'b, u128, (), Unit>,
    rows: u64,
}

impl<'b> PerfectHashBuilder<'b> {
    /// Begins a function in a file; sorting takes up to `memory_bytes`.
    pub fn new(
        disk: &'b dyn Disk,
        name: &str,
        memory_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let options = SortOptions::within::<u128, ()>(HASH_BYTES, 0, memory_bytes);
        let hashes = ExternalSort::new(disk, &format!("{name}-sort"), options, unit as Unit, budget)?;
        Ok(Self { disk, name: name.to_owned(), budget, hashes, rows: 0 })
    }

    /// Takes a row, which must not come twice.
    #[inline]
    pub fn push(&mut self, row: &[u8]) -> Result<(), StorageError> {
        self.rows += 1;
        self.hashes.push(hash_row_128(row), ())
    }

    /// Builds the function, and makes its file survive a crash.
    pub fn finish(self) -> Result<(), StorageError> {
        let Self { disk, name, budget, hashes, rows } = self;
        let mut sorted = hashes.finish()?;
        let shape = FileShape {
            kind: BlockFileKind::PerfectHash,
            row_bytes: HASH_BYTES,
            value_bytes: 0,
            block_bytes: PAGE_BYTES,
            group_rows: KEYS_MAX,
        };
        let _memory = Reservation::new(PageBuilder::MEMORY_BYTES, budget)?;
        let mut writer =
            BlockWriter::new(disk, &name, FileKind::Table, shape, Buffers { n: BUFFERS, blocks_at_once: 1 }, budget)?;
        let mut builder = PageBuilder::new();
        let pages = rows.div_ceil(KEYS_MEAN as u64);
        let (mut n, mut first) = (0, 0);
        let mut page = 0;
        while page < pages {
            let (hashes, _) = sorted.batch()?;
            let in_page = hashes.iter().take_while(|hash| page_of(**hash, pages) == page).count();
            let is_whole = hashes.is_empty() || in_page < hashes.len();
            let full = KEYS_MAX - builder.len();
            hashes[..in_page.min(full)].iter().for_each(|hash| builder.push(*hash));
            n += in_page as u64;
            sorted.consume(in_page);
            if is_whole || in_page > full {
                let keys = builder.len() as u32;
                let built = if in_page > full { None } else { builder.build(first, writer.contents_mut()) };
                let used = built.ok_or_else(|| no_page(&name, page, in_page))?;
                writer.end_block(used, keys, page + 1 == pages)?;
                first += u64::from(keys);
                page += 1;
            }
        }
        if n != rows || !sorted.batch()?.0.is_empty() {
            let (expected, got) = (format!("{rows} rows that differ, hashes too"), format!("{n}"));
            return Err(StorageError::Shape { file: name, expected, got });
        }
        sorted.remove_files()?;
        let (blocks, end) = (writer.blocks(), writer.bytes());
        Ok(writer.finish(rows, blocks, end)?.file.sync()?)
    }
}

fn no_page(file: &str, page: u64, rows: usize) -> StorageError {
    let (expected, got) = (format!("a function for page {page}"), format!("none for {rows} more rows"));
    StorageError::Shape { file: file.to_owned(), expected, got }
}

enum Pages<'b> {
    /// The contents of all pages, one after the other.
    Memory(ReservedVec<'b, u8>),
    Disk(BlockCache<'b>),
}

/// A function in memory, which any number of threads may ask.
#[derive(Clone, Copy)]
pub struct SharedHash<'h> {
    pages: &'h [u8],
    n_pages: u64,
}

impl SharedHash<'_> {
    /// The numbers of rows, in their order, in place of what is in `numbers`; `hashes` is for its own use.
    pub fn numbers(&self, rows: Rows<'_>, hashes: &mut Vec<u128>, numbers: &mut Vec<u64>) {
        numbers.clear();
        for rows in rows.bytes().chunks(LOOKUPS_AT_ONCE * rows.width()).map(|bytes| Rows::new(bytes, rows.width())) {
            hashes.clear();
            hashes.extend(rows.iter().map(hash_row_128));
            in_memory(self.pages, self.n_pages, hashes, numbers);
        }
    }
}

/// A function that is finished.
pub struct PerfectHash<'b> {
    rows: u64,
    n_pages: u64,
    bytes: u64,
    pages: Pages<'b>,
    hashes: Vec<u128>,
}

impl<'b> PerfectHash<'b> {
    /// Opens the function in a file.
    pub fn open(
        disk: &'b dyn Disk,
        name: &str,
        placement: Placement,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        let file = BlockFile::open(disk, name, BlockFileKind::PerfectHash, FileKind::Table, budget)?;
        let (rows, n_pages, bytes) = (file.footer.rows, file.footer.blocks, file.footer.file_bytes);
        if n_pages != rows.div_ceil(KEYS_MEAN as u64) || file.shape.block_bytes != PAGE_BYTES {
            let expected = format!("{} pages for {rows} rows", rows.div_ceil(KEYS_MEAN as u64));
            return Err(StorageError::corrupt(name, EDGE_BYTES as u64, expected, n_pages));
        }
        let pages = match placement {
            Placement::Memory => Pages::Memory(read_all(file, n_pages, budget)?),
            Placement::Disk { cache_bytes } => {
                Pages::Disk(BlockCache::new(file.file, EDGE_BYTES as u64, n_pages, true, cache_bytes, budget)?)
            }
        };
        Ok(Self { rows, n_pages, bytes, pages, hashes: Vec::new() })
    }

    /// The bytes that a function for so many rows takes in memory.
    pub fn memory_bytes_for(rows: u64) -> u64 {
        rows.div_ceil(KEYS_MEAN as u64) * PAGE_BYTES as u64
    }

    /// How many rows have numbers.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The function for several threads; none if it is on disk, or of no rows.
    pub fn shared(&self) -> Option<SharedHash<'_>> {
        match &self.pages {
            Pages::Memory(pages) if self.rows > 0 => Some(SharedHash { pages, n_pages: self.n_pages }),
            _ => None,
        }
    }

    /// The bytes of its file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The numbers of rows, in their order, in place of what is in `numbers`.
    pub fn numbers(&mut self, rows: Rows<'_>, numbers: &mut Vec<u64>) -> Result<(), StorageError> {
        numbers.clear();
        if self.rows == 0 {
            numbers.resize(rows.len(), 0);
            return Ok(());
        }
        let n_pages = self.n_pages;
        let Self { pages, hashes, .. } = self;
        for rows in rows.bytes().chunks(LOOKUPS_AT_ONCE * rows.width()).map(|bytes| Rows::new(bytes, rows.width())) {
            hashes.clear();
            hashes.extend(rows.iter().map(hash_row_128));
            match pages {
                Pages::Memory(bytes) => in_memory(bytes, n_pages, hashes, numbers),
                Pages::Disk(cache) => {
                    for hashes in hashes.chunks(cache.blocks_at_once()) {
                        cache.fetch(hashes.iter().map(|hash| page_of(*hash, n_pages)))?;
                        for hash in hashes {
                            let page = Page::new(cache.contents(page_of(*hash, n_pages))?);
                            numbers.push(page.number(*hash));
                        }
                    }
                }
            }
        }
        debug_assert!(numbers.iter().all(|number| *number < self.rows), "a number of the set");
        Ok(())
    }
}

fn in_memory(bytes: &[u8], n_pages: u64, hashes: &[u128], numbers: &mut Vec<u64>) {
    let page = |hash: u128| Page::new(&bytes[page_of(hash, n_pages) as usize * PAGE_BYTES..]);
    if hashes.len() > 1 {
        hashes
            .iter()
            .for_each(|hash| prefetch_address(&raw const bytes[page_of(*hash, n_pages) as usize * PAGE_BYTES]));
        hashes.iter().for_each(|hash| prefetch_address(page(*hash).pilot_address(*hash)));
    }
    numbers.extend(hashes.iter().map(|hash| page(*hash).number(*hash)));
}

fn read_all<'b>(file: BlockFile, n_pages: u64, budget: &'b MemoryBudget) -> Result<ReservedVec<'b, u8>, StorageError> {
    let mut bytes = ReservedVec::with_capacity(n_pages as usize * PAGE_BYTES, budget)?;
    let range = file.row_blocks();
    let mut reader = BlockReader::new(file, range, BUFFERS, budget);
    while reader.advance()? {
        if let Some((block, _)) = reader.current() {
            let start = bytes.len();
            bytes.extend_from_slice(block.contents)?;
            bytes.resize(start + PAGE_BYTES, 0)?;
        }
    }
    debug_assert_eq!(bytes.len(), n_pages as usize * PAGE_BYTES);
    Ok(bytes)
}

/// The most that a page can hold.
const CONTENTS_MAX: usize = PAGE_BYTES - block::HEADER_BYTES - crate::run::SLACK_BYTES;

#[cfg(test)]
mod tests;
