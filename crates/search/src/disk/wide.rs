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

/// The filter is given up where the states that wait have so many tenths as many successors as there are visited states, and is made again where they have fewer.
const TENTHS_TO_BEGIN: u64 = 10;
const TENTHS_TO_END: u64 = 2;

/// Whether to go on without the filter, where so many states wait, with so many successors, of all that were visited.
fn is_worth_it(waiting: u64, successors_of_each: f64, visited: u64, is_wide: bool) -> bool {
    let tenths = if is_wide { TENTHS_TO_END } else { TENTHS_TO_BEGIN };
    waiting as f64 * successors_of_each * 10.0 >= (tenths * visited) as f64
}

impl<'s, K: Key> Search<'s, K> {
    /// Decides how to go on after a pass. The buffers' memory is free.
    pub(super) fn widen_or_narrow(&self, visited: &mut Visited<'s, K>) -> Result<(), SearchError> {
        let is_wide = self.shared.will_be_wide(visited);
        self.go_on(visited, is_wide)
    }

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
        visited.is_wide && visited.narrow_levels < self.shares.narrow_levels_max
    }

    /// Whether the graph is wide here.
    fn should_be_wide(&self, visited: &Visited<'s, K>) -> bool {
        let waiting = visited.waiting.iter().map(Run::rows).sum::<u64>();
        let expanded = visited.expanded.iter().map(Run::rows).sum::<u64>();
        let successors_of_each = self.tally.transitions() as f64 / expanded.max(1) as f64;
        let rows_min = if visited.is_wide { self.shares.wide_rows_min / 8 } else { self.shares.wide_rows_min };
        waiting >= rows_min && is_worth_it(waiting, successors_of_each, waiting + expanded, visited.is_wide)
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
        assert!(is_worth_it(300, 4.0, 1000, false));
        assert!(!is_worth_it(200, 4.0, 1000, false));
        assert!(is_worth_it(200, 4.0, 1000, true));
        assert!(!is_worth_it(40, 4.0, 1000, true));
        assert!(!is_worth_it(0, 4.0, 1, true));
    }
}
