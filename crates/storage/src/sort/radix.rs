//! Sorting words with as much space beside them: digit by digit, the least significant first.
//!
//! On some tens of thousands of words, which stay in the processor's second cache, this takes two thirds of the time of the standard library's
//! sort; the words of a state have some 50 bits in which they differ, which are five digits.

/// Digits have up to this many bits: the places of all digits stay in the processor's first cache.
const DIGIT_BITS_MAX: u32 = 11;
const DIGITS_MAX: usize = 1 << DIGIT_BITS_MAX;
/// Fewer words are not worth counting digits.
const WORDS_MIN: usize = 1 << 12;
/// More do not stay in the cache.
const WORDS_MAX: usize = 1 << 17;
/// Digits by which more than that are divided.
const PART_BITS: u32 = 8;

/// Sorts words; `rest` has room for as many. More than stay in the cache are divided by their highest digits before.
pub(super) fn sort_words(words: &mut [u64], rest: &mut [u64]) {
    if words.len() < WORDS_MIN {
        return words.sort_unstable();
    }
    let n_bits = u64::BITS - differences(words).leading_zeros();
    if words.len() <= WORDS_MAX {
        return sort_by_digits(words, rest, n_bits);
    }
    let shift = n_bits.saturating_sub(PART_BITS);
    let mut start = 0;
    for end in divide(words, rest, shift) {
        if shift > 0 {
            sort_words(&mut words[start..end], &mut rest[start..end]);
        }
        start = end;
    }
}

/// The bits in which some words differ from the first.
fn differences(words: &[u64]) -> u64 {
    let first = words.first().copied().unwrap_or_default();
    words.iter().fold(0, |bits, word| bits | (word ^ first))
}

/// Orders words by the digit from `shift` on; where those of each digit end.
fn divide(words: &mut [u64], rest: &mut [u64], shift: u32) -> [usize; 1 << PART_BITS] {
    let digit = |word: u64| (word >> shift) as usize & ((1 << PART_BITS) - 1);
    let mut ends = [0; 1 << PART_BITS];
    words.iter().for_each(|word| ends[digit(*word)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        (*end, sum) = (sum, sum + *end);
    }
    for &word in &*words {
        let place = &mut ends[digit(word)];
        rest[*place] = word;
        *place += 1;
    }
    words.copy_from_slice(rest);
    ends
}

/// Sorts words that differ in the lowest `n_bits` bits only.
fn sort_by_digits(words: &mut [u64], rest: &mut [u64], n_bits: u32) {
    let n_digits = n_bits.div_ceil(DIGIT_BITS_MAX).max(1);
    let digit_bits = n_bits.div_ceil(n_digits);
    let digit = |word: u64, number: u32| (word >> (number * digit_bits)) as usize & ((1 << digit_bits) - 1);
    let mut ends = [0_u32; DIGITS_MAX];
    words.iter().for_each(|word| ends[digit(*word, 0)] += 1);
    let (mut from, mut to) = (words, rest);
    for number in 0..n_digits {
        let mut places = starts(&ends);
        ends = [0; DIGITS_MAX];
        // The next digit is counted on the way; behind the last one that does no harm.
        let next = (number + 1).min(n_digits - 1);
        for &word in &*from {
            let place = &mut places[digit(word, number)];
            to[*place as usize] = word;
            *place += 1;
            ends[digit(word, next)] += 1;
        }
        (from, to) = (to, from);
    }
    if n_digits % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// Where the words of each digit begin, of how many there are of each.
fn starts(counts: &[u32; DIGITS_MAX]) -> [u32; DIGITS_MAX] {
    let mut sum = 0;
    counts.map(|count| {
        let start = sum;
        sum += count;
        start
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    #[test]
    fn words_of_any_number_of_bits_are_sorted() {
        let mut random = Random::new(3);
        for n_bits in 1..=64 {
            for n in [WORDS_MIN - 1, WORDS_MIN, 3 * WORDS_MIN + n_bits as usize, 2 * WORDS_MAX + 1] {
                let mut words: Vec<u64> = (0..n).map(|_| random.next_u64() >> (64 - n_bits)).collect();
                let mut expected = words.clone();
                expected.sort_unstable();
                sort_words(&mut words, &mut vec![0; n]);
                assert_eq!(words, expected, "{n_bits} bits");
            }
        }
    }
}
