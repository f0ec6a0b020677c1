//! Threads that work on one level after the other: they live as long as the search, so that a level of some hundred states is worth
//! sharing.
//!
//! Each thread has a worker of its own; the thread that leads has the first one. A level begins for all at once, and it has ended when
//! all are done. Who waits looks for a while before it sleeps: the others are mostly done in less time than waking a thread takes.
//!
//! # Invariants
//! 1. Between two levels no thread but the leading one touches anything.
//! 2. A thread that panics counts as done, with an error: nobody waits for it.

use crate::SearchError;
use crate::tally::lock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Expressions are evaluated recursively; the front end bounds their depth with this in mind.
pub(crate) const STACK_BYTES: usize = 64 << 20;
/// How often a thread looks before it sleeps: some tens of microseconds.
const LOOKS: usize = 1 << 10;

/// The workers of a search, each but the first in a thread of its own.
pub(crate) struct Team<'t, W, T, F> {
    first: &'t mut W,
    work: &'t F,
    levels: &'t Levels<T>,
    n_others: usize,
}

/// The level that the threads work on.
struct Levels<T> {
    /// How many have begun.
    n_begun: AtomicU64,
    /// How many threads are at work, apart from the leading one.
    n_busy: AtomicUsize,
    level: Mutex<Level<T>>,
    begins: Condvar,
    ends: Condvar,
}

struct Level<T> {
    /// What there is to do; none when the search has ended.
    task: Option<T>,
    result: Result<(), SearchError>,
}

/// Has a thread for every worker but the first, and `lead` lead them through the levels. `work` is done by every worker in each.
pub(crate) fn with_team<W, T, F, R>(
    name: &str,
    workers: &mut [W],
    work: F,
    lead: impl FnOnce(&mut Team<'_, W, T, F>) -> Result<R, SearchError>,
) -> Result<R, SearchError>
where
    W: Send,
    T: Copy + Send,
    F: Fn(&mut W, T) -> Result<(), SearchError> + Sync,
{
    let Some((first, others)) = workers.split_first_mut() else {
        return Err(SearchError::Thread("there is none".to_owned()));
    };
    let levels = Levels {
        n_begun: AtomicU64::new(0),
        n_busy: AtomicUsize::new(0),
        level: Mutex::new(Level { task: None, result: Ok(()) }),
        begins: Condvar::new(),
        ends: Condvar::new(),
    };
    let (levels, work) = (&levels, &work);
    std::thread::scope(|scope| {
        // Also if a thread cannot be made, or the leader panics, the others are told to end.
        let end = End(levels);
        let n_others = others.len();
        let mut threads = Vec::new();
        for worker in others {
            let builder = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
            let thread = builder.spawn_scoped(scope, move || levels.follow(worker, work));
            threads.push(thread.map_err(|error| SearchError::Thread(error.to_string()))?);
        }
        let result = lead(&mut Team { first, work, levels, n_others });
        drop(end);
        // A thread that panicked has told so as the result of its level; here it is only waited for.
        threads.into_iter().for_each(|thread| drop(thread.join()));
        result
    })
}

impl<W, T, F> Team<'_, W, T, F>
where
    T: Copy,
    F: Fn(&mut W, T) -> Result<(), SearchError>,
{
    /// The worker of the leading thread works on a level, alone.
    pub(crate) fn work_alone(&mut self, task: T) -> Result<(), SearchError> {
        (self.work)(self.first, task)
    }

    /// All work on a level, until it is complete.
    pub(crate) fn work_together(&mut self, task: T) -> Result<(), SearchError> {
        let levels = self.levels;
        levels.n_busy.store(self.n_others, Ordering::Relaxed);
        levels.begin(Some(task));
        let result = (self.work)(self.first, task);
        levels.wait_for_others();
        result.and(std::mem::replace(&mut lock(&levels.level).result, Ok(())))
    }
}

impl<T: Copy> Levels<T> {
    fn begin(&self, task: Option<T>) {
        let mut level = lock(&self.level);
        level.task = task;
        self.n_begun.fetch_add(1, Ordering::Release);
        drop(level);
        self.begins.notify_all();
    }

    fn wait_for_others(&self) {
        if looks_until(|| self.n_busy.load(Ordering::Acquire) == 0) {
            return;
        }
        let mut level = lock(&self.level);
        while self.n_busy.load(Ordering::Acquire) > 0 {
            level = self.ends.wait(level).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Works on every level that begins, until there are no more.
    fn follow<W>(&self, worker: &mut W, work: &impl Fn(&mut W, T) -> Result<(), SearchError>) {
        let mut n_done = 0;
        while let Some(task) = self.next(n_done) {
            let mut done = Done { levels: self, result: Err(SearchError::Thread("it panicked".to_owned())) };
            done.result = work(worker, task);
            n_done += 1;
        }
    }

    /// The task of the level after so many; none if there is no such level.
    fn next(&self, n_done: u64) -> Option<T> {
        looks_until(|| self.n_begun.load(Ordering::Acquire) > n_done);
        let mut level = lock(&self.level);
        while self.n_begun.load(Ordering::Acquire) == n_done {
            level = self.begins.wait(level).unwrap_or_else(PoisonError::into_inner);
        }
        level.task
    }
}

/// A thread's part of a level; it is over when this is dropped.
struct Done<'d, T> {
    levels: &'d Levels<T>,
    result: Result<(), SearchError>,
}

impl<T> Drop for Done<'_, T> {
    fn drop(&mut self) {
        let result = std::mem::replace(&mut self.result, Ok(()));
        let mut level = lock(&self.levels.level);
        let before = std::mem::replace(&mut level.result, Ok(()));
        level.result = before.and(result);
        let n_busy = self.levels.n_busy.fetch_sub(1, Ordering::Release) - 1;
        drop(level);
        if n_busy == 0 {
            self.levels.ends.notify_one();
        }
    }
}

/// The threads end when this is dropped.
struct End<'e, T: Copy>(&'e Levels<T>);

