//! Accepting cycles without depth-first search, on disk: the set of states that an accepting cycle may lead to is made smaller until nothing
//! more can be left out. If it is empty, there is no accepting cycle.
//!
//! *Elim-No-Accepting* keeps what can be reached from accepting states of the set, and counts the in-degree of each state within it.
//! *Elim-No-Predecessors* takes away states without predecessors in the set, and what loses its last predecessor thereby. Both only follow
//! edges forwards and can wait before they look at the disk.
//!
//! # Paper
//! Barnat, Brim, Simecek, *I/O efficient accepting cycle detection* (2007), after OWCTY by Cerna and Pelanek.
//!
//! | paper | here |
//! |---|---|
//! | DetectAcceptingCycle, Algorithm 1 | [`Search::detect`] |
//! | Merge, 2 | [`Search::merge`], `merge.rs` |
//! | StoreOrCombine, 3, and OpenIsNotEmpty, 4 | a round, `round.rs` |
//! | Elim-No-Accepting, 5 | [`Search::begin_accepting`] to [`Search::end_accepting`] |
//! | Elim-No-Predecessors, 6 | from there to [`Search::end_predecessors`] |
//! | Initialize-ApproxSet, 7 | [`Search::begin`] to [`Search::end_initialise`] |
//! | ApproxSet and its appendices | `tiers` while it is built, then `approx`; what was taken from the appendices is in `tiers` again |
//! | Candidates, in memory (DAC) or on disk (DAC') | the candidates of a round; a merge comes when they do not fit into memory, or not |
//! | Open | `open`, and the queue of a round |
//!
//! *Completed.* Leading accepting states are met again and again, and are told apart at the next merge. A self-loop counts as a predecessor. The set need not be
//! made once more to see that nothing changes: if Elim-No-Predecessors finds nothing to eliminate, nothing will.
//! The paper ends with a verdict; where the set is not empty, `root.rs` finds a state of it that is on a cycle, and `route.rs` the lasso.
//!
//! *The open problem of the paper*, that merging a small level into a large set takes as long as a scan of the set, is solved twice. A filter
//! in memory tells which states are new for certain, and counters that states share tell whose in-degree has become zero for certain; those
//! states are expanded without any merge, and only the doubtful ones wait for one. A merge makes a *tier* of the candidates instead of writing
//! the set again, and reads only blocks that a doubtful state falls into. [`Merging::EachLevel`] is the paper's way.
//!
//! # Invariants
//! 1. The appendix of a state, summed over all tiers, is the number of its edges from states that were expanded in this phase.
//! 2. A state is expanded once in a phase: when its candidate got the flag, or when a merge found it due.
//!
//! # Cost
//! At most the paper's O(l_SCC (h_BFS + |p_max| + |E|/M) scan(|V|)) transfers; where the filter knows most states, the numbers of levels are
//! replaced by the logarithm of |V|. Each state is expanded once for each time that a phase meets it: three times in a typical proof.

mod merge;
mod notes;
mod root;
mod round;
mod shares;

use crate::expansion::Expansion;
use crate::pool::OpenSet;
use crate::sets::{READ_BUFFERS, Sets};
use crate::tally::{Tally, lock};
use crate::{Context, Extent, LassoSearch, SearchError, route};
use lariat_disk::Disk;
use lariat_graph::{Graph, RowBuffer};
use lariat_storage::run_parts::BoxStream;
use lariat_storage::stream::{RowStream, Select, intersect};
use lariat_storage::{Key, PartsWriter, ReservedVec, RunParts, for_row_width};
use merge::left_of;
use round::Rule;
pub(crate) use shares::Shares;
use std::sync::Mutex;

/// Where candidates wait for a merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Candidates {
    /// In memory; when that is full, a merge comes.
    #[default]
    Ram,
    /// On disk.
    Disk,
}

/// What the approximation set is at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Initialise {
    /// Accepting states that can be reached without passing through another one.
    #[default]
    Leading,
    /// All states.
    All,
}

