//! Files of checksummed blocks: what every file of rows on disk is made of.
//!
//! A header page says what the file holds, blocks of one size follow, then an index of the blocks in blocks of its own, and a footer page that
//! is written last. A file without a whole footer was never finished. All numbers are little-endian.
//!
//! # Invariants
//! 1. Every byte of a file is covered by a checksum, padding included: no flipped bit goes unnoticed.
//! 2. A block's checksum depends on its number, so that a block in another's place is noticed too.
//!
//! # Format
//! `docs/formats.md`, block files.

pub(crate) mod block;
mod header;
mod kept;
mod reader;
mod writer;

pub(crate) use block::Block;
pub(crate) use header::{BlockFile, BlockRange};
pub use header::{BlockFileKind, FileShape};
pub use kept::BlockAllowance;
pub(crate) use kept::{Kept, KeptBlocks};
pub(crate) use reader::BlockReader;
pub(crate) use writer::{BlockWriter, Buffers, EndingFile};

/// The bytes of header and footer: a page each.
pub(crate) const EDGE_BYTES: usize = lariat_disk::PAGE_BYTES;
/// The largest block.
pub const BLOCK_BYTES_MAX: usize = 16 << 20;

/// The checksum of bytes that belong to a place.
pub(crate) fn checksum(bytes: &[u8], place: u64) -> u64 {
    twox_hash::XxHash3_64::oneshot_with_seed(place, bytes)
}

/// A number in a page that is long enough for it.
pub(crate) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// A number in a page that is long enough for it.
pub(crate) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Writes bytes into a page.
pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}
