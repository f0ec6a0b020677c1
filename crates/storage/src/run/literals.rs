//! Differences of neighbouring rows, written one by one: what is left where nothing repeats.
//!
//! Two ways, chosen for each group by what they take. *Varint*: seven bits a byte, which is one byte for differences up to 127, and fast where
//! nearly all are that small. *Lengths*: half a byte for the length of each, all lengths first, then the bytes of all; there is no branch
//! to guess wrong, so it is several times as fast where sizes vary. Wide keys always take varint: which of their words differ, then each of
//! these.
//!
//! # Format
//! `docs/formats.md`, literals.

use crate::key::{Value, Wide};

/// How a difference is written.
pub trait Literal: Value {
    /// Whether it can be written as a length and bytes.
    const HAS_LENGTHS: bool;

    /// The most bytes that its varint has.
    const VARINT_BYTES_MAX: usize;

    /// Writes it as a varint, and tells how many bytes that are; there is room for [`Literal::VARINT_BYTES_MAX`].
    fn put_varint(self, out: &mut [u8]) -> usize;

    /// Reads a varint at `*place`, and moves behind it; none if the bytes end first.
    fn get_varint(bytes: &[u8], place: &mut usize) -> Option<Self>;

    /// The bytes of its varint.
    fn varint_bytes(self) -> usize;

    /// The bytes up to its last that is not zero, and at least 1.
    fn significant_bytes(self) -> usize;

    /// The difference that has the first `length` of these bytes.
    fn from_prefix(bytes: &[u8; 16], length: usize) -> Self;

    /// Its low 16 bytes.
    fn low_bytes(self) -> [u8; 16];
}

/// What lies behind the bytes of a group at least, so that 16 bytes can be read at once.
pub(crate) const SLACK_BYTES: usize = 16;

/// For each number of bytes, a mask of as many.
const PREFIX_MASKS: [u128; 17] = {
    let mut masks = [0; 17];
    let mut n = 1;
    while n <= 16 {
        masks[n] = u128::MAX >> (128 - 8 * n);
        n += 1;
    }
    masks
};

macro_rules! integer_literal {
    ($($integer:ty),*) => {$(
        impl Literal for $integer {
            const HAS_LENGTHS: bool = true;
            const VARINT_BYTES_MAX: usize = <$integer>::BITS.div_ceil(7) as usize;

            #[inline]
            fn put_varint(self, out: &mut [u8]) -> usize {
                let (mut rest, mut n) = (self, 0);
                while rest >= 0x80 {
                    out[n] = rest as u8 | 0x80;
                    rest >>= 7;
                    n += 1;
                }
                out[n] = rest as u8;
                n + 1
            }

            #[inline(always)]
            fn get_varint(bytes: &[u8], place: &mut usize) -> Option<Self> {
                let first = *bytes.get(*place)?;
                *place += 1;
                if first < 0x80 {
                    return Some(<$integer>::from(first));
                }
                let mut number = <$integer>::from(first & 0x7f);
                let mut shift = 7;
                while shift < <$integer>::BITS {
                    let byte = *bytes.get(*place)?;
                    *place += 1;
                    number |= <$integer>::from(byte & 0x7f) << shift;
                    if byte < 0x80 {
                        return Some(number);
                    }
                    shift += 7;
                }
                None
            }

            #[inline]
            fn varint_bytes(self) -> usize {
                ((<$integer>::BITS - (self | 1).leading_zeros()) as usize).div_ceil(7)
            }

            #[inline]
            fn significant_bytes(self) -> usize {
                ((<$integer>::BITS - (self | 1).leading_zeros()) as usize).div_ceil(8)
            }

            #[inline(always)]
            fn from_prefix(bytes: &[u8; 16], length: usize) -> Self {
                // Looked up, since shifting 128 bits by a variable number is several steps.
                (u128::from_le_bytes(*bytes) & PREFIX_MASKS[length]) as $integer
            }

            #[inline]
            fn low_bytes(self) -> [u8; 16] {
                u128::from(self).to_le_bytes()
            }
        }
    )*};
}

