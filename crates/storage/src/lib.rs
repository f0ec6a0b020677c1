//! Where rows are kept. Knows rows of bytes and the memory budget, not models, graphs or searches.

mod budgeted;
mod hash;
mod level_queue;
mod pages;
mod prefetch;
mod recent;
pub mod row_set;
pub mod row_table;

pub use budgeted::BudgetedVec;
pub use hash::hash_row;
pub use level_queue::{Chunk, LevelQueue, LevelQueueWriter};
pub use recent::Recent;
pub use row_set::{NewRows, RowSet, owner_of};
pub use row_table::{RowId, RowSpan, RowTable, RowWriter, TableFull};
