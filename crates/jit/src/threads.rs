//! Compiling functions by several threads.

use crate::Unsupported;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Models with fewer moves are compiled before a thread would have begun.
const MOVES_TO_SHARE: usize = 100;
const THREADS_MAX: usize = 8;
/// Code is made recursively along expressions, whose depth the front end bounds with this in mind.
const STACK_BYTES: usize = 64 << 20;

/// Compiles `n` functions, each by a call of `compile` with its number and the thread's own space. Returns them in any order, and the spaces.
pub(crate) fn compile<M: Send, W: Default + Send>(
    n: usize,
    n_moves: usize,
    compile: impl Fn(usize, &mut W) -> Result<M, Unsupported> + Sync,
) -> Result<(Vec<M>, Vec<W>), Unsupported> {
    let next = AtomicUsize::new(0);
    let done: Mutex<(Vec<M>, Vec<W>)> = Mutex::new((Vec::new(), Vec::new()));
    let work = || {
        let mut space = W::default();
        let mut made = Vec::new();
        let mut result = Ok(());
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n || result.is_err() {
                break;
            }
            match compile(i, &mut space) {
                Ok(one) => made.push(one),
                Err(error) => result = Err(error),
            }
        }
        let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        done.0.append(&mut made);
        done.1.push(space);
        result
    };
    let n_threads = if n_moves < MOVES_TO_SHARE {
        1
    } else {
        std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX).min(n)
    };
    std::thread::scope(|scope| {
        let builder = || std::thread::Builder::new().name("lariat-compile".to_owned()).stack_size(STACK_BYTES);
        // A thread that cannot be started leaves its work to the others.
        let threads: Vec<_> = (1..n_threads).filter_map(|_| builder().spawn_scoped(scope, work).ok()).collect();
        let own = work();
        let broken = |_| Err(Unsupported::Generator("a thread broke down".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(broken)).fold(own, Result::and)
    })?;
    Ok(done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}
