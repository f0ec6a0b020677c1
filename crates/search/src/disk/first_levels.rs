//! The first levels of a graph, which tell whether it is wide.
//!
//! One worker expands them in the order in which their states were found, so they are kept apart. Where the graph turns out to be wide, it is gone on level by level, without
//! the filter (`wide.rs`). That is worth most if levels were kept apart from the beginning: the successors of a level are a regular set, which takes half of the
//! bytes that those of a mixture of levels take.

use super::worker::Worker;
use super::{Search, Shared};
use crate::SearchError;
use lariat_storage::Key;

impl<'s, K: Key> Search<'s, K> {
    /// Expands the first levels from the initial states, which the first worker has, and decides how to go on.
    pub(super) fn first_levels(&self, workers: &mut [Worker<'_, 's, K>]) -> Result<(), SearchError> {
        let shared = &self.shared;
        shared.context.begin_phase("explore");
        while workers[0].has_waiting() && !shared.are_first_levels_over() {
            workers[0].expand_level()?;
        }
        if !shared.tally.is_stopped() && shared.is_wide_enough(workers[0].n_waiting() as u64) {
            self.each(workers, Worker::end_round)?;
            self.pass(true)?;
        }
        Ok(())
    }
}

impl<'s, K: Key> Shared<'s, K> {
    /// Whether there are enough states to tell, or one worker cannot go on alone.
    fn are_first_levels_over(&self) -> bool {
        self.tally.is_over() || self.tally.states() >= self.shares.first_states || !self.frontier.is_empty()
    }
}
