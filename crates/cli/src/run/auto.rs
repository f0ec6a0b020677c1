//! How `auto` searches: in memory while that lasts, and then on disk with all that is known. `docs/auto.md` says why.

use super::Searcher;
use crate::failure::Failure;
use lariat_base::{Limit, MemoryBudget};
use lariat_graph::{Graph, Strength};
use lariat_search::{Context, Exploration, Extent, Goal, LassoSearch, SearchError, disk, ndfs, proof, ram};
use lariat_storage::StorageError;

/// States among which a counterexample is looked for before the hunt: hardly more than it takes the program to begin. What is near is found although a
/// depth-first search goes by it, and makes a shorter counterexample.
const GLANCE_STATES: u64 = 1 << 10;
/// The hunt is interrupted for a longer look when it has come so far: where there are fewer states it would cost more than all the rest.
const STATES_BEFORE_LOOK: &[u64] = &[1 << 16, 1 << 18];
/// A look is at one of so many states that were hunted through.
const LOOK_SHARE: u64 = 2;

impl Searcher {
    /// States, breadth-first.
    pub(super) fn explore_auto(
        &self,
        graph: &dyn Graph,
        goals: &[Goal],
        goals_on_disk: &[Goal],
        extent: Extent,
    ) -> Result<(&'static str, Result<Exploration, SearchError>), Failure> {
        if self.scratch().is_none() {
            // The rest is for writing what there is to disk.
            let share = self.budget.left() / 4 * 3;
            let (result, is_handed_over) = self.until_handed_over(share, |context, successor| {
                ram::explore_or_hand_over(graph, goals, extent, context, Some(successor))
            })?;
            if !is_handed_over {
                return Ok(("ram", result));
            }
        }
        Ok(("disk", disk::explore(graph, goals_on_disk, extent, &self.context())))
    }

    /// A hunt for a counterexample in a quarter of the memory, which finds most of those that are there; if that is used up, the proof on disk.
    pub(super) fn find_lasso_auto(
        &self,
        graph: &dyn Graph,
        strength: Strength,
    ) -> Result<(&'static str, Result<LassoSearch, SearchError>), Failure> {
        if self.scratch().is_none() {
            if let Some(result) = self.find_lasso_nearby(graph, strength, GLANCE_STATES) {
                return Ok(("ndfs", result));
            }
            let mut look = |n_hunted: u64| {
                let found = self.find_lasso_nearby(graph, strength, n_hunted / LOOK_SHARE);
                self.context().begin_phase("hunt");
                Ok(found.transpose()?.and_then(|found| found.lasso))
            };
            // One thread hunts, and all threads prove: states that fit into more than this are found sooner by the proof.
            let share = self.budget.left() / 4;
            let (hunt, is_handed_over) = self.until_handed_over(share, |context, successor| {
                context.begin_phase("hunt");
                let pause = ndfs::Pause { states: STATES_BEFORE_LOOK, attempt: &mut look };
                ndfs::find_lasso_or_hand_over(graph, strength, context, Some(pause), Some(successor))
            })?;
            if !is_handed_over {
                return Ok(("ndfs", hunt));
            }
        }
        Ok(("proof", proof::find_lasso(graph, strength, &self.context())))
    }

    /// A look at so many states that are near; none if that does not answer.
    fn find_lasso_nearby(
        &self,
        graph: &dyn Graph,
        strength: Strength,
        n_states: u64,
    ) -> Option<Result<LassoSearch, SearchError>> {
        let budget = MemoryBudget::new(self.budget.left() / 4);
        let context = Context { budget: &budget, ..self.context() };
        context.begin_phase("look");
        let found = ndfs::find_lasso_nearby(graph, strength, n_states, &context);
        let answers = found.as_ref().map_or(true, |found| {
            found.lasso.is_some() || found.complete || !matches!(found.limit, None | Some(Limit::Memory))
        });
        answers.then_some(found)
    }

    /// Searches in memory, in a share of it; whether the search has handed its states over to the one on disk.
    fn until_handed_over<T>(
        &self,
        share: u64,
        search: impl FnOnce(&Context<'_>, ram::Successor<'_>) -> Result<T, SearchError>,
    ) -> Result<(Result<T, SearchError>, bool), Failure> {
        let budget = MemoryBudget::new(share);
        let mut refused = None;
        let mut is_handed_over = false;
        let mut successor = |handed: &dyn disk::Handed| {
            if let Err(failure) = self.open_scratch() {
                refused = Some(failure);
                return Err(SearchError::NoDisk);
            }
            self.budget.reserve(share).map_err(|error| SearchError::Storage(StorageError::Memory(error)))?;
            let result = disk::hand_over(handed, &self.context());
            self.budget.release(share);
            is_handed_over = result.is_ok();
            result
        };
        let result = search(&Context { budget: &budget, ..self.context() }, &mut successor);
        if let Some(failure) = refused {
            return Err(failure);
        }
        if is_handed_over {
            // What goes on has all of the memory.
            lariat_disk::program_pages::release_freed();
        }
        Ok((result, is_handed_over))
    }
}
