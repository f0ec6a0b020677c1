//! Paths to states that meet a goal, for searches that do not know how they came there: another search finds the way when the memory is free again.
//!
//! Most goals are not far away, so a search in memory is tried first. Where that does not suffice, there are two ways:
//! - *By numbers*, where the states that were found are in sorted runs, as `disk.rs` leaves them, and some bits for each fit in memory. All are numbered by a perfect hash function, and a
//!   breadth-first search notes by which state each was found (`tree.rs`). It takes the same time for each state, however deep the graph is.
//! - *By levels*, otherwise: an external breadth-first search (`ebfs.rs`), which publishes how far it is together with what was found before.
//!
//! # Invariants
//! 1. A path is a shortest one to a nearest state that meets the goal, but by numbers, where only the states count that were found before the goal was met.
//! 2. What `disk.rs` published stays until all paths are known; so a search that goes on with it comes back here at once.
//!
//! # Cost
//! In memory at most what fits there. By numbers two expansions of each state, and a row and 16 bytes on disk for each. By levels what `ebfs` costs.

use crate::checkpoint::{from_digits, to_digits};
use crate::enumerate::{HashPlacement, States, Unexpanded, build_hash};
use crate::lasso::Halt;
use crate::path::path_of_one;
use crate::tree::Tree;
use crate::{Context, Exploration, Extent, Goal, LassoSearch, SearchError, ebfs, ram};
use lariat_base::Limit;
use lariat_graph::{Graph, RowBuffer};
use lariat_storage::{Manifest, PerfectHash};

/// By what the search by levels is known on disk.
const LEVELS: &str = "levels to goals";
/// What was found before, beside it.
const FOUND: &str = "found";
const HASH: &str = "path-hash";
const TREE: &str = "path-tree";

/// The states that a search has left on disk.
pub(crate) struct FoundStates {
    /// The runs that all of them are in, each once.
    pub(crate) runs: Vec<String>,
    /// Those whose successors may not be among them.
    pub(crate) unexpanded: Vec<Unexpanded>,
}

/// Where states are that are not in runs.
pub(crate) fn nowhere() -> Result<Option<FoundStates>, SearchError> {
    Ok(None)
}

/// How to find paths.
pub(crate) struct Paths<'p> {
    pub(crate) graph: &'p dyn Graph,
    pub(crate) goals: &'p [Goal],
    pub(crate) extent: Extent,
    pub(crate) context: &'p Context<'p>,
}

