//! Rows as integers, which is how they are ordered, compared and compressed on disk.
//!
//! THE ORDER of rows: they are little-endian integers, so the last byte is the most significant one. A row of up to 8 bytes is a `u64`, of
//! up to 16 a `u128`, and a wider one is an array of words ([`Wide`]); code for runs is written once for all of them, and
//! [`for_row_width!`] chooses. Bytes behind the row's width are zero.
//!
//! *Values* travel with rows: a counter, a mark, a level, or a row.

use crate::hash::word;
use crate::run::Literal;
use std::cmp::Ordering;
use std::fmt::Debug;

/// The widest row that can be in a run.
pub const ROW_BYTES_MAX: usize = 4096;

/// A row as an integer.
pub trait Key: Literal + Ord {
    /// The integer of a row, which has at most [`Value::BYTES`] bytes.
    fn from_row(row: &[u8]) -> Self;

    /// The row of an integer, as many bytes as the row has.
    fn write_row(self, row: &mut [u8]);

    /// The difference to a key, from which [`Key::plus`] makes this key again. Words of wide keys do not borrow from each other.
    fn minus(self, other: Self) -> Self;

    /// The inverse of [`Key::minus`].
    fn plus(self, difference: Self) -> Self;

    /// A difference that is applied `n` times.
    fn times(self, n: u64) -> Self;

    /// Some of its bits, mixed.
    fn mixed(self) -> u64;

    /// The eight bits from `shift` on.
    fn digit(self, shift: u32) -> usize;

    /// These bits, and those in which two keys differ.
    fn or_difference(self, a: Self, b: Self) -> Self;

    /// The highest bit that is set.
    fn highest_bit(self) -> Option<u32>;

    /// One of its 64-bit words, the least significant being number 0.
    fn word(self, place: usize) -> u64;

    /// Replaces one of its words.
    fn set_word(&mut self, place: usize, word: u64);
}

/// What travels with a row. No value at all is `()`.
pub trait Value: Copy + PartialEq + Default + Debug + Send + Sync + 'static {
    /// The most bytes it has.
    const BYTES: usize;

    /// As a number, if every value is one of at most 64 bits.
    fn to_word(self) -> Option<u64> {
        None
    }

    /// The value of a number.
    fn from_word(_word: u64) -> Self {
        Self::default()
    }

    /// Writes as many bytes as `bytes` has.
    fn write(self, bytes: &mut [u8]);

    /// The value with these bytes; bytes that are missing are zero.
    fn read(bytes: &[u8]) -> Self;
}

impl Value for () {
    const BYTES: usize = 0;

    fn write(self, _bytes: &mut [u8]) {}

    fn read(_bytes: &[u8]) -> Self {}
}

macro_rules! number {
    ($($number:ty),*) => {$(
        impl Value for $number {
            const BYTES: usize = size_of::<$number>();

            #[inline]
            fn to_word(self) -> Option<u64> {
                if Self::BYTES <= 8 { Some(self as u64) } else { None }
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                word as $number
            }

            #[inline]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes()[..bytes.len()]);
            }

            #[inline]
            fn read(bytes: &[u8]) -> Self {
                let mut whole = [0; size_of::<$number>()];
                whole[..bytes.len()].copy_from_slice(bytes);
                <$number>::from_le_bytes(whole)
            }
        }
    )*};
}

number!(u8, u16, u32, u64, u128);

/// The number of a row of up to 16 bytes, by loads of fixed sizes: a copy of any number of bytes is a call, and what it has stored is read back slowly.
#[inline(always)]
fn number_of(row: &[u8]) -> u128 {
    match row.split_at_checked(8) {
        Some((low, high)) => u128::from(word(low)) | u128::from(word(high)) << 64,
        None => u128::from(word(row)),
    }
}

/// The inverse of [`number_of`], by stores of fixed sizes that overlap.
#[inline(always)]
fn write_number(number: u128, row: &mut [u8]) {
    let n = row.len();
    let from = |at: usize| number >> (8 * at);
    match n {
        8..=16 => {
            row[..8].copy_from_slice(&(number as u64).to_le_bytes());
            row[n - 8..].copy_from_slice(&(from(n - 8) as u64).to_le_bytes());
        }
        4..=7 => {
            row[..4].copy_from_slice(&(number as u32).to_le_bytes());
            row[n - 4..].copy_from_slice(&(from(n - 4) as u32).to_le_bytes());
        }
        _ => row.iter_mut().enumerate().for_each(|(at, byte)| *byte = from(at) as u8),
    }
}

