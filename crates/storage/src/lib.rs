//! Where rows are kept. Knows rows of bytes and the memory budget, not models, graphs or searches.
//!
//! In memory: [`row_set`] and [`row_table`], the visited sets of searches that fit. On disk: [`run`]s of sorted rows, [`stream`]s and set algebra on them,
//! which are made of checksummed [`block_file`]s.

pub mod block_file;
mod budgeted;
mod error;
mod filter;
mod hash;
pub mod key;
mod key_cache;
mod level_queue;
pub mod manifest;
mod pages;
mod prefetch;
mod recent;
mod reserved;
pub mod row_set;
pub mod row_table;
pub mod run;
pub mod sort;
pub mod stream;

pub use budgeted::BudgetedVec;
pub use error::StorageError;
pub use filter::RowFilter;
pub use hash::hash_row;
pub use key::{Key, Value, Wide};
pub use key_cache::KeyCache;
pub use level_queue::{Chunk, LevelQueue, LevelQueueWriter};
pub use manifest::{Manifest, ManifestFile};
pub use recent::Recent;
pub use reserved::{Reservation, ReservedVec};
pub use row_set::{NewRows, RowSet, owner_of};
pub use row_table::{RowId, RowSpan, RowTable, RowWriter, TableFull};
pub use run::{Run, RunOptions, RunReader, RunWriter};
