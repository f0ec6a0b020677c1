//! Where rows are kept. Knows rows of bytes and the memory budget, not models, graphs or searches.

mod budgeted;
mod hash;
pub mod row_table;

pub use budgeted::BudgetedVec;
pub use hash::hash_row;
pub use row_table::{RowId, RowSpan, RowTable, RowWriter, TableFull};
