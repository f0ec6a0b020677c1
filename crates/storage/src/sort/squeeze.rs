//! Keys squeezed into words: only the bits in which keys differ, close together. The order stays.
//!
//! A key has at least two words. The squeezed ones take the first half of the keys' own memory, so the other half is free for sorting them: no other
//! memory is needed.
//!
//! Processors that gather bits in one instruction (BMI2 of x86-64) do it; on others nothing is squeezed.

#![expect(
    unsafe_code,
    reason = "instructions that not every processor has are used behind a check, and keys give their memory to words"
)]

use super::radix::sort_words;
use crate::key::Key;

/// How keys are squeezed.
pub(super) struct Squeeze<K> {
    /// What all keys share, zero where they differ.
    shared: K,
    /// The words in which keys differ: the word's place, the bits that differ, and where they begin in the squeezed word.
    words: Vec<(usize, u64, u32)>,
}

impl<K: Key> Squeeze<K> {
    /// For keys that differ from one of them in these bits; none if they are too many, or keys have one word only, or the processor cannot do it.
    pub(super) fn new(one: K, differences: K) -> Option<Self> {
        if size_of::<K>() < 16 || !can_squeeze() {
            return None;
        }
        let (mut words, mut used, mut shared) = (Vec::new(), 0, one);
        for place in 0..K::BYTES / 8 {
            let bits = differences.word(place);
            if bits != 0 {
                words.push((place, bits, used));
                used += bits.count_ones();
                shared.set_word(place, one.word(place) & !bits);
            }
        }
        (used <= 64).then_some(Self { shared, words })
    }

    /// Sorts keys that differ in these bits only.
    pub(super) fn sort(&self, keys: &mut [K]) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `new` has found out that the processor has the instructions.
        unsafe {
            sort(self, keys)
        };
        #[cfg(not(target_arch = "x86_64"))]
        keys.sort_unstable();
    }
}

fn can_squeeze() -> bool {
    #[cfg(target_arch = "x86_64")]
    let can = std::arch::is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    let can = false;
    can
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn sort<K: Key>(how: &Squeeze<K>, keys: &mut [K]) {
    let n = keys.len();
    let first = keys.as_mut_ptr();
    let first_word = first.cast::<u64>();
    for place in 0..n {
        // SAFETY: a key is an integer or an array of words, at least two, so a word's place lies at or before its key's, and every word is part of a
        // key. The key was read when its first word is written.
        unsafe { first_word.add(place).write(squeezed(how, first.add(place).read())) };
    }
    // SAFETY: the words of all keys, which nobody else has; they are at least two for each key.
    let (words, rest) = unsafe { std::slice::from_raw_parts_mut(first_word, 2 * n) }.split_at_mut(n);
    sort_words(words, rest);
    for place in (0..n).rev() {
        // SAFETY: as above; what is written is a whole key, and lies behind all words that are still to be read.
        unsafe { first.add(place).write(unsqueezed(how, first_word.add(place).read())) };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
#[inline]
fn squeezed<K: Key>(how: &Squeeze<K>, key: K) -> u64 {
    use std::arch::x86_64::_pext_u64;
    let part = |(place, bits, start): &(usize, u64, u32)| _pext_u64(key.word(*place), *bits) << start;
    how.words.iter().fold(0, |word, at| word | part(at))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
#[inline]
fn unsqueezed<K: Key>(how: &Squeeze<K>, word: u64) -> K {
    use std::arch::x86_64::_pdep_u64;
    let mut whole = how.shared;
    for (place, bits, start) in &how.words {
        whole.set_word(*place, whole.word(*place) | _pdep_u64(word >> start, *bits));
    }
    whole
}
