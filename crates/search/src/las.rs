//! Liveness as safety, on disk: a search for a pair of states instead of a cycle.
//!
//! Every run may, at any accepting state, guess that it will come back, and remember that state from then on. A pair is a state and what is remembered, or
//! nothing; an accepting cycle exists if a state is reached that is itself remembered. That is a search for states, which `disk.rs` does, and
//! the way to such a pair is a shortest lasso through its accepting state: path and cycle together.
//!
//! # Paper
//! Biere, Artho, Schuppan (2002); on disk Edelkamp and Jabbar, *Large-scale directed model checking LTL* (2006), as LaS-BFS in Barnat, Brim, Simecek (2007).
//!
//! | paper | here |
//! |---|---|
//! | the graph of size \|F\| x \|G\| | [`Pairs`]: rows of twice the width, and a byte that says whether something is remembered |
//! | EJ, candidates on disk; EJ', in memory | the search on disk; where the way is looked for, external breadth-first search |
//!
//! *Deviations.* Breadth-first search, without the heuristic of A*. A pair is not made for an accepting state itself but for its successors, so a
//! loop of one edge needs no case of its own.
//!
//! # Cost
//! |F| times the states of the graph, so where the property holds the disk is usually not large enough; the error then says how far it came.

use crate::{Context, Extent, Goal, Lasso, LassoSearch, SearchError, checkpoint, disk};
use lariat_base::{Event, Observer};
use lariat_graph::{Edges, Expander, Graph, GraphError, RowBuffer, Rows};
use lariat_storage::StorageError;
use lariat_storage::key::ROW_BYTES_MAX;
use std::sync::atomic::{AtomicU64, Ordering};

/// Looks for an accepting cycle.
pub fn find_lasso(graph: &dyn Graph, context: &Context) -> Result<LassoSearch, SearchError> {
    let on_disk = context.disk.ok_or(SearchError::NoDisk)?;
    let pairs = Pairs { graph, width: graph.row_bytes() };
    if pairs.row_bytes() > ROW_BYTES_MAX {
        return Err(SearchError::RowsTooWide { got: pairs.row_bytes(), most: ROW_BYTES_MAX });
    }
    // What another search left is not gone on with.
    checkpoint::take_up(context, on_disk, "disk")?;
    let seen = Seen { states: AtomicU64::new(0), observer: context.observer };
    let Context { budget, stop, threads, disk, labels, .. } = *context;
    let watched = Context { budget, stop, observer: &seen, threads, disk, labels };
    let explored = disk::explore(&pairs, &[Goal::Label(0)], Extent::UntilGoals, &watched);
    if let (Err(SearchError::PathLost), Some(limit)) = (&explored, stop.reason()) {
        // A pair was found, but there was no time left for the way to it.
        let states = seen.states.load(Ordering::Relaxed);
        return Ok(LassoSearch { states, limit: Some(limit), ..LassoSearch::default() });
    }
    let mut explored = explored.map_err(|error| match error {
        SearchError::Storage(StorageError::Disk(full)) if full.is_out_of_space() => {
            SearchError::OutOfDisk { states: seen.states.load(Ordering::Relaxed), error: full.into() }
        }
        other => other,
    })?;
    let path = explored.paths.pop().flatten();
    Ok(LassoSearch {
        states: explored.states,
        transitions: explored.transitions,
        accepting: explored.accepting,
        deadlocks: explored.deadlocks,
        error_reached: explored.error_reached,
        complete: explored.complete && path.is_none(),
        limit: if path.is_some() { None } else { explored.limit },
        lasso: path.map(|path| pairs.lasso(path.as_rows())),
        stored_bytes: explored.stored_bytes,
    })
}

/// Remembers how many states there were.
struct Seen<'o> {
    states: AtomicU64,
    observer: &'o dyn Observer,
}

impl Observer for Seen<'_> {
    fn event(&self, event: &Event) {
        if let Event::Progress(progress) = event {
            self.states.fetch_max(progress.states, Ordering::Relaxed);
        }
        self.observer.event(event);
    }
}

