//! Accepting cycles by maximal accepting predecessors, on disk: the largest accepting state that leads to a state is sent along edges until nothing
//! changes. An accepting state that is sent to itself lies on a cycle, and the search ends at once.
//!
//! Values travel with states: through the candidates, the queue and the sets on disk. Rows are numbers ([`lariat_storage::Key`]), and that is the order of
//! states by which "largest" is meant. A state is expanded again whenever a larger value reaches it.
//!
//! # Paper
//! Barnat, Brim, Simecek, Weber, *Revisiting resistance speeds up I/O-efficient LTL model checking* (2008), after Brim, Cerna, Moravec, Simsa (2004).
//!
//! | paper | here |
//! |---|---|
//! | map(v) | the value of v, the maximum over all `tiers`; [`none`] if no accepting state leads to v |
//! | a hit: map(v) = v | found by whoever sends the value, before it is stored |
//! | *DeleteAccepting*: values stop to count as accepting | [`Search::begin_next`] |
//! | candidate set that grows over several levels | a round: states that were never met are expanded without a merge |
//! | revisits | a state that got a larger value meanwhile is expanded again after the next merge |
//!
//! *Completed.* When nothing changes and nothing was hit, no state that is somebody's value is on a cycle, nor is one that has no value. So the next iteration
//! begins with the other accepting states alone: they count, and nothing else does. If there are none, there is no accepting cycle.
//! The row whose bytes are all zero cannot be told from "no value", so whether it is on a cycle is asked directly, once.
//!
//! # Invariants
//! 1. Where a value is larger than what is known of its state, the state is open with that value, or waits as a candidate.
//! 2. In the first iteration all accepting states count, afterwards those of `counting`; these are met from the beginning, so what is new does not.
//!
//! # Cost
//! An iteration expands a state as often as its value grows. There are few iterations if larger states come later on paths, and in the worst case as many as
//! accepting states. On disk every state with its value, once or twice.

mod merge;
mod round;

use crate::expansion::Expansion;
use crate::pool::OpenSet;
use crate::sets::{PUBLISH_AFTER, READ_BUFFERS, Sets};
use crate::tally::{Tally, lock};
use crate::{Context, Extent, LassoSearch, SearchError, checkpoint, route};
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Graph, RowBuffer};
use lariat_storage::{Key, PartsWriter, ReservedVec, RowLogOptions, RunOptions, RunParts, SortOptions, for_row_width};
use std::sync::Mutex;
use std::time::Duration;

const NAME: &str = "map";

