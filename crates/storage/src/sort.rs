//! Sorting rows in memory, with or without values.
//!
//! *Without values* rows of more than 8 bytes are squeezed to the bits in which any two of them differ, if these are at most 64, which keeps
//! their order (`squeeze.rs`); the words are sorted by digits (`radix.rs`) in the rows' own memory. The standard library's sort does the rest: on large sets of states it is
//! faster than radix sorts, ours and others', since the digits of packed states are far from evenly spread.
//!
//! *With values* rows are distributed in place by the eight highest bits in which they differ, and each part is sorted alike; a part that
//! is small is sorted by insertion. Looking for the highest bit that differs, instead of going from byte to byte, passes over what all rows of a
//! part share, which is most of a state.
//!
//! # Cost
//! Measured by `bench/src/bin/codec.rs`. No memory but that of the rows.

mod radix;
mod squeeze;

use crate::key::{Key, Value};
use squeeze::Squeeze;

const DIGITS: usize = 256;
/// Parts of up to this many rows are sorted by insertion.
const SMALL_ROWS: usize = 24;
/// Fewer rows are not worth squeezing.
const ROWS_TO_SQUEEZE: usize = 256;

/// Sorts rows.
pub fn sort_rows<K: Key>(keys: &mut [K]) {
    if keys.len() >= ROWS_TO_SQUEEZE
        && let Some(squeeze) = Squeeze::new(keys[0], differences(keys))
    {
        squeeze.sort(keys);
    } else {
        keys.sort_unstable();
    }
}

/// Merges the first `n` of some rows, which are sorted, with `second`, which are sorted and take the place of the others.
pub fn merge_rows<K: Key>(keys: &mut [K], n: usize, second: &[K]) {
    debug_assert_eq!(keys.len(), n + second.len(), "they fit");
    let (mut from_first, mut from_second) = (n, second.len());
    while from_second > 0 {
        let place = from_first + from_second - 1;
        if from_first > 0 && keys[from_first - 1] > second[from_second - 1] {
            from_first -= 1;
            keys[place] = keys[from_first];
        } else {
            from_second -= 1;
            keys[place] = second[from_second];
        }
    }
}

/// Sorts rows, and values with them. Rows that are equal keep their values, in any order.
pub fn sort_rows_with_values<K: Key, V: Value>(keys: &mut [K], values: &mut [V]) {
    assert_eq!(keys.len(), values.len(), "every row has a value");
    if keys.len() <= SMALL_ROWS {
        return insertion_sort(keys, values);
    }
    let Some(bit) = differences(keys).highest_bit() else {
        return;
    };
    let shift = bit.saturating_sub(7);
    let ends = distribute(keys, values, shift);
    let mut start = 0;
    for end in ends {
        if end - start > 1 && shift > 0 {
            sort_rows_with_values(&mut keys[start..end], &mut values[start..end]);
        }
        start = end;
    }
}

/// Drops rows that are equal to the one before, of sorted rows; how many are left, in front.
pub fn drop_duplicates<K: Key>(keys: &mut [K]) -> usize {
    // Vectors of items without size take no memory.
    let mut values = vec![(); keys.len()];
    combine_duplicates(keys, &mut values, |(), ()| ())
}

/// Makes one of rows that are equal, of sorted rows, and combines their values; how many are left, in front.
pub fn combine_duplicates<K: Key, V: Value>(keys: &mut [K], values: &mut [V], combine: impl Fn(V, V) -> V) -> usize {
    assert_eq!(keys.len(), values.len(), "every row has a value");
    if keys.is_empty() {
        return 0;
    }
    let mut last = 0;
    for i in 1..keys.len() {
        let (key, value) = (keys[i], values[i]);
        if V::BYTES == 0 {
            last += usize::from(keys[last] != key);
        } else if keys[last] == key {
            values[last] = combine(values[last], value);
            continue;
        } else {
            last += 1;
            values[last] = value;
        }
        keys[last] = key;
    }
    last + 1
}

/// The bits in which some keys differ.
fn differences<K: Key>(keys: &[K]) -> K {
    let first = keys.first().copied().unwrap_or_default();
    keys.iter().fold(K::default(), |bits, key| bits.or_difference(first, *key))
}

/// Orders rows by the eight bits from `shift` on; where the rows of each digit end.
fn distribute<K: Key, V: Value>(keys: &mut [K], values: &mut [V], shift: u32) -> [usize; DIGITS] {
    let mut ends = [0; DIGITS];
    for key in keys.iter() {
        ends[key.digit(shift)] += 1;
    }
    let mut next = [0; DIGITS];
    let mut sum = 0;
    for (next, end) in next.iter_mut().zip(&mut ends) {
        *next = sum;
        sum += *end;
        *end = sum;
    }
    // Each row that is not in its part goes there, and what lay there is taken up next, until one belongs here.
    for part in 0..DIGITS {
        while next[part] < ends[part] {
            let here = next[part];
            let (mut key, mut value) = (keys[here], values[here]);
            let mut digit = key.digit(shift);
            while digit != part {
                let there = next[digit];
                next[digit] += 1;
                std::mem::swap(&mut key, &mut keys[there]);
                std::mem::swap(&mut value, &mut values[there]);
                digit = key.digit(shift);
            }
            (keys[here], values[here]) = (key, value);
            next[part] += 1;
        }
    }
    ends
}

fn insertion_sort<K: Key, V: Value>(keys: &mut [K], values: &mut [V]) {
    for i in 1..keys.len() {
        let (key, value) = (keys[i], values[i]);
        let mut place = i;
        while place > 0 && keys[place - 1] > key {
            keys[place] = keys[place - 1];
            values[place] = values[place - 1];
            place -= 1;
        }
        (keys[place], values[place]) = (key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Wide;
    use lariat_base::Random;
    use std::collections::BTreeMap;

    fn check<K: Key>(n: usize, random: &mut Random) {
        // Few bytes that vary, so that some sets can be squeezed and others cannot.
        let places: Vec<usize> = (0..3 + random.below(8)).map(|_| random.below(K::BYTES)).collect();
        let mut keys: Vec<K> = Vec::new();
        for _ in 0..n {
            let mut row = vec![77; K::BYTES];
            for place in &places {
                let bound = [2, 4, 256][random.below(3)];
                row[*place] = random.below(bound) as u8;
            }
            keys.push(K::from_row(&row));
        }
        let mut expected = keys.clone();
        expected.sort();
        let mut values: Vec<u32> = (0..n as u32).collect();
        let mut sorted = keys.clone();
        sort_rows_with_values(&mut sorted, &mut values);
        assert_eq!(sorted, expected);
        assert!(values.iter().zip(&sorted).all(|(value, key)| keys[*value as usize] == *key));

        let mut counts: BTreeMap<K, u32> = BTreeMap::new();
        keys.iter().for_each(|key| *counts.entry(*key).or_default() += 1);
        let mut ones = vec![1; n];
        let left = combine_duplicates(&mut sorted, &mut ones, |a, b| a + b);
        assert!(counts.iter().eq(sorted[..left].iter().zip(&ones)));

        sort_rows(&mut keys);
        assert_eq!(keys, expected);
        let left = drop_duplicates(&mut keys);
        assert!(counts.keys().eq(&keys[..left]));
    }

    #[test]
    fn sorts_like_the_standard_library() {
        let mut random = Random::new(8);
        for n in [0, 1, 2, 25, 300, 300, 5000, 5000, 5000, 100_000] {
            check::<u64>(n, &mut random);
            check::<u128>(n, &mut random);
            check::<Wide<3>>(n, &mut random);
            check::<Wide<9>>(n, &mut random);
        }
    }
}