impl<T: Copy> Drop for End<'_, T> {
    fn drop(&mut self) {
        self.0.begin(None);
    }
}

/// Looks for a while whether something is so.
fn looks_until(is_so: impl Fn() -> bool) -> bool {
    (0..LOOKS).any(|_| {
        std::hint::spin_loop();
        is_so()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a number to each worker's sum, or fails.
    fn add(sum: &mut u64, number: u64) -> Result<(), SearchError> {
        *sum += number;
        if number == 7 { Err(SearchError::BudgetTooSmall) } else { Ok(()) }
    }

    #[test]
    fn all_work_on_every_level_and_the_first_on_those_for_one() {
        let mut sums = [0; 5];
        let n_levels = with_team("test", &mut sums, add, |team| {
            for level in 1000..3000 {
                team.work_together(level)?;
                team.work_alone(1)?;
            }
            Ok(2000)
        });
        let all: u64 = (1000..3000).sum();
        assert_eq!((n_levels.ok(), sums), (Some(2000), [all + 2000, all, all, all, all]));
    }

    #[test]
    fn an_error_of_any_thread_is_the_levels_and_of_no_other() {
        let mut sums = [0; 3];
        let results =
            with_team("test", &mut sums, add, |team| Ok([5, 7, 9].map(|number| team.work_together(number).is_ok())));
        assert_eq!((results.ok(), sums), (Some([true, false, true]), [21; 3]));
    }

    #[test]
    fn a_thread_that_panicked_is_an_error_and_nobody_waits_for_it() {
        let work = |is_first: &mut bool, ()| {
            assert!(*is_first, "the second panics");
            Ok(())
        };
        let result = with_team("test", &mut [true, false], work, |team| team.work_together(()));
        assert!(matches!(result, Err(SearchError::Thread(_))));
    }
}