/// The graph of pairs: a state's row, the row that is remembered, and whether one is.
struct Pairs<'g> {
    graph: &'g dyn Graph,
    width: usize,
}

impl Pairs<'_> {
    fn push(&self, state: &[u8], remembered: Option<&[u8]>, mut push: impl FnMut(&[u8])) {
        let mut row = vec![0; self.row_bytes()];
        row[..self.width].copy_from_slice(state);
        if let Some(remembered) = remembered {
            row[self.width..2 * self.width].copy_from_slice(remembered);
            row[2 * self.width] = 1;
        }
        push(&row);
    }

    fn remembered<'r>(&self, row: &'r [u8]) -> Option<&'r [u8]> {
        (row[2 * self.width] == 1).then(|| &row[self.width..2 * self.width])
    }

    /// The lasso that a path to a pair of equal states shows.
    fn lasso(&self, path: Rows<'_>) -> Lasso {
        let states = |rows: Rows<'_>| {
            let mut states = RowBuffer::new(self.width);
            rows.iter().for_each(|row| states.push(&row[..self.width]));
            states
        };
        // The last state that remembers nothing is the accepting one; the last of all is that one again.
        let begin = path.iter().rposition(|row| self.remembered(row).is_none()).unwrap_or(0);
        let (prefix, cycle) = path.split_at(path.len() - 1).0.split_at(begin);
        Lasso { prefix: states(prefix), cycle: states(cycle) }
    }
}

impl Graph for Pairs<'_> {
    fn row_bytes(&self) -> usize {
        2 * self.width + 1
    }

    fn initial(&self, out: &mut RowBuffer) {
        let mut initial = RowBuffer::new(self.width);
        self.graph.initial(&mut initial);
        initial.as_rows().iter().for_each(|state| self.push(state, None, |row| out.push(row)));
    }

    fn expander(&self) -> Box<dyn Expander + '_> {
        let (state, edges) = (RowBuffer::new(self.width), Edges::new(self.width));
        Box::new(PairsExpander { pairs: self, expander: self.graph.expander(), state, edges })
    }

    fn is_error(&self, row: &[u8]) -> bool {
        self.graph.is_error(&row[..self.width])
    }

    fn has_acceptance(&self) -> bool {
        true
    }

    fn is_accepting(&self, row: &[u8]) -> bool {
        self.graph.is_accepting(&row[..self.width])
    }
}

struct PairsExpander<'g> {
    pairs: &'g Pairs<'g>,
    expander: Box<dyn Expander + 'g>,
    state: RowBuffer,
    edges: Edges,
}

impl Expander for PairsExpander<'_> {
    fn expand(&mut self, from: Rows<'_>, out: &mut Edges) -> Result<(), GraphError> {
        let (pairs, width) = (self.pairs, self.pairs.width);
        if self.edges.most_bytes() != out.most_bytes() {
            self.edges = Edges::new(width).within(out.most_bytes());
        }
        for row in from.iter() {
            self.state.clear();
            self.state.push(&row[..width]);
            self.edges.clear();
            self.expander.expand(self.state.as_rows(), &mut self.edges)?;
            let remembered = pairs.remembered(row);
            let guesses = remembered.is_none() && pairs.graph.is_accepting(&row[..width]);
            for target in self.edges.targets().iter() {
                pairs.push(target, remembered, |row| out.push(row));
                if guesses {
                    pairs.push(target, Some(&row[..width]), |row| out.push(row));
                }
            }
            out.end_source();
            if out.has_overflowed() {
                return Err(GraphError::TooManySuccessors { most_bytes: out.most_bytes() });
            }
            if out.is_full() {
                break;
            }
        }
        Ok(())
    }

    fn labels(&mut self, rows: Rows<'_>, out: &mut Vec<u64>) -> Result<(), GraphError> {
        let width = self.pairs.width;
        let is_back = |row: &[u8]| self.pairs.remembered(row) == Some(&row[..width]);
        out.extend(rows.iter().map(|row| u64::from(is_back(row))));
        Ok(())
    }
}
