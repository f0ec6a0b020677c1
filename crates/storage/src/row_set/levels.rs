//! How many rows of a segment belong to each level: a number of seven-bit pieces for every level, most often one byte.

#[derive(Default)]
pub(super) struct LevelCounts {
    bytes: Vec<u8>,
}

impl LevelCounts {
    /// Ends a level that has `count` rows.
    pub(super) fn push(&mut self, count: usize) {
        let mut rest = count;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// The counts of all levels, the first one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (mut count, mut shift) = (0, 0);
            loop {
                let byte = *self.bytes.get(at)?;
                at += 1;
                count |= usize::from(byte & 0x7F) << shift;
                shift += 7;
                if byte < 0x80 {
                    return Some(count);
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_count() {
        let counts = [0, 1, 127, 128, 300, 0, 65_536, 16_383, 16_384];
        let mut levels = LevelCounts::default();
        counts.iter().for_each(|count| levels.push(*count));
        assert_eq!(levels.iter().collect::<Vec<_>>(), counts);
    }
}
