//! States that a thread leaves to others which have nothing to do.

use crate::tally::lock;
use lariat_graph::RowBuffer;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Where states are left, by any of so many threads.
pub(super) struct Left {
    n_threads: usize,
    batches: Mutex<Batches>,
    changed: Condvar,
    /// Threads that wait for something to be left.
    n_idle: AtomicUsize,
}

#[derive(Default)]
struct Batches {
    waiting: Vec<RowBuffer>,
    has_ended: bool,
}

impl Left {
    pub(super) fn new(n_threads: usize) -> Self {
        Self { n_threads, batches: Mutex::default(), changed: Condvar::new(), n_idle: AtomicUsize::new(0) }
    }

    /// Whether somebody waits.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.n_idle.load(Ordering::Relaxed) > 0
    }

    /// Leaves states to whoever comes first.
    pub(super) fn leave(&self, rows: RowBuffer) {
        lock(&self.batches).waiting.push(rows);
        self.changed.notify_one();
    }

    /// Waits for states; none if nobody has any, or all is over.
    pub(super) fn take(&self) -> Option<RowBuffer> {
        let mut batches = lock(&self.batches);
        if let Some(rows) = batches.waiting.pop() {
            return Some(rows);
        }
        if self.n_idle.fetch_add(1, Ordering::Relaxed) + 1 == self.n_threads {
            batches.has_ended = true;
            self.changed.notify_all();
        }
        loop {
            if batches.has_ended {
                return None;
            }
            if let Some(rows) = batches.waiting.pop() {
                self.n_idle.fetch_sub(1, Ordering::Relaxed);
                return Some(rows);
            }
            batches = self.changed.wait(batches).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Nobody waits any longer.
    pub(super) fn end(&self) {
        lock(&self.batches).has_ended = true;
        self.changed.notify_all();
    }
}

/// Ends the waiting when a thread ends, however it does.
pub(super) struct EndsWaiting<'l>(pub(super) &'l Left);

impl Drop for EndsWaiting<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that make two of each number, down to 1, and leave one of them whenever somebody waits.
    #[test]
    fn all_is_done_once_and_nobody_waits_for_ever() {
        for n_threads in 1..5 {
            let left = Left::new(n_threads);
            let n_done = AtomicUsize::new(0);
            let mut first = RowBuffer::new(1);
            first.push(&[12]);
            left.leave(first);
            let work = || {
                let mut own: Vec<u8> = Vec::new();
                loop {
                    while let Some(number) = own.pop() {
                        n_done.fetch_add(1, Ordering::Relaxed);
                        if number == 0 {
                            continue;
                        }
                        own.push(number - 1);
                        if left.is_wanted() {
                            let mut rows = RowBuffer::new(1);
                            rows.push(&[number - 1]);
                            left.leave(rows);
                        } else {
                            own.push(number - 1);
                        }
                    }
                    let Some(rows) = left.take() else { return };
                    own.extend_from_slice(rows.as_rows().bytes());
                }
            };
            std::thread::scope(|scope| (0..n_threads).for_each(|_| drop(scope.spawn(work))));
            assert_eq!(n_done.into_inner(), (1 << 13) - 1, "{n_threads} threads");
        }
    }

    #[test]
    fn whoever_waits_is_told_of_the_end() {
        let left = Left::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| left.take().is_none());
            drop(EndsWaiting(&left));
            assert!(waiting.join().unwrap());
        });
    }
}
