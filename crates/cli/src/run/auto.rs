//! How `auto` searches: in memory while that lasts, and then on disk with all that is known. `docs/auto.md` says why.

use super::Searcher;
use crate::failure::Failure;
use lariat_base::{Limit, MemoryBudget};
use lariat_graph::{Graph, Strength};
use lariat_search::{Context, Exploration, Extent, Goal, LassoSearch, SearchError, disk, ndfs, proof, ram};
use lariat_storage::StorageError;

/// How deep is looked for a counterexample nearby, and how many states that may take each time: a moment's work, which finds what is near although a depth-first search
/// goes by it, and makes a shorter counterexample.
const DEPTHS_NEARBY: [usize; 3] = [24, 96, 384];
const STATES_NEARBY: u64 = 1 << 16;

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
            if let Some(result) = self.find_lasso_nearby(graph, strength) {
                return Ok(("ndfs", result));
            }
            // One thread hunts, and all threads prove: states that fit into more than this are found sooner by the proof.
            let share = self.budget.left() / 4;
            let (hunt, is_handed_over) = self.until_handed_over(share, |context, successor| {
                context.begin_phase("hunt");
                ndfs::find_lasso_or_hand_over(graph, strength, context, Some(successor))
            })?;
            if !is_handed_over {
                return Ok(("ndfs", hunt));
            }
        }
        Ok(("proof", proof::find_lasso(graph, strength, &self.context())))
    }

    /// A look at what is near; none if that does not answer.
    fn find_lasso_nearby(&self, graph: &dyn Graph, strength: Strength) -> Option<Result<LassoSearch, SearchError>> {
        let budget = MemoryBudget::new(self.budget.left() / 4);
        let context = Context { budget: &budget, ..self.context() };
        context.begin_phase("look");
        DEPTHS_NEARBY.into_iter().find_map(|depth| {
            let bounds = ndfs::Bounds { depth, states: STATES_NEARBY };
            let found = ndfs::find_lasso_nearby(graph, strength, bounds, &context);
            let answers = found.as_ref().map_or(true, |found| {
                found.lasso.is_some() || found.complete || !matches!(found.limit, None | Some(Limit::Memory))
            });
            answers.then_some(found)
        })
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
