//! Keys that a thread met lately, one for each place: duplicates that come soon after each other end here, before anybody sorts them.

use crate::{Key, ReservedVec, StorageError};
use lariat_base::MemoryBudget;

/// An exact cache of keys by their hash.
pub struct KeyCache<'b, K> {
    keys: ReservedVec<'b, K>,
    mask: usize,
}

impl<'b, K: Key> KeyCache<'b, K> {
    /// An empty cache of at most `bytes` bytes, but for at least two keys.
    pub fn new(bytes: usize, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let n = 1usize << (bytes / size_of::<K>()).max(2).ilog2();
        let mut keys = ReservedVec::with_capacity(n, budget)?;
        keys.resize(n, K::default())?;
        let mut cache = Self { keys, mask: n - 1 };
        // A place is empty if its key belongs to another place: zero does, everywhere but in its own.
        let own = cache.place(K::default());
        let mut other = [0; 1];
        while cache.place(K::from_row(&other)) == own {
            other[0] += 1;
        }
        cache.keys[own] = K::from_row(&other);
        Ok(cache)
    }

    #[inline(always)]
    fn place(&self, key: K) -> usize {
        let mixed = key.mixed();
        (mixed ^ mixed >> 32) as usize & self.mask
    }

    /// Whether the key was met lately; it is from now on.
    #[inline(always)]
    pub fn meet(&mut self, key: K) -> bool {
        let place = self.place(key);
        std::mem::replace(&mut self.keys[place], key) == key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wide;

    fn check<K: Key>() {
        let budget = MemoryBudget::new(1 << 20);
        for bytes in [1, 100, 5000] {
            let mut cache = KeyCache::<K>::new(bytes, &budget).unwrap();
            for i in 0..=255u8 {
                let key = K::from_row(&[i]);
                assert!(!cache.meet(key), "{i} is new");
                assert!(cache.meet(key), "{i} was just met");
            }
        }
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn knows_only_what_it_met() {
        check::<u64>();
        check::<u128>();
        check::<Wide<3>>();
    }
}
