//! A block: a header of 32 bytes, and what it holds.

use super::{checksum, get_u32, get_u64, put};
use crate::StorageError;
use crate::run::SLACK_BYTES;
use lariat_disk::PAGE_BYTES;

/// What comes before the contents.
pub(crate) const HEADER_BYTES: usize = 32;

/// A block whose checksum was found right.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    /// What it holds, with [`SLACK_BYTES`] more behind it.
    pub(crate) contents: &'a [u8],
    /// The items in it.
    pub(crate) items: u32,
}

/// What of a block's bytes can be used.
pub(crate) fn capacity(block_bytes: usize) -> usize {
    block_bytes - HEADER_BYTES - SLACK_BYTES
}

/// The bytes of a block that can hold this much.
pub(crate) fn bytes_for(contents: usize) -> usize {
    HEADER_BYTES + contents + SLACK_BYTES
}

/// Where contents are written to.
pub(crate) fn contents_mut(buffer: &mut [u8], block_bytes: usize) -> &mut [u8] {
    &mut buffer[HEADER_BYTES..block_bytes - SLACK_BYTES]
}

/// Completes a block whose contents are written: whole pages, as few as it needs. How many bytes that are.
pub(crate) fn seal(
    buffer: &mut [u8],
    number: u64,
    used: usize,
    items: u32,
    is_last: bool,
    block_bytes: usize,
) -> usize {
    let end = HEADER_BYTES + used;
    let extent = if is_last { (end + SLACK_BYTES).next_multiple_of(PAGE_BYTES) } else { block_bytes };
    buffer[end..extent].fill(0);
    put(buffer, 8, &number.to_le_bytes());
    put(buffer, 16, &(used as u32).to_le_bytes());
    put(buffer, 20, &items.to_le_bytes());
    put(buffer, 24, &[0; 8]);
    let sum = checksum(&buffer[8..extent], number);
    put(buffer, 0, &sum.to_le_bytes());
    extent
}

/// Checks a block that was read.
pub(crate) fn check(buffer: &[u8], number: u64, file: &str, at: u64) -> Result<(), StorageError> {
    let (expected, got) = (get_u64(buffer, 0), checksum(&buffer[8..], number));
    if expected != got {
        return Err(StorageError::corrupt(
            file,
            at,
            format_args!("checksum {expected:016x}"),
            format_args!("{got:016x}"),
        ));
    }
    let got = get_u64(buffer, 8);
    if got != number {
        return Err(StorageError::corrupt(file, at, format_args!("block {number}"), format_args!("block {got}")));
    }
    match view(buffer) {
        Some(_) => Ok(()),
        None => Err(StorageError::corrupt(file, at, "a length within the block", get_u32(buffer, 16))),
    }
}

/// A block that was checked; none if its length is impossible.
pub(crate) fn view(buffer: &[u8]) -> Option<Block<'_>> {
    let used = get_u32(buffer, 16) as usize;
    let contents = buffer.get(HEADER_BYTES..HEADER_BYTES + used + SLACK_BYTES)?;
    Some(Block { contents, items: get_u32(buffer, 20) })
}
