//! Rows that came lately, with values: what comes again soon is combined here, before anybody sorts it.
//!
//! One row for each place that its key leads to; a row that needs the place of another sends that one on.

use crate::{Key, ReservedVec, StorageError, Value};
use lariat_base::MemoryBudget;

/// An exact cache of rows with values.
pub struct CombiningCache<'b, K, V> {
    /// For each place the row, or none.
    rows: ReservedVec<'b, Option<(K, V)>>,
    mask: usize,
}

impl<'b, K: Key, V: Value> CombiningCache<'b, K, V> {
    /// An empty cache of at most `bytes` bytes, but for at least one row.
    pub fn new(bytes: usize, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let n = 1usize << (bytes / size_of::<Option<(K, V)>>()).max(1).ilog2();
        let mut rows = ReservedVec::with_capacity(n, budget)?;
        rows.resize(n, None)?;
        Ok(Self { rows, mask: n - 1 })
    }

    /// Takes a row; another one that has to go, if there is one.
    #[inline]
    pub fn push(&mut self, key: K, value: V, combine: impl Fn(V, V) -> V) -> Option<(K, V)> {
        let mixed = key.mixed();
        let place = &mut self.rows[(mixed ^ mixed >> 32) as usize & self.mask];
        match place {
            Some((there, sum)) if *there == key => {
                *sum = combine(*sum, value);
                None
            }
            _ => place.replace((key, value)),
        }
    }

    /// All rows that are left, which go.
    pub fn drain(&mut self) -> impl Iterator<Item = (K, V)> + '_ {
        self.rows.iter_mut().filter_map(Option::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use std::collections::BTreeMap;

    #[test]
    fn nothing_is_lost_and_much_is_combined() {
        let budget = MemoryBudget::new(1 << 20);
        let mut random = Random::new(1);
        for bytes in [1, 500, 40_000] {
            let mut cache = CombiningCache::<u64, u32>::new(bytes, &budget).unwrap();
            let (mut expected, mut found) = (BTreeMap::new(), BTreeMap::new());
            let mut n_sent = 0;
            for i in 0..20_000 {
                let key = (i / 10 + random.below(50)) as u64;
                *expected.entry(key).or_insert(0) += 1;
                if let Some((key, value)) = cache.push(key, 1, |a, b| a + b) {
                    *found.entry(key).or_insert(0) += value;
                    n_sent += 1;
                }
            }
            cache.drain().for_each(|(key, value)| *found.entry(key).or_insert(0) += value);
            assert_eq!(cache.drain().count(), 0);
            assert_eq!(found, expected);
            assert!(bytes < 40_000 || n_sent < 4000, "{n_sent}");
        }
        assert_eq!(budget.used(), 0);
    }
}