/// When candidates are merged with the set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merging {
    /// When nothing certain is left to do, as a tier.
    #[default]
    Delayed,
    /// After every level, with the whole set.
    EachLevel,
}

/// The variants of the algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where candidates wait.
    pub candidates: Candidates,
    /// What the set is at first.
    pub initialise: Initialise,
    /// When candidates are merged.
    pub merging: Merging,
}

/// The appendix of a state: a number of edges, and in the lowest bit a flag.
type Appendix = u32;
/// The state was expanded as soon as it was found.
const FLAG: Appendix = 1;
/// More edges than this into one state cannot be counted.
const COUNT_MAX: Appendix = Appendix::MAX >> 1;

fn count(appendix: Appendix) -> Appendix {
    appendix >> 1
}

fn combine(a: Appendix, b: Appendix) -> Appendix {
    count(a).saturating_add(count(b)).min(COUNT_MAX) << 1 | (a | b) & FLAG
}

/// Looks for an accepting cycle.
pub fn find_lasso(graph: &dyn Graph, options: Options, context: &Context) -> Result<LassoSearch, SearchError> {
    find_lasso_within(graph, options, context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn find_lasso_within(
    graph: &dyn Graph,
    options: Options,
    context: &Context,
    shares: Option<Shares>,
) -> Result<LassoSearch, SearchError> {
    let tally = Tally::new(graph, &[], Extent::Everything, context);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let ended = for_row_width!(graph.row_bytes(), K => Search::<K>::new(&tally, disk, options, shares).run())?;
    let mut found = LassoSearch::of(&tally);
    found.stored_bytes = disk.usage().peak;
    if let Some(accepting) = ended {
        match route::lasso_through(graph, &accepting, context)? {
            Ok(lasso) => (found.lasso, found.limit) = (Some(lasso), None),
            Err(limit) => found.limit = Some(limit),
        }
        found.complete = false;
    }
    Ok(found)
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Initialise,
    Accepting,
    Predecessors,
    /// The set is not empty: `approx` has its accepting states.
    Lasso,
    /// The set is empty.
    Empty,
}

struct Search<'s, K: Key> {
    tally: &'s Tally<'s>,
    sets: Sets<'s, Appendix>,
    options: Options,
    shares: Shares,
    /// Behind a mutex so that threads can share the rest; nobody else wants it.
    expansion: Mutex<Expansion<'s>>,
    phase: Phase,
    iteration: u64,
    tiers: Vec<RunParts<'s, K>>,
    open: Vec<OpenSet<'s, K>>,
    /// One set at most, but for the moment when it is replaced.
    approx: Vec<RunParts<'s, K>>,
    /// What was met before the first accepting states, until states are counted.
    initial: Vec<RunParts<'s, K>>,
    n_expanded: u64,
}

impl<'s, K: Key> Search<'s, K> {
    fn new(tally: &'s Tally<'s>, disk: &'s dyn Disk, options: Options, shares: Option<Shares>) -> Self {
        let shares = shares.unwrap_or_else(|| Shares::of::<K>(tally.context, tally.graph.row_bytes()));
        let writer = PartsWriter {
            disk,
            budget: tally.context.budget,
            threads: tally.context.threads.max(1),
            options: shares.run,
            batch_rows: shares.batch_rows,
            buffers: READ_BUFFERS,
            rows_to_share: shares.rows_to_share,
        };
        Self {
            tally,
            sets: Sets::new(writer, tally.graph, combine, shares.publish_after),
            options,
            shares,
            expansion: Mutex::new(Expansion::new(tally)),
            phase: Phase::Initialise,
            iteration: 0,
            tiers: Vec::new(),
            open: Vec::new(),
            approx: Vec::new(),
            initial: Vec::new(),
            n_expanded: 0,
        }
    }

    /// An accepting state on a cycle, if there is one and the search was not stopped.
    fn run(mut self) -> Result<Option<Vec<u8>>, SearchError> {
        let mut root = None;
        let detected = self.detect(&mut root);
        self.tally.memory_is_a_limit(detected)?;
        Ok(root)
    }

    fn detect(&mut self, root: &mut Option<Vec<u8>>) -> Result<(), SearchError> {
        if !self.take_up()? {
            self.begin()?;
        }
        while !self.tally.is_stopped() {
            self.tally.set_again(!self.counts());
            match self.phase {
                Phase::Initialise => {
                    let enters_accepting = self.options.initialise == Initialise::All;
                    self.sweep("initialise", enters_accepting)?;
                    self.end_initialise()?;
                }
                Phase::Accepting => {
                    self.sweep("elim-no-accepting", true)?;
                    self.end_accepting()?;
                }
                Phase::Predecessors => {
                    self.sweep("elim-no-predecessors", true)?;
                    self.end_predecessors()?;
                }
                Phase::Lasso => {
                    self.tally.set_again(true);
                    *root = self.find_root()?;
                    return Ok(());
                }
                Phase::Empty => return Ok(()),
            }
        }
        Ok(())
    }

    /// Whether states are expanded for the first time.
    fn counts(&self) -> bool {
        match self.phase {
            Phase::Initialise => true,
            Phase::Accepting => self.iteration == 1 && self.options.initialise == Initialise::Leading,
            _ => false,
        }
    }

    /// Expands and merges until nothing is open, or the search is stopped.
    fn sweep(&mut self, name: &'static str, enters_accepting: bool) -> Result<(), SearchError> {
        self.tally.context.begin_phase(name);
        let rule = match self.phase {
            Phase::Predecessors => Rule::Eliminate { counters: self.counters()? },
            _ => Rule::Forward { filter: self.filter()?, enters_accepting },
        };
        while !self.open.is_empty() && !self.tally.is_over() {
            self.tally.context.begin_phase(name);
            let round = self.round(&rule)?;
            self.merge(&rule, round)?;
            if self.phase != Phase::Lasso && (self.sets.is_publishing_due() || self.tally.is_over()) {
                self.publish()?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), SearchError> {
        let mut initial = RowBuffer::new(self.tally.graph.row_bytes());
        self.tally.graph.initial(&mut initial);
        let (mut keys, mut values) = (ReservedVec::new(self.sets.budget()), ReservedVec::new(self.sets.budget()));
        initial.as_rows().iter().try_for_each(|row| keys.push(K::from_row(row)))?;
        values.resize(keys.len(), 0)?;
        self.tiers.push(self.sets.write_rows(keys, values)?);
        let (graph, enters_accepting) = (self.tally.graph, self.options.initialise == Initialise::All);
        let is_entered = |row: &[u8], _| (enters_accepting || !graph.is_accepting(row)).then_some(0);
        let open = self.sets.write_chosen(&self.tiers, is_entered)?;
        self.tally.add_states(open.rows());
        self.push_open(open);
        self.publish()
    }

    /// The accepting states that were met are where the first Elim-No-Accepting begins.
    fn end_initialise(&mut self) -> Result<(), SearchError> {
        if self.tally.is_stopped() {
            return Ok(());
        }
        let met = std::mem::take(&mut self.tiers);
        let accepting = self.write_accepting(&met)?;
        if self.options.initialise == Initialise::Leading {
            self.initial = met;
            self.tally.add_states(accepting.rows());
        }
        self.begin_accepting(accepting)
    }

    fn begin_accepting(&mut self, accepting: RunParts<'s, K>) -> Result<(), SearchError> {
        if accepting.rows() == 0 {
            self.phase = Phase::Empty;
            return Ok(());
        }
        self.phase = Phase::Accepting;
        self.iteration += 1;
        self.tiers = vec![accepting.clone()];
        self.approx.clear();
        self.push_open(accepting);
        self.publish()
    }

    /// The set is complete; what has no predecessor in it is eliminated first.
    fn end_accepting(&mut self) -> Result<(), SearchError> {
        if self.tally.is_stopped() {
            return Ok(());
        }
        let tiers = std::mem::take(&mut self.tiers);
        let approx = self.sets.write_one(&tiers)?;
        drop(tiers);
        self.check_counts(&approx)?;
        self.uncount_initial(&approx)?;
        self.initial.clear();
        let leading = self.sets.write_chosen(std::slice::from_ref(&approx), |_, all| (count(all) == 0).then_some(0))?;
        self.approx = vec![approx];
        if leading.rows() == 0 {
            let accepting = self.write_accepting(&self.approx.clone())?;
            self.approx = vec![accepting];
            self.phase = Phase::Lasso;
        } else {
            self.phase = Phase::Predecessors;
            self.push_open(leading);
        }
        self.publish()
    }

    fn check_counts(&self, approx: &RunParts<'s, K>) -> Result<(), SearchError> {
        let too_many = std::sync::atomic::AtomicBool::new(false);
        self.sets.for_each(std::slice::from_ref(approx), |_, appendix| {
            if count(appendix) == COUNT_MAX {
                too_many.store(true, std::sync::atomic::Ordering::Relaxed);
            }
            Ok(())
        })?;
        if too_many.into_inner() { Err(SearchError::TooManyEdges) } else { Ok(()) }
    }

    /// States that were expanded on the way to the first accepting ones, and again from there, were counted twice.
    fn uncount_initial(&mut self, approx: &RunParts<'s, K>) -> Result<(), SearchError> {
        if self.initial.is_empty() {
            return Ok(());
        }
        let width = self.tally.graph.row_bytes();
        let (budget, batch_rows) = (self.sets.budget(), self.sets.writer.batch_rows);
        let (initial, graph) = (std::mem::take(&mut self.initial), self.tally.graph);
        let mut tested = vec![0; width];
        let is_expanded = |key: K, _| {
            key.write_row(&mut tested);
            (!graph.is_accepting(&tested)).then_some(0_u32)
        };
        let expanded = Select::new(self.sets.union(&initial, (None, None))?, is_expanded, batch_rows, budget)?;
        let again = approx.reader::<Appendix>((None, None), READ_BUFFERS, budget)?;
        let mut twice = intersect(expanded, again, |_, _| 0_u32, batch_rows, budget)?;
        let mut rows = RowBuffer::new(width);
        let mut row = vec![0; width];
        let mut expansion = lock(&self.expansion);
        loop {
            let (keys, _) = twice.batch()?;
            let n = keys.len();
            if n == 0 {
                return Ok(());
            }
            rows.clear();
            for key in keys {
                key.write_row(&mut row);
                rows.push(&row);
            }
            twice.consume(n);
            self.tally.set_states(self.tally.states() - n as u64);
            let mut left = rows.as_rows();
            while !left.is_empty() {
                let edges = expansion.expand_again(left)?;
                let (done, rest) = left.split_at(edges.n_sources());
                self.tally.uncount_expanded(done, edges, &vec![1; done.len()]);
                left = rest;
            }
        }
    }

    /// What is left begins anew with its accepting states.
    fn end_predecessors(&mut self) -> Result<(), SearchError> {
        if self.tally.is_stopped() {
            return Ok(());
        }
        let (approx, tiers, graph) = (&self.approx, &self.tiers, self.tally.graph);
        let accepting = self.sets.write(approx, |sets, bounds| {
            let mut row = vec![0; graph.row_bytes()];
            let judge = move |key: K, _: Appendix| {
                key.write_row(&mut row);
                graph.is_accepting(&row).then_some(0_u32)
            };
            let left = left_of(sets, approx, tiers, bounds)?;
            Ok(Box::new(Select::new(left, judge, sets.writer.batch_rows, sets.budget())?) as BoxStream<'_, K, Appendix>)
        })?;
        self.begin_accepting(accepting)
    }

    fn write_accepting(&mut self, sets: &[RunParts<'s, K>]) -> Result<RunParts<'s, K>, SearchError> {
        let graph = self.tally.graph;
        self.sets.write_chosen(sets, |row, _| graph.is_accepting(row).then_some(0))
    }
}
