//! LTL formulas, Büchi automata, and the way from one to the other. Knows neither models nor files.
//!
//! | step | module |
//! |---|---|
//! | formulas as shared nodes | [`formula`] |
//! | text to formulas: tokens, model expressions, operators | [`parse`] |
//! | formulas to text | [`print`](mod@print) |
//! | automata | [`automaton`] |
//! | negation normal form and rewriting | `simplify` |
//! | formulas to generalised automata | `translate` |
//! | fewer states by simulation | `simulation` |
//! | one mark, on states | `degeneralise` |
//! | smallest deterministic automata of obligations | `obligation` |
//! | all of it | `pipeline` |
//! | words, to test all of it | [`word`] |

pub mod automaton;
mod bdd;
mod cubes;
mod degeneralise;
mod expression;
pub mod formula;
mod obligation;
mod operands;
mod operator;
pub mod parse;
mod pipeline;
pub mod print;
mod simplify;
mod simulation;
mod tgba;
mod token;
mod translate;
pub mod word;

pub use automaton::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label, Strength};
pub use formula::{Formula, Formulas, Node};
pub use operands::MAX_DEPTH;
pub use parse::{Bare, FormulaError, parse};
pub use pipeline::buchi;
pub use print::print;
pub use translate::TooLarge;
pub use word::Lasso;
