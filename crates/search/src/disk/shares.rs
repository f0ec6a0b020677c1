//! How the memory is shared out.

use super::merging::RUNS_TO_MERGE;
use super::reading::{READER_BUFFERS, Readers};
use crate::Context;
use crate::expansion::BATCH_ROWS;
use lariat_disk::PAGE_BYTES;
use lariat_storage::{Key, RunOptions};
use std::time::Duration;

/// What each part may use, in a search with rows of one width.
pub(super) struct Shares {
    pub(super) filter_bytes: u64,
    /// For each worker: the cache of keys met lately, and how many keys its buffers hold.
    pub(super) cache_bytes: usize,
    pub(super) new_keys: usize,
    pub(super) doubtful_keys: usize,
    /// How many doubtful keys it holds while the graph is wide: the filter and the buffer of new keys take nothing then.
    pub(super) wide_keys: usize,
    /// States that a worker takes at once while the graph is wide.
    pub(super) stripe_keys: usize,
    /// States of the first levels, by which it is told whether the graph is wide.
    pub(super) first_states: u64,
    /// States of which a filter is soon made.
    pub(super) few_states: u64,
    /// States that wait for less are not many.
    pub(super) wide_rows_min: u64,
    /// So many passes cost about as much as a filter does that is made again.
    pub(super) narrow_levels_max: u32,
    /// The shape of all runs.
    pub(super) run: RunOptions,
    /// Blocks of visited runs that stay in memory.
    pub(super) kept_bytes: u64,
    pub(super) readers: Readers,
    /// Runs that there may be, so that one thread can read all of them.
    pub(super) readers_max: usize,
    /// Workers that may merge runs at the same time.
    pub(super) merging_max: usize,
    /// Memory that is to be left for one of them to begin.
    pub(super) merger_bytes: u64,
    /// What all threads' writers take, if each has one.
    pub(super) writers_bytes: u64,
    /// States found in a short pass that stay in memory.
    pub(super) found_keys: usize,
    /// States that may be assumed to be new at the same time.
    pub(super) assumed_keys: usize,
    /// How many of four such states have to turn out to be new, for others to be assumed.
    pub(super) new_quarters: usize,
    /// Rows that merging puts out at once.
    pub(super) merge_rows: usize,
    /// Bytes of doubtful states on disk that are worth a pass even when there is something else to do.
    pub(super) doubtful_bytes_min: u64,
    /// How far the search is is published after this time where no pass has done it.
    pub(super) publish_after: Duration,
}

/// More rows at once do not make merging faster.
const MERGE_ROWS_MAX: usize = 512;
/// From here on memory is not small, and from here on it is large.
const SPACIOUS: usize = 28 << 20;
const VERY_SPACIOUS: usize = 48 << 20;
const BLOCK_BYTES_MAX: usize = 128 << 10;
/// What the buffers of all workers' writers take of the memory, and how many blocks at once are worth it.
const WRITERS_SHARE: usize = 32;
/// What all that they have beside blocks takes.
const GROUPS_SHARE: usize = 64;
const BLOCKS_AT_ONCE_MAX: usize = 8;
/// The part of the memory for the list of states that are assumed to be new.
const ASSUMED_SHARE: usize = 64;
/// To assume that states are new costs an expansion or two of those that are not.
const NEW_QUARTERS: usize = 3;
/// The part of the memory for workers that merge runs.
const MERGING_SHARE: usize = 8;
/// What a crash may cost. To publish more often would make runs small, and wait for the disk.
const PUBLISH_AFTER: Duration = Duration::from_secs(20);
/// Larger caches do not stay in the processor's.
const CACHE_BYTES_MAX: usize = 4 << 20;

/// Levels with fewer states that the search does without a filter, once it has none.
const NARROW_LEVELS_MAX: u32 = 48;
/// A filter of so many states is made in some hundredths of a second.
const FEW_STATES: u64 = 1 << 20;
/// Longer stretches of neighbours have hardly fewer successors in common with others.
const STRIPE_KEYS_MAX: usize = 8192;
/// Fortieths of the memory for doubtful keys while the graph is wide.
const WIDE_OF_40: usize = 26;

/// Parts of the memory: parts of 32 for the filter, fortieths for the readers, divisors for the others. While the filter is used, either the buffers are, or the readers of a pass.
struct Parts {
    filter_of_32: usize,
    new: usize,
    doubtful: usize,
    cache: usize,
    kept: usize,
    readers_of_40: usize,
    blocks: usize,
}

