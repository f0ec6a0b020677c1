//! Threads that do pieces of work at the same time, and live as long as their search.
//!
//! A search in little memory has thousands of rounds and passes of a millisecond or two; to make and join threads for each would take a tenth of the time. Unlike
//! those of a [`team`](crate::team), the pieces borrow what they like from whoever hands them out, and nobody owns anything between them.
//!
//! # Invariants
//! 1. As many pieces as there are threads are done at the same time, so that they may wait for each other; unless pieces hand out pieces, which may not.
//! 2. A piece that panics is an error of whoever handed it out.

use crate::SearchError;
use crate::tally::lock;
use crate::team::STACK_BYTES;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The threads; the one that hands out work is one of them.
pub(crate) struct Crew {
    /// None if there are no others.
    others: Option<ThreadPool>,
}

impl Crew {
    /// So many threads.
    pub(crate) fn new(name: &'static str, n_threads: usize) -> Result<Self, SearchError> {
        let others = (n_threads > 1).then(|| {
            ThreadPoolBuilder::new()
                .num_threads(n_threads - 1)
                .thread_name(move |_| name.to_owned())
                .stack_size(STACK_BYTES)
                .build()
                .map_err(|error| SearchError::Thread(error.to_string()))
        });
        Ok(Self { others: others.transpose()? })
    }

    /// Does something with each of some things; the results in their order, or the first error.
    pub(crate) fn each<T: Send, R: Send>(
        &self,
        things: impl IntoIterator<Item = T>,
        work: impl Fn(T) -> Result<R, SearchError> + Sync,
    ) -> Result<Vec<R>, SearchError> {
        let pieces: Vec<_> = things.into_iter().map(|thing| Mutex::new(Piece::Waits(thing))).collect();
        let next = AtomicUsize::new(0);
        let do_pieces = || {
            while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Piece::Waits(thing) = std::mem::replace(&mut *lock(piece), Piece::Taken) else { continue };
                let result = catch_unwind(AssertUnwindSafe(|| work(thing)));
                *lock(piece) = Piece::Done(result.unwrap_or_else(|_| Err(broken())));
            }
        };
        match &self.others {
            Some(pool) if pieces.len() > 1 => pool.in_place_scope(|scope| {
                let n_others = pool.current_num_threads().min(pieces.len() - 1);
                (0..n_others).for_each(|_| scope.spawn(|_| do_pieces()));
                do_pieces();
            }),
            _ => do_pieces(),
        }
        let result = |piece: Mutex<Piece<T, R>>| match piece.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Piece::Done(result) => result,
            Piece::Waits(_) | Piece::Taken => Err(broken()),
        };
        pieces.into_iter().map(result).collect()
    }
}

/// Something to do.
enum Piece<T, R> {
    Waits(T),
    Taken,
    Done(Result<R, SearchError>),
}

fn broken() -> SearchError {
    SearchError::Thread("it panicked".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn pieces_are_done_at_the_same_time_and_answered_in_their_order() {
        for n_threads in 1..5 {
            let crew = Crew::new("test", n_threads).unwrap();
            let all_here = Barrier::new(n_threads);
            for round in 0..200 {
                let squares = crew.each(0..n_threads, |n| {
                    all_here.wait();
                    Ok(round + n * n)
                });
                assert_eq!(squares.unwrap(), (0..n_threads).map(|n| round + n * n).collect::<Vec<_>>());
            }
        }
        assert!(Crew::new("test", 3).unwrap().each(Vec::<u8>::new(), Ok).unwrap().is_empty());
    }

    #[test]
    fn pieces_may_hand_out_pieces() {
        let crew = Crew::new("test", 3).unwrap();
        let sums = crew.each(0..6_u32, |n| Ok(crew.each(0..n, |m| Ok(n * m))?.iter().sum::<u32>()));
        assert_eq!(sums.unwrap(), [0, 0, 2, 9, 24, 50]);
    }

    #[test]
    fn an_error_is_told_and_so_is_a_panic_and_the_threads_go_on() {
        let crew = Crew::new("test", 2).unwrap();
        let work = |n: u32| match n {
            1 => Err(SearchError::BudgetTooSmall),
            2 => panic!("the third"),
            _ => Ok(n),
        };
        assert!(matches!(crew.each([0, 1], work), Err(SearchError::BudgetTooSmall)));
        assert!(matches!(crew.each([0, 2], work), Err(SearchError::Thread(_))));
        assert!(matches!(crew.each([2, 0], work), Err(SearchError::Thread(_))));
        assert_eq!(crew.each([3, 4, 5], work).unwrap(), [3, 4, 5]);
    }
}
