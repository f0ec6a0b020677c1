//! About how often rows were counted, in a few bits: counters that rows share, by their hash.
//!
//! A counter is the sum of what was added for all rows that share it. So while it is zero no row with that hash counts anything, and when
//! it becomes zero by taking one away for a row, that row's own number has just become zero. Of threads that count at once exactly one is told.
//! A counter that was ever full stays so: nothing is known about its rows.
//!
//! # Cost
//! Four bits a counter, one atomic step for each question.

use crate::row_table::zeroed::zeroed_words;
use crate::{Reservation, StorageError};
use lariat_base::{BudgetExceeded, MemoryBudget};
use std::sync::atomic::{AtomicU64, Ordering};

const COUNTER_BITS: u32 = 4;
const COUNTERS_PER_WORD: u64 = 64 / COUNTER_BITS as u64;
/// What a counter cannot pass.
const FULL: u64 = (1 << COUNTER_BITS) - 1;

/// The counters; there are as many as when it was made.
pub struct CountingFilter<'b> {
    words: Box<[AtomicU64]>,
    _memory: Reservation<'b>,
}

impl<'b> CountingFilter<'b> {
    /// Counters of about `bytes` bytes, all zero.
    pub fn new(bytes: u64, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let n_words = usize::try_from(bytes / 8).unwrap_or(usize::MAX).max(1);
        let memory = Reservation::new(n_words as u64 * 8, budget)?;
        let Some(words) = zeroed_words(n_words) else {
            return Err(BudgetExceeded { requested: n_words as u64 * 8, left: budget.left() }.into());
        };
        Ok(Self { words, _memory: memory })
    }

    /// The word and the place of its counter.
    fn place(&self, hash: u64) -> (&AtomicU64, u32) {
        let n_counters = u128::from(self.words.len() as u64 * COUNTERS_PER_WORD);
        let counter = ((u128::from(hash) * n_counters) >> 64) as u64;
        (&self.words[(counter / COUNTERS_PER_WORD) as usize], (counter % COUNTERS_PER_WORD) as u32 * COUNTER_BITS)
    }

    /// Replaces a counter by what `change` makes of it; what it was.
    fn change(&self, hash: u64, change: impl Fn(u64) -> u64) -> u64 {
        let (word, shift) = self.place(hash);
        let mut old = word.load(Ordering::Relaxed);
        loop {
            let counter = old >> shift & FULL;
            let changed = change(counter);
            if changed == counter {
                return counter;
            }
            let new = old & !(FULL << shift) | changed << shift;
            match word.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return counter,
                Err(now) => old = now,
            }
        }
    }

    /// Counts a row with this hash `n` times more.
    pub fn add(&self, hash: u64, n: u64) {
        self.change(hash, |counter| (counter + n.min(FULL)).min(FULL));
    }

    /// Counts a row once less; whether its own number is zero now for certain. It must have been counted before.
    pub fn subtract(&self, hash: u64) -> bool {
        self.change(hash, |counter| if counter == FULL { FULL } else { counter.saturating_sub(1) }) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash_row;
    use lariat_base::Random;

    /// Rows are counted up, then down in any order, by several threads: whoever is told that a number is zero is told the truth, once.
    #[test]
    fn what_is_told_is_true() {
        let mut random = Random::new(4);
        let (mut n_told, mut n_rows) = (0, 0);
        for bytes in [1, 100, 400, 10_000] {
            let budget = MemoryBudget::new(1 << 20);
            let filter = CountingFilter::new(bytes, &budget).unwrap();
            let numbers: Vec<u64> = (0..2000).map(|_| 1 + random.below(5) as u64).collect();
            let hash = |row: usize| hash_row(&row.to_le_bytes());
            let mut steps: Vec<usize> = Vec::new();
            for (row, n) in numbers.iter().enumerate() {
                filter.add(hash(row), *n);
                steps.extend(std::iter::repeat_n(row, *n as usize));
            }
            for i in (1..steps.len()).rev() {
                steps.swap(i, random.below(i + 1));
            }
            let left: Vec<AtomicU64> = numbers.iter().map(|n| AtomicU64::new(*n)).collect();
            let told: Vec<AtomicU64> = numbers.iter().map(|_| AtomicU64::new(0)).collect();
            std::thread::scope(|scope| {
                for half in steps.chunks(steps.len() / 2 + 1) {
                    let (left, told, filter) = (&left, &told, &filter);
                    scope.spawn(move || {
                        for row in half {
                            left[*row].fetch_sub(1, Ordering::SeqCst);
                            if filter.subtract(hash(*row)) {
                                assert_eq!(left[*row].load(Ordering::SeqCst), 0);
                                told[*row].fetch_add(1, Ordering::SeqCst);
                            }
                        }
                    });
                }
            });
            assert!(told.iter().all(|times| times.load(Ordering::SeqCst) <= 1));
            if bytes == 10_000 {
                n_told = told.iter().filter(|times| times.load(Ordering::SeqCst) == 1).count();
                n_rows = numbers.len();
            }
        }
        assert!(n_told > n_rows * 8 / 10, "{n_told} of {n_rows} were told where counters are many");
    }
}
