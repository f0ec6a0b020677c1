//! Which rows of a segment belong to which level: for each level with rows in the segment, how far it is behind the one before, and how
//! many rows it has. Both are small most often, so they are written in as few bits as they need, and to be read from the end, since that
//! is how paths are rebuilt: a number of `n` bits, the first of which is one, and `n - 1` zeros behind it. That is Elias' gamma code,
//! seen in a mirror.

/// The levels of a segment that have rows in it.
#[derive(Default)]
pub(super) struct LevelCounts {
    words: Vec<u64>,
    end: Place,
    /// How far the last look at a level came from the end.
    looked_at: Option<Place>,
}

/// A place between the noted levels.
#[derive(Clone, Copy, Default)]
struct Place {
    n_bits: usize,
    /// The number of levels up to the last one before it that has rows.
    n_levels: usize,
    /// The rows of all of them.
    n_rows: usize,
}

impl LevelCounts {
    /// Notes that a level, behind all that were noted, has `count` rows.
    pub(super) fn push(&mut self, level: usize, count: usize) {
        if count > 0 {
            self.push_number((level + 1 - self.end.n_levels) as u64);
            self.push_number(count as u64);
            self.end.n_levels = level + 1;
            self.end.n_rows += count;
            self.looked_at = None;
        }
    }

    /// Appends a number that is not zero.
    fn push_number(&mut self, number: u64) {
        let n_bits = 2 * number.ilog2() as usize + 1;
        let (at, shift) = (self.end.n_bits / 64, self.end.n_bits % 64);
        self.end.n_bits += n_bits;
        self.words.resize(self.end.n_bits.div_ceil(64), 0);
        self.words[at] |= number << shift;
        if shift > 0
            && let Some(next) = self.words.get_mut(at + 1)
        {
            *next |= number >> (64 - shift);
        }
    }

    /// The number that ends at a bit, and where it begins.
    fn number_before(&self, end: usize) -> (usize, usize) {
        // The 64 bits before the end, as far as there are so many.
        let (at, shift) = (end / 64, end % 64);
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let low = if at > 0 { word(at - 1) } else { 0 };
        let window = if shift == 0 { low } else { word(at) << (64 - shift) | low >> shift };
        let n_zeros = window.leading_zeros();
        let number = window << n_zeros >> (63 - n_zeros);
        (number as usize, end - 2 * n_zeros as usize - 1)
    }

    /// The last level before a place, its number of rows, and the place before it.
    fn level_before(&self, place: Place) -> Option<(usize, usize, Place)> {
        if place.n_bits == 0 {
            return None;
        }
        let (count, end) = self.number_before(place.n_bits);
        let (distance, n_bits) = self.number_before(end);
        let before = Place { n_bits, n_levels: place.n_levels - distance, n_rows: place.n_rows - count };
        Some((place.n_levels - 1, count, before))
    }

    /// All levels with rows and how many these are, the first one first.
    pub(super) fn all(&self) -> Vec<(usize, usize)> {
        let mut levels = Vec::new();
        let mut place = self.end;
        while let Some((level, count, before)) = self.level_before(place) {
            levels.push((level, count));
            place = before;
        }
        levels.reverse();
        levels
    }

    /// Where the rows of a level begin, and how many they are. To ask for one level after the other from the last one on is fast.
    pub(super) fn find(&mut self, level: usize) -> (usize, usize) {
        let mut place = self.looked_at.filter(|place| place.n_levels > level).unwrap_or(self.end);
        let mut n_rows = 0;
        self.looked_at = Some(place);
        while let Some((other, count, before)) = self.level_before(place).filter(|(other, ..)| *other >= level) {
            self.looked_at = Some(place);
            n_rows = if other == level { count } else { 0 };
            place = before;
        }
        (place.n_rows, n_rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_count() {
        let mut counts = vec![0, 1, 127, 128, 300, 0, 0, 65_536, 16_383, 0, 16_384, 1, 1, 1, 0, 8191];
        counts.extend((0..500).map(|i| i * i % 7));
        let mut levels = LevelCounts::default();
        counts.iter().enumerate().for_each(|(level, count)| levels.push(level, *count));
        let expected: Vec<_> = counts.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        assert_eq!(levels.all(), expected);
        let bounds = |level: usize| (counts[..level].iter().sum::<usize>(), counts[level]);
        for level in (0..counts.len()).rev().chain(0..counts.len()).chain([7, 3, 3, 500, 12]) {
            assert_eq!(levels.find(level), bounds(level), "level {level}");
        }
        assert_eq!(levels.find(counts.len() + 5), (counts.iter().sum(), 0));
    }
}
