//! How the memory is shared out.

use crate::Context;
use lariat_storage::{Key, RunOptions};

/// What each part may use, in a search with rows of one width.
pub(super) struct Shares {
    pub(super) filter_bytes: u64,
    /// For each worker: the cache of keys met lately, and how many keys its buffers hold.
    pub(super) cache_bytes: usize,
    pub(super) new_keys: usize,
    pub(super) doubtful_keys: usize,
    /// The shape of all runs.
    pub(super) run: RunOptions,
    /// Threads of a pass; each has readers for all runs.
    pub(super) pass_threads: usize,
    /// Runs that each of them can read at once.
    pub(super) readers_max: usize,
    /// Rows that merging puts out at once.
    pub(super) merge_rows: usize,
    /// Bytes of doubtful states on disk that are worth a pass even when there is something else to do.
    pub(super) doubtful_bytes_min: u64,
}

/// Blocks that a reader has in memory.
pub(super) const READER_BUFFERS: usize = 2;
/// More rows at once do not make merging faster.
const MERGE_ROWS_MAX: usize = 512;
/// With less memory than this for each a pass has one thread, and more readers for it.
const MEMORY_OF_PASS_THREAD: usize = 16 << 20;
/// Larger caches do not stay in the processor's.
const CACHE_BYTES_MAX: usize = 4 << 20;

impl Shares {
    pub(super) fn of<K: Key>(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let threads = context.threads.max(1);
        let key_bytes = size_of::<K>();
        // Sorting wide keys is faster with a word for each.
        let sort_bytes = if key_bytes > 8 { 8 } else { 0 };
        let run = RunOptions::within(row_bytes, 0, memory / 64 / threads);
        let merge_rows = run.group_rows.min(MERGE_ROWS_MAX);
        // A reader, and the step of merging that it comes with; blocks may be one more while they change hands.
        let reader_bytes = (READER_BUFFERS + 1) * run.block_bytes + (run.group_rows + 8 + merge_rows) * key_bytes;
        let pass_threads = if memory / threads < MEMORY_OF_PASS_THREAD { 1 } else { threads };
        Self {
            filter_bytes: (memory / 2) as u64,
            cache_bytes: (memory / 32 / threads).min(CACHE_BYTES_MAX),
            new_keys: (memory / 6 / threads / (key_bytes + sort_bytes)).max(256),
            doubtful_keys: (memory / 12 / threads / key_bytes).max(256),
            readers_max: (memory / 3 / pass_threads / reader_bytes).max(4),
            pass_threads,
            merge_rows,
            doubtful_bytes_min: memory as u64 / 4,
            run,
        }
    }
}
