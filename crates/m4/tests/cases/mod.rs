//! The table of inputs with the outputs of GNU m4.

mod core;
mod number;
mod pattern;
mod scan;
mod state;

/// All cases: input, and expected output.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let tables = [core::CASES, scan::CASES, state::CASES, number::CASES, pattern::CASES];
    tables.into_iter().flatten().copied()
}