integer_literal!(u64, u128);

impl<const N: usize> Literal for Wide<N> {
    const HAS_LENGTHS: bool = false;
    const VARINT_BYTES_MAX: usize = N.div_ceil(8) + N * u64::VARINT_BYTES_MAX;

    fn put_varint(self, out: &mut [u8]) -> usize {
        for (words, mask) in self.0.chunks(8).zip(out.iter_mut()) {
            *mask = words.iter().enumerate().fold(0, |mask, (i, word)| mask | u8::from(*word != 0) << i);
        }
        let mut n = N.div_ceil(8);
        for word in self.0 {
            if word != 0 {
                n += zigzag(word).put_varint(&mut out[n..]);
            }
        }
        n
    }

    fn get_varint(bytes: &[u8], place: &mut usize) -> Option<Self> {
        let masks = bytes.get(*place..*place + N.div_ceil(8))?;
        *place += masks.len();
        let mut difference = Self::default();
        for (words, mask) in difference.0.chunks_mut(8).zip(masks) {
            let mut mask = *mask;
            while mask != 0 {
                let word = words.get_mut(mask.trailing_zeros() as usize)?;
                *word = unzigzag(u64::get_varint(bytes, place)?);
                mask &= mask - 1;
            }
        }
        Some(difference)
    }

    fn varint_bytes(self) -> usize {
        let words = self.0.iter().filter(|word| **word != 0);
        N.div_ceil(8) + words.map(|word| zigzag(*word).varint_bytes()).sum::<usize>()
    }

    fn significant_bytes(self) -> usize {
        Self::BYTES
    }

    fn from_prefix(_bytes: &[u8; 16], _length: usize) -> Self {
        Self::default()
    }

    fn low_bytes(self) -> [u8; 16] {
        [0; 16]
    }
}

/// Small for words near zero from either side.
fn zigzag(word: u64) -> u64 {
    (word << 1) ^ ((word as i64 >> 63) as u64)
}

fn unzigzag(word: u64) -> u64 {
    (word >> 1) ^ (word & 1).wrapping_neg()
}

/// How the literals of a group are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiteralForm {
    Varint = 0,
    Lengths = 1,
}

/// The better form. Lengths may take a quarter more, since they are read faster.
pub(crate) fn choose_form<K: Literal>(literals: &[K]) -> LiteralForm {
    if !K::HAS_LENGTHS {
        return LiteralForm::Varint;
    }
    // A sample decides, which takes a quarter of the time.
    let sample = literals.iter().step_by(4);
    let (mut varint, mut lengths) = (0, sample.len().div_ceil(2));
    for literal in sample {
        varint += literal.varint_bytes();
        lengths += literal.significant_bytes();
    }
    if lengths <= varint + varint / 4 { LiteralForm::Lengths } else { LiteralForm::Varint }
}

/// Literals for which room is made at once.
pub(crate) const AT_ONCE: usize = 16;

/// Appends literals.
pub(crate) fn put_literals<K: Literal>(form: LiteralForm, literals: &[K], out: &mut Vec<u8>) {
    // Written into room for the largest, and cut off behind what they took: appending byte by byte would be slow.
    match form {
        LiteralForm::Varint => {
            for some in literals.chunks(AT_ONCE) {
                let mut end = out.len();
                out.resize(end + some.len() * K::VARINT_BYTES_MAX, 0);
                for literal in some {
                    end += literal.put_varint(&mut out[end..]);
                }
                out.truncate(end);
            }
        }
        LiteralForm::Lengths => {
            for pair in literals.chunks(2) {
                let high = pair.get(1).map_or(0, |literal| literal.significant_bytes() - 1);
                out.push(((pair[0].significant_bytes() - 1) | (high << 4)) as u8);
            }
            for some in literals.chunks(AT_ONCE) {
                let mut end = out.len();
                out.resize(end + some.len() * 16, 0);
                for literal in some {
                    out[end..end + 16].copy_from_slice(&literal.low_bytes());
                    end += literal.significant_bytes();
                }
                out.truncate(end);
            }
        }
    }
}

