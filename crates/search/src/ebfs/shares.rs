//! How the memory is shared out.

use crate::Context;
use lariat_storage::{Key, RunOptions, SortOptions};

/// Blocks that a reader has in memory.
pub(crate) const READ_BUFFERS: usize = 2;
/// Runs of visited states, at most: with more, blocks would have to be smaller, and with fewer, rows would be copied more often.
const VISITED_MAX: usize = 8;
/// Runs of each thread's candidates, at most.
const CANDIDATE_RUNS_MAX: usize = 8;
/// Fewer candidates than this for each thread are merged by one.
const ROWS_TO_SHARE: u64 = 1 << 15;

/// What each part may use.
pub(crate) struct Shares {
    /// For each thread's candidates.
    pub(crate) sort: SortOptions,
    /// The shape of levels and of visited runs.
    pub(crate) run: RunOptions,
    /// Rows that each step of a merge puts out at once.
    pub(crate) batch_rows: usize,
    pub(crate) visited_max: usize,
    pub(crate) rows_to_share: u64,
}

impl Shares {
    pub(super) fn of<K: Key>(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let threads = context.threads.max(1);
        // Each thread reads all visited runs, and the runs of all threads' candidates, at once, while the last candidates are still in memory.
        let readers = VISITED_MAX + threads * CANDIDATE_RUNS_MAX;
        let run = RunOptions::within(row_bytes, 0, memory / 2 / threads / readers);
        let sort = SortOptions::within::<K, ()>(row_bytes, 0, memory * 3 / 4 / threads);
        Self {
            sort: SortOptions { run, runs_max: CANDIDATE_RUNS_MAX, ..sort },
            batch_rows: (memory / 32 / threads / readers / size_of::<K>()).clamp(16, 1024),
            run,
            visited_max: VISITED_MAX,
            rows_to_share: ROWS_TO_SHARE,
        }
    }
}
