//! Hash compaction: states are told apart by signatures of some bits, so that the visited set is smaller, and some states may be missed.
//!
//! A signature is the first bits of the hash of a state. A state whose signature was met before is taken for one that was visited. What
//! waits to be expanded is held whole. So everything that is found is real, and only what is not found may be wrong.
//!
//! # Paper
//! Bao and Jones, *Time-efficient model checking with magnetic disk*, whose results are all with hash compaction; after Wolper and Leroy, and Stern and Dill.

use lariat_storage::{Value, hash_row};

/// How many bits tell states apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    bits: u32,
}

impl Compaction {
    /// The fewest bits of a signature.
    pub const BITS_MIN: u32 = 16;
    /// The most.
    pub const BITS_MAX: u32 = 64;

    /// Signatures of so many bits, if there can be such.
    pub fn new(bits: u32) -> Option<Self> {
        (Self::BITS_MIN..=Self::BITS_MAX).contains(&bits).then_some(Self { bits })
    }

    /// The bits of a signature.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// An upper bound for the probability that a state was missed, if so many were found: two of `n` states have the same signature of `b` bits with a
    /// probability of at most `n (n - 1) / 2^(b + 1)`, the sum over all pairs.
    pub fn omission_probability(self, states: u64) -> f64 {
        let n = states as f64;
        (n * (n - 1.0) / 2_f64.powi(self.bits as i32 + 1)).clamp(0.0, 1.0)
    }

    fn signature_bytes(self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    /// The signature of a state as a number.
    #[inline]
    fn signature(self, row: &[u8]) -> u64 {
        hash_row(row) >> (64 - self.bits)
    }
}

/// The bytes of states of type `V` as values in a run: values that are numbers have all bytes of their type.
pub(crate) fn value_bytes<V: Value>(row_bytes: usize) -> usize {
    if V::default().to_word().is_some() { V::BYTES } else { row_bytes }
}

/// What tells states apart, their *key*: they themselves, or their signatures.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    row_bytes: usize,
    compaction: Option<Compaction>,
}

impl Identity {
    pub(crate) fn new(row_bytes: usize, compaction: Option<Compaction>) -> Self {
        Self { row_bytes, compaction }
    }

    pub(crate) fn is_compact(&self) -> bool {
        self.compaction.is_some()
    }

    pub(crate) fn key_bytes(&self) -> usize {
        self.compaction.map_or(self.row_bytes, Compaction::signature_bytes)
    }

    /// The bytes of an entry: a key, and the state behind it if it is another thing.
    pub(crate) fn entry_bytes(&self) -> usize {
        if self.is_compact() { self.key_bytes() + self.row_bytes } else { self.row_bytes }
    }

    /// The entry of a state, in `space` if it needs any.
    #[inline]
    pub(crate) fn entry<'e>(&self, row: &'e [u8], space: &'e mut Vec<u8>) -> &'e [u8] {
        let Some(compaction) = self.compaction else { return row };
        space.clear();
        space.extend_from_slice(&compaction.signature(row).to_le_bytes()[..compaction.signature_bytes()]);
        space.extend_from_slice(row);
        space
    }

    /// The signature of a state as a number; with whole states there is none.
    #[inline]
    pub(crate) fn number(&self, row: &[u8]) -> u64 {
        self.compaction.map_or(0, |compaction| compaction.signature(row))
    }

    /// The key of an entry.
    #[inline]
    pub(crate) fn key<'e>(&self, entry: &'e [u8]) -> &'e [u8] {
        &entry[..self.key_bytes()]
    }

    /// The state of an entry.
    #[inline]
    pub(crate) fn row<'e>(&self, entry: &'e [u8]) -> &'e [u8] {
        &entry[entry.len() - self.row_bytes..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_the_sum_over_all_pairs_up_to_one() {
        let p = |bits, states| Compaction::new(bits).unwrap().omission_probability(states);
        assert_eq!(p(40, 1), 0.0);
        assert_eq!(p(40, 0), 0.0);
        assert_eq!(p(16, 2), 1.0 / 65_536.0);
        assert_eq!(p(16, 10_000), 1.0);
        assert!((p(40, 1_000_000) - 0.4547).abs() < 1e-3 && p(64, 1_000_000) < 1e-7);
        assert!(Compaction::new(15).is_none() && Compaction::new(65).is_none());
    }

    #[test]
    fn entries_have_a_key_and_the_state() {
        for (bits, key_bytes) in [(16, 2), (17, 3), (40, 5), (64, 8)] {
            let identity = Identity::new(3, Compaction::new(bits));
            let mut space = Vec::new();
            let entry = identity.entry(&[1, 2, 3], &mut space);
            assert_eq!((identity.key_bytes(), identity.entry_bytes()), (key_bytes, entry.len()));
            assert_eq!((identity.key(entry).len(), identity.row(entry)), (key_bytes, &[1, 2, 3][..]));
            let number = identity.key(entry).iter().rev().fold(0, |n: u64, byte| n << 8 | u64::from(*byte));
            assert_eq!(number, hash_row(&[1, 2, 3]) >> (64 - bits));
        }
        let whole = Identity::new(3, None);
        assert_eq!((whole.entry_bytes(), whole.entry(&[1, 2, 3], &mut Vec::new())), (3, &[1, 2, 3][..]));
    }
}
