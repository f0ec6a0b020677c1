//! How the memory is shared out.

use crate::Context;
use crate::sets::PUBLISH_AFTER;
use lariat_disk::FileKind;
use lariat_storage::{Key, RowLogOptions, RunOptions, SortOptions};
use std::time::Duration;

/// Sets that together are the appendices of a phase, at most.
const TIERS_MAX: usize = 8;
/// Runs of each thread's candidates, at most.
const CANDIDATE_RUNS_MAX: usize = 8;
/// Fewer rows than this for each thread are merged by one.
const ROWS_TO_SHARE: u64 = 1 << 15;
/// States that are expanded between two checkpoints, at least.
const CHECKPOINT_ROWS: u64 = 1 << 21;

/// What each part may use.
pub(crate) struct Shares {
    /// For what answers first: the filter, or the counters.
    pub(crate) filter_bytes: u64,
    /// For each thread: candidates that come again soon, and those that wait for a merge.
    pub(crate) cache_bytes: usize,
    pub(crate) sort: SortOptions,
    /// The queue of states that are expanded without a merge.
    pub(crate) queue: RowLogOptions,
    /// The shape of all sets.
    pub(crate) run: RunOptions,
    pub(crate) batch_rows: usize,
    pub(crate) tiers_max: usize,
    pub(crate) rows_to_share: u64,
    /// A merge is due when so many states were expanded since the last one, and as many as all before.
    pub(crate) checkpoint_rows: u64,
    pub(crate) publish_after: Duration,
}

impl Shares {
    pub(super) fn of<K: Key>(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let threads = context.threads.max(1);
        // In a merge each thread reads all tiers, the approximation set, and the runs of all threads' candidates, while the last
        // candidates are still in memory.
        let readers = TIERS_MAX + 2 + threads * CANDIDATE_RUNS_MAX;
        let run = RunOptions::within(row_bytes, 4, memory * 3 / 8 / threads / readers);
        let sort = SortOptions::within::<K, u32>(row_bytes, 4, memory * 3 / 8 / threads);
        Self {
            filter_bytes: memory as u64 / 4,
            cache_bytes: (memory / 32 / threads).min(512 << 10),
            sort: SortOptions { run, runs_max: CANDIDATE_RUNS_MAX, ..sort },
            queue: RowLogOptions::within(row_bytes, memory / 32, FileKind::Queue),
            run,
            batch_rows: (memory / 32 / threads / readers / size_of::<K>()).clamp(16, 1024),
            tiers_max: TIERS_MAX,
            rows_to_share: ROWS_TO_SHARE,
            checkpoint_rows: CHECKPOINT_ROWS,
            publish_after: PUBLISH_AFTER,
        }
    }
}
