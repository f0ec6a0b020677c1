//! All states of a graph on disk, and a number for each: what semi-external searches stand on.
//!
//! The states are found by the search on disk (`disk.rs`), or level by level as published (`ebfs.rs`), and stay in its runs. A minimal perfect hash function gives each a number, so that a search
//! needs a bit or a few for each state, and no table of states. Whoever wants all rows scans the runs; a row that is met while searching is
//! hashed. That asks for no comparison, since every state that can be met has a number.
//!
//! # Paper
//! Edelkamp, Sanders, Šimeček, *Semi-external LTL model checking*, 2008; Edelkamp et al., *Flash memory efficient LTL model checking*, section 5, where the hash function
//! may be on disk. *Deviations.* With [`Generation::Disk`] states are not generated level by level: levels are known to searches that need them, and made by those.
//!
//! # Invariants
//! 1. Every state is in one run, and the numbers of all are 0 to N - 1.
//! 2. A state whose bit in `cut` is set is never expanded: its successors may have no numbers.
//!
//! # Cost
//! That of the search that finds them; then one scan of all states to number them.

use crate::expansion::batch_edges;
use crate::lasso::{Halt, LassoSearch};
use crate::{Context, Exploration, Extent, SearchError, disk, ebfs};
use lariat_base::{BudgetExceeded, Event, Limit, Progress};
use lariat_disk::{Disk, DiskError};
use lariat_graph::{Edges, Expander, Graph, RowBuffer, Rows};
use lariat_storage::stream::RowStream;
use lariat_storage::{
    Key, Manifest, ManifestFile, NumberArray, PerfectHash, PerfectHashBuilder, PerfectHashOptions, Placement, Run,
    RunReader, StorageError, for_row_width,
};

pub(crate) const ALGORITHM: &str = "algorithm";
const STATES: &str = "states";
const HASH: &str = "hash";
/// By what a search for states level by level is known on disk.
const LEVELS: &str = "levels of states";
/// Blocks that a reader has in memory.
const READ_BUFFERS: usize = 2;
/// Rows that are handed on at once.
const BATCH_ROWS: usize = 256;
/// Calls between two looks at the stop signal.
const CALLS_UNATTENDED: u64 = 64;

/// Where the perfect hash function is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HashPlacement {
    /// In memory if it takes no more than a third of what there is.
    #[default]
    Auto,
    /// In memory.
    Memory,
    /// On disk: a lookup is a read.
    Disk,
}

/// How all states are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// Level by level, by external breadth-first search, as published.
    #[default]
    Levels,
    /// By the search on disk.
    Disk,
}

impl From<StorageError> for Halt {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Memory(BudgetExceeded { .. }) => Halt::Limit(Limit::Memory),
            other => Halt::Error(other.into()),
        }
    }
}

impl From<SearchError> for Halt {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Storage(error) => error.into(),
            other => Halt::Error(other),
        }
    }
}

/// States with numbers.
pub(crate) struct States<'s> {
    pub(crate) graph: &'s dyn Graph,
    pub(crate) context: &'s Context<'s>,
    pub(crate) disk: &'s dyn Disk,
    /// What was counted while they were found.
    pub(crate) counts: LassoSearch,
    /// The names of the runs that they are in.
    runs: Vec<String>,
    hash: PerfectHash<'s>,
    /// States that are not to be expanded.
    cut: Option<NumberArray<'s>>,
    expander: Box<dyn Expander + 's>,
    edges: Edges,
    numbers: Vec<u64>,
    n_calls: u64,
    n_arrays: u64,
}

/// A run of states that were not expanded, but for so many from the first on.
#[derive(Clone, Debug)]
pub(crate) struct Unexpanded {
    pub(crate) run: String,
    pub(crate) expanded: u64,
}

/// Called with some states, and their numbers.
pub(crate) type VisitStates<'a, 's> = dyn FnMut(&mut States<'s>, Rows<'_>, &[u64]) -> Result<(), Halt> + 'a;

