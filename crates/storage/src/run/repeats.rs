//! Keys of a group as differences, and differences as repetitions of earlier ones.
//!
//! States are combinations, so that the pattern of differences of the low fields comes again for every value of the high ones: in
//! complete state sets nearly all rows repeat a stretch of differences that was met a few thousand rows before. As in LZ77, the sequence
//! of differences is cut into *tokens*: some literal differences, then a repetition of `length` differences that begin `distance` rows
//! before. To decode a repetition, no difference is looked at: row `i` is row `i - distance` plus a constant, which processors do for
//! several rows at once.
//!
//! # Cost
//! Measured by `bench/src/bin/codec.rs` on complete state sets: 0.2 to 1.2 bytes a row, decoded at 300 to 1200 million rows a second and
//! encoded at 100 to 350.
//!
//! # Format
//! `docs/formats.md`, keys.

#![expect(unsafe_code, reason = "the inner loop of everything that is read from disk")]

use super::literals::{LengthsSource, LiteralForm, LiteralSource, VarintSource, choose_form, put_literals};
use crate::key::Key;

/// The most rows of a group, so that distances have two bytes.
pub const GROUP_ROWS_MAX: usize = 65535;
/// Rows that a decoder may write behind the last one.
pub(crate) const ROW_SLACK: usize = 8;

/// The shortest repetition that is worth its token.
const REPEAT_MIN: usize = 3;
const HASH_BITS: u32 = 13;
const NOWHERE: u16 = u16::MAX;
/// Rows that are decoded in one go from a repetition.
const STRIDE: usize = 4;

/// Encodes groups of keys; keeps its memory from group to group.
pub(crate) struct KeyEncoder<K> {
    differences: Vec<K>,
    hashes: Vec<u64>,
    literals: Vec<K>,
    tokens: Vec<u8>,
    /// For a hash of three differences, where they were met last, in this group or in one before: what is there now is compared, and a
    /// place of another group is as good a guess as none.
    places: Vec<u16>,
}

impl<K: Key> KeyEncoder<K> {
    pub(crate) fn new() -> Self {
        let (differences, hashes, literals, tokens) = Default::default();
        Self { differences, hashes, literals, tokens, places: vec![NOWHERE; 1 << HASH_BITS] }
    }

    /// The most memory that it has for groups of `rows` rows.
    pub(crate) fn memory_bytes(rows: usize) -> u64 {
        // Differences, literals, hashes, and at most one byte of token for each row.
        ((2 * size_of::<K>() + 8 + 2) * rows + (2 << HASH_BITS)) as u64
    }

    /// Appends the keys behind the first. The keys must increase, and not be more than [`GROUP_ROWS_MAX`].
    pub(crate) fn encode(&mut self, keys: &[K], out: &mut Vec<u8>) {
        self.differences.clear();
        self.differences.extend(keys.windows(2).map(|pair| pair[1].minus(pair[0])));
        self.hashes.clear();
        self.hashes.extend(self.differences.iter().map(|difference| difference.mixed()));
        self.literals.clear();
        self.tokens.clear();
        self.find_repeats();
        let form = choose_form(&self.literals);
        out.extend_from_slice(&(self.tokens.len() as u32).to_le_bytes());
        out.extend_from_slice(&((self.literals.len() as u32) << 1 | form as u32).to_le_bytes());
        out.extend_from_slice(&self.tokens);
        put_literals(form, &self.literals, out);
    }

    fn find_repeats(&mut self) {
        let n = self.differences.len();
        let (mut at, mut literals_from, mut misses) = (0, 0, 0);
        while at + REPEAT_MIN <= n {
            let slot = self.slot(at);
            let candidate = usize::from(self.places[slot]);
            self.places[slot] = at as u16;
            let differences = &self.differences[..];
            // Compared one by one: comparing slices is a call.
            if candidate >= at || !(0..REPEAT_MIN).all(|i| differences[candidate + i] == differences[at + i]) {
                misses += 1;
                // Where nothing repeats, look less and less closely.
                at += 1 + (misses >> 4);
                continue;
            }
            misses = 0;
            let more = differences[at..].iter().zip(&differences[candidate..]).skip(REPEAT_MIN);
            let mut length = REPEAT_MIN + more.take_while(|(a, b)| a == b).count();
            let distance = at - candidate;
            let before = differences[literals_from..at].iter().rev().zip(differences[..candidate].iter().rev());
            let earlier = before.take_while(|(a, b)| a == b).count();
            length += earlier;
            self.put_token(literals_from, at - earlier, length, distance);
            at = at - earlier + length;
            literals_from = at;
            if at < n && at >= 2 {
                let slot = self.slot(at - 2);
                self.places[slot] = at as u16 - 2;
            }
        }
        self.put_token(literals_from, n, 0, 0);
    }

