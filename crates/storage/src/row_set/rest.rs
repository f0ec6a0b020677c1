//! What of a row is stored: its *rest*, all bytes but the last one. That one follows from the segment that the rest lies in, since it is mixed
//! into the bits of the hash that choose the segment, and into no others.
//!
//! # Invariants
//! 1. Two rows that differ have different rests, or hashes that begin with different bytes.

use crate::hash::hash_row;

/// The bits of the hash that the last byte is mixed into: the first ones.
pub(super) const OPEN_BITS: u32 = 8;

/// How many bytes of a row are stored. A row of one byte has no rest, and is stored as it is.
pub(super) fn rest_width(width: usize) -> usize {
    if width > 1 { width - 1 } else { width }
}

#[inline(always)]
pub(super) fn rest_of(row: &[u8]) -> &[u8] {
    &row[..rest_width(row.len())]
}

/// The hash of a row by which it is stored.
#[inline(always)]
pub(super) fn hash_of(row: &[u8]) -> u64 {
    let rest = rest_of(row);
    let last = row[rest.len()..].first().copied().unwrap_or(0);
    hash_row(rest) ^ u64::from(last) << (u64::BITS - OPEN_BITS)
}

/// Appends the row with this rest whose hash begins with `first` to `out`; a row has `width` bytes.
#[inline(always)]
pub(super) fn restore(rest: &[u8], first: u8, width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(rest);
    if rest.len() < width {
        out.push((hash_row(rest) >> (u64::BITS - OPEN_BITS)) as u8 ^ first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    #[test]
    fn rest_and_hash_give_the_row_back() {
        let mut random = Random::new(8);
        for width in 1..40 {
            for _ in 0..200 {
                let row: Vec<u8> = (0..width).map(|_| random.below(256) as u8).collect();
                let mut again = Vec::new();
                restore(rest_of(&row), (hash_of(&row) >> 56) as u8, width, &mut again);
                assert_eq!(again, row);
            }
        }
    }
}