/// The successors of some states, and their numbers.
pub(crate) struct Successors<'e> {
    pub(crate) edges: &'e Edges,
    pub(crate) numbers: &'e [u64],
}

/// Finds all states and numbers them, or goes on with what a search of that name has left.
pub(crate) fn enumerate<'s>(
    graph: &'s dyn Graph,
    context: &'s Context<'s>,
    name: &str,
    generation: Generation,
    placement: HashPlacement,
) -> Result<States<'s>, Stopped> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    forget_other_property(context)?;
    let noted = Manifest::read(disk, context.budget)?;
    if let Some(manifest) = noted.filter(|manifest| manifest.text(ALGORITHM).is_ok_and(|algorithm| algorithm == name)) {
        context.begin_phase("resume");
        Manifest::open(disk, context.budget)?;
        let runs = manifest.files_of(STATES).map(|file| file.name.clone()).collect();
        return Ok(States::new(graph, context, runs, HASH, placement, restored(&manifest)?)?);
    }
    disk.counters().begin_phase("enumerate");
    // What was begun in one way is ended in that way.
    let generation = match Manifest::read(disk, context.budget)?.unwrap_or_default().text(ALGORITHM) {
        Ok(LEVELS) => Generation::Levels,
        Ok(_) => Generation::Disk,
        Err(_) => generation,
    };
    let (found, files) = match generation {
        Generation::Disk => find_by_disk(graph, context, disk)?,
        Generation::Levels => find_by_levels(graph, context, disk)?,
    };
    let counts = counts_of(&found);
    if let Some(limit) = found.limit {
        return Err(Stopped::Limit(LassoSearch { limit: Some(limit), ..counts }));
    }
    if files.iter().map(|file| file.rows).sum::<u64>() != found.states {
        return Err(SearchError::StateTwice.into());
    }
    let runs: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
    build_hash(graph, context, &runs, HASH)?;
    let states = States::new(graph, context, runs, HASH, placement, counts)?;
    publish(&states, name, &files)?;
    Ok(states)
}

/// All states, and the files that they are in.
type Found = (Exploration, Vec<ManifestFile>);

fn find_by_disk(graph: &dyn Graph, context: &Context<'_>, disk: &dyn Disk) -> Result<Found, SearchError> {
    let found = disk::explore(graph, &[], Extent::Everything, context)?;
    let left = Manifest::read(disk, context.budget)?.unwrap_or_default();
    Ok((found, left.files().to_vec()))
}

fn find_by_levels(graph: &dyn Graph, context: &Context<'_>, disk: &dyn Disk) -> Result<Found, SearchError> {
    let mut runs = Vec::new();
    let found = ebfs::explore_levels(graph, context, LEVELS, &mut |level| {
        runs = level.runs;
        Some(0)
    })?;
    let width = graph.row_bytes();
    let file = |name: &String| {
        for_row_width!(width, K => {
            let run = Run::<K>::open(disk, name, width, 0, context.budget)?;
            run.sync()?;
            Ok(ManifestFile { role: STATES.to_owned(), name: name.clone(), rows: run.rows(), bytes: run.bytes() })
        })
    };
    let files = runs.iter().map(file).collect::<Result<Vec<_>, StorageError>>()?;
    Ok((found, files))
}

/// The key under which it is noted on disk which property a search is for.
pub const PROPERTY: &str = "property";

/// Removes from disk what a search for another property has left there.
pub fn forget_other_property(context: &Context<'_>) -> Result<(), SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let Some(noted) = Manifest::read(disk, context.budget)? else { return Ok(()) };
    let wanted = context.labels.iter().find(|(key, _)| *key == PROPERTY).map(|(_, name)| name.as_str());
    if noted.text(ALGORITHM).is_ok() && noted.text(PROPERTY).ok() != wanted {
        let mut manifest = Manifest::new();
        for (key, text) in context.labels {
            manifest.set_text(key, text);
        }
        manifest.publish(disk, context.budget)?;
        Manifest::open(disk, context.budget)?;
    }
    Ok(())
}

