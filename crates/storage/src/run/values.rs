//! The values of a group's rows: numbers are packed into as many bits as the largest needs above the smallest, others lie as they are.
//!
//! # Format
//! `docs/formats.md`, values.

use crate::key::Value;

/// Above this many bits numbers are not packed, since a number must lie within eight bytes wherever it begins.
const BITS_MAX: u32 = 57;
/// In place of a number of bits: all values are the one that follows.
const ALL_EQUAL: u8 = 0xff;
/// In place of a number of bits: all bytes of all values.
const PLAIN: u8 = 0xfe;

/// Appends values, each as `width` bytes where it is not packed.
pub(crate) fn put_values<V: Value>(values: &[V], width: usize, out: &mut Vec<u8>) {
    let Some(first) = values.first().filter(|_| width > 0) else {
        return;
    };
    if values.iter().all(|value| value == first) {
        out.push(ALL_EQUAL);
        put_plain(*first, width, out);
        return;
    }
    let (mut least, mut most) = (u64::MAX, 0);
    for word in values.iter().filter_map(|value| value.to_word()) {
        (least, most) = (least.min(word), most.max(word));
    }
    let bits = 64 - most.wrapping_sub(least).leading_zeros();
    if first.to_word().is_none() || bits > BITS_MAX {
        out.push(PLAIN);
        values.iter().for_each(|value| put_plain(*value, width, out));
        return;
    }
    out.push(bits as u8);
    out.extend_from_slice(&least.to_le_bytes());
    let (mut word, mut filled) = (0_u128, 0);
    for value in values {
        word |= u128::from(value.to_word().unwrap_or(least) - least) << filled;
        filled += bits;
        if filled >= 64 {
            out.extend_from_slice(&(word as u64).to_le_bytes());
            word >>= 64;
            filled -= 64;
        }
    }
    out.extend_from_slice(&(word as u64).to_le_bytes()[..filled.div_ceil(8) as usize]);
}

fn put_plain<V: Value>(value: V, width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + width, 0);
    value.write(&mut out[start..]);
}

/// Reads the values that [`put_values`] wrote, as many as `values` has. The bytes go on for at least 8 behind those of the group. None if they
/// are not what was written.
pub(crate) fn get_values<V: Value>(bytes: &[u8], width: usize, values: &mut [V]) -> Option<()> {
    if width == 0 || values.is_empty() {
        return Some(());
    }
    let (form, bytes) = bytes.split_first()?;
    match *form {
        ALL_EQUAL => values.fill(V::read(bytes.get(..width)?)),
        PLAIN => {
            let plain = bytes.get(..width.checked_mul(values.len())?)?;
            plain.chunks_exact(width).zip(values).for_each(|(bytes, value)| *value = V::read(bytes));
        }
        bits if u32::from(bits) <= BITS_MAX && V::default().to_word().is_some() => {
            let bits = usize::from(bits);
            let (least, packed) = bytes.split_first_chunk()?;
            let least = u64::from_le_bytes(*least);
            let mask = (1 << bits) - 1;
            for (i, value) in values.iter_mut().enumerate() {
                let (byte, shift) = (i * bits / 8, i * bits % 8);
                let word = u64::from_le_bytes(*packed.get(byte..)?.first_chunk()?);
                *value = V::from_word((word >> shift & mask).wrapping_add(least));
            }
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Wide;
    use crate::run::literals::SLACK_BYTES;
    use lariat_base::Random;

    fn check<V: Value>(values: &[V], width: usize) -> usize {
        let mut bytes = Vec::new();
        put_values(values, width, &mut bytes);
        let n_bytes = bytes.len();
        bytes.extend([0xff; SLACK_BYTES]);
        let mut read = vec![V::default(); values.len()];
        get_values(&bytes, width, &mut read).unwrap();
        assert_eq!(read, values);
        n_bytes
    }

    #[test]
    fn values_come_back_in_little_space() {
        let mut random = Random::new(1);
        assert_eq!(check(&[(); 100], 0), 0);
        assert_eq!(check(&[77_u32; 1000], 4), 5);
        let marks: Vec<u8> = (0..1000).map(|_| random.below(2) as u8).collect();
        assert_eq!(check(&marks, 1), 9 + 125);
        let levels: Vec<u32> = (0..1000).map(|_| 1_000_000 + random.below(8) as u32).collect();
        assert_eq!(check(&levels, 4), 9 + 375);
        for bits in 1..=64 {
            let values: Vec<u64> = (0..300).map(|_| random.next_u64() >> (64 - bits)).collect();
            check(&values, 8);
        }
        let rows: Vec<Wide<3>> = (0..50).map(|_| Wide([random.next_u64(), random.next_u64(), 255])).collect();
        assert_eq!(check(&rows, 17), 1 + 17 * 50);
        assert_eq!(check(&[3_u128, 1 << 100], 16), 33);
    }

    #[test]
    fn what_was_not_written_is_refused() {
        let mut values = [0_u16; 4];
        for bytes in [&[][..], &[99], &[PLAIN, 1, 2], &[ALL_EQUAL, 1], &[3, 0, 0], &[1, 0, 0, 0, 0, 0, 0, 0, 0, 1]] {
            assert_eq!(get_values(bytes, 2, &mut values), None, "{bytes:?}");
        }
    }
}
