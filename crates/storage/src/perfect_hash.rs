//! A minimal perfect hash function: every row of a fixed set has a number of its own, from 0 on, and the rows themselves are not kept.
//!
//! Rows are hashed to 128 bits. The high half says which *page* a row belongs to; a page is a small perfect hash function of its own, for some
//! 12,600 rows, that says how many rows are in the pages before. So a function of any size is built page by page, by all threads,
//! and a lookup on disk is one read. A row that is not in the set gets a number too, somebody else's.
//!
//! | what | file |
//! |---|---|
//! | the function of a page: a pilot for each bucket of rows | `page.rs` |
//! | handing rows out to pages, and building those | `builder.rs` |
//!
//! # Invariants
//! 1. The hashes of two rows of the set differ; where they do not, building is an error, and never a wrong number.
//! 2. The numbers of page `i` are those behind the numbers of all pages before.
//!
//! # Cost
//! 2.6 bits a row, in memory or on disk. Building hands out 9 bytes a row, in memory or by way of disk. A lookup touches two cache lines in memory;
//! on disk it is one random read of a page that is not in memory, many of them at once.
//!
//! # Format
//! `docs/formats.md`, perfect hash functions.

mod builder;
mod page;

pub use builder::{PerfectHashBuilder, PerfectHashOptions};

use crate::block_cache::BlockCache;
use crate::block_file::{BlockFile, BlockFileKind, BlockReader, EDGE_BYTES, block};
use crate::hash::hash_row_128;
use crate::number_array::Placement;
use crate::prefetch::prefetch_address;
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;
use lariat_base::rows::Rows;
use lariat_disk::{Disk, FileKind, PAGE_BYTES};
use page::{KEYS_MEAN, Page};

/// Bytes of the hash of a row.
const HASH_BYTES: usize = 16;
/// Blocks that are written, or read in order, at once.
const BUFFERS: usize = 8;
/// Rows that are looked up together.
const LOOKUPS_AT_ONCE: usize = 32;

/// The page of a hash. It never decreases as hashes increase.
#[inline]
fn page_of(hash: u128, pages: u64) -> u64 {
    (((hash >> 64) * u128::from(pages)) >> 64) as u64
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
