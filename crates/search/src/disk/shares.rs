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
    /// Runs that can be read at once by each of the threads of a pass.
    pub(super) readers_max: usize,
    /// Bytes of doubtful states on disk that are worth a pass even when there is something else to do.
    pub(super) doubtful_bytes_min: u64,
}

/// Blocks that a reader has in memory.
pub(super) const READER_BUFFERS: usize = 2;
/// Rows that merging puts out at once.
pub(super) const MERGE_ROWS: usize = 512;

/// Larger caches do not stay in the processor's.
const CACHE_BYTES_MAX: usize = 4 << 20;

impl Shares {
    pub(super) fn of<K: Key>(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let threads = context.threads.max(1);
        let key_bytes = size_of::<K>();
        // Sorting wide keys is faster with a word for each.
        let sort_bytes = if key_bytes > 8 { 8 } else { 0 };
        let run = RunOptions::within(row_bytes, 0, memory / 48 / threads);
        let reader_bytes = READER_BUFFERS * run.block_bytes + run.group_rows * key_bytes + 2 * MERGE_ROWS * key_bytes;
        Self {
            filter_bytes: (memory / 2) as u64,
            cache_bytes: (memory / 32 / threads).min(CACHE_BYTES_MAX),
            new_keys: (memory / 6 / threads / (key_bytes + sort_bytes)).max(256),
            doubtful_keys: (memory / 12 / threads / key_bytes).max(256),
            readers_max: (memory / 3 / threads / reader_bytes).max(4),
            doubtful_bytes_min: memory as u64 / 4,
            run,
        }
    }
}
