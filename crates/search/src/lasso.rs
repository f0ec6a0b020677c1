//! What searches for accepting cycles find, and what the searches in memory share: numbered rows with a state's successors as numbers.

use crate::expansion::batch_edges;
use crate::tally::{Tally, note_counts};
use crate::{Context, SearchError};
use lariat_base::{Event, Limit, Progress};
use lariat_graph::{Edges, Expander, Graph, RowBuffer, Rows};
use lariat_storage::{BudgetedVec, Manifest, RowId, RowTable, TableFull};
use std::ops::Range;

/// A path into a loop: the rows of `prefix`, then those of `cycle` again and again. An accepting row is on the cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The rows before the loop; the first one is initial. Empty where the loop begins in an initial state.
    pub prefix: RowBuffer,
    /// The rows of the loop, at least one; an edge leads from the last to the first.
    pub cycle: RowBuffer,
}

/// What a search for an accepting cycle found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LassoSearch {
    /// Distinct states stored.
    pub states: u64,
    /// Edges of the states that were visited, each counted once.
    pub transitions: u64,
    /// Accepting states among those visited.
    pub accepting: u64,
    /// Visited states without successors, the error state left out: in a product, those in which the watcher cannot move, or
    /// deadlocks that are ignored.
    pub deadlocks: u64,
    /// Whether the error state was visited.
    pub error_reached: bool,
    /// An accepting cycle and the way to it.
    pub lasso: Option<Lasso>,
    /// Why the search ended without an answer.
    pub limit: Option<Limit>,
    /// Whether every reachable state was visited.
    pub complete: bool,
    /// Bytes taken from the budget at the end.
    pub stored_bytes: u64,
}

impl LassoSearch {
    /// What a search for states counted, as that of a search for a cycle that found none.
    pub(crate) fn of(tally: &Tally) -> Self {
        let counted = tally.result();
        Self {
            states: counted.states,
            transitions: counted.transitions,
            accepting: counted.accepting,
            deadlocks: counted.deadlocks,
            error_reached: counted.error_reached,
            lasso: None,
            limit: counted.limit,
            complete: counted.complete,
            stored_bytes: 0,
        }
    }
}

/// Why a search in memory comes to an end before its time.
pub(crate) enum Halt {
    Limit(Limit),
    Error(SearchError),
}

impl From<lariat_graph::GraphError> for Halt {
    fn from(error: lariat_graph::GraphError) -> Self {
        Halt::Error(error.into())
    }
}

impl From<lariat_base::BudgetExceeded> for Halt {
    fn from(_: lariat_base::BudgetExceeded) -> Self {
        Halt::Limit(Limit::Memory)
    }
}

impl From<TableFull> for Halt {
    fn from(full: TableFull) -> Self {
        Halt::Limit(match full {
            TableFull::Memory => Limit::Memory,
            TableFull::Numbers => Limit::StateNumbers,
        })
    }
}

/// Visits between two looks at the stop signal.
const VISITS_UNATTENDED: u64 = 256;

/// The states of a graph as numbers, with a value of type `T` beside each.
pub(crate) struct Numbered<'n, T> {
    pub(crate) graph: &'n dyn Graph,
    context: &'n Context<'n>,
    numbers: Numbers<'n, T>,
    expander: Box<dyn Expander + 'n>,
    edges: Edges,
    n_visits: u64,
    pub(crate) found: LassoSearch,
}

/// Rows with numbers and values.
struct Numbers<'n, T> {
    table: RowTable<'n>,
    values: BudgetedVec<'n, T>,
    unseen: T,
    /// The numbers of the rows that were looked up last.
    targets: Vec<RowId>,
}

impl<T: Copy> Numbers<'_, T> {
    fn look_up(&mut self, rows: Rows<'_>) -> Result<(), Halt> {
        self.targets.clear();
        let stored = self.table.insert_each(rows, |_, id, _| self.targets.push(id));
        while self.values.len() < self.table.len() as usize {
            self.values.push(self.unseen)?;
        }
        Ok(stored?)
    }
}

impl<'n, T: Copy> Numbered<'n, T> {
    /// States have the value `unseen` until another is set.
    pub(crate) fn new(graph: &'n dyn Graph, context: &'n Context<'n>, unseen: T) -> Result<Self, SearchError> {
        let table = RowTable::new(graph.row_bytes(), context.budget).map_err(|_| SearchError::BudgetTooSmall)?;
        Ok(Self {
            graph,
            context,
            numbers: Numbers { table, values: BudgetedVec::new(context.budget), unseen, targets: Vec::new() },
            expander: graph.expander(),
            edges: batch_edges(graph, context),
            n_visits: 0,
            found: LassoSearch::default(),
        })
    }

    pub(crate) fn value(&self, state: RowId) -> T {
        self.numbers.values.get(state.index())
    }

    pub(crate) fn set_value(&mut self, state: RowId, value: T) {
        self.numbers.values.set(state.index(), value);
    }

    pub(crate) fn row(&self, state: RowId) -> &[u8] {
        self.numbers.table.row(state)
    }

