//! Nested depth-first search with its stacks on disk, for any way of keeping the visited states there.
//!
//! The first search goes through all states; when it leaves an accepting one, the second looks from there for a way back to it, never entering a
//! state twice in all second searches. A state on a stack is its row and the number of the successor that comes next, so a state is expanded again
//! when the search comes back to it. Both stacks share one memory: when that is full, the lowest part of each goes to disk.
//!
//! # Invariants
//! 1. From each state on a stack an edge leads to the next. Every state on the stack of the first search was counted before anything is published.
//! 2. What is published belongs together: the stacks, the visited states, and what was counted of them.
//!
//! # Cost
//! Every state is expanded twice for each search that enters it, counting returns. The stacks take their share of memory, and on disk what they have.

use crate::expansion::batch_edges;
use crate::lasso::{Lasso, LassoSearch};
use crate::{Context, SearchError, checkpoint};
use lariat_base::{Event, Limit, Progress};
use lariat_disk::Disk;
use lariat_graph::{Edges, Expander, Graph, RowBuffer, Rows};
use lariat_storage::{Manifest, RowStack, StorageError};

/// What remembers visited states.
pub(crate) trait Visited {
    /// Whether the first search visits a state for the first time; it has from now on.
    fn first(&mut self, row: &[u8]) -> Result<bool, SearchError>;

    /// The same for the second search.
    fn second(&mut self, row: &[u8]) -> Result<bool, SearchError>;

    /// Whether something was written to disk that makes it worth publishing; false when it is asked again.
    fn has_spilled(&mut self) -> bool;

    /// Writes all that is not on disk, so that it survives a crash, and notes it.
    fn note(&mut self, manifest: &mut Manifest) -> Result<(), SearchError>;

    /// Takes up what was noted.
    fn take_up(&mut self, manifest: &Manifest) -> Result<(), SearchError>;

    /// How many states the first search has visited.
    fn len(&self) -> u64;
}

/// Steps between two looks at the stop signal.
const STEPS_UNATTENDED: u64 = 256;
/// Bytes of the number beside a row.
const NEXT_BYTES: usize = 4;
const STACKS: [&str; 2] = ["stack-1", "stack-2"];

/// A nested search in progress.
pub(crate) struct Nested<'s, S> {
    name: &'static str,
    graph: &'s dyn Graph,
    context: &'s Context<'s>,
    disk: &'s dyn Disk,
    visited: S,
    /// Of the first search, and of the second.
    stacks: [RowStack<'s>; 2],
    blocks_max: usize,
    /// Where the second search began, while it goes on.
    seed: Option<Vec<u8>>,
    /// Initial states from which the first search has begun.
    n_begun: u64,
    expander: Box<dyn Expander + 's>,
    /// The edges of the state on top, if they were made.
    edges: Edges,
    is_expanded: bool,
    /// Whether the state on top is expanded for the first time, so that it is counted.
    is_new: bool,
    n_steps: u64,
    has_spilled: bool,
    found: LassoSearch,
}

/// How a part of the search ended.
enum Ended {
    /// It goes on.
    Not,
    With(Lasso),
    At(Limit),
}

impl<'s, S: Visited> Nested<'s, S> {
    /// A search whose stacks share `stack_bytes` of memory and move the fraction `rho` of it at once.
    pub(crate) fn new(
        name: &'static str,
        graph: &'s dyn Graph,
        context: &'s Context<'s>,
        disk: &'s dyn Disk,
        visited: S,
        (stack_bytes, rho): (usize, f64),
    ) -> Self {
        let width = graph.row_bytes() + NEXT_BYTES;
        let mut stacks = STACKS.map(|name| RowStack::new(disk, name, width, stack_bytes, rho, context.budget));
        stacks.iter_mut().for_each(RowStack::keep_files);
        let blocks_max = (stack_bytes / stacks[0].block_bytes()).max(4);
        Self {
            name,
            graph,
            context,
            disk,
            visited,
            stacks,
            blocks_max,
            seed: None,
            n_begun: 0,
            expander: graph.expander(),
            edges: batch_edges(graph, context),
            is_expanded: false,
            is_new: false,
            n_steps: 0,
            has_spilled: false,
            found: LassoSearch::default(),
        }
    }

