//! LTL formulas, Büchi automata, and the way from one to the other. Knows neither models nor files.
//!
//! | step | module |
//! |---|---|
//! | formulas as shared nodes | [`formula`] |
//! | text to formulas: tokens, model expressions, operators | [`parse`] |
//! | formulas to text | [`print`](mod@print) |
//! | automata | [`automaton`] |
//! | words, to test all of it | [`word`] |

pub mod automaton;
mod expression;
pub mod formula;
mod operands;
mod operator;
pub mod parse;
pub mod print;
mod token;
pub mod word;

pub use automaton::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label, Strength};
pub use formula::{Formula, Formulas, Node};
pub use operands::MAX_DEPTH;
pub use parse::{Bare, FormulaError, parse};
pub use print::print;
pub use word::Lasso;
