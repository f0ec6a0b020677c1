//! How many bytes are on disk, and how many may be.
//!
//! # Invariants
//! 1. `now` is the sum of the lengths of all files, and never passes the limit.

use crate::DiskError;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskUsage {
    /// The lengths of all files, added up.
    pub now: u64,
    /// The most that it ever was.
    pub peak: u64,
    /// The most that it may be.
    pub limit: Option<u64>,
}

/// The account of a disk's bytes, shared by its files.
#[derive(Debug)]
pub struct UsageLedger {
    now: AtomicU64,
    peak: AtomicU64,
    limit: u64,
}

impl UsageLedger {
    /// An account that begins with what is there.
    pub fn new(now: u64, limit: Option<u64>) -> Self {
        Self { now: AtomicU64::new(now), peak: AtomicU64::new(now), limit: limit.unwrap_or(u64::MAX) }
    }

    /// Notes that a file grows, or refuses.
    pub fn grow(&self, bytes: u64, path: &Path) -> Result<(), DiskError> {
        let mut now = self.now.load(Ordering::Relaxed);
        loop {
            let needed = now.saturating_add(bytes);
            if needed > self.limit {
                return Err(DiskError::Limit { path: path.to_owned(), limit: self.limit, needed });
            }
            match self.now.compare_exchange_weak(now, needed, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.peak.fetch_max(needed, Ordering::Relaxed);
                    return Ok(());
                }
                Err(other) => now = other,
            }
        }
    }

    /// Notes that a file shrank or is gone.
    pub fn shrink(&self, bytes: u64) {
        let before = self.now.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(before >= bytes, "more bytes left the disk than were on it");
    }

    /// The account.
    pub fn usage(&self) -> DiskUsage {
        DiskUsage {
            now: self.now.load(Ordering::Relaxed),
            peak: self.peak.load(Ordering::Relaxed),
            limit: (self.limit != u64::MAX).then_some(self.limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_kept_and_the_peak_remembered() {
        let ledger = UsageLedger::new(10, Some(100));
        let path = Path::new("file");
        ledger.grow(90, path).unwrap();
        let refused = ledger.grow(1, path).unwrap_err();
        assert!(matches!(refused, DiskError::Limit { limit: 100, needed: 101, .. }), "{refused}");
        assert!(refused.is_out_of_space());
        ledger.shrink(50);
        assert_eq!(ledger.usage(), DiskUsage { now: 50, peak: 100, limit: Some(100) });
    }
}
