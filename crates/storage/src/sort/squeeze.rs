//! Keys squeezed into words: only the bits in which keys differ, close together. The order stays.
//!
//! Processors that gather bits in one instruction (BMI2 of x86-64) do it; on others nothing is squeezed.

#![expect(unsafe_code, reason = "instructions that not every processor has are used behind a check")]

use crate::key::Key;

/// How keys are squeezed.
pub(super) struct Squeeze<K> {
    /// What all keys share, zero where they differ.
    shared: K,
    /// The words in which keys differ: the word's place, the bits that differ, and where they begin in the squeezed word.
    words: Vec<(usize, u64, u32)>,
}

impl<K: Key> Squeeze<K> {
    /// For keys that differ from one of them in these bits; none if they are too many, or the processor cannot do it.
    pub(super) fn new(one: K, differences: K) -> Option<Self> {
        if !can_squeeze() {
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

    /// Squeezes as many keys as there are words.
    pub(super) fn squeeze(&self, keys: &[K], squeezed: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `new` has found out that the processor has the instructions.
        unsafe {
            squeeze(self, keys, squeezed)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (keys, squeezed);
    }

    /// Makes keys of words again.
    pub(super) fn unsqueeze(&self, squeezed: &[u64], keys: &mut [K]) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `new` has found out that the processor has the instructions.
        unsafe {
            unsqueeze(self, squeezed, keys)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (keys, squeezed);
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
fn squeeze<K: Key>(how: &Squeeze<K>, keys: &[K], squeezed: &mut [u64]) {
    use std::arch::x86_64::_pext_u64;
    for (key, squeezed) in keys.iter().zip(squeezed) {
        let part = |(place, bits, start): &(usize, u64, u32)| _pext_u64(key.word(*place), *bits) << start;
        *squeezed = how.words.iter().fold(0, |word, at| word | part(at));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn unsqueeze<K: Key>(how: &Squeeze<K>, squeezed: &[u64], keys: &mut [K]) {
    use std::arch::x86_64::_pdep_u64;
    for (squeezed, key) in squeezed.iter().zip(keys) {
        let mut whole = how.shared;
        for (place, bits, start) in &how.words {
            whole.set_word(*place, whole.word(*place) | _pdep_u64(squeezed >> start, *bits));
        }
        *key = whole;
    }
}
