//! Which rows of a segment belong to which level: for each level with rows in the segment, how far it is behind the one before, and how
//! many rows it has. Both are small most often, so they are written in as few bits as they need: a number of `n` bits behind `n - 1`
//! zeros, which is Elias' gamma code.

#[derive(Default)]
pub(super) struct LevelCounts {
    words: Vec<u64>,
    n_bits: usize,
    /// The number of levels up to the last one with rows.
    n_levels: usize,
}

impl LevelCounts {
    /// Notes that a level, behind all that were noted, has `count` rows.
    pub(super) fn push(&mut self, level: usize, count: usize) {
        if count > 0 {
            self.push_number((level + 1 - self.n_levels) as u64);
            self.push_number(count as u64);
            self.n_levels = level + 1;
        }
    }

    /// Appends a number that is not zero.
    fn push_number(&mut self, number: u64) {
        let n_zeros = number.ilog2() as usize;
        self.n_bits += n_zeros;
        (0..=n_zeros).rev().for_each(|bit| self.push_bit(number >> bit & 1));
    }

    fn push_bit(&mut self, bit: u64) {
        let at = self.n_bits / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= bit << (self.n_bits % 64);
        self.n_bits += 1;
    }

    /// All levels with rows and how many these are, the first one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (mut at, mut n_levels) = (0, 0);
        std::iter::from_fn(move || {
            if at == self.n_bits {
                return None;
            }
            n_levels += self.number(&mut at);
            Some((n_levels - 1, self.number(&mut at)))
        })
    }

    fn number(&self, at: &mut usize) -> usize {
        let mut bit = || {
            let bit = self.words[*at / 64] >> (*at % 64) & 1;
            *at += 1;
            bit as usize
        };
        let mut n_zeros = 0;
        while bit() == 0 {
            n_zeros += 1;
        }
        (0..n_zeros).fold(1, |number, _| number << 1 | bit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_count() {
        let counts = [0, 1, 127, 128, 300, 0, 0, 65_536, 16_383, 0, 16_384, 1, 1, 1, 0, 8191];
        let mut levels = LevelCounts::default();
        counts.iter().enumerate().for_each(|(level, count)| levels.push(level, *count));
        let expected: Vec<_> = counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
        assert_eq!(levels.iter().collect::<Vec<_>>(), expected);
    }
}