    pub(crate) fn rows(&self, states: &[RowId]) -> RowBuffer {
        let mut rows = RowBuffer::new(self.graph.row_bytes());
        states.iter().for_each(|state| rows.push(self.row(*state)));
        rows
    }

    /// All states there are with their values, while nobody asks for successors.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&[u8], T)> {
        let value =
            |id: RowId| if id.index() < self.numbers.values.len() { self.value(id) } else { self.numbers.unseen };
        self.numbers.table.rows().map(move |(id, row)| (row, value(id)))
    }

    /// The initial states.
    pub(crate) fn initial(&mut self) -> Result<Vec<RowId>, Halt> {
        let mut rows = RowBuffer::new(self.graph.row_bytes());
        self.graph.initial(&mut rows);
        self.numbers.look_up(rows.as_rows())?;
        Ok(self.numbers.targets.clone())
    }

    /// The successors of a state, in their order.
    pub(crate) fn successors(&mut self, state: RowId) -> Result<&[RowId], Halt> {
        let row = self.numbers.table.row(state);
        self.edges.clear();
        self.expander.expand(Rows::new(row, row.len()), &mut self.edges)?;
        self.numbers.look_up(self.edges.targets())?;
        Ok(&self.numbers.targets)
    }

    /// Expands states in the order of their numbers, as long as there are any; where it ends. If memory does first, that is not an error.
    pub(crate) fn expand_in_order(&mut self, range: Range<usize>) -> Result<usize, Halt> {
        for place in range.clone() {
            let Some(state) = self.numbers.table.id(place) else { return Ok(place) };
            self.attend_sometimes(place as u64 + 1, 0)?;
            match self.successors(state) {
                Err(Halt::Limit(Limit::Memory | Limit::StateNumbers)) => return Ok(place),
                successors => successors.map(|_| ())?,
            }
        }
        Ok(range.end.max(range.start))
    }

    /// Begins anew with the same numbers.
    pub(crate) fn forget_visits(&mut self) {
        let Numbers { values, unseen, .. } = &mut self.numbers;
        (0..values.len()).for_each(|place| values.set(place, *unseen));
        self.n_visits = 0;
        self.found = LassoSearch::default();
    }

    /// One of the successors that were asked for last.
    #[inline]
    pub(crate) fn target(&self, place: usize) -> RowId {
        self.numbers.targets[place]
    }

    /// The successors of a state that is visited for the first time: it is counted, unless they could not all be stored.
    pub(crate) fn visit(&mut self, state: RowId, accepting: bool, depth: usize) -> Result<&[RowId], Halt> {
        if self.n_visits.is_multiple_of(VISITS_UNATTENDED) {
            self.attend(depth)?;
        }
        self.successors(state)?;
        self.n_visits += 1;
        self.found.accepting += u64::from(accepting);
        self.found.transitions += self.numbers.targets.len() as u64;
        if self.numbers.targets.is_empty() {
            let is_error = self.graph.is_error(self.numbers.table.row(state));
            self.found.error_reached |= is_error;
            self.found.deadlocks += u64::from(!is_error);
        }
        Ok(&self.numbers.targets)
    }

    /// Looks at the stop signal, and tells how far the search has come.
    fn attend(&mut self, depth: usize) -> Result<(), Halt> {
        self.context.observer.event(&Event::Progress(Progress {
            states: self.numbers.table.len(),
            transitions: self.found.transitions,
            level: None,
            depth: Some(depth as u64),
            frontier: self.numbers.table.len() - self.n_visits,
            memory_used: self.context.budget.used(),
            memory_budget: self.context.budget.max(),
        }));
        match self.context.stop.reason() {
            Some(limit) => Err(Halt::Limit(limit)),
            None => Ok(()),
        }
    }

    /// States that were visited.
    pub(crate) fn n_visits(&self) -> u64 {
        self.n_visits
    }

    /// Looks at the stop signal now and then, in work that visits no new states.
    pub(crate) fn attend_sometimes(&mut self, n_done: u64, depth: usize) -> Result<(), Halt> {
        if n_done.is_multiple_of(VISITS_UNATTENDED) { self.attend(depth) } else { Ok(()) }
    }

    /// Notes what was counted, for a search that goes on with these states.
    pub(crate) fn note(&self, manifest: &mut Manifest) {
        note_counts(&LassoSearch { states: self.numbers.table.len(), ..self.found.clone() }, manifest);
    }

    /// The result, from how the search ended: with a lasso or after everything, or before its time.
    pub(crate) fn finish(mut self, ended: Result<Option<Lasso>, Halt>) -> Result<LassoSearch, SearchError> {
        self.found.states = self.numbers.table.len();
        self.found.stored_bytes = self.context.budget.used();
        match ended {
            Ok(lasso) => {
                self.found.complete = lasso.is_none();
                self.found.lasso = lasso;
            }
            Err(Halt::Limit(limit)) => self.found.limit = Some(limit),
            Err(Halt::Error(error)) => return Err(error),
        }
        Ok(self.found)
    }
}
