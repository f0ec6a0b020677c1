//! Wide stretches of a graph, where the filter is not asked.
//!
//! Where very many states wait, and each has many successors, most of these are doubtful, whatever the filter says; to sort them out in memory takes large buffers, and one pass
//! for all of them costs little for each. So the filter gives its memory to the buffers of doubtful states: all successors of the states that wait are put
//! aside, and compared when the last of these was expanded, level by level, as external breadth-first search does it. When fewer states wait, the filter is made
//! again from the runs.
//!
//! # Cost
//! A pass over all visited states for each level, in place of the filter's part of each successor; [`is_worth_it`] weighs these.

use super::visited::Visited;
use super::{Search, Shared};
use crate::SearchError;
use lariat_storage::{Key, RowFilter, Run};
use std::sync::Arc;

/// The graph is wide where the states that wait have so many twentieths as many successors as there are visited states. While levels are apart, and a filter would soon be
/// made again:
const TWENTIETHS: u64 = 8;
/// Where the filter is there, and levels are mixed:
const TWENTIETHS_TO_BEGIN: u64 = 20;
/// Where to make the filter again takes its time:
const TWENTIETHS_TO_END: u64 = 4;

/// Whether so many states wait, with so many successors, that these are so many twentieths of all that were visited.
fn is_worth_it(waiting: u64, successors_of_each: f64, visited: u64, twentieths: u64) -> bool {
    waiting as f64 * successors_of_each * 20.0 >= (twentieths * visited) as f64
}

impl<'s, K: Key> Search<'s, K> {
    /// Goes on without the filter or with it. The buffers' memory is free.
    pub(super) fn go_on(&self, visited: &mut Visited<'s, K>, is_wide: bool) -> Result<(), SearchError> {
        let shared = &self.shared;
        if is_wide == visited.is_wide {
            return Ok(());
        }
        visited.is_wide = is_wide;
        *shared.filter_lock() = None;
        if !is_wide {
            shared.context.begin_phase("filter");
            let filter = shared.new_filter()?;
            filter.grow_for(shared.tally.states());
            shared.fill_filter(&filter, &visited.all())?;
            *shared.filter_lock() = Some(Arc::new(filter));
        }
        Ok(())
    }
}

impl<'s, K: Key> Shared<'s, K> {
    /// Whether to go on without the filter after a pass.
    pub(super) fn will_be_wide(&self, visited: &mut Visited<'s, K>) -> bool {
        if visited.waiting.is_empty() {
            return visited.is_wide;
        }
        if self.should_be_wide(visited) {
            visited.narrow_levels = 0;
            return true;
        }
        visited.narrow_levels += 1;
        let is_soon_made = self.tally.states() < self.shares.few_states;
        visited.is_wide && !is_soon_made && visited.narrow_levels < self.shares.narrow_levels_max
    }

    /// Whether the graph is wide here.
    fn should_be_wide(&self, visited: &Visited<'s, K>) -> bool {
        let waiting = visited.waiting.iter().map(Run::rows).sum::<u64>();
        if visited.is_wide && self.tally.states() < self.shares.few_states {
            return self.is_wide_enough(waiting);
        }
        let (rows_min, twentieths) = if visited.is_wide {
            (self.shares.wide_rows_min / 8, TWENTIETHS_TO_END)
        } else {
            (self.shares.wide_rows_min, TWENTIETHS_TO_BEGIN)
        };
        waiting >= rows_min && self.have_successors(waiting, twentieths)
    }

    /// Whether it is while levels are apart and states are few, if so many wait.
    pub(super) fn is_wide_enough(&self, waiting: u64) -> bool {
        self.have_successors(waiting, TWENTIETHS)
    }

    fn have_successors(&self, waiting: u64, twentieths: u64) -> bool {
        let states = self.tally.states();
        let successors_of_each = self.tally.transitions() as f64 / states.saturating_sub(waiting).max(1) as f64;
        is_worth_it(waiting, successors_of_each, states, twentieths)
    }

    /// Whether there is enough on disk to be compared or merged before the search goes on, or it should go on without the filter.
    pub(super) fn is_pass_due(&self, visited: &Visited<'s, K>) -> bool {
        visited.is_pass_due() || (!visited.is_wide && self.should_be_wide(visited))
    }

    /// An empty filter.
    pub(super) fn new_filter(&self) -> Result<RowFilter<'s>, SearchError> {
        Ok(RowFilter::growing(self.shares.filter_bytes, self.context.budget)?)
    }

    fn filter_lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<RowFilter<'s>>>> {
        self.filter.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The filter, unless the graph is wide here.
    pub(super) fn filter(&self) -> Option<Arc<RowFilter<'s>>> {
        self.filter_lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_is_what_has_many_successors_for_a_pass() {
        assert!(is_worth_it(300, 4.0, 1000, TWENTIETHS_TO_BEGIN));
        assert!(!is_worth_it(200, 4.0, 1000, TWENTIETHS_TO_BEGIN));
        assert!(is_worth_it(200, 4.0, 1000, TWENTIETHS));
        assert!(!is_worth_it(90, 4.0, 1000, TWENTIETHS));
        assert!(is_worth_it(60, 4.0, 1000, TWENTIETHS_TO_END));
        assert!(!is_worth_it(40, 4.0, 1000, TWENTIETHS_TO_END));
        assert!(!is_worth_it(0, 4.0, 1, TWENTIETHS_TO_END));
    }
}
