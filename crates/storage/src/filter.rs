//! Which rows may have been met, in a few bits each: a Bloom filter whose bits for a row all lie in one word.
//!
//! One word makes a question one memory access and one atomic step: of threads that meet the same new row at once exactly one is told
//! that it is new. A row that was met is always recognised; a new one is taken for one that was met with a probability that grows
//! with the rows: about 5 % at 8 bits a row, 24 % at 3. Two bits for each row are best where bits are scarce, which is where it matters.
//!
//! A filter for very many rows may begin small and grow with them, so that few rows do not touch all of its memory. When it has twice the words, a row's word is one of the two in
//! the place of its old one, so both get the old one's bits. That costs bits, but few if it is done early.

use crate::prefetch::prefetch_address;
use crate::{Reservation, StorageError};
use lariat_base::{BudgetExceeded, MemoryBudget};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A growing filter has this many words for each row before it grows no more.
const WORDS_OF_ROW: u64 = 8;
/// And so many to begin with, at least.
const WORDS_MIN: usize = 1 << 17;

/// The filter. Its memory is reserved when it is made.
pub struct RowFilter<'b> {
    words: Words,
    /// How many of the words are in use, from the first on; changed while nobody asks.
    n_words: AtomicUsize,
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
        Ok(Self { words: Words(words), n_words: AtomicUsize::new(n_words), _memory: memory })
    }

    /// A filter that begins small and has about `bytes` bytes when it is grown.
    pub fn growing(bytes: u64, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let n_words = usize::try_from(bytes / 8).unwrap_or(usize::MAX).max(8);
        let doublings = (n_words / WORDS_MIN).checked_ilog2().unwrap_or(0);
        // It becomes as large as it can be by doubling.
        let filter = Self::new((n_words >> doublings << doublings) as u64 * 8, budget)?;
        filter.n_words.store(n_words >> doublings, Ordering::Relaxed);
        Ok(filter)
    }

    /// Whether so many rows are many for it, and it can grow.
    #[inline]
    pub fn is_crowded(&self, n_rows: u64) -> bool {
        let n_words = self.n_words.load(Ordering::Relaxed);
        n_words < self.words.0.len() && n_rows * WORDS_OF_ROW > n_words as u64
    }

    /// Grows until so many rows are not many for it, or it can grow no more. Nobody may ask it anything meanwhile.
    pub fn grow_for(&self, n_rows: u64) {
        while self.is_crowded(n_rows) {
            let n_words = self.n_words.load(Ordering::Relaxed);
            for place in (0..n_words).rev() {
                let word = self.words.0[place].load(Ordering::Relaxed);
                self.words.0[2 * place].store(word, Ordering::Relaxed);
                self.words.0[2 * place + 1].store(word, Ordering::Relaxed);
            }
            self.n_words.store(2 * n_words, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn word(&self, hash: u64) -> &AtomicU64 {
        let n_words = self.n_words.load(Ordering::Relaxed);
        &self.words.0[((u128::from(hash) * n_words as u128) >> 64) as usize]
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
    fn a_growing_filter_forgets_nothing() {
        let budget = MemoryBudget::new(64 << 20);
        let filter = RowFilter::growing(20 << 20, &budget).unwrap();
        let mut false_positives = 0;
        for i in 0..600_000 {
            if filter.is_crowded(i) {
                filter.grow_for(i);
            }
            false_positives += u64::from(filter.meet(hash(i)));
        }
        assert!((0..600_000).all(|i| filter.meet(hash(i))), "what was met is recognised");
        assert!(!filter.is_crowded(u64::MAX / WORDS_OF_ROW), "it is as large as it can be");
        assert!(false_positives < 600, "{false_positives} at 4 words a row and more");
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
