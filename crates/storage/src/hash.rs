//! The hash of a row: 64 bits of which all are good, eight bytes at a time.
//!
//! Written here because it is the inner loop of the visited set: rows are short and of one width, so the general
//! hashers' handling of streams and keys only costs.

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const START: u64 = 0x2D35_8DCC_AA6C_78A5;
const OTHER_MULTIPLIER: u64 = 0xC2B2_AE3D_27D4_EB4F;
const OTHER_START: u64 = 0x8BB8_4B93_962E_ACC9;

/// Multiplies to 128 bits and folds both halves together.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Up to eight bytes as a number, the first one lowest. Overlapping loads of fixed sizes, since a copy of any number of bytes is a call.
#[inline(always)]
pub(crate) fn word(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    let four = |at: usize| u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    match n {
        0 => 0,
        1..=3 => [0, n / 2, n - 1].into_iter().fold(0, |word, at| word | u64::from(bytes[at]) << (8 * at)),
        4..=8 => four(0) | four(n - 4) << (8 * (n - 4)),
        _ => unreachable!("a word has eight bytes"),
    }
}

/// The hash of a row.
#[inline]
pub fn hash_row(row: &[u8]) -> u64 {
    let mut state = START ^ row.len() as u64;
    let mut chunks = row.chunks_exact(8);
    for chunk in &mut chunks {
        state = fold(state ^ word(chunk), MULTIPLIER);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        state = fold(state ^ word(rest), MULTIPLIER);
    }
    fold(state, MULTIPLIER ^ START)
}

/// A hash of 128 bits: two rows of a set that fits a disk never have the same. The high half is [`hash_row`].
#[inline]
pub(crate) fn hash_row_128(row: &[u8]) -> u128 {
    let (mut high, mut low) = (START ^ row.len() as u64, OTHER_START ^ row.len() as u64);
    let mut mix = |word: u64| {
        high = fold(high ^ word, MULTIPLIER);
        low = fold(low.rotate_left(29) ^ word, OTHER_MULTIPLIER);
    };
    let mut chunks = row.chunks_exact(8);
    (&mut chunks).for_each(|chunk| mix(word(chunk)));
    let rest = chunks.remainder();
    if !rest.is_empty() {
        mix(word(rest));
    }
    let (high, low) = (fold(high, MULTIPLIER ^ START), fold(low, OTHER_MULTIPLIER ^ OTHER_START));
    u128::from(high) << 64 | u128::from(low)
}

/// Equality eight bytes at a time; rows are short, and a call to the general comparison costs more than this.
#[inline(always)]
pub(crate) fn rows_equal(a: &[u8], b: &[u8]) -> bool {
    let mut a_words = a.chunks_exact(8);
    let mut b_words = b.chunks_exact(8);
    let mut equal = a.len() == b.len();
    for (x, y) in (&mut a_words).zip(&mut b_words) {
        equal &= x == y;
    }
    equal && word(a_words.remainder()) == word(b_words.remainder())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_are_little_endian() {
        let bytes = [0x81, 2, 3, 4, 5, 6, 7, 0x88];
        for n in 0..=8 {
            let expected = bytes[..n].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            assert_eq!(word(&bytes[..n]), expected, "{n} bytes");
        }
    }

    #[test]
    fn both_halves_of_the_wide_hash_are_hashes() {
        let mut halves = [HashSet::new(), HashSet::new()];
        for i in 0..200_000_u32 {
            let row = [0, 7, i as u8, 0, (i >> 8) as u8, 0, 0, 0, 3, (i >> 16) as u8, 0];
            let hash = hash_row_128(&row);
            assert_eq!((hash >> 64) as u64, hash_row(&row));
            halves[0].insert((hash >> 64) as u64);
            halves[1].insert(hash as u64);
        }
        assert!(halves.iter().all(|half| half.len() == 200_000));
    }

    #[test]
    fn neighbouring_rows_spread_in_high_and_low_bits() {
        for width in [1, 3, 8, 13, 24] {
            let n = 1 << (8 * width.min(2));
            let mut high = HashSet::new();
            let mut low = HashSet::new();
            for i in 0..n as u32 {
                let mut row = vec![0; width];
                let bytes = i.to_le_bytes();
                let filled = width.min(2);
                row[width - filled..].copy_from_slice(&bytes[..filled]);
                let hash = hash_row(&row);
                high.insert(hash >> 32);
                low.insert(hash as u32);
            }
            // Two of 65,536 random 32-bit numbers meet about every second time.
            assert!(high.len() + 8 >= n && low.len() + 8 >= n, "width {width}: {} {}", high.len(), low.len());
        }
    }
}
