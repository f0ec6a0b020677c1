//! Sorted runs: rows in increasing order in a file, each once, with or without a value.
//!
//! A [`RunWriter`] takes rows in order and makes a [`Run`]; a [`RunReader`] gives them back as a [`crate::stream::RowStream`], batch by batch,
//! and can skip what nobody wants. Rows are compressed in *groups* of some thousand, each on its own, several to a block: a group is what is
//! decoded together, a block is what is read and checked together. The index, one key a block, stays in memory.
//!
//! | what | file |
//! |---|---|
//! | keys of a group | `repeats.rs`, `literals.rs` |
//! | values of a group | `values.rs` |
//! | a group in a block | `group.rs` |
//! | which block has a key | `index.rs` |
//!
//! # Format
//! `docs/formats.md`, runs.

mod find;
mod group;
mod index;
mod literals;
mod reader;
mod repeats;
mod values;
mod writer;

pub use find::RunFinder;
pub use index::{Run, RunPart, splitters};
pub use literals::Literal;
pub(crate) use literals::SLACK_BYTES;
pub use reader::RunReader;
pub use repeats::GROUP_ROWS_MAX;
pub use writer::{EndingRun, RunOptions, RunWriter};
