//! Reachability with the states on disk: the search that goes on where memory ends.
//!
//! The visited set is a number of sorted runs on disk. Whether a state is new is not asked there, state by state or level by level; a filter
//! in memory answers first. A successor that the filter has never met is new for certain, and is expanded without asking anybody. One that
//! it may have met is *doubtful*: it is put aside, and when enough have come together, or nothing else is left to do, all doubtful states are
//! compared with the visited set in one pass over the disk. What the filter took for met by mistake is found new there; a mistake delays a
//! state, and never loses one.
//!
//! ```text
//!   expand -> met lately? -> filter --new------> buffer -> sort -> run: visited, and to be expanded
//!                |               \--doubtful--> buffer -> sort -> run --+
//!             dropped                                                   | one pass now and then
//!                                      visited runs  --- subtract ------+--> run of new states, to be expanded
//! ```
//!
//! While what is doubtful fits into memory, a pass is *short*: nothing is written, and what it finds stays in memory. Graphs that are deep
//! and narrow need many passes, and most of them are short. Where nearly all that passes compare turns out to be new, it is expanded before it is compared; see `assumed.rs`.
//!
//! Where very many states wait, all of their successors are doubtful, and the memory of the filter is the buffers'; see `wide.rs`.
//!
//! A run of new states is the queue, too: states are expanded by reading it once, in its order. While few states wait, they are expanded
//! from the buffer itself, so a graph that is deep and narrow makes as few runs as one that is wide.
//!
//! # Invariants
//! 1. Every state that was found new is in exactly one of: a visited run, a run that a worker is writing, or a worker's buffer of new states. The filter has met it.
//! 2. Every state is expanded once: from the buffer, or when the run that it was first written to is read.
//! 3. A doubtful state is in a run or a buffer of doubtful ones until it was compared with everything that is visited. The filter has met
//!    it.
//!
//! # Cost
//! Each state is sorted, written and read once; doubtful ones once more. A pass reads what of the visited runs the doubtful states
//! fall into. Passes are made when the doubtful states take three quarters of the room of the visited ones, so there are some log(N) of them, or
//! when a wide level ends; merging keeps the runs few. Levels are not known.

mod assumed;
mod checkpoint;
mod compact;
mod first_levels;
mod frontier;
mod garbage;
mod hand_over;
mod merging;
mod passes;
mod reading;
mod shares;
mod short_pass;
mod visited;
mod wide;
mod worker;

use crate::crew::Crew;
use crate::path::met_goals;
use crate::path_on_disk::Paths;
use crate::tally::Tally;
use crate::{Context, Exploration, Extent, Goal, SearchError};
use assumed::Assumed;
pub use compact::explore_compact;
#[cfg(test)]
pub(crate) use compact::{CompactShares, explore_compact_within};
use frontier::Frontier;
pub use hand_over::{Handed, hand_over};
use lariat_disk::Disk;
use lariat_graph::{Graph, RowBuffer};
use lariat_storage::{Key, RowFilter, Run, for_row_width};
use shares::Shares;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use visited::{Files, Visited};
use worker::Worker;

/// Searches all states from the initial ones.
pub fn explore(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
) -> Result<Exploration, SearchError> {
    let search = || explore_within(graph, goals, extent, context, None);
    Paths { graph, goals, extent, context }.after(search, || checkpoint::found_states(context))
}

/// The same, with other shares of the memory than there would be.
fn explore_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
    shares: Option<Shares>,
) -> Result<Exploration, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    for_row_width!(graph.row_bytes(), K => Search::<K>::new(graph, goals, extent, context, disk, shares)?.run())
}

/// What all workers see.
struct Shared<'s, K: Key> {
    graph: &'s dyn Graph,
    context: &'s Context<'s>,
    shares: Shares,
    /// None while the graph is wide.
    filter: Mutex<Option<Arc<RowFilter<'s>>>>,
    frontier: Frontier<'s, K>,
    files: Files<'s>,
    /// Changed by workers only when they have a run to add, and by the search between rounds.
    visited: Mutex<Visited<'s, K>>,
    /// How many runs there were when somebody looked for some to merge.
    runs_looked_at: AtomicU64,
    /// Whether some of the new states in memory are only assumed to be new.
    assuming: AtomicBool,
    tally: Tally<'s>,
}

struct Search<'s, K: Key> {
    shared: Shared<'s, K>,
    /// Short passes since something was published.
    short_passes: Cell<u32>,
    assumed: RefCell<Assumed<'s, K>>,
}

impl<'s, K: Key> Search<'s, K> {
    fn new(
        graph: &'s dyn Graph,
        goals: &'s [Goal],
        extent: Extent,
        context: &'s Context<'s>,
        disk: &'s dyn Disk,
        shares: Option<Shares>,
    ) -> Result<Self, SearchError> {
        let shares = shares.unwrap_or_else(|| Shares::of::<K>(context, graph.row_bytes()));
        let filter = RowFilter::growing(shares.filter_bytes, context.budget)?;
        let shared = Shared {
            graph,
            context,
            filter: Mutex::new(Some(Arc::new(filter))),
            frontier: Frontier::new(context.threads.max(1)),
            visited: Mutex::new(Visited::new(&shares)),
            files: Files::new(&shares, disk, context.budget, Crew::new("lariat-disk", context.threads)?),
            runs_looked_at: AtomicU64::new(0),
            assuming: AtomicBool::new(false),
            tally: Tally::new(graph, goals, extent, context),
            shares,
        };
        let assumed = RefCell::new(Assumed::new(&shared.shares, context.budget));
        Ok(Self { shared, short_passes: Cell::new(0), assumed })
    }

