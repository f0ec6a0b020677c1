//! External breadth-first search: every level is a sorted file, and duplicates are found by merging.
//!
//! The successors of a level are collected in memory, sorted, and written as runs where memory ends. The runs are merged into one stream
//! without duplicates, and what was visited before is subtracted from it on its way to disk: that is the next level. So duplicates are found late
//! (*delayed duplicate detection*), but all of them with sequential transfers only.
//!
//! # Paper
//! Edelkamp et al., *Flash memory efficient LTL model checking*, section 3.1 and `eBFS` of section 7; after Munagala and Ranade, Korf.
//!
//! | paper | here |
//! |---|---|
//! | layer | a [`RunParts`], `frontier` while it is expanded |
//! | the set of visited states, which is passed for each layer | `visited`: layers, merged in tiers so that there are few runs |
//! | locality `l`: how many layers back duplicates can be | all layers, since `l` is not known before the search has ended |
//!
//! *Deviations.* Blocks of visited states that no candidate falls into are not read. Threads expand a layer together, and merge it by ranges of keys.
//!
//! # Invariants
//! 1. A state's level is its distance from the initial states. So the first goal that is met is a nearest one.
//! 2. `visited` has every state of the levels so far exactly once. The newest level's files are not touched before it is expanded.
//!
//! # Cost
//! sort(E) + levels * scan(V) transfers at most, the second part less where levels are narrow. A third of the memory is for sorting, the
//! rest for reading. On disk every state once or twice; levels stay until the end if there are goals, since paths are rebuilt from them.

mod shares;

use crate::expansion::{BATCH_ROWS, Expansion, Work};
use crate::path::{Levels, rebuild_paths};
use crate::tally::{Tally, lock};
use crate::{Context, Exploration, Extent, Goal, SearchError};
use lariat_disk::Disk;
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_storage::stream::RowStream;
use lariat_storage::{
    ExternalSort, Key, PartsInput, PartsReader, PartsWriter, Run, RunParts, RunReader, SortedPieces, for_row_width,
    take_smallest,
};
use shares::READ_BUFFERS;
pub(crate) use shares::Shares;
use std::marker::PhantomData;
use std::sync::Mutex;

/// Searches breadth-first from the initial states.
pub fn explore(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_within(graph, goals, extent, context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn explore_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
    shares: Option<Shares>,
) -> Result<Exploration, SearchError> {
    let tally = Tally::new(graph, goals, extent, context);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    for_row_width!(graph.row_bytes(), K => Search::<K>::new(&tally, disk, shares).run())
}

/// What the names of levels begin with.
const LEVEL: &str = "level-";
/// What is there when a level is complete.
pub(crate) struct LevelEnd {
    /// States of all levels, and edges of those that were expanded.
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    /// The runs of all states, and those of the newest level, which may be among them; none if there are no more levels.
    pub(crate) runs: Vec<String>,
    pub(crate) newest: Vec<String>,
}

/// Called when a level is complete; the memory is free. False ends the search.
pub(crate) type AfterLevel<'a> = dyn FnMut(LevelEnd) -> bool + 'a;

/// Searches everything, level by level, as long as somebody wants more.
pub(crate) fn explore_levels(
    graph: &dyn Graph,
    context: &Context,
    after: &mut AfterLevel<'_>,
) -> Result<Exploration, SearchError> {
    let tally = Tally::new(graph, &[], Extent::Everything, context);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    for_row_width!(graph.row_bytes(), K => {
        let mut search = Search::<K>::new(&tally, disk, None);
        search.after_level = Some(after);
        search.run()
    })
}

type Unit = fn((), ()) -> ();
fn unit((): (), (): ()) {}

struct Search<'s, K: Key> {
    tally: &'s Tally<'s>,
    disk: &'s dyn Disk,
    shares: Shares,
    expansion: Expansion<'s>,
    visited: Vec<RunParts<'s, K>>,
    n_merged: u64,
    /// For each level which parts it has; its files stay if there are goals.
    levels: Vec<u64>,
    keeps_levels: bool,
    after_level: Option<&'s mut AfterLevel<'s>>,
}

