//! A line of the row set: the size of a cache line, with the entries of up to 23 rows.
//!
//! ```text
//! bit  0          184                   506       512
//!      [ 23 tags ][ 23 places, 14 bits ][ count ]
//! ```
//!
//! A tag is a byte of the row's hash, a place the number of the row in its segment. Entries are made from the front and never removed,
//! so the count tells which are there.

/// Entries of a line.
pub(super) const ENTRIES: usize = 23;
/// Bits of a place.
pub(super) const PLACE_BITS: usize = 14;
/// The bits of a hash that are a tag.
pub(super) const TAG: u64 = 0xFF;

const PLACE: u32 = (1 << PLACE_BITS) - 1;
/// The last byte, and where the count begins in it.
const LAST: usize = 63;
const COUNT_SHIFT: u32 = 2;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

#[repr(C, align(64))]
#[derive(Clone)]
pub(super) struct Line {
    bytes: [u8; LAST + 1],
}

const _: () = assert!((ENTRIES * (8 + PLACE_BITS)) == 8 * LAST + COUNT_SHIFT as usize && ENTRIES < 64);

impl Line {
    pub(super) const EMPTY: Self = Self { bytes: [0; LAST + 1] };

    #[inline(always)]
    fn count(&self) -> usize {
        (self.bytes[LAST] >> COUNT_SHIFT) as usize
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.count() >= ENTRIES
    }

    /// Where four bytes with a place begin, and how many bits of these are others'. They begin a byte early, so that
    /// the last ones are not behind the line.
    #[inline(always)]
    fn bits_of_place(entry: usize) -> (usize, usize) {
        let bit = 8 * (ENTRIES - 1) + entry * PLACE_BITS;
        (bit / 8, bit % 8 + 8)
    }

    #[inline(always)]
    fn four_bytes(&self, at: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.bytes[at..at + 4]);
        u32::from_le_bytes(word)
    }

    #[inline(always)]
    fn place(&self, entry: usize) -> usize {
        let (at, shift) = Self::bits_of_place(entry);
        (self.four_bytes(at) >> shift & PLACE) as usize
    }

    /// Whether `wanted` is true for the place of an entry that probably has this tag.
    #[inline(always)]
    pub(super) fn find(&self, tag: u8, mut wanted: impl FnMut(usize) -> bool) -> bool {
        let pattern = u64::from(tag) * ONES;
        let count = self.count().min(ENTRIES);
        self.find_in(0, count, pattern, &mut wanted)
            || self.find_in(8, count, pattern, &mut wanted)
            || self.find_in(16, count, pattern, &mut wanted)
    }

    /// The same among the eight entries from `start` on, of those that are there.
    #[inline(always)]
    fn find_in(&self, start: usize, count: usize, pattern: u64, wanted: &mut impl FnMut(usize) -> bool) -> bool {
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[start..start + 8]);
        let differences = u64::from_le_bytes(word) ^ pattern;
        // A high bit for every zero byte; perhaps for a byte above one, too, which `wanted` sorts out.
        let mut zeros = differences.wrapping_sub(ONES) & !differences & HIGHS;
        while zeros != 0 {
            let entry = start + zeros.trailing_zeros() as usize / 8;
            if entry >= count {
                return false;
            }
            if wanted(self.place(entry)) {
                return true;
            }
            zeros &= zeros - 1;
        }
        false
    }

    /// Makes an entry; the line must not be full.
    #[inline(always)]
    pub(super) fn push(&mut self, tag: u8, place: usize) {
        let entry = self.count();
        self.bytes[entry] = tag;
        let (at, shift) = Self::bits_of_place(entry);
        let word = self.four_bytes(at) | (place as u32 & PLACE) << shift;
        self.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        self.bytes[LAST] += 1 << COUNT_SHIFT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    #[test]
    fn finds_what_was_entered_and_nothing_else() {
        let mut random = Random::new(5);
        for _ in 0..2000 {
            let mut line = Line::EMPTY;
            let mut entries = Vec::new();
            for n in 0..=ENTRIES {
                assert_eq!((line.count(), line.is_full()), (n, n == ENTRIES));
                for tag in [0, 1, 127, 128, 255, random.below(256) as u8] {
                    let mut met = Vec::new();
                    assert!(!line.find(tag, |place| {
                        met.push(place);
                        false
                    }));
                    let expected = entries.iter().filter(|(t, _)| *t == tag).map(|(_, place)| *place);
                    assert!(expected.into_iter().all(|place| met.contains(&place)));
                    assert!(met.iter().all(|place| entries.iter().any(|(_, p)| p == place)), "no entry is made up");
                }
                if n < ENTRIES {
                    let (tag, place) = (random.below(4) as u8 * 85, random.below(1 << PLACE_BITS));
                    line.push(tag, place);
                    entries.push((tag, place));
                }
            }
        }
    }
}
