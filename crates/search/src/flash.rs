//! Nested depth-first search with the visited states in hash tables on disk, each looked up at once: for disks whose random reads are cheap.
//!
//! Both searches of `nested.rs` share one set of states. A state has an *address*, and the second search marks states by a bit for each address, in memory.
//! The strategies differ in where a state is on disk, and how it gets there.
//!
//! | strategy | file | on disk | in memory | a new state costs |
//! |---|---|---|---|---|
//! | mapping | `mapped.rs` | a hash table | one bit a slot: whether it is occupied | a random write |
//! | merging | `mapped.rs` | the same | the same, and a buffer of new states | its share of a pass over the table |
//! | compressing | `compressed.rs` | states as they came | for each its position, by its hash | its share of a sequential write |
//! | padding | `flushed.rs` | a hash table for each time that the buffer was full, one behind the other | bits, and the buffer | a sequential write |
//! | slicing | `flushed.rs` | these tables, slot by slot beside each other | the same | its share of a pass over all tables |
//!
//! # Paper
//! Edelkamp, Sulewski, Barnat, Brim, Simecek, *Flash memory efficient LTL model checking* (2011), section 4.
//!
//! | paper | here |
//! |---|---|
//! | H_b on the SSD, h_b(s) | a [`lariat_storage::SlotFile`], the slot to which the hash leads; linear probing |
//! | H_f in RAM | [`buffer::Buffer`] |
//! | *occupied* | `occupied` |
//! | the bits of the two searches | a state is in the set, or not; `marked` |
//! | i, the number of flushes; r, how many there can be | `n_tables`; slices are moved apart at each flush, so that r grows with i |
//!
//! *Completed.* The papers' tables have a size m that is known before. Here a mapped table that is more than 70 % full is copied to one of twice the size.
//! The buffer is chained, and laid out as a table with linear probing when it is written.
//!
//! *Added.* Copies of pages that were read lately stay in a part of the memory, for all strategies: where everything fits, lookups read nothing. Writes are as published.
//!
//! # Invariants
//! 1. A slot that has a state keeps it, so what was published stays valid while tables grow: later states are in slots that are not occupied in the
//!    bits that were published.
//!
//! # Cost
//! As in the table; lookups take up to one read, with padding and slicing up to one for each flush.

mod buffer;
mod compressed;
mod flushed;
mod mapped;

use crate::nested::{Nested, Visited};
use crate::{Context, LassoSearch, SearchError};
use compressed::Compressed;
use flushed::Flushed;
use lariat_graph::Graph;
use lariat_storage::{Manifest, hash_row};
use mapped::Mapped;

const NAME: &str = "flash";

/// Where visited states are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// In one hash table.
    Mapping,
    /// In one hash table, and before that in a buffer.
    Merging,
    /// In a file as they came, their positions in memory.
    #[default]
    Compressing,
    /// In tables one behind the other.
    Padding,
    /// In tables slot by slot beside each other.
    Slicing,
}

impl Strategy {
    fn name(self) -> &'static str {
        match self {
            Strategy::Mapping => "mapping",
            Strategy::Merging => "merging",
            Strategy::Compressing => "compressing",
            Strategy::Padding => "padding",
            Strategy::Slicing => "slicing",
        }
    }
}

/// What each part may use.
pub(crate) struct Shares {
    pub(crate) stack_bytes: usize,
    /// The buffer of new states, or the positions of all.
    pub(crate) table_bytes: usize,
    /// Copies of pages of the table, or of the states, so that what was read lately is not read again.
    pub(crate) copies_bytes: usize,
    /// Slots that a mapped table has at first.
    pub(crate) slots_min: u64,
    /// States after which compressing publishes, at least.
    pub(crate) states_to_publish: u64,
}

impl Shares {
    fn of(context: &Context) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        Self {
            stack_bytes: memory / 6,
            table_bytes: memory / 3,
            copies_bytes: memory / 4,
            slots_min: 1 << 16,
            states_to_publish: 1 << 18,
        }
    }
}

/// Looks for an accepting cycle; `rho` is the fraction of the stacks' memory that goes to disk at once.
pub fn find_lasso(
    graph: &dyn Graph,
    strategy: Strategy,
    rho: f64,
    context: &Context,
) -> Result<LassoSearch, SearchError> {
    find_lasso_within(graph, strategy, rho, context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn find_lasso_within(
    graph: &dyn Graph,
    strategy: Strategy,
    rho: f64,
    context: &Context,
    shares: Option<Shares>,
) -> Result<LassoSearch, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let shares = shares.unwrap_or_else(|| Shares::of(context));
    let (width, budget) = (graph.row_bytes(), context.budget);
    let states: Box<dyn States + '_> = match strategy {
        Strategy::Mapping => Box::new(Mapped::new(disk, width, &shares, None, budget)?),
        Strategy::Merging => Box::new(Mapped::new(disk, width, &shares, Some(shares.table_bytes), budget)?),
        Strategy::Compressing => Box::new(Compressed::new(disk, width, &shares, budget)?),
        Strategy::Padding => Box::new(Flushed::new(disk, width, &shares, false, budget)?),
        Strategy::Slicing => Box::new(Flushed::new(disk, width, &shares, true, budget)?),
    };
    let visited = AtOnce { states, strategy: strategy.name() };
    Nested::new(NAME, graph, context, disk, visited, (shares.stack_bytes, rho)).run()
}

/// A set of states on disk in which the second search makes marks.
trait States {
    /// Whether a state is new; it is in the set from now on.
    fn insert(&mut self, row: &[u8], hash: u64) -> Result<bool, SearchError>;

    /// Whether a state is in the set and had no mark; it has one from now on. A state that the second search meets before the first does need not be
    /// entered: it comes behind a state on the stack, from which a way that the first search went leads to the seed.
    fn mark(&mut self, row: &[u8], hash: u64) -> Result<bool, SearchError>;

    fn len(&self) -> u64;

    /// Whether so much was written that it is worth publishing; false when it is asked again.
    fn has_spilled(&mut self) -> bool;

    fn note(&mut self, manifest: &mut Manifest) -> Result<(), SearchError>;

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), SearchError>;
}

/// What `nested.rs` asks for, by a strategy.
struct AtOnce<'s> {
    states: Box<dyn States + 's>,
    strategy: &'static str,
}

impl Visited for AtOnce<'_> {
    fn first(&mut self, row: &[u8]) -> Result<bool, SearchError> {
        self.states.insert(row, hash_row(row))
    }

    fn second(&mut self, row: &[u8]) -> Result<bool, SearchError> {
        self.states.mark(row, hash_row(row))
    }

    fn has_spilled(&mut self) -> bool {
        self.states.has_spilled()
    }

    fn note(&mut self, manifest: &mut Manifest) -> Result<(), SearchError> {
        manifest.set_text("strategy", self.strategy);
        self.states.note(manifest)
    }

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), SearchError> {
        if manifest.text("strategy")? != self.strategy {
            return Err(SearchError::OtherSearch);
        }
        self.states.take_up(manifest)
    }

    fn len(&self) -> u64 {
        self.states.len()
    }
}
