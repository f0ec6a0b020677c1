//! What the comparison programs share: running a program and measuring it, the models and their known answers,
//! Lariat, SPIN, and tables.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "these programs exist to print their tables")]
#![allow(clippy::disallowed_methods, reason = "programs for developers read files and the environment")]

pub mod bars;
pub mod child;
pub mod control_group;
pub mod data;
pub mod instances;
pub mod lariat;
pub mod select;
pub mod spin;
pub mod table;
pub mod temporary;
