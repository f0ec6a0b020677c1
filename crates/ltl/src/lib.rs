//! LTL formulas, Büchi automata, and the way from one to the other. Knows neither models nor files.
//!
//! | step | module |
//! |---|---|
//! | formulas as shared nodes | [`formula`] |
//! | automata | [`automaton`] |

pub mod automaton;
pub mod formula;

pub use automaton::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label, Strength};
pub use formula::{Formula, Formulas, Node};
