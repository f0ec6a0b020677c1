//! LTL formulas, Büchi automata, and the way from one to the other. Knows neither models nor files.
//!
//! | step | module |
//! |---|---|
//! | formulas as shared nodes | [`formula`] |
//! | text to formulas: tokens, model expressions, operators | [`parse`](mod@parse) |
//! | formulas to text | [`print`](mod@print) |
//! | property files of DiVinE | [`ltl_file`] |
//! | negation normal form and rewriting | `simplify` |
//! | formulas to generalised automata | `translate` |
//! | fewer states by simulation | `simulation` |
//! | one mark, on states | `degeneralise` |
//! | smallest deterministic automata of obligations | `obligation` |
//! | all of it | `pipeline` |
//! | automata | [`automaton`] |
//! | Boolean formulas to labels, labels to text | [`boolean`] |
//! | automata as text (Hanoi format, never claims, Graphviz, plain) | [`hoa`], [`never`](mod@never), [`dot`], [`text`] |
//! | text to automata: tokens, header, body, acceptance | [`hoa_read`], [`never_read`] |
//! | words, to test all of it | [`word`] |

pub mod automaton;
mod bdd;
pub mod boolean;
mod cubes;
mod degeneralise;
pub mod dot;
mod expression;
pub mod formula;
pub mod hoa;
mod hoa_body;
mod hoa_degeneralise;
pub mod hoa_read;
mod hoa_token;
pub mod ltl_file;
pub mod never;
pub mod never_read;
mod never_scan;
mod obligation;
mod operands;
mod operator;
pub mod parse;
mod pipeline;
pub mod position;
pub mod print;
mod simplify;
mod simulation;
#[cfg(test)]
mod testing;
pub mod text;
mod tgba;
mod token;
mod translate;
pub mod word;

pub use automaton::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label, Strength};
pub use dot::write_dot;
pub use formula::{Formula, Formulas, Node};
pub use hoa::write_hoa;
pub use hoa_read::read_hoa;
pub use ltl_file::{LtlFileError, LtlProperty, read_ltl_file};
pub use never::write_never;
pub use never_read::read_never;
pub use operands::MAX_DEPTH;
pub use parse::{Bare, FormulaError, parse};
pub use pipeline::{MEMORY_BYTES_MAX, buchi, buchi_within};
pub use position::ReadError;
pub use print::print;
pub use text::write_text;
pub use translate::TooLarge;
pub use word::Lasso;
