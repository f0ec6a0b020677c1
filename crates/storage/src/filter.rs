//! Which rows may have been met, in a few bits each: a Bloom filter whose bits for a row all lie in one word.
//!
//! One word makes a question one memory access and one atomic step: of threads that meet the same new row at once exactly one is told
//! that it is new. A row that was met is always recognised; a new one is taken for one that was met with a probability that grows
//! with the rows: about 5 % at 8 bits a row, 24 % at 3. Two bits for each row are best where bits are scarce, which is where it matters.

use crate::prefetch::prefetch_address;
use crate::{Reservation, StorageError};
use lariat_base::{BudgetExceeded, MemoryBudget};
use std::sync::atomic::{AtomicU64, Ordering};

/// The filter; its size is fixed.
pub struct RowFilter<'b> {
    words: Words,
    _memory: Reservation<'b>,
}

struct Words(Box<[AtomicU64]>);

impl<'b> RowFilter<'b> {
    /// A filter of about `bytes` bytes.
    pub fn new(bytes: u64, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let n_words = usize::try_from(bytes / 8).unwrap_or(usize::MAX).max(8);
        let memory = Reservation::new(n_words as u64 * 8, budget)?;
        let Some(words) = crate::row_table::zeroed::zeroed_words(n_words) else {
            return Err(BudgetExceeded { requested: n_words as u64 * 8, left: budget.left() }.into());
        };
        Ok(Self { words: Words(words), _memory: memory })
    }

    #[inline(always)]
    fn word(&self, hash: u64) -> &AtomicU64 {
        let words = &self.words.0;
        &words[((u128::from(hash) * words.len() as u128) >> 64) as usize]
    }

    #[inline(always)]
    fn bits(hash: u64) -> u64 {
        // The high bits choose the word.
        1 << (hash & 63) | 1 << (hash >> 6 & 63)
    }

    /// Fetches what the question for this hash reads.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch_address(self.word(hash));
    }

    /// Whether a row with this hash may have been met before; it has been from now on.
    #[inline(always)]
    pub fn meet(&self, hash: u64) -> bool {
        let (word, bits) = (self.word(hash), Self::bits(hash));
        // Most rows that were met are recognised without writing.
        if word.load(Ordering::Relaxed) & bits == bits {
            return true;
        }
        word.fetch_or(bits, Ordering::Relaxed) & bits == bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash_row;

    fn hash(i: u64) -> u64 {
        hash_row(&i.to_le_bytes())
    }

    #[test]
    fn recognises_every_row_and_few_others() {
        let budget = MemoryBudget::new(1 << 20);
        let filter = RowFilter::new(100_000, &budget).unwrap();
        let false_positives = (0..100_000).filter(|i| filter.meet(hash(*i))).count();
        assert!((100_000..200_000).all(|i| filter.meet(hash(i % 100_000))));
        assert!(false_positives < 3_500, "{false_positives} at up to 8 bits a row");
        drop(filter);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn one_thread_is_told_that_a_row_is_new() {
        let budget = MemoryBudget::new(1 << 20);
        let filter = RowFilter::new(1 << 19, &budget).unwrap();
        let new = |_| (0..50_000).filter(|i| !filter.meet(hash(*i))).collect::<Vec<u64>>();
        let told: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|i| scope.spawn(move || new(i))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let mut once = told.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), told.len());
        assert!(told.len() > 49_000);
    }
}
