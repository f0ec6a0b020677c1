//! The search algorithms, one per file. A search knows graphs, rows and budgets; not models, files or terminals.
//!
//! | `--algorithm` | file |
//! |---|---|
//! | `ram`: all states | `ram.rs` |
//! | `disk`: all states, on disk | `disk.rs` |
//! | `ebfs`: all states, on disk | `ebfs.rs` |
//! | `mono`: all states, on disk | `mono.rs` |
//! | `local`: all states, on disk | `local.rs` |
//! | `part`: all states, on disk | `part.rs` |
//! | `cbfs`: all states, on disk | `cbfs.rs` |
//! | `dac`: an accepting cycle, on disk | `dac.rs` |
//! | `flash`: an accepting cycle, on disk | `flash.rs` |
//! | `ioemc`: an accepting cycle, on disk | `ioemc.rs` |
//! | `las`: an accepting cycle, on disk | `las.rs` |
//! | `map`: an accepting cycle, on disk | `map.rs` |
//! | `ndfs`: an accepting cycle | `ndfs.rs` |
//! | `scc`: an accepting cycle | `scc.rs` |
//! | `ddfs`: an accepting cycle, semi-external | `ddfs.rs` |
//! | `daac`: all accepting cycles, semi-external | `daac.rs` |
//! | `minimal`: a shortest lasso, semi-external | `minimal.rs` |
//! | `iddfs`: an accepting cycle, semi-external, on the fly | `iddfs.rs` |
//! | `proof`: that there is no accepting cycle, on disk; ours | `proof.rs` |
//!
//! `reference.rs` is the plain version that the others are tested against, and that writes out small graphs.

mod accepting_components;
pub mod cbfs;
mod checkpoint;
mod compact;
mod crew;
pub mod daac;
pub mod dac;
pub mod ddfs;
mod delayed;
pub mod disk;
pub mod ebfs;
mod enumerate;
mod expansion;
pub mod flash;
pub mod iddfs;
pub mod ioemc;
pub mod las;
mod lasso;
mod level_log;
pub mod local;
pub mod map;
pub mod minimal;
pub mod mono;
pub mod ndfs;
mod nested;
pub mod part;
mod path;
mod path_on_disk;
mod pool;
pub mod proof;
pub mod ram;
pub mod reference;
mod route;
pub mod scc;
mod sets;
mod tally;
mod team;
mod tree;
mod trim;
mod trimmed_graph;

#[cfg(test)]
mod external_tests;
#[cfg(test)]
mod liveness_tests;
#[cfg(test)]
mod semi_external_tests;

pub use compact::Compaction;
pub use enumerate::{Generation, HashPlacement, PROPERTY, forget_other_property};
pub use lasso::{Lasso, LassoSearch};

use lariat_base::{BudgetExceeded, Event, Limit, MemoryBudget, Observer, StopSignal};
use lariat_disk::Disk;
use lariat_graph::{GraphError, RowBuffer};
use lariat_storage::StorageError;
use std::fmt;

/// What surrounds a search.
pub struct Context<'c> {
    /// The memory it may use.
    pub budget: &'c MemoryBudget,
    /// When to stop.
    pub stop: &'c StopSignal,
    /// Who listens.
    pub observer: &'c dyn Observer,
    /// How many threads work.
    pub threads: usize,
    /// Where searches that are larger than memory keep their states; none for those that are not.
    pub disk: Option<&'c dyn Disk>,
    /// What a search that can be gone on with notes beside its own state: which check it belongs to.
    pub labels: &'c [(&'c str, String)],
}

impl Context<'_> {
    /// A named part of the work begins: what is read and written from now on belongs to it.
    pub fn begin_phase(&self, name: &'static str) {
        self.observer.event(&Event::Phase(name));
        if let Some(disk) = self.disk {
            disk.counters().begin_phase(name);
        }
    }
}

/// What a search for states looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A state in which this label of the graph holds.
    Label(u32),
    /// A state without successors that is not the error state.
    Deadlock,
    /// The error state.
    Error,
}

/// How far a search for states goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Until all goals are met, or everything was seen.
    UntilGoals,
    /// The same, and paths lead to nearest states that meet a goal, by all means.
    UntilNearest,
    /// Until everything was seen; goals that are met on the way are noted.
    Everything,
}

/// What a search for states found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// Distinct states stored.
    pub states: u64,
    /// Edges generated from stored states.
    pub transitions: u64,
    /// Non-empty BFS levels that were begun.
    pub levels: u64,
    /// States without successors, the error state left out.
    pub deadlocks: u64,
    /// Accepting states, if the graph has any.
    pub accepting: u64,
    /// Whether the error state was reached.
    pub error_reached: bool,
    /// For each goal a path to a state that meets it, initial state and goal included.
    pub paths: Vec<Option<RowBuffer>>,
    /// Why the search ended before it had seen everything; none if it saw everything or met all goals.
    pub limit: Option<Limit>,
    /// Whether every reachable state was expanded.
    pub complete: bool,
    /// Bytes that the stored states take.
    pub stored_bytes: u64,
}

/// Why a search has no result at all.
#[derive(Clone, Debug)]
pub enum SearchError {
    /// The graph contradicts itself.
    Graph(GraphError),
    /// The budget is too small even to begin.
    BudgetTooSmall,
    /// A file could not be read or written, or is damaged.
    Storage(StorageError),
    /// What is on disk belongs to a search of another kind.
    OtherSearch,
    /// The search needs a disk, and was given none.
    NoDisk,
    /// A thread of the search could not be started or broke down.
    Thread(String),
    /// A state was found to be stored twice.
    StateTwice,
    /// The disk was full, or its limit reached, when so many states were stored.
    OutOfDisk {
        /// How many.
        states: u64,
        /// What the disk says.
        error: StorageError,
    },
    /// Rows are wider than can be stored.
    RowsTooWide {
        /// Their bytes.
        got: usize,
        /// The most that there can be.
        most: usize,
    },
    /// More edges lead to a state than can be counted.
    TooManyEdges,
    /// A state that was stored was not found again when its path was rebuilt.
    PathLost,
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Graph(error) => write!(f, "{error}"),
            SearchError::BudgetTooSmall => write!(f, "the memory budget is too small to begin"),
            SearchError::Storage(error) => write!(f, "{error}"),
            SearchError::OtherSearch => write!(f, "what is on disk belongs to another algorithm"),
            SearchError::NoDisk => write!(f, "internal error: a search on disk was given no disk"),
            SearchError::Thread(why) => write!(f, "a worker thread failed: {why}"),
            SearchError::StateTwice => write!(f, "internal error: a state was stored twice"),
            SearchError::OutOfDisk { states, error } => {
                write!(f, "{error}; {states} pairs of states were stored by then")
            }
            SearchError::RowsTooWide { got, most } => {
                write!(f, "rows of {got} bytes cannot be stored, {most} is the most")
            }
            SearchError::TooManyEdges => {
                write!(f, "more than two billion edges lead to one state, which dac cannot count")
            }
            SearchError::PathLost => write!(f, "internal error: a stored state was not found again"),
        }
    }
}

impl std::error::Error for SearchError {}

impl From<StorageError> for SearchError {
    fn from(error: StorageError) -> Self {
        SearchError::Storage(error)
    }
}

impl From<GraphError> for SearchError {
    fn from(error: GraphError) -> Self {
        SearchError::Graph(error)
    }
}

impl From<BudgetExceeded> for SearchError {
    fn from(error: BudgetExceeded) -> Self {
        SearchError::Storage(error.into())
    }
}
