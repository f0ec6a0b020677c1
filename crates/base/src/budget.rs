//! The memory budget: one accountant that hands out shares of `--memory` and never more.
//!
//! # Invariants
//! 1. `used <= max` at all times, whatever the interleaving of threads.
//! 2. `peak` is the largest value that `used` ever had.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// An accountant for bytes of memory, shared by all threads of a check.
#[derive(Debug)]
pub struct MemoryBudget {
    max: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

/// The answer to a request for more memory than is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExceeded {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes that were left.
    pub left: u64,
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes were needed, {} were left of the memory budget", self.requested, self.left)
    }
}

impl std::error::Error for BudgetExceeded {}

impl MemoryBudget {
    /// A budget of `max` bytes, none of them used.
    pub fn new(max: u64) -> Self {
        Self { max, used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    /// Takes `bytes` out of the budget, or changes nothing.
    pub fn reserve(&self, bytes: u64) -> Result<(), BudgetExceeded> {
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let left = self.max - used;
            if bytes > left {
                return Err(BudgetExceeded { requested: bytes, left });
            }
            match self.used.compare_exchange_weak(used, used + bytes, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.peak.fetch_max(used + bytes, Ordering::Relaxed);
                    return Ok(());
                }
                Err(now) => used = now,
            }
        }
    }

    /// Gives back bytes that were reserved before.
    pub fn release(&self, bytes: u64) {
        let before = self.used.fetch_sub(bytes, Ordering::Relaxed);
        assert!(before >= bytes, "released more memory than was reserved");
    }

    /// The whole budget.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// What is reserved now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The most that was ever reserved at once.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// What is left now.
    pub fn left(&self) -> u64 {
        self.max - self.used()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_hands_out_more_than_there_is() {
        let budget = MemoryBudget::new(100);
        assert_eq!(budget.reserve(60), Ok(()));
        assert_eq!(budget.reserve(41), Err(BudgetExceeded { requested: 41, left: 40 }));
        assert_eq!(budget.reserve(40), Ok(()));
        budget.release(100);
        assert_eq!((budget.used(), budget.peak(), budget.left()), (0, 100, 100));
    }
}