impl Paths<'_> {
    /// Searches for states, unless that was done before and published here, and then for the paths to those that meet a goal. `states` says where the states are after the search, if they are anywhere.
    pub(crate) fn after(
        &self,
        search: impl FnOnce() -> Result<Exploration, SearchError>,
        states: impl FnOnce() -> Result<Option<FoundStates>, SearchError>,
    ) -> Result<Exploration, SearchError> {
        let mut exploration = match self.taken_up()? {
            Some(found) => found,
            None => search()?,
        };
        let found = self.to_text(&exploration);
        self.in_memory(&mut exploration)?;
        match exploration.limit {
            // What was published is for the search to go on.
            Some(limit) => self.give_up(&mut exploration, limit),
            None if self.missing(&exploration).is_empty() => {}
            None => {
                let states = if self.fits_memory(exploration.states) { states()? } else { None };
                self.on_disk(&mut exploration, states, found)?;
            }
        }
        Ok(exploration)
    }

    /// Finds the paths on disk: by numbers if it is said where the states are, and what was found before is a text.
    pub(crate) fn on_disk(
        &self,
        exploration: &mut Exploration,
        states: Option<FoundStates>,
        found: String,
    ) -> Result<(), SearchError> {
        let is_found = match states {
            Some(states) => self.by_numbers(exploration, states)?,
            None => false,
        };
        if is_found || exploration.limit.is_some() { Ok(()) } else { self.by_levels(exploration, found) }
    }

    /// The places of goals that were met, and to which no way is known yet: there is only the state itself.
    fn missing(&self, exploration: &Exploration) -> Vec<usize> {
        let is_initial = |path: &RowBuffer| {
            let mut initial = RowBuffer::new(self.graph.row_bytes());
            self.graph.initial(&mut initial);
            initial.iter().any(|row| row == path.row(0))
        };
        let is_missing = |path: &RowBuffer| path.len() == 1 && !is_initial(path);
        let paths = exploration.paths.iter().enumerate();
        paths.filter(|(_, path)| path.as_ref().is_some_and(is_missing)).map(|(i, _)| i).collect()
    }

    /// Looks for nearest states in memory.
    fn in_memory(&self, exploration: &mut Exploration) -> Result<(), SearchError> {
        for i in self.missing(exploration) {
            self.context.begin_phase("path");
            let mut found = ram::explore(self.graph, &[self.goals[i]], Extent::UntilGoals, self.context)?;
            match (found.paths.pop().flatten(), found.limit) {
                (Some(path), _) => exploration.paths[i] = Some(path),
                (None, Some(Limit::Memory)) if self.context.disk.is_some() => {}
                (None, Some(limit)) => {
                    self.give_up(exploration, limit);
                    break;
                }
                (None, None) => return Err(SearchError::PathLost),
            }
        }
        Ok(())
    }

    /// It is known that there are such states, and not how they are reached.
    fn give_up(&self, exploration: &mut Exploration, limit: Limit) {
        (exploration.limit, exploration.complete) = (Some(limit), false);
        for i in self.missing(exploration) {
            exploration.paths[i] = None;
        }
    }

    /// Whether numbers of so many states, and a bit for each, leave some of the memory.
    fn fits_memory(&self, n_states: u64) -> bool {
        PerfectHash::memory_bytes_for(n_states) + n_states / 8 <= self.context.budget.left() / 4 * 3
    }

    /// Looks for the goals among the states that were found; whether that was enough.
    fn by_numbers(&self, exploration: &mut Exploration, found: FoundStates) -> Result<bool, SearchError> {
        match self.ways_by_numbers(exploration, found) {
            Ok(is_found) => Ok(is_found),
            Err(Halt::Limit(Limit::Memory)) => Ok(false),
            Err(Halt::Limit(limit)) => {
                self.give_up(exploration, limit);
                Ok(false)
            }
            Err(Halt::Error(error)) => Err(error),
        }
    }

    fn ways_by_numbers(&self, exploration: &mut Exploration, found: FoundStates) -> Result<bool, Halt> {
        build_hash(self.graph, self.context, &found.runs, HASH)?;
        self.context.begin_phase("path");
        let counts =
            LassoSearch { states: exploration.states, transitions: exploration.transitions, ..LassoSearch::default() };
        let mut states = States::new(self.graph, self.context, found.runs, HASH, HashPlacement::Memory, counts)?;
        states.cut_off(&found.unexpanded)?;
        let mut visited = states.bits(2)?;
        let mut tree = Tree::new(&states, TREE, states.memory(4));
        let mut places = vec![None; self.goals.len()];
        let mut missing = self.missing(exploration);
        let has_labels = missing.iter().any(|i| matches!(self.goals[*i], Goal::Label(_)));
        let (initial, _) = states.initial()?;
        tree.grow(&mut states, initial.as_rows(), &mut visited, &mut |states, expanded| {
            let labels = if has_labels { states.labels(expanded.row)? } else { 0 };
            let is_dead_end = expanded.successors.is_empty();
            let is_met = |goal: Goal| match goal {
                Goal::Label(label) => labels >> label & 1 == 1,
                Goal::Deadlock => is_dead_end && !self.graph.is_error(expanded.row),
                Goal::Error => is_dead_end && self.graph.is_error(expanded.row),
            };
            for i in missing.extract_if(.., |i| is_met(self.goals[*i])) {
                places[i] = Some(expanded.place);
            }
            Ok(!missing.is_empty())
        })?;
        if !missing.is_empty() && !tree.has_met_cut() {
            return Err(Halt::Error(SearchError::PathLost));
        }
        // A state may have been expanded that waits according to what was published.
        let is_enough = missing.is_empty() && (self.extent != Extent::UntilNearest || !tree.has_met_cut());
        if is_enough {
            for (path, place) in exploration.paths.iter_mut().zip(places) {
                if let Some(place) = place {
                    *path = Some(tree.path_to(place)?);
                }
            }
        }
        tree.remove()?;
        states.remove_file(HASH)?;
        Ok(is_enough)
    }

    /// Looks for nearest states level by level; what was found before is published beside the levels.
    fn by_levels(&self, exploration: &mut Exploration, found: String) -> Result<(), SearchError> {
        self.context.begin_phase("path");
        let missing = self.missing(exploration);
        let goals: Vec<Goal> = missing.iter().map(|i| self.goals[*i]).collect();
        let mut labels = self.context.labels.to_vec();
        labels.push((FOUND, found));
        let Context { budget, stop, observer, threads, disk, .. } = *self.context;
        let context = Context { budget, stop, observer, threads, disk, labels: &labels };
        let found = ebfs::explore_for_paths(self.graph, &goals, LEVELS, &context)?;
        for (i, path) in missing.into_iter().zip(found.paths) {
            exploration.paths[i] = path.or(exploration.paths[i].take());
        }
        if let Some(limit) = found.limit {
            self.give_up(exploration, limit);
        }
        if self.missing(exploration).is_empty() { Ok(()) } else { Err(SearchError::PathLost) }
    }

    /// What an earlier process found before it looked for paths by levels, if it came so far.
    pub(crate) fn taken_up(&self) -> Result<Option<Exploration>, SearchError> {
        let Some(disk) = self.context.disk else { return Err(SearchError::NoDisk) };
        if self.goals.is_empty() {
            return Ok(None);
        }
        let Some(manifest) = Manifest::read(disk, self.context.budget)? else { return Ok(None) };
        let is_same = |(key, text): &(&str, String)| manifest.text(key).is_ok_and(|noted| noted == text);
        if !self.context.labels.iter().all(is_same) {
            return Ok(None);
        }
        Ok(manifest.text(FOUND).ok().and_then(|text| self.of_text(text)))
    }

    /// An exploration that ended by itself, as text: what was looked for, counts, and for each goal the state that meets it.
    pub(crate) fn to_text(&self, found: &Exploration) -> String {
        let flags = [found.error_reached, found.complete].map(u64::from);
        let counts = [found.states, found.transitions, found.levels, found.deadlocks, found.accepting];
        let numbers = counts.iter().chain([&found.stored_bytes]).chain(&flags).map(u64::to_string);
        let row = |path: &Option<RowBuffer>| match path {
            Some(path) => path.last().map_or_else(String::new, to_digits),
            None => "-".to_owned(),
        };
        let parts: Vec<String> = numbers.chain(found.paths.iter().map(row)).collect();
        format!("{:?}; {}", self.goals, parts.join(" "))
    }

    /// The inverse of that; none for what was looked for elsewhere.
    fn of_text(&self, text: &str) -> Option<Exploration> {
        let (goals, parts) = text.split_once("; ")?;
        let parts: Vec<&str> = parts.split(' ').collect();
        let (numbers, rows) = parts.split_at_checked(8)?;
        let numbers: Vec<u64> = numbers.iter().map(|number| number.parse().ok()).collect::<Option<_>>()?;
        if goals != format!("{:?}", self.goals) || rows.len() != self.goals.len() {
            return None;
        }
        let path = |digits: &&str| (*digits != "-").then(|| path_of_one(&from_digits(digits)));
        Some(Exploration {
            states: numbers[0],
            transitions: numbers[1],
            levels: numbers[2],
            deadlocks: numbers[3],
            accepting: numbers[4],
            stored_bytes: numbers[5],
            error_reached: numbers[6] == 1,
            complete: numbers[7] == 1,
            paths: rows.iter().map(path).collect(),
            limit: None,
        })
    }
}
