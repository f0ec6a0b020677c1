//! Semi-external search for an accepting cycle with iterative deepening: the states near the initial ones are searched before there are all.
//!
//! External breadth-first search (`ebfs.rs`) makes levels. Now and then a perfect hash function is built on the states so far, and the double depth-first
//! search of `ddfs.rs` looks for a cycle among them. A cycle that is near is found long before the last state is. States of the newest level are not
//! expanded by that search: what they lead to may have no number.
//!
//! # Paper
//! Edelkamp, Sanders, Šimeček, *Semi-external LTL model checking*, 2008: IDDFS; named in Edelkamp et al., *Flash memory efficient LTL model checking*, section 5.2.
//! *Deviations.* The bound grows by work and not by depth: the next search comes when there are twice as many states ([`Deepening::Work`]). So all searches together
//! cost at most twice the last one, however deep the graph is. The paper's steps of some levels are [`Deepening::Levels`].
//!
//! # Invariants
//! 1. Before the last search every state has been expanded, so if that finds nothing there is nothing.
//!
//! # Cost
//! That of `ebfs`, and of twice `ddfs` on the states that were found. After an interruption it goes on from the level that was published last.

use crate::ddfs::find_accepting_cycle;
use crate::ebfs::{self, LevelEnd};
use crate::enumerate::{HashPlacement, States, Unexpanded, build_hash, forget_other_property};
use crate::lasso::{Halt, Lasso, LassoSearch};
use crate::{Context, SearchError};
use lariat_base::Limit;
use lariat_graph::Graph;
use lariat_storage::StorageError;

const NAME: &str = "iddfs";
const HASH: &str = "hash";
/// With fewer states the first search is not worth while.
const STATES_MIN: u64 = 1 << 12;

/// When the states so far are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deepening {
    /// When there are so many, and then each time when there are twice as many.
    Work {
        /// States before the first search.
        states_min: u64,
    },
    /// After each so many levels.
    Levels(u64),
}

impl Default for Deepening {
    fn default() -> Self {
        Deepening::Work { states_min: STATES_MIN }
    }
}

/// Looks for an accepting cycle.
pub fn find_lasso(
    graph: &dyn Graph,
    placement: HashPlacement,
    deepening: Deepening,
    context: &Context,
) -> Result<LassoSearch, SearchError> {
    forget_other_property(context)?;
    let mut search = Search { graph, context, placement, deepening, n_levels: 0, searched: 0, ended: Ok(None) };
    let explored = ebfs::explore_levels(graph, context, NAME, &mut |level| search.after_level(&level));
    let found = match explored {
        Err(SearchError::Storage(StorageError::Memory(_))) => {
            return Ok(LassoSearch { limit: Some(Limit::Memory), ..LassoSearch::default() });
        }
        explored => explored?,
    };
    let counts = LassoSearch {
        states: found.states,
        transitions: found.transitions,
        accepting: found.accepting,
        deadlocks: found.deadlocks,
        error_reached: found.error_reached,
        stored_bytes: found.stored_bytes,
        limit: found.limit,
        ..LassoSearch::default()
    };
    match search.ended {
        Ok(lasso) => Ok(LassoSearch { complete: found.complete, lasso, ..counts }),
        Err(Halt::Limit(limit)) => Ok(LassoSearch { limit: Some(limit), ..counts }),
        Err(Halt::Error(error)) => Err(error),
    }
}

struct Search<'s> {
    graph: &'s dyn Graph,
    context: &'s Context<'s>,
    placement: HashPlacement,
    deepening: Deepening,
    n_levels: u64,
    /// How many states there were when they were searched last.
    searched: u64,
    ended: Result<Option<Lasso>, Halt>,
}

impl Search<'_> {
    /// Searches the states so far if it is time; how many need not be searched again, if another level is to be made.
    fn after_level(&mut self, level: &LevelEnd) -> Option<u64> {
        self.n_levels += 1;
        self.searched = self.searched.max(level.done_with);
        let is_last = level.newest.is_empty();
        let is_due = match self.deepening {
            Deepening::Work { states_min } => level.states >= states_min.max(2 * self.searched),
            Deepening::Levels(step) => self.n_levels.is_multiple_of(step.max(1)) && level.states > self.searched,
        };
        if is_due || is_last {
            self.ended = self.search(level);
        }
        matches!(self.ended, Ok(None)).then_some(self.searched)
    }

    fn search(&mut self, level: &LevelEnd) -> Result<Option<Lasso>, Halt> {
        build_hash(self.graph, self.context, &level.runs, HASH)?;
        let counts = LassoSearch { states: level.states, transitions: level.transitions, ..LassoSearch::default() };
        let mut states = States::new(self.graph, self.context, Vec::new(), HASH, self.placement, counts)?;
        let newest = level.newest.iter().map(|run| Unexpanded { run: run.clone(), expanded: 0 });
        states.cut_off(&newest.collect::<Vec<_>>())?;
        let found = find_accepting_cycle(&mut states)?;
        states.remove_file(HASH)?;
        self.searched = level.states;
        Ok(found)
    }
}
