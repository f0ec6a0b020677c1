//! How the memory is shared out.

use crate::Context;
use crate::checkpoint::PUBLISH_AFTER;
use lariat_storage::{Key, RunOptions, SortOptions, Value};
use std::time::Duration;

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
    /// For each thread's candidates; levels have their shape.
    pub(crate) sort: SortOptions,
    /// The shape of visited runs, which is that of levels unless those have values.
    pub(crate) run: RunOptions,
    /// Rows that each step of a merge puts out at once.
    pub(crate) batch_rows: usize,
    pub(crate) visited_max: usize,
    pub(crate) rows_to_share: u64,
    /// How often it is published how far the search is.
    pub(crate) publish_after: Duration,
}

impl Shares {
    pub(super) fn of<K: Key, V: Value>(context: &Context, (key_bytes, value_bytes): (usize, usize)) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let threads = context.threads.max(1);
        // Each thread reads all visited runs, and the runs of all threads' candidates, at once, while the last candidates are still in memory.
        let readers = VISITED_MAX + threads * CANDIDATE_RUNS_MAX;
        let within = |value_bytes| RunOptions::within(key_bytes, value_bytes, memory / 2 / threads / readers);
        let sort = SortOptions::within::<K, V>(key_bytes, value_bytes, memory * 3 / 4 / threads);
        let of_row = size_of::<K>() + size_of::<V>();
        Self {
            sort: SortOptions { run: within(value_bytes), runs_max: CANDIDATE_RUNS_MAX, ..sort },
            batch_rows: (memory / 32 / threads / readers / of_row).clamp(16, 1024),
            run: within(0),
            visited_max: VISITED_MAX,
            rows_to_share: ROWS_TO_SHARE,
            publish_after: PUBLISH_AFTER,
        }
    }
}