impl<'s, K: Key> Search<'s, K> {
    fn new(tally: &'s Tally<'s>, disk: &'s dyn Disk, shares: Option<Shares>) -> Self {
        Self {
            tally,
            disk,
            shares: shares.unwrap_or_else(|| Shares::of::<K>(tally.context, tally.graph.row_bytes())),
            expansion: Expansion::new(tally),
            visited: Vec::new(),
            n_merged: 0,
            levels: Vec::new(),
            keeps_levels: !tally.goals.is_empty(),
            after_level: None,
        }
    }

    fn run(mut self) -> Result<Exploration, SearchError> {
        let searched = self.search();
        self.tally.memory_is_a_limit(searched)?;
        let mut exploration = self.tally.result();
        exploration.levels = self.levels.len() as u64;
        exploration.stored_bytes = self.visited.iter().map(RunParts::bytes).sum();
        let mut levels =
            LevelFiles { disk: self.disk, tally: self.tally, parts_of: &self.levels, key: PhantomData::<K> };
        exploration.paths = rebuild_paths(self.tally, &mut levels)?;
        Ok(exploration)
    }

    fn search(&mut self) -> Result<(), SearchError> {
        let mut initial = RowBuffer::new(self.tally.graph.row_bytes());
        self.tally.graph.initial(&mut initial);
        let mut candidates = self.candidates(0)?;
        for row in initial.as_rows().iter() {
            candidates.push(K::from_row(row), ())?;
        }
        let mut frontier = self.new_level(vec![candidates.into_pieces()?])?;
        while self.end_level(&frontier) && !self.tally.is_over() {
            let candidates = self.expand(&frontier)?;
            if self.tally.is_stopped() {
                break;
            }
            self.merge_visited()?;
            frontier = self.new_level(candidates)?;
        }
        Ok(())
    }

    /// Tells whoever wants to know that a level is complete; whether the search goes on.
    fn end_level(&mut self, newest: &RunParts<'s, K>) -> bool {
        if let Some(after) = &mut self.after_level {
            let counts = self.tally.result();
            let runs = self.visited.iter().flat_map(RunParts::files).map(str::to_owned).collect();
            let newest = newest.files().map(str::to_owned).collect();
            if !after(LevelEnd { states: counts.states, transitions: counts.transitions, runs, newest }) {
                self.tally.stop();
            }
        }
        newest.rows() > 0
    }

