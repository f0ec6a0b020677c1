//! Compiled models: the model form as machine code.
//!
//! [`Compiled`] is the same graph as the interpreter it wraps, edge by edge and in the same order; it only makes successors and labels
//! faster. What it cannot compile it refuses with [`Unsupported`], and the interpreter is used.
//!
//! A narrow row is read into 64-bit words once. Every process jumps to the code of its location; every transition there computes its
//! guard and its effects on values in registers, and stores the words of the new row. Memory comes into play only where an
//! index that is not known beforehand reaches into an array that is larger than a word. Of a wide row every move makes a copy, and
//! changes that.
//!
//! | question | file |
//! |---|---|
//! | which code there is: moves by location, pairs, functions | `plan.rs`, `groups.rs` |
//! | expressions with what never changes put in place | `simplify.rs` |
//! | making machine code, and its life | `code.rs`, `threads.rs` |
//! | a function: rows in, rows out | `function.rs` |
//! | moves: dispatch, guards, rendezvous | `moves.rs` |
//! | what a move does | `effects.rs` |
//! | moves of all processes at once | `together.rs` |
//! | the state in registers or in memory: reading and writing cells | `state.rs`, `copy.rs` |
//! | array elements whose index is not known | `element.rs` |
//! | expressions | `expression.rs` |
//! | labels | `labels.rs` |
//! | the graph | `compiled.rs` |
//! | the property process | `property.rs` |

mod code;
mod compiled;
mod copy;
mod effects;
mod element;
mod expression;
mod function;
mod groups;
mod labels;
mod moves;
mod plan;
mod property;
mod simplify;
mod state;
mod threads;
mod together;

pub use compiled::Compiled;
pub use property::CompiledProperty;

use std::fmt;

/// Why a model is not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// There is no code generator for this machine.
    Machine(String),
    /// The model has something that is left to the interpreter.
    Model(&'static str),
    /// The code generator refused; a bug.
    Generator(String),
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Machine(why) => write!(f, "for this machine: {why}"),
            Unsupported::Model(what) => write!(f, "{what}"),
            Unsupported::Generator(why) => write!(f, "it: the code generator failed: {why}"),
        }
    }
}

impl std::error::Error for Unsupported {}