macro_rules! integer_key {
    ($($integer:ty),*) => {$(
        impl Key for $integer {
            #[inline(always)]
            fn from_row(row: &[u8]) -> Self {
                number_of(row) as $integer
            }

            #[inline(always)]
            fn write_row(self, row: &mut [u8]) {
                write_number(self as u128, row);
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn plus(self, difference: Self) -> Self {
                self.wrapping_add(difference)
            }

            #[inline(always)]
            fn times(self, n: u64) -> Self {
                self.wrapping_mul(n as $integer)
            }

            #[inline(always)]
            fn mixed(self) -> u64 {
                let high = (self as u128 >> 64) as u64;
                (self as u64 ^ high.rotate_left(29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            }

            #[inline(always)]
            fn digit(self, shift: u32) -> usize {
                usize::from((self >> shift) as u8)
            }

            #[inline(always)]
            fn or_difference(self, a: Self, b: Self) -> Self {
                self | (a ^ b)
            }

            #[inline]
            fn highest_bit(self) -> Option<u32> {
                self.checked_ilog2()
            }

            #[inline(always)]
            fn word(self, place: usize) -> u64 {
                (self as u128 >> (64 * place)) as u64
            }

            #[inline(always)]
            fn set_word(&mut self, place: usize, word: u64) {
                let (shift, mask) = (64 * place, u128::from(u64::MAX));
                *self = ((*self as u128 & !(mask << shift)) | u128::from(word) << shift) as $integer;
            }
        }
    )*};
}

integer_key!(u64, u128);

/// A row of up to `8 * N` bytes: words, the least significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Wide<const N: usize>(pub [u64; N]);

impl<const N: usize> Default for Wide<N> {
    fn default() -> Self {
        Wide([0; N])
    }
}

impl<const N: usize> Ord for Wide<N> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl<const N: usize> PartialOrd for Wide<N> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Value for Wide<N> {
    const BYTES: usize = 8 * N;

    fn write(self, bytes: &mut [u8]) {
        for (piece, word) in bytes.chunks_mut(8).zip(self.0) {
            piece.copy_from_slice(&word.to_le_bytes()[..piece.len()]);
        }
    }

    fn read(bytes: &[u8]) -> Self {
        let mut key = Self::default();
        for (piece, word) in bytes.chunks(8).zip(&mut key.0) {
            *word = crate::hash::word(piece);
        }
        key
    }
}

impl<const N: usize> Key for Wide<N> {
    fn from_row(row: &[u8]) -> Self {
        Value::read(row)
    }

    fn write_row(self, row: &mut [u8]) {
        Value::write(self, row);
    }

    #[inline]
    fn minus(self, other: Self) -> Self {
        Wide(std::array::from_fn(|i| self.0[i].wrapping_sub(other.0[i])))
    }

    #[inline]
    fn plus(self, difference: Self) -> Self {
        Wide(std::array::from_fn(|i| self.0[i].wrapping_add(difference.0[i])))
    }

    #[inline]
    fn times(self, n: u64) -> Self {
        Wide(self.0.map(|word| word.wrapping_mul(n)))
    }

    #[inline]
    fn mixed(self) -> u64 {
        self.0.iter().fold(0, |mixed: u64, word| (mixed.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[inline]
    fn digit(self, shift: u32) -> usize {
        let (word, bit) = (shift as usize / 64, shift % 64);
        let above = if bit > 56 && word + 1 < N { self.0[word + 1] << (64 - bit) } else { 0 };
        usize::from((self.0[word] >> bit | above) as u8)
    }

    #[inline]
    fn or_difference(self, a: Self, b: Self) -> Self {
        Wide(std::array::from_fn(|i| self.0[i] | (a.0[i] ^ b.0[i])))
    }

    fn highest_bit(self) -> Option<u32> {
        let word = self.0.iter().rposition(|word| *word != 0)?;
        Some(64 * word as u32 + self.0[word].ilog2())
    }

    #[inline]
    fn word(self, place: usize) -> u64 {
        self.0[place]
    }

    #[inline]
    fn set_word(&mut self, place: usize, word: u64) {
        self.0[place] = word;
    }
}

/// Evaluates an expression with a type `$K` that is the [`Key`] for rows of a width; panics where no key is that wide.
/// The expression is compiled for every type, so it should be a call.
///
/// ```
/// use lariat_storage::{Value, for_row_width};
/// let bytes = for_row_width!(20, K => <K as Value>::BYTES);
/// assert_eq!(bytes, 24);
/// ```
#[macro_export]
macro_rules! for_row_width {
    ($width:expr, $K:ident => $($body:tt)*) => {
        match $width {
            0..=8 => { type $K = u64; $($body)* }
            9..=16 => { type $K = u128; $($body)* }
            17..=24 => { type $K = $crate::Wide<3>; $($body)* }
            25..=32 => { type $K = $crate::Wide<4>; $($body)* }
            33..=64 => { type $K = $crate::Wide<8>; $($body)* }
            65..=128 => { type $K = $crate::Wide<16>; $($body)* }
            129..=256 => { type $K = $crate::Wide<32>; $($body)* }
            257..=512 => { type $K = $crate::Wide<64>; $($body)* }
            513..=4096 => { type $K = $crate::Wide<512>; $($body)* }
            width => panic!("rows of {width} bytes are wider than any key"),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    fn check<K: Key>(width: usize, random: &mut Random) {
        let mut row = || -> Vec<u8> { (0..width).map(|_| [0, 1, 255, 7][random.below(4)]).collect() };
        let rows: Vec<Vec<u8>> = (0..50).map(|_| row()).collect();
        for a in &rows {
            let key = K::from_row(a);
            let mut back = vec![9; width];
            key.write_row(&mut back);
            assert_eq!(&back, a);
            for b in &rows {
                let other = K::from_row(b);
                assert_eq!(key.cmp(&other), a.iter().rev().cmp(b.iter().rev()));
                let difference = key.minus(other);
                assert_eq!(other.plus(difference), key);
                assert_eq!(other.plus(difference).plus(difference), other.plus(difference.times(2)));
            }
        }
    }

    #[test]
    fn the_last_byte_is_the_most_significant() {
        let mut random = Random::new(3);
        for width in (1..70).chain([100, 150, 250, 500, 1000, 4096]) {
            for_row_width!(width, K => check::<K>(width, &mut random));
        }
    }
}