    /// Where the three differences at a place are remembered; fewer at the end.
    #[inline]
    fn slot(&self, at: usize) -> usize {
        let [a, b, c] = match self.hashes.get(at..at + REPEAT_MIN) {
            Some(three) => [three[0], three[1], three[2]],
            None => [self.hashes[at], 0, 0],
        };
        let mixed = a.wrapping_add(b.rotate_left(21)).wrapping_add(c.rotate_left(42));
        (mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> (64 - HASH_BITS)) as usize
    }

    /// Literals up to `end`, then a repetition; a length of 0 for none.
    #[inline]
    fn put_token(&mut self, literals_from: usize, end: usize, length: usize, distance: usize) {
        let n_literals = end - literals_from;
        let stored = if length == 0 { 0 } else { length - REPEAT_MIN + 1 };
        self.tokens.push((n_literals.min(15) << 4 | stored.min(15)) as u8);
        put_rest(n_literals, &mut self.tokens);
        put_rest(stored, &mut self.tokens);
        if length > 0 {
            self.tokens.extend_from_slice(&(distance as u16).to_le_bytes());
        }
        self.literals.extend_from_slice(&self.differences[literals_from..end]);
    }
}

/// What of a number does not fit into half a byte.
fn put_rest(number: usize, out: &mut Vec<u8>) {
    if number >= 15 {
        let mut rest = number - 15;
        while rest >= 255 {
            out.push(255);
            rest -= 255;
        }
        out.push(rest as u8);
    }
}

/// Decodes keys that [`KeyEncoder::encode`] wrote: the first one is given, `n` in all come into `keys`, which has [`ROW_SLACK`] more. The
/// bytes go on for at least 16 behind those of the group. None if they are not what an encoder writes.
pub(crate) fn decode_keys<K: Key>(first: K, n: usize, bytes: &[u8], keys: &mut [K]) -> Option<()> {
    if n == 0 || keys.len() < n + ROW_SLACK {
        return None;
    }
    let n_token_bytes = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    let literal_word = u32::from_le_bytes(*bytes[4..].first_chunk()?);
    let (tokens, literals) = bytes[8..].split_at_checked(n_token_bytes)?;
    keys[0] = first;
    if literal_word & 1 == LiteralForm::Varint as u32 {
        decode_tokens(n, tokens, VarintSource::new(literals), keys)
    } else if K::HAS_LENGTHS {
        decode_tokens(n, tokens, LengthsSource::new(literals, literal_word as usize >> 1)?, keys)
    } else {
        None
    }
}

#[inline(always)]
fn decode_tokens<K: Key>(n: usize, tokens: &[u8], mut literals: impl LiteralSource<K>, keys: &mut [K]) -> Option<()> {
    let mut tokens = tokens.iter();
    let mut at = 1;
    let mut last = keys[0];
    while at < n {
        let token = usize::from(*tokens.next()?);
        let n_literals = get_rest(token >> 4, &mut tokens)?;
        let stored = get_rest(token & 15, &mut tokens)?;
        for key in keys[..n].get_mut(at..at + n_literals)? {
            last = last.plus(literals.next()?);
            *key = last;
        }
        at += n_literals;
        if stored > 0 {
            let distance = usize::from(u16::from_le_bytes([*tokens.next()?, *tokens.next()?]));
            let length = stored + REPEAT_MIN - 1;
            if distance == 0 || distance >= at || length > n - at {
                return None;
            }
            last = repeat(keys, at, distance, length);
            at += length;
        }
    }
    Some(())
}

#[inline(always)]
fn get_rest(half: usize, tokens: &mut std::slice::Iter<'_, u8>) -> Option<usize> {
    let mut number = half;
    if half == 15 {
        loop {
            let more = *tokens.next()?;
            number += usize::from(more);
            if more < 255 {
                break;
            }
        }
    }
    Some(number)
}

