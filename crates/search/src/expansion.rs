//! Expanding states on all threads, for the searches that keep their states on disk: taking batches, counting, and handing successors on.
//!
//! A search says where states come from and where successors go ([`Work`]). Where that is one thing for all threads it is behind a mutex: one thread
//! takes or puts while the others expand.

use crate::tally::{Tally, lock};
use crate::team::STACK_BYTES;
use crate::{Context, SearchError};
use lariat_graph::{Edges, Expander, Graph, RowBuffer, Rows};
use std::sync::Mutex;

/// States that are expanded together.
pub(crate) const BATCH_ROWS: usize = 256;
/// Their successors take no more bytes than this, unless those of one state do.
pub(crate) const BATCH_BYTES: usize = 1 << 20;
/// Fewer states than this for each thread are not worth waking threads for.
const ROWS_TO_SHARE: u64 = 2048;

/// What of the memory the successors of one state may take.
const PART_OF_STATE: u64 = 8;

/// Space for the successors of a batch.
pub(crate) fn batch_edges(graph: &dyn Graph, context: &Context) -> Edges {
    Edges::bounded(graph.row_bytes(), BATCH_BYTES).within(most_edge_bytes(context, BATCH_BYTES))
}

/// What they may take where a single state has very many: some batches, or a part of the memory, which ends the search rather than to be exceeded.
pub(crate) fn most_edge_bytes(context: &Context, batch_bytes: usize) -> usize {
    let of_thread = context.budget.max() / PART_OF_STATE / context.threads.max(1) as u64;
    usize::try_from(of_thread).unwrap_or(usize::MAX).max(4 * batch_bytes)
}

/// Where states come from and where successors go.
pub(crate) trait Work: Send {
    /// Appends states to an empty batch, at most [`BATCH_ROWS`]; none if there are none left.
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError>;

    /// Takes the successors of states.
    fn put(&mut self, from: Rows<'_>, edges: &Edges) -> Result<(), SearchError>;
}

/// A search level by level that publishes how far it is.
pub(crate) trait Leveled: Work {
    /// Takes up what was published; false if nothing was.
    fn take_up(&mut self) -> Result<bool, SearchError>;

    /// Takes the initial states.
    fn begin(&mut self, initial: Rows<'_>) -> Result<(), SearchError>;

    /// How many states are to be expanded: the rest of a level, or the next one; 0 if there are none.
    fn next_rows(&mut self) -> Result<u64, SearchError>;

    /// Whether nobody takes states any more, so that something can be published.
    fn is_pausing(&self) -> bool;

    /// Publishes how far the search is. Nobody has taken states and not put their successors.
    fn publish(&mut self) -> Result<(), SearchError>;
}

/// Expands level after level, from the initial states or from where the search was left, until there is nothing new or the search is stopped.
pub(crate) fn expand_levels<L: Leveled>(search: &Mutex<L>, tally: &Tally) -> Result<(), SearchError> {
    let mut expansion = Expansion::new(tally);
    if !lock(search).take_up()? {
        let mut initial = RowBuffer::new(tally.graph.row_bytes());
        tally.graph.initial(&mut initial);
        lock(search).begin(initial.as_rows())?;
    }
    loop {
        let n_rows = lock(search).next_rows()?;
        if n_rows == 0 || tally.is_stopped() {
            break;
        }
        expansion.expand_shared(search, n_rows)?;
        let mut search = lock(search);
        if search.is_pausing() && !tally.is_stopped() {
            search.publish()?;
        }
    }
    if tally.limit().is_some() {
        lock(search).publish()?;
    }
    Ok(())
}

impl<W: Work> Work for &Mutex<W> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        lock(self).take(batch)
    }

    fn put(&mut self, from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        lock(self).put(from, edges)
    }
}

/// What each thread keeps from level to level.
struct Hand<'s> {
    expander: Box<dyn Expander + 's>,
    batch: RowBuffer,
    edges: Edges,
    labels: Vec<u64>,
}

/// The threads of a search.
pub(crate) struct Expansion<'s> {
    tally: &'s Tally<'s>,
    hands: Vec<Hand<'s>>,
}

impl<'s> Expansion<'s> {
    pub(crate) fn new(tally: &'s Tally<'s>) -> Self {
        let width = tally.graph.row_bytes();
        let hand = |_| Hand {
            expander: tally.graph.expander(),
            batch: RowBuffer::new(width),
            edges: batch_edges(tally.graph, tally.context),
            labels: Vec::new(),
        };
        Self { tally, hands: (0..tally.context.threads.max(1)).map(hand).collect() }
    }

    pub(crate) fn n_threads(&self) -> usize {
        self.hands.len()
    }

    /// Expands states until there are none left, or the search is stopped. Each thread has one of the workers; if there are about `n_rows` states, and
    /// that is few, only the first works.
    pub(crate) fn expand_all<W: Work>(&mut self, workers: &mut [W], n_rows: u64) -> Result<(), SearchError> {
        let tally = self.tally;
        let n_threads = self.hands.len().min(workers.len());
        if n_threads == 1 || n_rows < ROWS_TO_SHARE * n_threads as u64 {
            return self.hands[0].expand_all(&mut workers[0], tally);
        }
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (hand, worker) in self.hands.iter_mut().zip(workers) {
                let builder = std::thread::Builder::new().name("lariat-expand".to_owned()).stack_size(STACK_BYTES);
                let thread = builder.spawn_scoped(scope, move || hand.expand_all(worker, tally)).map_err(|error| {
                    tally.stop();
                    SearchError::Thread(error.to_string())
                })?;
                threads.push(thread);
            }
            let broken = |_| SearchError::Thread("it panicked".to_owned());
            threads.into_iter().map(|thread| thread.join().map_err(broken)?).fold(Ok(()), Result::and)
        })
    }

    /// The same for one piece of work that all threads share.
    pub(crate) fn expand_shared<W: Work>(&mut self, work: &Mutex<W>, n_rows: u64) -> Result<(), SearchError> {
        let mut workers = vec![work; self.hands.len()];
        self.expand_all(&mut workers, n_rows)
    }

    /// Expands states that were counted before, from the first on, as many as make a batch of successors.
    pub(crate) fn expand_again(&mut self, rows: Rows<'_>) -> Result<&Edges, SearchError> {
        let hand = &mut self.hands[0];
        hand.edges.clear();
        hand.expander.expand(rows, &mut hand.edges)?;
        Ok(&hand.edges)
    }
}

impl Hand<'_> {
    fn expand_all<W: Work>(&mut self, work: &mut W, tally: &Tally) -> Result<(), SearchError> {
        let result = self.expand_batches(work, tally);
        if result.is_err() {
            // The other threads need not go on.
            tally.stop();
        }
        result
    }

    fn expand_batches<W: Work>(&mut self, work: &mut W, tally: &Tally) -> Result<(), SearchError> {
        while !tally.is_over() {
            self.batch.clear();
            work.take(&mut self.batch)?;
            if self.batch.is_empty() {
                break;
            }
            let mut rows = self.batch.as_rows();
            if tally.has_label_goals() {
                self.labels.clear();
                self.expander.labels(rows, &mut self.labels)?;
                tally.check_labels(rows, &self.labels, tally.level());
            }
            while !rows.is_empty() {
                self.edges.clear();
                self.expander.expand(rows, &mut self.edges)?;
                let (expanded, left) = rows.split_at(self.edges.n_sources());
                tally.count_expanded(expanded, &self.edges);
                work.put(expanded, &self.edges)?;
                tally.progress();
                rows = left;
            }
        }
        Ok(())
    }
}
