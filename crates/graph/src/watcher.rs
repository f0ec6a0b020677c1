//! Watchers: what runs beside a graph and judges its infinite paths.
//!
//! A watcher is a Büchi automaton that reads the states of a path, one move for each step of the graph. Where it stands is its *part*
//! of a product's row. What it may do next depends on its part and on the state that the graph leaves. A path is *accepted* where the
//! watcher can move along with it for ever and come through accepting parts again and again; for a property that means violated.
//!
//! [`crate::AutomatonWatcher`] is a watcher made of an explicit automaton. A property process of a model is another.

use crate::{GraphError, RowBuffer};
use lariat_ltl::Strength;

/// A Büchi automaton that watches a graph.
pub trait Watcher: Sync {
    /// The width of every part; at least 1.
    fn part_bytes(&self) -> usize;

    /// Appends the initial parts.
    fn initial(&self, out: &mut RowBuffer);

    /// Whether paths that come here again and again are accepted.
    fn is_accepting(&self, part: &[u8]) -> bool;

    /// Whether movers want to know the graph's labels.
    fn reads_labels(&self) -> bool {
        false
    }

    /// How much of Büchi acceptance it needs; `Strong` is always right.
    fn strength(&self) -> Strength {
        Strength::Strong
    }

    /// Where the watcher is, in words.
    fn describe(&self, part: &[u8]) -> String;

    /// A worker that makes moves; each thread has its own, since it carries scratch space.
    fn mover(&self) -> Box<dyn Mover + '_>;
}

/// Makes the moves of a watcher.
pub trait Mover: Send {
    /// Looks at a state that the graph leaves, which is not the error state. `labels` are its labels if the watcher reads them.
    fn look(&mut self, row: &[u8], labels: u64);

    /// Appends the parts that a watcher in `part` can move to, judged by the state looked at last: one for each way, always in the
    /// same order.
    fn moves(&mut self, part: &[u8], out: &mut RowBuffer) -> Result<(), GraphError>;
}
