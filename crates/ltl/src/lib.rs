//! LTL formulas, Büchi automata, and the way from one to the other. Knows neither models nor files.
//!
//! | step | module |
//! |---|---|
//! | formulas as shared nodes | [`formula`] |
//! | automata | [`automaton`] |
//! | negation normal form and rewriting | `simplify` |
//! | formulas to generalised automata | `translate` |
//! | fewer states by simulation | `simulation` |
//! | one mark, on states | `degeneralise` |
//! | smallest deterministic automata of obligations | `obligation` |
//! | all of it | `pipeline` |

pub mod automaton;
mod bdd;
mod cubes;
mod degeneralise;
pub mod formula;
mod obligation;
mod pipeline;
mod simplify;
mod simulation;
mod tgba;
mod translate;

pub use automaton::{BuchiAutomaton, BuchiEdge, BuchiState, Cube, Label, Strength};
pub use formula::{Formula, Formulas, Node};
pub use pipeline::buchi;
pub use translate::TooLarge;
