//! Executes the model form: states as packed rows, successors by interpretation, steps by name.
//!
//! [`Interpreter`] implements [`lariat_graph::Graph`] for a model. It follows the meaning of the model form to the letter and is the second
//! opinion that replays every counterexample.
//!
//! | question | file |
//! |---|---|
//! | which moves are possible, what a `commit` location does | `moves.rs` |
//! | what a move does to the state | `effects.rs` |
//! | how a state becomes a row | `layout.rs` |
//! | labels: invariants, goals, assertions | `labels.rs` |
//! | steps and states for people; replaying a path | `trace.rs` |
//! | infinite runs for people; whether a property forbids one | `lasso.rs` |
//! | the property process as an automaton beside the system | `property.rs` |

mod effects;
mod interpreter;
mod labels;
mod lasso;
mod layout;
mod moves;
mod property;
mod trace;

pub use interpreter::{Interpreter, Step};
pub use labels::Label;
pub use lasso::Run;
pub use layout::{Field, Layout};
pub use property::{PropertyError, PropertyProcess};
pub use trace::ReplayError;
