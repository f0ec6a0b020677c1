//! When the program's own pages are given back: what only the beginning of a search needs does not stay in memory. What the rest needs
//! comes back soon, so it is done ever less often.

use lariat_disk::program_pages;
use std::sync::atomic::{AtomicU64, Ordering};

/// Searches that end before are not held up.
const FIRST_MS: u64 = 20;

pub struct ProgramMemory {
    due_ms: AtomicU64,
}

impl Default for ProgramMemory {
    fn default() -> Self {
        Self { due_ms: AtomicU64::new(FIRST_MS) }
    }
}

impl ProgramMemory {
    /// Gives pages back if it is time, so many milliseconds after the search began.
    pub fn release_if_due(&self, now_ms: u64) {
        if is_due(&self.due_ms, now_ms, now_ms * 3 / 2) {
            program_pages::release();
        }
    }
}

/// Whether the time has come, for one of the threads that ask; the next time is `next_ms`.
pub fn is_due(due_ms: &AtomicU64, now_ms: u64, next_ms: u64) -> bool {
    let due = due_ms.load(Ordering::Relaxed);
    now_ms >= due && due_ms.compare_exchange(due, next_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_comes_once() {
        let due = AtomicU64::new(50);
        assert!(!is_due(&due, 49, 100));
        assert!(is_due(&due, 50, 75));
        assert!(!is_due(&due, 74, 200));
        assert!(is_due(&due, 80, 120));
    }
}