impl Parts {
    /// Small buffers cost more than a small filter does.
    const SMALL: Self =
        Self { filter_of_32: 16, new: 8, doubtful: 8, cache: 64, kept: 32, readers_of_40: 16, blocks: 512 };
    /// Buffers are large enough, and a larger filter spares passes.
    const MIDDLE: Self =
        Self { filter_of_32: 19, new: 16, doubtful: 9, cache: 32, kept: 16, readers_of_40: 10, blocks: 1024 };
    /// Buffers of some megabytes do as well as larger ones.
    const LARGE: Self =
        Self { filter_of_32: 21, new: 32, doubtful: 14, cache: 32, kept: 16, readers_of_40: 10, blocks: 1024 };

    fn of(memory: usize) -> Self {
        match memory {
            ..SPACIOUS => Self::SMALL,
            SPACIOUS..VERY_SPACIOUS => Self::MIDDLE,
            VERY_SPACIOUS.. => Self::LARGE,
        }
    }
}

/// Blocks as large as they can be while a pass reads some tens of runs at once: every transfer has its price, whatever its size.
fn run_shape(row_bytes: usize, memory: usize, threads: usize, blocks: usize) -> RunOptions {
    let shape = RunOptions::within(row_bytes, 0, memory / GROUPS_SHARE / threads);
    let block_bytes =
        (memory / blocks).next_multiple_of(PAGE_BYTES).clamp(shape.block_bytes, BLOCK_BYTES_MAX.max(shape.block_bytes));
    let blocks_at_once = (memory / WRITERS_SHARE / threads / 2 / block_bytes).clamp(1, BLOCKS_AT_ONCE_MAX);
    RunOptions { block_bytes, buffers: 2, blocks_at_once, ..shape }
}

impl Shares {
    pub(super) fn of<K: Key>(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let threads = context.threads.max(1);
        let key_bytes = size_of::<K>();
        let parts = Parts::of(memory);
        let run = run_shape(row_bytes, memory, threads, parts.blocks);
        let merge_rows = run.group_rows.min(MERGE_ROWS_MAX);
        let readers = Readers {
            bytes: (memory / 40 * parts.readers_of_40) as u64,
            threads,
            block_bytes: run.block_bytes as u64,
            step_bytes: ((run.group_rows + 8 + merge_rows) * key_bytes) as u64,
        };
        let merger_bytes = RUNS_TO_MERGE * readers.reader_bytes(READER_BUFFERS) as usize;
        // Blocks, and groups of rows with what their encoder takes.
        let writers_bytes = memory / WRITERS_SHARE + memory / GROUPS_SHARE;
        Self {
            filter_bytes: (memory / 32 * parts.filter_of_32) as u64,
            cache_bytes: (memory / parts.cache / threads).min(CACHE_BYTES_MAX),
            new_keys: (memory / parts.new / threads / key_bytes).max(256),
            doubtful_keys: (memory / parts.doubtful / threads / key_bytes).max(256),
            wide_keys: (memory / 40 * WIDE_OF_40 / threads / key_bytes).max(256),
            stripe_keys: (memory / 128 / threads / key_bytes).clamp(BATCH_ROWS, STRIPE_KEYS_MAX),
            first_states: (memory / parts.new / threads / key_bytes / 8) as u64,
            few_states: FEW_STATES,
            wide_rows_min: 2 * (memory / parts.new / key_bytes) as u64,
            narrow_levels_max: NARROW_LEVELS_MAX,
            found_keys: (memory / 64 / threads / key_bytes).max(256),
            assumed_keys: memory / ASSUMED_SHARE / key_bytes,
            new_quarters: NEW_QUARTERS,
            readers_max: readers.max().max(4),
            merging_max: (memory / MERGING_SHARE / merger_bytes).max(1),
            // Others may begin to write meanwhile, while what they wrote before is still on its way.
            merger_bytes: (merger_bytes + 2 * writers_bytes) as u64,
            writers_bytes: writers_bytes as u64,
            kept_bytes: (memory / parts.kept) as u64,
            readers,
            merge_rows,
            doubtful_bytes_min: memory as u64 / 4,
            publish_after: PUBLISH_AFTER,
            run,
        }
    }
}