/// Why there are no numbered states.
pub(crate) enum Stopped {
    /// A limit was reached; what is known.
    Limit(LassoSearch),
    Error(SearchError),
}

impl From<SearchError> for Stopped {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Storage(StorageError::Memory(_)) => {
                Stopped::Limit(LassoSearch { limit: Some(Limit::Memory), ..LassoSearch::default() })
            }
            other => Stopped::Error(other),
        }
    }
}

impl From<StorageError> for Stopped {
    fn from(error: StorageError) -> Self {
        SearchError::Storage(error).into()
    }
}

impl From<Halt> for Stopped {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Limit(limit) => Stopped::Limit(LassoSearch { limit: Some(limit), ..LassoSearch::default() }),
            Halt::Error(error) => error.into(),
        }
    }
}

impl Stopped {
    pub(crate) fn into_result(self) -> Result<LassoSearch, SearchError> {
        match self {
            Stopped::Limit(found) => Ok(found),
            Stopped::Error(error) => Err(error),
        }
    }
}

pub(crate) fn counts_of(found: &Exploration) -> LassoSearch {
    LassoSearch {
        states: found.states,
        transitions: found.transitions,
        accepting: found.accepting,
        deadlocks: found.deadlocks,
        error_reached: found.error_reached,
        stored_bytes: found.stored_bytes,
        ..LassoSearch::default()
    }
}

/// Publishes that the states are there, with their numbers.
fn publish(states: &States<'_>, name: &str, files: &[ManifestFile]) -> Result<(), StorageError> {
    let mut manifest = Manifest::new();
    for (key, text) in states.context.labels {
        manifest.set_text(key, text);
    }
    manifest.set_text(ALGORITHM, name);
    let counts = &states.counts;
    for (key, number) in [
        ("states", counts.states),
        ("transitions", counts.transitions),
        ("accepting", counts.accepting),
        ("deadlocks", counts.deadlocks),
        ("error-reached", u64::from(counts.error_reached)),
        ("stored-bytes", counts.stored_bytes),
    ] {
        manifest.set_number(key, number);
    }
    for file in files {
        manifest.add_file(ManifestFile { role: STATES.to_owned(), ..file.clone() });
    }
    let (rows, bytes) = (states.hash.len(), states.hash.bytes());
    manifest.add_file(ManifestFile { role: HASH.to_owned(), name: HASH.to_owned(), rows, bytes });
    manifest.publish(states.disk, states.context.budget)
}

fn restored(manifest: &Manifest) -> Result<LassoSearch, StorageError> {
    Ok(LassoSearch {
        states: manifest.number("states")?,
        transitions: manifest.number("transitions")?,
        accepting: manifest.number("accepting")?,
        deadlocks: manifest.number("deadlocks")?,
        error_reached: manifest.number("error-reached")? == 1,
        stored_bytes: manifest.number("stored-bytes")?,
        ..LassoSearch::default()
    })
}

/// Builds the hash function of the states in some runs.
pub(crate) fn build_hash(graph: &dyn Graph, context: &Context<'_>, runs: &[String], name: &str) -> Result<(), Halt> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    context.begin_phase("hash");
    let mut rows = 0;
    for run in runs {
        rows += for_row_width!(graph.row_bytes(), K => Run::<K>::open(disk, run, graph.row_bytes(), 0, context.budget)?.rows());
    }
    let memory_bytes = usize::try_from(context.budget.left() / 8 * 5).unwrap_or(usize::MAX);
    let options = PerfectHashOptions { rows, threads: context.threads, memory_bytes };
    let mut builder = PerfectHashBuilder::new(disk, name, options, context.budget)?;
    scan_runs(graph, context, runs, &mut |rows| {
        rows.iter().try_for_each(|row| builder.push(row))?;
        context.stop.reason().map_or(Ok(()), |limit| Err(Halt::Limit(limit)))
    })?;
    Ok(builder.finish()?)
}