    pub(crate) fn run(mut self) -> Result<LassoSearch, SearchError> {
        let searched = self.search();
        match searched {
            Ok(Ended::Not) => self.found.complete = true,
            Ok(Ended::With(lasso)) => self.found.lasso = Some(lasso),
            Ok(Ended::At(limit)) => self.found.limit = Some(limit),
            Err(SearchError::Storage(StorageError::Memory(_))) => self.found.limit = Some(Limit::Memory),
            Err(error) => return Err(error),
        }
        self.found.states = self.visited.len();
        self.found.stored_bytes = self.disk.usage().peak;
        Ok(self.found)
    }

    fn search(&mut self) -> Result<Ended, SearchError> {
        self.take_up()?;
        let mut initial = RowBuffer::new(self.graph.row_bytes());
        self.graph.initial(&mut initial);
        self.context.begin_phase("search");
        loop {
            while !self.stacks[0].is_empty() || self.seed.is_some() {
                match self.step(usize::from(self.seed.is_some()))? {
                    Ended::Not => {}
                    ended => return Ok(ended),
                }
            }
            if self.n_begun == initial.len() as u64 {
                return Ok(Ended::Not);
            }
            let row = initial.as_rows().row(self.n_begun as usize).to_vec();
            self.n_begun += 1;
            if self.visited.first(&row)? {
                self.push(0, &row)?;
                self.is_new = true;
            }
        }
    }

    /// Looks at the successors of the state on top of a stack, up to one that is new; without one the state is left.
    fn step(&mut self, side: usize) -> Result<Ended, SearchError> {
        let (row, next) = self.top(side)?;
        if !self.is_expanded {
            self.expand(&row)?;
            if side == 0 && self.is_new {
                self.count(&row);
            }
            if side == 1 && next == 0 && self.edges.targets().iter().any(|target| Some(target) == self.seed.as_deref())
            {
                return Ok(Ended::With(self.lasso()?));
            }
            self.is_new = false;
            if let Some(limit) = self.attend()? {
                return Ok(Ended::At(limit));
            }
        }
        for i in next..self.edges.targets().len() {
            let target = self.edges.targets().row(i).to_vec();
            let is_new = if side == 0 { self.visited.first(&target)? } else { self.visited.second(&target)? };
            if is_new {
                self.set_next(side, i + 1);
                self.push(side, &target)?;
                self.is_new = side == 0;
                return Ok(Ended::Not);
            }
        }
        self.leave(side, row)?;
        Ok(Ended::Not)
    }

    /// Takes a state from its stack; the second search begins where the first leaves an accepting state.
    fn leave(&mut self, side: usize, row: Vec<u8>) -> Result<(), SearchError> {
        self.stacks[side].pop()?;
        self.is_expanded = false;
        if side == 1 && self.stacks[1].is_empty() {
            self.seed = None;
        }
        if side == 0 && self.graph.is_accepting(&row) {
            self.visited.second(&row)?;
            self.push(1, &row)?;
            self.seed = Some(row);
        }
        Ok(())
    }

    fn push(&mut self, side: usize, row: &[u8]) -> Result<(), SearchError> {
        if self.stacks.iter().map(RowStack::memory_blocks).sum::<usize>() >= self.blocks_max {
            self.stacks.iter_mut().try_for_each(RowStack::spill_lowest)?;
            self.has_spilled = true;
        }
        let mut entry = row.to_vec();
        entry.extend([0; NEXT_BYTES]);
        self.stacks[side].push(&entry)?;
        self.is_expanded = false;
        Ok(())
    }

    fn top(&self, side: usize) -> Result<(Vec<u8>, usize), SearchError> {
        let width = self.graph.row_bytes();
        let entry = self.stacks[side].top().ok_or(SearchError::PathLost)?;
        let next = entry[width..].try_into().map_or(0, u32::from_le_bytes);
        Ok((entry[..width].to_vec(), next as usize))
    }

    fn set_next(&mut self, side: usize, next: usize) {
        let width = self.graph.row_bytes();
        if let Some(entry) = self.stacks[side].top_mut() {
            entry[width..].copy_from_slice(&(next as u32).to_le_bytes());
        }
    }

