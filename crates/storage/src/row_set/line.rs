//! A line of the row set: the size of a cache line, with the entries of up to 21 rows.
//!
//! ```text
//! byte  0          21      22                  64
//!       [ 21 tags ][ count ][ 21 places, 16 bits ]
//! ```
//!
//! A tag is a byte of the row's hash, a place the number of the row in its segment. Entries are made from the front and never removed,
//! so the count tells which are there.

/// Entries of a line.
pub(super) const ENTRIES: usize = 21;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

#[repr(C, align(64))]
#[derive(Clone, Default)]
pub(super) struct Line {
    tags: [u8; ENTRIES],
    count: u8,
    places: [u16; ENTRIES],
}

const _: () = assert!(size_of::<Line>() == 64);

impl Line {
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.count as usize == ENTRIES
    }

    /// Whether `wanted` is true for the place of an entry that probably has this tag.
    #[inline(always)]
    pub(super) fn find(&self, tag: u8, mut wanted: impl FnMut(usize) -> bool) -> bool {
        let pattern = u64::from(tag) * ONES;
        self.find_in(0, pattern, &mut wanted)
            || self.find_in(8, pattern, &mut wanted)
            || self.find_in(ENTRIES - 8, pattern, &mut wanted)
    }

    /// The same among the eight entries from `start` on.
    #[inline(always)]
    fn find_in(&self, start: usize, pattern: u64, wanted: &mut impl FnMut(usize) -> bool) -> bool {
        let mut word = [0; 8];
        word.copy_from_slice(&self.tags[start..start + 8]);
        let differences = u64::from_le_bytes(word) ^ pattern;
        // A high bit for every zero byte; perhaps for a byte above one, too, which `wanted` sorts out.
        let mut zeros = differences.wrapping_sub(ONES) & !differences & HIGHS;
        while zeros != 0 {
            let entry = start + zeros.trailing_zeros() as usize / 8;
            if entry >= (self.count as usize).min(ENTRIES) {
                return false;
            }
            if wanted(self.places[entry] as usize) {
                return true;
            }
            zeros &= zeros - 1;
        }
        false
    }

    /// Makes an entry; the line must not be full.
    #[inline(always)]
    pub(super) fn push(&mut self, tag: u8, place: usize) {
        let entry = self.count as usize;
        self.tags[entry] = tag;
        self.places[entry] = place as u16;
        self.count += 1;
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
            let mut line = Line::default();
            let mut entries = Vec::new();
            for n in 0..=ENTRIES {
                assert_eq!((line.count as usize, line.is_full()), (n, n == ENTRIES));
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
                    let (tag, place) = (random.below(4) as u8 * 85, random.below(1 << 16));
                    line.push(tag, place);
                    entries.push((tag, place));
                }
            }
        }
    }
}