    fn run(&self) -> Result<Exploration, SearchError> {
        let shared = &self.shared;
        let mut workers =
            (0..shared.context.threads.max(1)).map(|_| Worker::new(shared)).collect::<Result<Vec<_>, SearchError>>()?;
        if !self.take_up()? {
            let mut initial = RowBuffer::new(shared.graph.row_bytes());
            shared.graph.initial(&mut initial);
            workers[0].begin_round()?;
            workers[0].find(initial.as_rows())?;
            self.first_levels(&mut workers)?;
        }
        loop {
            shared.context.begin_phase("explore");
            self.round(&mut workers)?;
            if shared.tally.is_stopped() && shared.tally.limit().is_none() {
                self.end_at_goals(&mut workers)?;
                break;
            }
            if let Some(filter) = shared.filter()
                && filter.is_crowded(shared.tally.states())
                && !shared.tally.is_stopped()
            {
                filter.grow_for(shared.tally.states());
                continue;
            }
            self.adopt_left(&mut workers)?;
            if self.short_pass(&mut workers)? || self.settle(&mut workers)? {
                continue;
            }
            // The buffers' memory is free for the pass.
            self.each(&mut workers, Worker::end_round)?;
            if shared.tally.limit().is_some() {
                self.publish(&mut shared.visited())?;
                break;
            }
            if !shared.frontier.is_empty() && !shared.is_pass_due(&shared.visited()) {
                // Nothing but what was found has to be kept.
                self.publish(&mut shared.visited())?;
                continue;
            }
            self.pass(false)?;
            if shared.frontier.is_empty() {
                break;
            }
        }
        let mut exploration = shared.tally.result();
        exploration.stored_bytes = shared.visited().bytes();
        // What a goal's state is; the path to it is looked for when the memory is free.
        exploration.paths = met_goals(&shared.tally);
        Ok(exploration)
    }

    /// Ends the search before everything was seen: all states so far are published, each once, since the paths to the goals are looked for among them.
    fn end_at_goals(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        self.adopt_left(workers)?;
        self.settle(workers)?;
        self.each(workers, Worker::end_round)?;
        self.pass(false)
    }

    /// What was left to a worker that has not come for it is nowhere else.
    fn adopt_left(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        let left = self.shared.frontier.take_left();
        left.iter().try_for_each(|keys| workers[0].adopt(keys))?;
        self.forget_delayed(workers);
        Ok(())
    }

    /// Merges what is many, and compares what is doubtful with what was visited. It can be said that the graph is wide from now on; else it is found out.
    fn pass(&self, begins_wide: bool) -> Result<(), SearchError> {
        let shared = &self.shared;
        let mut visited = shared.visited();
        let reading = shared.frontier.take_runs();
        // What is doubtful takes room on the disk; so it is compared before there are runs merged beside those they are made of.
        if visited.can_check_now(&shared.files) {
            self.check(&mut visited)?;
            if visited.has_much_garbage() {
                self.publish(&mut visited)?;
            }
        }
        shared.context.begin_phase("merge");
        visited.merge(&shared.files, reading.as_deref())?;
        if visited.has_much_garbage() {
            self.publish(&mut visited)?;
        }
        self.check(&mut visited)?;
        let waiting = visited.waiting.iter().filter(|run| Some(run.name()) != reading.as_deref());
        waiting.for_each(|run| shared.frontier.push(run.clone()));
        self.short_passes.set(0);
        self.publish(&mut visited)?;
        let is_wide = begins_wide || shared.will_be_wide(&mut visited);
        self.go_on(&mut visited, is_wide)
    }

    /// Compares what is doubtful with what was visited: what is new waits.
    fn check(&self, visited: &mut Visited<'s, K>) -> Result<(), SearchError> {
        self.shared.context.begin_phase("check");
        let new = visited.check_doubtful(&self.shared.files)?;
        self.shared.tally.add_states(new.iter().map(Run::rows).sum());
        visited.waiting.extend(new);
        Ok(())
    }

    /// Lets all workers work until there is nothing to expand, or a pass is due, or the search is stopped.
    fn round(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        self.shared.frontier.begin_round();
        self.each(workers, Worker::work)
    }

    /// Lets all workers do something at the same time.
    fn each<'w>(
        &self,
        workers: &mut [Worker<'w, 's, K>],
        work: impl Fn(&mut Worker<'w, 's, K>) -> Result<(), SearchError> + Sync,
    ) -> Result<(), SearchError> {
        self.shared.files.crew.each(workers, work).map(drop)
    }
}

impl<'s, K: Key> Shared<'s, K> {
    fn visited(&self) -> std::sync::MutexGuard<'_, Visited<'s, K>> {
        self.visited.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    #[inline(always)]
    fn is_assuming(&self) -> bool {
        self.assuming.load(Ordering::Relaxed)
    }

    fn set_assuming(&self, is_assuming: bool) {
        self.assuming.store(is_assuming, Ordering::Relaxed);
    }

    /// Whether runs were written since this was asked last.
    fn visited_changed(&self) -> bool {
        let n_runs = self.files.n_runs();
        self.runs_looked_at.swap(n_runs, Ordering::Relaxed) != n_runs
    }
}

#[cfg(test)]
mod tests;