    /// Where one thread collects successors.
    fn candidates(&self, thread: usize) -> Result<ExternalSort<'s, K, (), Unit>, SearchError> {
        let name = format!("candidates-{thread}");
        Ok(ExternalSort::new(self.disk, &name, self.shares.sort, unit as Unit, self.tally.context.budget)?)
    }

    /// Expands a level; its successors as far as each thread has sorted them.
    fn expand(&mut self, frontier: &RunParts<'s, K>) -> Result<Vec<SortedPieces<'s, K, ()>>, SearchError> {
        self.begin_phase("expand");
        self.tally.begin_level(self.levels.len() - 1, frontier.rows());
        let budget = self.tally.context.budget;
        let level = Mutex::new(frontier.reader((None, None), READ_BUFFERS, budget)?);
        let width = self.tally.graph.row_bytes();
        let mut workers = (0..self.expansion.n_threads())
            .map(|thread| Ok(Collector { level: &level, row: vec![0; width], found: self.candidates(thread)? }))
            .collect::<Result<Vec<_>, SearchError>>()?;
        self.expansion.expand_all(&mut workers, frontier.rows())?;
        workers.into_iter().map(|worker| Ok(worker.found.into_pieces()?)).collect()
    }

    /// Merges candidates and leaves out those that were visited: the next level, which is visited from now on.
    fn new_level(&mut self, candidates: Vec<SortedPieces<'s, K, ()>>) -> Result<RunParts<'s, K>, SearchError> {
        self.begin_phase("subtract");
        let runs = candidates.iter().flat_map(|pieces| pieces.runs.iter().map(PartsInput::Run));
        let in_memory = candidates.iter().map(|pieces| PartsInput::Rows(&pieces.keys, &pieces.values));
        let inputs: Vec<PartsInput<'_, 's, K>> = runs.chain(in_memory).collect();
        let name = format!("{LEVEL}{}", self.levels.len());
        let level = self.writer().write_union::<K, (), ()>(&name, &inputs, unit, &self.visited)?;
        drop(inputs);
        for run in candidates.into_iter().flat_map(|pieces| pieces.runs) {
            let name = run.name().to_owned();
            drop(run);
            self.disk.remove(&name).map_err(lariat_storage::StorageError::from)?;
        }
        if level.rows() > 0 {
            self.tally.add_states(level.rows());
            self.levels.push(level.places());
            self.visited.push(level.clone());
        }
        Ok(level)
    }

    /// Keeps the runs of visited states few. The newest level was expanded before this is called.
    fn merge_visited(&mut self) -> Result<(), SearchError> {
        if self.visited.len() < self.shares.visited_max {
            return Ok(());
        }
        self.begin_phase("merge");
        let small = take_smallest(&mut self.visited, RunParts::rows);
        let name = format!("visited-{}", self.n_merged);
        self.n_merged += 1;
        let inputs: Vec<PartsInput<'_, 's, K>> = small.iter().map(PartsInput::Parts).collect();
        let merged = self.writer().write_union::<K, (), ()>(&name, &inputs, unit, &[])?;
        drop(inputs);
        self.visited.push(merged);
        for parts in small {
            let is_level = parts.files().any(|name| name.starts_with(LEVEL));
            if !(is_level && self.keeps_levels) {
                parts.remove(self.disk)?;
            }
        }
        Ok(())
    }

    fn writer(&self) -> PartsWriter<'s> {
        let context = self.tally.context;
        PartsWriter {
            disk: self.disk,
            budget: context.budget,
            threads: context.threads.max(1),
            options: self.shares.run,
            batch_rows: self.shares.batch_rows,
            buffers: READ_BUFFERS,
            rows_to_share: self.shares.rows_to_share,
        }
    }

    fn begin_phase(&self, name: &'static str) {
        self.tally.context.begin_phase(name);
    }
}

/// One thread's work on a level: states come from a reader that all share, successors go to its own candidates.
struct Collector<'w, 's, K: Key> {
    level: &'w Mutex<PartsReader<'s, K>>,
    row: Vec<u8>,
    found: ExternalSort<'s, K, (), Unit>,
}

impl<K: Key> Work for Collector<'_, '_, K> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        let mut level = lock(self.level);
        let (keys, _) = level.batch()?;
        let n = keys.len().min(BATCH_ROWS);
        for key in &keys[..n] {
            key.write_row(&mut self.row);
            batch.push(&self.row);
        }
        level.consume(n);
        Ok(())
    }

    fn put(&mut self, _from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        edges.targets().iter().try_for_each(|target| Ok(self.found.push(K::from_row(target), ())?))
    }
}

/// The files of all levels, for rebuilding paths.
struct LevelFiles<'l, K> {
    disk: &'l dyn Disk,
    tally: &'l Tally<'l>,
    parts_of: &'l [u64],
    key: PhantomData<K>,
}

impl<K: Key> Levels for LevelFiles<'_, K> {
    fn visit(
        &mut self,
        level: usize,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<bool, SearchError>,
    ) -> Result<(), SearchError> {
        let (width, budget) = (self.tally.graph.row_bytes(), self.tally.context.budget);
        let mut row = vec![0; width];
        let mut rows = RowBuffer::new(width);
        for name in RunParts::<K>::names(&format!("{LEVEL}{level}"), self.parts_of[level]) {
            let run = Run::<K>::open(self.disk, &name, width, 0, budget)?;
            let mut reader = RunReader::<K>::new(&run, READ_BUFFERS, budget)?;
            loop {
                let (keys, _) = reader.batch()?;
                let n = keys.len().min(BATCH_ROWS);
                if n == 0 {
                    break;
                }
                rows.clear();
                for key in &keys[..n] {
                    key.write_row(&mut row);
                    rows.push(&row);
                }
                if !visit(rows.as_rows())? {
                    return Ok(());
                }
                reader.consume(n);
            }
        }
        Ok(())
    }
}
