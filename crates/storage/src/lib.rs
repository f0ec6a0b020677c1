//! Where rows are kept. Knows rows of bytes and the memory budget, not models, graphs or searches.
//!
//! In memory: [`row_table`], the visited set of searches that fit. On disk: [`run`]s of sorted rows, [`stream`]s and set algebra on them,
//! which are made of checksummed [`block_file`]s.

pub mod block_file;
mod budgeted;
mod error;
mod hash;
pub mod key;
pub mod manifest;
mod reserved;
pub mod row_table;
pub mod run;
pub mod sort;
pub mod stream;

pub use budgeted::BudgetedVec;
pub use error::StorageError;
pub use hash::hash_row;
pub use key::{Key, Value, Wide};
pub use manifest::{Manifest, ManifestFile};
pub use reserved::{Reservation, ReservedVec};
pub use row_table::{RowId, RowSpan, RowTable, RowWriter, TableFull};
pub use run::{Run, RunOptions, RunReader, RunWriter};