/// Repeats the differences of the rows before, and returns the last row.
///
/// The caller knows that `0 < distance < at`, that `length > 0`, and that `at + length + ROW_SLACK <= keys.len()`.
#[inline(always)]
fn repeat<K: Key>(keys: &mut [K], at: usize, distance: usize, length: usize) -> K {
    let mut last = keys[at - 1];
    let step = last.minus(keys[at - 1 - distance]);
    let end = at + length;
    if distance == 1 {
        for key in &mut keys[at..end] {
            last = last.plus(step);
            *key = last;
        }
        return last;
    }
    let (mut at, mut back, mut step_back) = (at, distance, step);
    if distance < STRIDE {
        // Too near for a stride: go round until a multiple of the distance is far enough.
        let rounds = STRIDE.div_ceil(distance);
        let ready = rounds * distance;
        for i in at..(at + ready).min(end) {
            keys[i] = keys[i - distance].plus(step);
        }
        at += ready;
        back = ready;
        step_back = step.times(rounds as u64);
    }
    assert!(end + STRIDE <= keys.len() && back >= STRIDE && back <= at);
    let keys = keys.as_mut_ptr();
    while at < end {
        if size_of::<K>() == 8 {
            // All are read before any is written: none of them is another's source, and processors add several words at once.
            // SAFETY: `at + STRIDE <= end + STRIDE <= keys.len()`, and `at - back >= 0`.
            unsafe {
                let sources = keys.add(at - back).cast::<[K; STRIDE]>().read();
                keys.add(at).cast::<[K; STRIDE]>().write(sources.map(|key| key.plus(step_back)));
            }
        } else {
            for i in at..at + STRIDE {
                // SAFETY: `i < end + STRIDE <= keys.len()`, and `i - back >= at - back >= 0`.
                unsafe { *keys.add(i) = (*keys.add(i - back)).plus(step_back) };
            }
        }
        at += STRIDE;
    }
    // SAFETY: `end > 0` is a row that was written.
    unsafe { *keys.add(end - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Wide;
    use crate::run::literals::SLACK_BYTES;
    use lariat_base::Random;

    /// Keys with patterns that come again, and some that do not.
    fn keys<K: Key>(n: usize, random: &mut Random) -> Vec<K> {
        let steps: Vec<u64> =
            (0..8).map(|_| 1 + random.next_u64() % [2, 200, 70_000, 1 << 33][random.below(4)]).collect();
        let (mut key, mut keys, mut place) = (K::from_row(&[3]), Vec::new(), 0);
        while keys.len() < n {
            keys.push(key);
            place = if random.one_in(20) { random.below(8) } else { (place + 1) % 8 };
            let mut row = [0; 8];
            row.copy_from_slice(&steps[place].to_le_bytes());
            let step = K::from_row(&row[..K::BYTES.min(8)]);
            key = key.plus(step);
        }
        keys
    }

    fn check<K: Key>(keys: &[K]) -> usize {
        let mut bytes = Vec::new();
        KeyEncoder::new().encode(keys, &mut bytes);
        let n_bytes = bytes.len();
        bytes.extend([0xee; SLACK_BYTES]);
        let mut decoded = vec![K::default(); keys.len() + ROW_SLACK];
        decode_keys(keys[0], keys.len(), &bytes, &mut decoded).unwrap();
        assert!(decoded[..keys.len()] == *keys);
        n_bytes
    }

    #[test]
    fn keys_come_back() {
        let mut random = Random::new(11);
        for round in 0..300 {
            let n = 1 + random.below([3, 20, 300, 5000][round % 4]);
            check(&keys::<u64>(n, &mut random));
            check(&keys::<u128>(n, &mut random));
            check(&keys::<Wide<3>>(n, &mut random));
        }
    }

    #[test]
    fn regular_keys_take_next_to_nothing() {
        assert!(check(&(0..8192_u64).map(|i| i * 12345).collect::<Vec<_>>()) < 100);
        let square = |i: u128| i % 50 * (1 << 20) + i / 50 * (1 << 40);
        assert!(check(&(0..8192).map(square).collect::<Vec<_>>()) < 400);
        let long = |distance: u64| (0..GROUP_ROWS_MAX as u64).map(move |i| i * 7 + i % distance);
        for distance in 1..9 {
            assert!(check(&long(distance).collect::<Vec<_>>()) < 1000);
        }
    }

    #[test]
    fn damaged_bytes_are_refused_or_decoded_but_never_break() {
        let mut random = Random::new(2);
        let keys: Vec<u64> = keys(3000, &mut random);
        let mut bytes = Vec::new();
        KeyEncoder::new().encode(&keys, &mut bytes);
        bytes.extend([0; SLACK_BYTES]);
        let mut decoded = vec![0; keys.len() + ROW_SLACK];
        for _ in 0..20_000 {
            let (place, bit) = (random.below(bytes.len()), random.below(8));
            bytes[place] ^= 1 << bit;
            let _ = decode_keys(keys[0], keys.len(), &bytes, &mut decoded);
            bytes[place] ^= 1 << bit;
        }
        for n in 0..bytes.len() {
            let _ = decode_keys(keys[0], keys.len(), &bytes[..n], &mut decoded);
        }
    }
}
