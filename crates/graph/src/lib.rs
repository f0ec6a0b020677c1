//! The graph interface that every search is written against.
//!
//! A graph is implicit: it has initial states and can tell the successors of any state. States are *rows*: packed bytes of
//! one width for the whole graph. Successors are made for a *batch* of rows at a time and written into buffers that the
//! caller owns, which suits sorting, compiled code and disks. Nothing here knows where a graph comes from.
//!
//! ```
//! use lariat_graph::{Edges, Expander, Graph, GraphError, RowBuffer, Rows};
//!
//! /// 0 -> 1 -> 2 -> 0, and 1 -> 1.
//! struct Triangle;
//!
//! impl Graph for Triangle {
//!     fn row_bytes(&self) -> usize { 1 }
//!     fn initial(&self, out: &mut RowBuffer) { out.push(&[0]); }
//!     fn expander(&self) -> Box<dyn Expander + '_> { Box::new(Triangle) }
//! }
//!
//! impl Expander for Triangle {
//!     fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError> {
//!         for row in from.iter() {
//!             out.push(&[(row[0] + 1) % 3]);
//!             if row[0] == 1 { out.push(&[1]); }
//!             out.end_source();
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let mut rows = RowBuffer::new(1);
//! Triangle.initial(&mut rows);
//! let mut edges = Edges::new(1);
//! let mut expander = Triangle.expander();
//! expander.expand(rows.as_rows(), &mut edges).unwrap();
//! assert_eq!(edges.targets_of(0).iter().collect::<Vec<_>>(), [&[1]]);
//! ```

//!
//! | what | file |
//! |---|---|
//! | automata that judge the infinite paths of a graph | `watcher.rs`, `automaton.rs` |
//! | a graph with a watcher beside it | `product.rs` |
//! | whether a watcher accepts a path | `accepts.rs` |
//! | components of small graphs | `components.rs` |

mod accepts;
mod automaton;
mod components;
mod product;
mod watcher;

pub use accepts::accepts;
pub use automaton::{AutomatonWatcher, strength_of, strength_of_automaton};
pub use components::{Components, components};
pub use lariat_base::rows::{Edges, RowBuffer, Rows};
pub use lariat_ltl::Strength;
pub use product::{DeadlockRuns, Product};
pub use watcher::{Mover, Watcher};

use std::fmt;

/// An implicit graph, shared by all threads of a search.
pub trait Graph: Sync {
    /// The width of every row.
    fn row_bytes(&self) -> usize;

    /// Appends the initial states.
    fn initial(&self, out: &mut RowBuffer);

    /// A worker that makes successors; each thread has its own, since it carries scratch space.
    fn expander(&self) -> Box<dyn Expander + '_>;

    /// Whether the row is the error state, which has no successors and is not a deadlock.
    fn is_error(&self, _row: &[u8]) -> bool {
        false
    }

    /// Whether it has accepting states, so that it is worth asking for them.
    fn has_acceptance(&self) -> bool {
        false
    }

    /// Whether infinite paths that come through the row again and again are accepted.
    fn is_accepting(&self, _row: &[u8]) -> bool {
        false
    }
}

/// Makes successors and labels for batches of rows.
pub trait Expander: Send {
    /// Appends the successors of every row to `out`, which must be empty; where `out` is bounded, possibly of the first rows only, of one
    /// at least. How many it were is the number of sources in `out`. Parallel edges and self-loops are kept, and
    /// the order of a row's edges is always the same, so that an edge is named by its source and its place. It is an error if `out` overflows.
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError>;

    /// Appends for each row the set of the graph's labels that hold in it, as bits.
    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        out.extend(std::iter::repeat_n(0, rows.len()));
        Ok(())
    }
}

/// Why a graph cannot be explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// Something that a property needs has no value in a reachable state, so that there is no answer.
    NoValue {
        /// What it is: a proposition, or a part of a property process.
        what: String,
        /// Why it has none.
        why: String,
    },
    /// A value outside the range by which rows are packed: going on would lose states. A bug in Lariat, never the model's fault.
    RangeBroken {
        /// The cell, as expressions write it.
        cell: String,
        /// The value.
        value: i32,
        /// The range.
        range: String,
    },
    /// The successors of one state take more than the most bytes that were allowed.
    TooManySuccessors {
        /// The most.
        most_bytes: usize,
    },
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::NoValue { what, why } => write!(f, "{what} has no value in a reachable state: {why}"),
            GraphError::RangeBroken { cell, value, range } => {
                write!(f, "internal error: {cell} became {value}, outside its inferred range {range}")
            }
            GraphError::TooManySuccessors { most_bytes } => {
                let most = lariat_base::size::format_size(*most_bytes as u64);
                write!(
                    f,
                    "the successors of one state take more than {most}, the share of memory for them; give more memory"
                )
            }
        }
    }
}

impl std::error::Error for GraphError {}