    fn expand(&mut self, row: &[u8]) -> Result<(), SearchError> {
        self.edges.clear();
        self.expander.expand(Rows::new(row, row.len()), &mut self.edges)?;
        self.is_expanded = true;
        Ok(())
    }

    /// Counts a state that the first search visits for the first time, and whose edges were made.
    fn count(&mut self, row: &[u8]) {
        let n = self.edges.targets().len();
        self.found.transitions += n as u64;
        self.found.accepting += u64::from(self.graph.is_accepting(row));
        if n == 0 {
            let is_error = self.graph.is_error(row);
            self.found.error_reached |= is_error;
            self.found.deadlocks += u64::from(!is_error);
        }
    }

    /// Publishes if that is worth it, and looks at the stop signal now and then.
    fn attend(&mut self) -> Result<Option<Limit>, SearchError> {
        self.n_steps += 1;
        self.has_spilled |= self.visited.has_spilled();
        let is_due = self.n_steps % STEPS_UNATTENDED == 1;
        let limit = if is_due { self.context.stop.reason() } else { None };
        if is_due {
            self.progress();
        }
        if self.has_spilled || limit.is_some() {
            self.publish()?;
        }
        Ok(limit)
    }

    fn progress(&self) {
        self.context.observer.event(&Event::Progress(Progress {
            states: self.visited.len(),
            transitions: self.found.transitions,
            level: None,
            depth: Some(self.stacks.iter().map(RowStack::len).sum()),
            frontier: self.stacks[0].len(),
            memory_used: self.context.budget.used(),
            memory_budget: self.context.budget.max(),
        }));
    }

    /// The path to the seed, and the way from it back to it.
    fn lasso(&self) -> Result<Lasso, SearchError> {
        let width = self.graph.row_bytes();
        let (mut prefix, mut cycle) = (RowBuffer::new(width), RowBuffer::new(width));
        self.stacks[0].for_each(|entry| prefix.push(&entry[..width]))?;
        self.stacks[1].for_each(|entry| cycle.push(&entry[..width]))?;
        Ok(Lasso { prefix, cycle })
    }

    /// Publishes; the state on top was expanded and counted.
    fn publish(&mut self) -> Result<(), SearchError> {
        self.context.begin_phase("checkpoint");
        let mut manifest = checkpoint::begin(self.context, self.name);
        manifest.set_number("begun", self.n_begun);
        if let Some(seed) = &self.seed {
            manifest.set_text("seed", &checkpoint::to_digits(seed));
        }
        for (stack, role) in self.stacks.iter_mut().zip(STACKS) {
            stack.note(&mut manifest, role)?;
        }
        self.visited.note(&mut manifest)?;
        note_counts(&mut manifest, &self.found);
        manifest.publish(self.disk, self.context.budget)?;
        manifest.remove_others(self.disk)?;
        self.has_spilled = false;
        self.context.begin_phase("search");
        Ok(())
    }

    /// Takes up what was published, if something was.
    fn take_up(&mut self) -> Result<(), SearchError> {
        let Some(manifest) = checkpoint::take_up(self.context, self.disk, self.name)? else {
            return Ok(());
        };
        self.context.begin_phase("resume");
        self.n_begun = manifest.number("begun")?;
        self.seed = manifest.text("seed").ok().map(checkpoint::from_digits);
        for (stack, role) in self.stacks.iter_mut().zip(STACKS) {
            stack.take_up(&manifest, role)?;
        }
        self.visited.take_up(&manifest)?;
        self.found = noted_counts(&manifest)?;
        Ok(())
    }
}

/// Notes what was counted.
fn note_counts(manifest: &mut Manifest, counted: &LassoSearch) {
    manifest.set_number("transitions", counted.transitions);
    manifest.set_number("accepting", counted.accepting);
    manifest.set_number("deadlocks", counted.deadlocks);
    manifest.set_number("error-reached", u64::from(counted.error_reached));
}

/// What was noted by [`note_counts`].
fn noted_counts(manifest: &Manifest) -> Result<LassoSearch, StorageError> {
    Ok(LassoSearch {
        transitions: manifest.number("transitions")?,
        accepting: manifest.number("accepting")?,
        deadlocks: manifest.number("deadlocks")?,
        error_reached: manifest.number("error-reached")? == 1,
        ..LassoSearch::default()
    })
}