/// Looks for an accepting cycle.
pub fn find_lasso(graph: &dyn Graph, context: &Context) -> Result<LassoSearch, SearchError> {
    find_lasso_within(graph, context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn find_lasso_within(
    graph: &dyn Graph,
    context: &Context,
    shares: Option<Shares>,
) -> Result<LassoSearch, SearchError> {
    let tally = Tally::new(graph, &[], Extent::Everything, context);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let hit = for_row_width!(graph.row_bytes(), K => Search::<K>::new(&tally, disk, shares).run())?;
    let mut found = LassoSearch::of(&tally);
    found.stored_bytes = disk.usage().peak;
    if let Some(accepting) = hit {
        found.complete = false;
        match route::lasso_through(graph, &accepting, context)? {
            Ok(lasso) => (found.lasso, found.limit) = (Some(lasso), None),
            Err(limit) => found.limit = Some(limit),
        }
    }
    Ok(found)
}

/// What each part may use.
pub(crate) struct Shares {
    pub(crate) filter_bytes: u64,
    /// For each thread: candidates that come again soon, those that wait for a merge, and states that were expanded without one.
    pub(crate) cache_bytes: usize,
    pub(crate) sort: SortOptions,
    pub(crate) fresh: SortOptions,
    pub(crate) queue: RowLogOptions,
    pub(crate) run: RunOptions,
    pub(crate) batch_rows: usize,
    pub(crate) tiers_max: usize,
    pub(crate) rows_to_share: u64,
    /// A merge is due when so many states were expanded since the last one, and as many as all before.
    pub(crate) checkpoint_rows: u64,
    pub(crate) publish_after: Duration,
}

impl Shares {
    fn of<K: Key>(context: &Context, row_bytes: usize) -> Self {
        const TIERS_MAX: usize = 8;
        const RUNS_MAX: usize = 6;
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        let threads = context.threads.max(1);
        let readers = TIERS_MAX + 3 + threads * RUNS_MAX;
        let value_bytes = value_bytes::<K>(row_bytes);
        let run = RunOptions::within(row_bytes, value_bytes, memory * 3 / 8 / threads / readers);
        let sort = |part| SortOptions {
            run,
            runs_max: RUNS_MAX,
            ..SortOptions::within::<K, K>(row_bytes, value_bytes, memory / part / threads)
        };
        Self {
            filter_bytes: memory as u64 / 5,
            cache_bytes: (memory / 32 / threads).min(512 << 10),
            sort: sort(4),
            fresh: sort(8),
            queue: RowLogOptions::within(row_bytes + value_bytes, memory / 32, FileKind::Queue),
            run,
            batch_rows: (memory / 64 / threads / readers / size_of::<K>()).clamp(16, 1024),
            tiers_max: TIERS_MAX,
            rows_to_share: 1 << 15,
            checkpoint_rows: 1 << 21,
            publish_after: PUBLISH_AFTER,
        }
    }
}

/// The value of a state that no accepting state leads to.
fn none<K: Key>() -> K {
    K::default()
}

/// The bytes of a value: those of a row, or of a whole number where rows are numbers.
pub(crate) fn value_bytes<K: Key>(row_bytes: usize) -> usize {
    if K::default().to_word().is_some() { K::BYTES } else { row_bytes }
}

struct Search<'s, K: Key> {
    tally: &'s Tally<'s>,
    sets: Sets<'s, K>,
    shares: Shares,
    /// Behind a mutex so that threads can share the rest; nobody else wants it.
    expansion: Mutex<Expansion<'s>>,
    iteration: u64,
    tiers: Vec<RunParts<'s, K>>,
    /// The mark of a set says whether its accepting states count.
    open: Vec<OpenSet<'s, K>>,
    /// The accepting states that count, from the second iteration on: one set.
    counting: Vec<RunParts<'s, K>>,
    n_expanded: u64,
    hit: Mutex<Option<Vec<u8>>>,
}

impl<'s, K: Key> Search<'s, K> {
    fn new(tally: &'s Tally<'s>, disk: &'s dyn Disk, shares: Option<Shares>) -> Self {
        let shares = shares.unwrap_or_else(|| Shares::of::<K>(tally.context, tally.graph.row_bytes()));
        let writer = PartsWriter {
            disk,
            budget: tally.context.budget,
            threads: tally.context.threads.max(1),
            options: shares.run,
            batch_rows: shares.batch_rows,
            buffers: READ_BUFFERS,
            rows_to_share: shares.rows_to_share,
        };
        Self {
            tally,
            sets: Sets::new(writer, tally.graph, K::max, shares.publish_after),
            shares,
            expansion: Mutex::new(Expansion::new(tally)),
            iteration: 1,
            tiers: Vec::new(),
            open: Vec::new(),
            counting: Vec::new(),
            n_expanded: 0,
            hit: Mutex::new(None),
        }
    }

    /// An accepting state on a cycle, if there is one and the search was not stopped.
    fn run(mut self) -> Result<Option<Vec<u8>>, SearchError> {
        let searched = self.search();
        self.tally.memory_is_a_limit(searched)?;
        Ok(lock(&self.hit).take())
    }

    fn search(&mut self) -> Result<(), SearchError> {
        if !self.take_up()? {
            self.begin()?;
        }
        loop {
            self.propagate()?;
            if self.tally.is_stopped() || !self.begin_next()? {
                return Ok(());
            }
        }
    }

    /// Expands and merges until no value grows any more, or the search is stopped.
    fn propagate(&mut self) -> Result<(), SearchError> {
        let filter = self.filter()?;
        while !self.open.is_empty() && !self.tally.is_over() {
            self.tally.context.begin_phase("propagate");
            let round = self.round(&filter)?;
            if lock(&self.hit).is_some() {
                break;
            }
            self.tally.context.begin_phase("merge");
            self.merge(round)?;
            if self.sets.is_publishing_due() || self.tally.is_over() {
                self.publish()?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), SearchError> {
        let mut initial = RowBuffer::new(self.tally.graph.row_bytes());
        self.tally.graph.initial(&mut initial);
        let (mut keys, mut values) = (ReservedVec::new(self.sets.budget()), ReservedVec::new(self.sets.budget()));
        initial.as_rows().iter().try_for_each(|row| keys.push(K::from_row(row)))?;
        values.resize(keys.len(), none())?;
        let initial = self.sets.write_rows(keys, values)?;
        self.tally.add_states(initial.rows());
        self.tiers.push(initial.clone());
        self.push_open(initial, true);
        self.publish()
    }

    /// Begins anew with the accepting states that may still be on a cycle; false if there are none.
    fn begin_next(&mut self) -> Result<bool, SearchError> {
        self.tally.context.begin_phase("next-iteration");
        if self.iteration == 1 && self.zero_is_on_a_cycle()? {
            return Ok(false);
        }
        if self.tally.is_stopped() {
            return Ok(false);
        }
        let left = self.write_left()?;
        if left.rows() == 0 {
            return Ok(false);
        }
        self.iteration += 1;
        self.counting = vec![left.clone()];
        self.tiers = vec![left.clone()];
        self.push_open(left, true);
        self.publish()?;
        Ok(true)
    }

    /// Whether the row of zeros, which is no value, is an accepting state on a cycle.
    fn zero_is_on_a_cycle(&mut self) -> Result<bool, SearchError> {
        let zero = vec![0; self.tally.graph.row_bytes()];
        let is_met = self.tiers.iter().any(|tier| tier.first() == Some(none()));
        if !is_met || !self.tally.graph.is_accepting(&zero) {
            return Ok(false);
        }
        // Another search is going to use the disk, which leaves what is published.
        self.publish()?;
        match route::cycle_through(self.tally.graph, &zero, self.tally.context)? {
            Ok(cycle) => {
                let is_hit = cycle.is_some();
                *lock(&self.hit) = cycle.map(|_| zero);
                Ok(is_hit)
            }
            Err(limit) => {
                self.tally.stop_for(limit);
                Ok(false)
            }
        }
    }

    fn push_open(&mut self, parts: RunParts<'s, K>, mark: bool) {
        if parts.rows() > 0 {
            self.open.push(OpenSet { parts, from: None, mark });
        }
    }

    fn publish(&mut self) -> Result<(), SearchError> {
        let mut manifest = checkpoint::begin(self.tally.context, NAME);
        manifest.set_number("iteration", self.iteration);
        manifest.set_number("expanded", self.n_expanded);
        self.tally.note(&mut manifest);
        self.sets.note(&mut manifest, "tier", &self.tiers)?;
        self.sets.note(&mut manifest, "counting", &self.counting)?;
        self.sets.note_open(&mut manifest, &self.open)?;
        self.sets.publish(&manifest)
    }

    fn take_up(&mut self) -> Result<bool, SearchError> {
        let Some(manifest) = checkpoint::take_up(self.tally.context, self.sets.disk(), NAME)? else {
            return Ok(false);
        };
        self.tally.context.begin_phase("resume");
        self.iteration = manifest.number("iteration")?;
        self.n_expanded = manifest.number("expanded")?;
        self.tiers = self.sets.take_up(&manifest, "tier")?;
        self.counting = self.sets.take_up(&manifest, "counting")?;
        self.open = self.sets.take_up_open(&manifest)?;
        self.tally.restore(&manifest)?;
        Ok(true)
    }
}
