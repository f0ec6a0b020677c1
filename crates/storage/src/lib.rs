//! Where rows are kept. Knows rows of bytes and the memory budget, not models, graphs or searches.
//!
//! In memory: [`row_set`] and [`row_table`], the visited sets of searches that fit. On disk: [`run`]s of sorted rows, [`stream`]s and set algebra on them,
//! which are made of checksummed [`block_file`]s; [`row_log`]s, queues and stacks of rows in the order in which they came; numbers for rows that are not kept
//! ([`PerfectHash`]), and what is known of numbered things ([`NumberArray`]).

mod bits;
mod block_cache;
mod block_copies;
pub mod block_file;
mod budgeted;
mod combining_cache;
mod counting_filter;
mod error;
pub mod external_sort;
mod filter;
mod hash;
mod hash_table;
pub mod key;
mod key_cache;
mod level_queue;
pub mod manifest;
mod number_array;
mod pages;
mod perfect_hash;
mod position_table;
mod prefetch;
mod queue;
mod recent;
mod recent_table;
mod reserved;
pub mod row_log;
pub mod row_set;
pub mod row_table;
pub mod run;
pub mod run_parts;
mod slot_file;
pub mod sort;
mod stack;
pub mod stream;
mod tiers;

pub use bits::Bits;
pub use budgeted::BudgetedVec;
pub use combining_cache::CombiningCache;
pub use counting_filter::CountingFilter;
pub use error::StorageError;
pub use external_sort::{ExternalSort, SortOptions, Sorted, SortedPieces};
pub use filter::RowFilter;
pub use hash::hash_row;
pub use hash_table::{HashTable, Table};
pub use key::{Key, Value, Wide};
pub use key_cache::KeyCache;
pub use level_queue::{LevelQueue, LevelQueueWriter, Taken};
pub use manifest::{Manifest, ManifestFile};
pub use number_array::{NumberArray, Placement, RankIndex, SavedArray};
pub use perfect_hash::{PerfectHash, PerfectHashBuilder, PerfectHashOptions, SharedHash};
pub use position_table::{POSITION_MAX, PositionTable};
pub use queue::RowQueue;
pub use recent::Recent;
pub use recent_table::RecentTable;
pub use reserved::{Reservation, ReservedVec};
pub use row_log::{LatestRows, RowFinder, RowLog, RowLogOptions, RowLogReader};
pub use row_set::{NewRows, PARTS_MAX, RowPools, RowSet, part_of};
pub use row_table::{RowId, RowTable, TableFull};
pub use run::{EndingRun, Run, RunFinder, RunOptions, RunPart, RunReader, RunWriter, splitters};
pub use run_parts::{Bounds, PartsInput, PartsReader, PartsWriter, RunParts};
pub use slot_file::SlotFile;
pub use stack::RowStack;
pub use tiers::take_smallest;
