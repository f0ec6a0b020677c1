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

pub use lariat_base::rows::{Edges, RowBuffer, Rows};

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
}

/// Makes successors and labels for batches of rows.
pub trait Expander: Send {
    /// Appends the successors of every row to `out`, which must be empty. Parallel edges and self-loops are kept, and
    /// the order of a row's edges is always the same, so that an edge is named by its source and its place.
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError>;

    /// Appends for each row the set of the graph's labels that hold in it, as bits.
    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        out.extend(std::iter::repeat_n(0, rows.len()));
        Ok(())
    }
}

/// A graph that contradicts itself: always a bug in Lariat, never a property of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// A value outside the range by which rows are packed: going on would lose states.
    RangeBroken {
        /// The cell, as expressions write it.
        cell: String,
        /// The value.
        value: i32,
        /// The range.
        range: String,
    },
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::RangeBroken { cell, value, range } => {
                write!(f, "internal error: {cell} became {value}, outside its inferred range {range}")
            }
        }
    }
}

impl std::error::Error for GraphError {}