/// Literals that are read one after the other.
pub(crate) trait LiteralSource<K> {
    /// The next one; none where the bytes end.
    fn next(&mut self) -> Option<K>;
}

pub(crate) struct VarintSource<'g> {
    bytes: &'g [u8],
    place: usize,
}

impl<'g> VarintSource<'g> {
    pub(crate) fn new(bytes: &'g [u8]) -> Self {
        Self { bytes, place: 0 }
    }
}

impl<K: Literal> LiteralSource<K> for VarintSource<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<K> {
        K::get_varint(self.bytes, &mut self.place)
    }
}

pub(crate) struct LengthsSource<'g> {
    lengths: &'g [u8],
    taken: usize,
    bytes: &'g [u8],
    place: usize,
}

impl<'g> LengthsSource<'g> {
    /// The bytes are those of `n` literals, with [`SLACK_BYTES`] more behind them.
    pub(crate) fn new(bytes: &'g [u8], n: usize) -> Option<Self> {
        let (lengths, bytes) = bytes.split_at_checked(n.div_ceil(2))?;
        Some(Self { lengths, taken: 0, bytes, place: 0 })
    }
}

impl<K: Literal> LiteralSource<K> for LengthsSource<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<K> {
        let pair = *self.lengths.get(self.taken / 2)?;
        let length = usize::from(pair >> (4 * (self.taken & 1)) & 15) + 1;
        let bytes = self.bytes.get(self.place..self.place + 16)?;
        let bytes = <&[u8; 16]>::try_from(bytes).ok()?;
        self.taken += 1;
        self.place += length;
        (length <= K::BYTES).then(|| K::from_prefix(bytes, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use lariat_base::Random;

    fn check<K: Key>(random: &mut Random) {
        let mut literals: Vec<K> = Vec::new();
        for _ in 0..200 {
            let n_bytes = 1 + random.below(K::BYTES);
            let mut bytes = vec![0; n_bytes];
            bytes.fill_with(|| [0, 1, 0x7f, 0x80, 0xff][random.below(5)]);
            literals.push(K::read(&bytes));
        }
        let mut bytes = Vec::new();
        put_literals(LiteralForm::Varint, &literals, &mut bytes);
        assert_eq!(bytes.len(), literals.iter().map(|l| l.varint_bytes()).sum::<usize>());
        let mut source = VarintSource::new(&bytes);
        assert!(literals.iter().all(|literal| source.next() == Some(*literal)));
        assert_eq!(LiteralSource::<K>::next(&mut source), None);
        if K::HAS_LENGTHS {
            bytes.clear();
            put_literals(LiteralForm::Lengths, &literals, &mut bytes);
            bytes.extend([0xff; SLACK_BYTES]);
            let mut source = LengthsSource::new(&bytes, literals.len()).unwrap();
            assert!(literals.iter().all(|literal| source.next() == Some(*literal)));
            assert_eq!(LiteralSource::<K>::next(&mut source), None);
        }
    }

    #[test]
    fn literals_come_back() {
        let mut random = Random::new(5);
        check::<u64>(&mut random);
        check::<u128>(&mut random);
        check::<Wide<3>>(&mut random);
        check::<Wide<12>>(&mut random);
    }

    #[test]
    fn small_differences_are_varints_and_mixed_ones_have_lengths() {
        assert_eq!(choose_form(&[1_u64, 2, 100, 127].repeat(50)), LiteralForm::Varint);
        assert_eq!(choose_form(&[1_u64, 2000, 70000, 1 << 40, 3, 1 << 20, 1 << 30].repeat(50)), LiteralForm::Lengths);
        assert_eq!(choose_form(&[Wide([1, 1 << 60, 3])]), LiteralForm::Varint);
    }
}