/// Calls `visit` with the rows of runs, some at a time.
fn scan_runs(
    graph: &dyn Graph,
    context: &Context<'_>,
    runs: &[String],
    visit: &mut dyn FnMut(Rows<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    for name in runs {
        for_row_width!(graph.row_bytes(), K => scan_run::<K>(graph.row_bytes(), disk, name, context, visit))?;
    }
    Ok(())
}

fn scan_run<K: Key>(
    width: usize,
    disk: &dyn Disk,
    name: &str,
    context: &Context<'_>,
    visit: &mut dyn FnMut(Rows<'_>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let run = Run::<K>::open(disk, name, width, 0, context.budget)?;
    let mut reader = RunReader::<K>::new(&run, READ_BUFFERS, context.budget)?;
    let (mut rows, mut row) = (RowBuffer::new(width), vec![0; width]);
    loop {
        let (keys, _) = reader.batch()?;
        let n = keys.len().min(BATCH_ROWS);
        if n == 0 {
            return Ok(());
        }
        rows.clear();
        for key in &keys[..n] {
            key.write_row(&mut row);
            rows.push(&row);
        }
        reader.consume(n);
        visit(rows.as_rows())?;
    }
}

impl<'s> States<'s> {
    /// The states in some runs, with the hash function in a file.
    pub(crate) fn new(
        graph: &'s dyn Graph,
        context: &'s Context<'s>,
        runs: Vec<String>,
        hash: &str,
        placement: HashPlacement,
        counts: LassoSearch,
    ) -> Result<Self, SearchError> {
        let disk = context.disk.ok_or(SearchError::NoDisk)?;
        let share = context.budget.left() / 3;
        let placement = match placement {
            HashPlacement::Memory => Placement::Memory,
            HashPlacement::Disk => Placement::Disk { cache_bytes: (share / 2) as usize },
            HashPlacement::Auto => Placement::within(PerfectHash::memory_bytes_for(counts.states), share),
        };
        let hash = PerfectHash::open(disk, hash, placement, context.budget)?;
        let edges = batch_edges(graph, context);
        let (cut, expander, numbers) = (None, graph.expander(), Vec::new());
        Ok(Self { graph, context, disk, counts, runs, hash, cut, expander, edges, numbers, n_calls: 0, n_arrays: 0 })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.hash.len()
    }

    /// Removes a file, if it was ever made.
    pub(crate) fn remove_file(&self, name: &str) -> Result<(), StorageError> {
        match self.disk.remove(name) {
            Ok(()) | Err(DiskError::Missing { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Begins a part of the work.
    pub(crate) fn begin_phase(&self, name: &'static str) {
        self.context.begin_phase(name);
    }

    /// A share of the memory that is left: one of `parts`.
    pub(crate) fn memory(&self, parts: u64) -> usize {
        usize::try_from(self.context.budget.left() / parts).unwrap_or(usize::MAX)
    }

    /// An array of zeros, in memory if that takes no more than one of `parts` of what is left.
    pub(crate) fn array(&mut self, len: u64, bits: u32, parts: u64) -> Result<NumberArray<'s>, StorageError> {
        let placement = Placement::within(NumberArray::bytes_for(len, bits), self.memory(parts) as u64);
        self.n_arrays += 1;
        NumberArray::new(len, bits, placement, self.disk, &format!("array-{}", self.n_arrays), self.context.budget)
    }

    /// A bit for each state.
    pub(crate) fn bits(&mut self, parts: u64) -> Result<NumberArray<'s>, StorageError> {
        self.array(self.len(), 1, parts)
    }

    /// Lets no state be expanded that was not before.
    pub(crate) fn cut_off(&mut self, unexpanded: &[Unexpanded]) -> Result<(), Halt> {
        if unexpanded.is_empty() {
            return Ok(());
        }
        let mut cut = self.bits(3)?;
        let mut numbers = Vec::new();
        for Unexpanded { run, expanded } in unexpanded {
            let mut left = usize::try_from(*expanded).unwrap_or(usize::MAX);
            scan_runs(self.graph, self.context, std::slice::from_ref(run), &mut |rows| {
                let (before, rest) = rows.split_at(left.min(rows.len()));
                left -= before.len();
                self.hash.numbers(rest, &mut numbers)?;
                numbers.iter().try_for_each(|number| cut.set(*number, 1))?;
                Ok(())
            })?;
        }
        self.cut = Some(cut);
        Ok(())
    }

    pub(crate) fn is_cut(&mut self, number: u64) -> Result<bool, StorageError> {
        match &mut self.cut {
            Some(cut) => Ok(cut.get(number)? == 1),
            None => Ok(false),
        }
    }

    /// The numbers of rows.
    pub(crate) fn number(&mut self, rows: Rows<'_>, numbers: &mut Vec<u64>) -> Result<(), StorageError> {
        self.hash.numbers(rows, numbers)
    }

    /// The initial states and their numbers.
    pub(crate) fn initial(&mut self) -> Result<(RowBuffer, Vec<u64>), StorageError> {
        let mut rows = RowBuffer::new(self.graph.row_bytes());
        self.graph.initial(&mut rows);
        let mut numbers = Vec::new();
        self.number(rows.as_rows(), &mut numbers)?;
        Ok((rows, numbers))
    }

    /// The successors of states that are not cut, of as many from the first on as make a batch.
    pub(crate) fn expand(&mut self, rows: Rows<'_>) -> Result<Successors<'_>, Halt> {
        self.edges.clear();
        self.expander.expand(rows, &mut self.edges)?;
        self.hash.numbers(self.edges.targets(), &mut self.numbers)?;
        Ok(Successors { edges: &self.edges, numbers: &self.numbers })
    }

    /// The graph's labels that hold in a state, as bits.
    pub(crate) fn labels(&mut self, row: &[u8]) -> Result<u64, Halt> {
        let mut labels = Vec::with_capacity(1);
        self.expander.labels(Rows::new(row, row.len()), &mut labels)?;
        Ok(labels.pop().unwrap_or(0))
    }

    /// Calls `visit` with all states, some at a time, and their numbers.
    pub(crate) fn scan(&mut self, visit: &mut VisitStates<'_, 's>) -> Result<(), Halt> {
        let (graph, context, runs) = (self.graph, self.context, self.runs.clone());
        let mut numbers = Vec::new();
        let mut n_seen = 0;
        scan_runs(graph, context, &runs, &mut |rows| {
            self.number(rows, &mut numbers)?;
            n_seen += rows.len() as u64;
            self.attend(self.len().saturating_sub(n_seen), None)?;
            visit(self, rows, &numbers)
        })
    }

    /// Looks at the stop signal, and tells how far the search has come, now and then.
    pub(crate) fn attend(&mut self, frontier: u64, depth: Option<u64>) -> Result<(), Halt> {
        self.n_calls += 1;
        if !self.n_calls.is_multiple_of(CALLS_UNATTENDED) {
            return Ok(());
        }
        self.context.observer.event(&Event::Progress(Progress {
            states: self.counts.states,
            transitions: self.counts.transitions,
            level: None,
            depth,
            frontier,
            memory_used: self.context.budget.used(),
            memory_budget: self.context.budget.max(),
        }));
        match self.context.stop.reason() {
            Some(limit) => Err(Halt::Limit(limit)),
            None => Ok(()),
        }
    }

    /// The result of a search, from how it ended.
    pub(crate) fn finish(self, ended: Result<Option<crate::Lasso>, Halt>) -> Result<LassoSearch, SearchError> {
        let found = self.counts;
        match ended {
            Ok(lasso) => Ok(LassoSearch { complete: true, lasso, ..found }),
            Err(Halt::Limit(limit)) => Ok(LassoSearch { limit: Some(limit), ..found }),
            Err(Halt::Error(error)) => Err(error),
        }
    }
}
