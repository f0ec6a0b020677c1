//! Rows that a thread met lately: successors of neighbours are often the same, and these are told apart from new ones without touching
//! the visited set.

/// A cache of whole rows by their hash, one for each place.
pub struct Recent {
    width: usize,
    /// For each place whether it was ever filled, then the row.
    rows: Box<[u8]>,
    mask: usize,
}

/// Small enough to stay in the processor's own cache beside the rest.
const BYTES_MAX: usize = 512 << 10;

impl Recent {
    /// An empty cache for rows of `width` bytes; it takes 512 KiB at most.
    pub fn new(width: usize) -> Self {
        let n_places = (BYTES_MAX / (width + 1)).max(1).ilog2();
        let mask = (1usize << n_places) - 1;
        Self { width, rows: vec![0; (mask + 1) * (width + 1)].into_boxed_slice(), mask }
    }

    /// Whether the row was met lately; it is from now on.
    #[inline(always)]
    pub fn meet(&mut self, hash: u64, row: &[u8]) -> bool {
        // The first bits and others: rows that differ in one byte may have hashes that do in the first ones alone.
        let at = ((hash >> 16 ^ hash >> 49) as usize & self.mask) * (self.width + 1);
        let place = &mut self.rows[at..at + self.width + 1];
        if place[0] == 1 && crate::hash::rows_equal(&place[1..], row) {
            return true;
        }
        place[0] = 1;
        place[1..].copy_from_slice(row);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_only_what_it_met() {
        let mut recent = Recent::new(3);
        assert!(!recent.meet(0, &[0, 0, 0]), "an empty place is no row");
        assert!(recent.meet(0, &[0, 0, 0]));
        assert!(!recent.meet(0, &[1, 0, 0]));
        assert!(!recent.meet(0, &[0, 0, 0]), "one row for each place");
    }
}
