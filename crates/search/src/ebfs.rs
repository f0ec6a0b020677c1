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
//! *Deviations.* Blocks of visited states that no candidate falls into are not read. Threads expand a layer together, and merge it by ranges of keys. With hash compaction
//! layers are sorted by signatures, each with its state, and visited are the signatures alone.
//!
//! # Invariants
//! 1. A state's level is its distance from the initial states. So the first goal that is met is a nearest one.
//! 2. `visited` has every state of the levels so far exactly once. The newest level's files are not touched before it is expanded.
//! 3. Files that a published manifest names stay until the next one is published.
//!
//! # Cost
//! sort(E) + levels * scan(V) transfers at most, the second part less where levels are narrow. A third of the memory is for sorting, the
//! rest for reading. On disk every state once or twice; levels stay until the end if there are goals, since paths are rebuilt from them.

mod checkpoint;
mod levels;
mod shares;
mod stored;

use crate::checkpoint::Publisher;
use crate::compact::Identity;
use crate::expansion::{BATCH_ROWS, Expansion, Work};
use crate::path::{met_goals, rebuild_paths};
use crate::path_on_disk::{Paths, nowhere};
use crate::tally::{Tally, lock};
use crate::{Compaction, Context, Exploration, Extent, Goal, SearchError};
use lariat_disk::{Disk, FileKind};
use lariat_graph::{Edges, Graph, RowBuffer, Rows};
use lariat_storage::stream::RowStream;
use lariat_storage::{
    ExternalSort, Key, Manifest, PartsInput, PartsReader, PartsWriter, RowLog, RowLogOptions, RunParts, SortedPieces,
    Value, for_row_width, take_smallest,
};
use levels::LevelFiles;
use shares::READ_BUFFERS;
pub(crate) use shares::Shares;
use std::sync::Mutex;
use stored::{KeysOnly, Signed, Stored, Whole};

/// Searches breadth-first from the initial states.
pub fn explore(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_within(graph, goals, extent, None, context, None)
}

/// The same with signatures instead of visited states.
pub fn explore_compact(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    compaction: Compaction,
    context: &Context,
) -> Result<Exploration, SearchError> {
    explore_within(graph, goals, extent, Some(compaction), context, None)
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn explore_within(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    compaction: Option<Compaction>,
    context: &Context,
    shares: Option<Shares>,
) -> Result<Exploration, SearchError> {
    let tally = Tally::new(graph, goals, extent, context);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    let Some(compaction) = compaction else {
        return for_row_width!(graph.row_bytes(), K => {
            Search::<K, (), Whole>::new(&tally, disk, Whole, shares).published().run()
        });
    };
    let search = || {
        let found = for_row_width!(graph.row_bytes(), V => {
            let stored = Signed(Identity::new(graph.row_bytes(), Some(compaction)));
            Search::<u64, V, Signed>::new(&tally, disk, stored, shares).published().run()?
        });
        Ok(Exploration { paths: met_goals(&tally), ..found })
    };
    Paths { graph, goals, extent, context }.after(search, nowhere)
}

/// A search for paths on behalf of another search, known on disk by a name.
pub(crate) fn explore_for_paths(
    graph: &dyn Graph,
    goals: &[Goal],
    name: &'static str,
    context: &Context,
) -> Result<Exploration, SearchError> {
    let tally = Tally::new(graph, goals, Extent::UntilGoals, context);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    for_row_width!(graph.row_bytes(), K => {
        Search::<K, (), Whole>::new(&tally, disk, Whole, None).published_as(name).run()
    })
}

/// A search on behalf of another one, whose files and manifest are on the same disk and stay as they are. The caller removes what is left.
pub(crate) fn explore_beside(
    graph: &dyn Graph,
    goals: &[Goal],
    extent: Extent,
    context: &Context,
) -> Result<Exploration, SearchError> {
    let tally = Tally::new(graph, goals, extent, context);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    for_row_width!(graph.row_bytes(), K => {
        let mut search = Search::<K, (), Whole>::new(&tally, disk, Whole, None);
        search.prefix = "beside-";
        search.run()
    })
}

/// What is there when a level is complete.
pub(crate) struct LevelEnd {
    /// States of all levels, and edges of those that were expanded.
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    /// The runs of all states, and those of the newest level, which may be among them; none if there are no more levels.
    pub(crate) runs: Vec<String>,
    pub(crate) newest: Vec<String>,
    /// With how many states the caller said to be done, perhaps in another process.
    pub(crate) done_with: u64,
}

/// Called when a level is complete; the memory is free. It says with how many states it is done, or nothing, which ends the search.
pub(crate) type AfterLevel<'a> = dyn FnMut(LevelEnd) -> Option<u64> + 'a;

/// Searches everything, level by level, as long as somebody wants more, who is known on disk by a name.
pub(crate) fn explore_levels(
    graph: &dyn Graph,
    context: &Context,
    name: &'static str,
    after: &mut AfterLevel<'_>,
) -> Result<Exploration, SearchError> {
    let tally = Tally::new(graph, &[], Extent::Everything, context);
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    for_row_width!(graph.row_bytes(), K => {
        let mut search = Search::<K, (), Whole>::new(&tally, disk, Whole, None).published_as(name);
        search.after_level = Some(after);
        search.run()
    })
}

/// What the names of sets begin with, behind what those of all files of the search begin with.
const LEVEL: &str = "level-";
const KEYS: &str = "keys-";
const MERGED: &str = "visited-";

type First<V> = fn(V, V) -> V;
fn first<V>(a: V, _b: V) -> V {
    a
}

/// Levels are sets of keys of type `K`, with values of type `V`, as `S` stores them.
struct Search<'s, K: Key, V: Value, S: Stored<K, V>> {
    tally: &'s Tally<'s>,
    disk: &'s dyn Disk,
    stored: S,
    shares: Shares,
    expansion: Expansion<'s>,
    visited: Vec<RunParts<'s, K>>,
    n_merged: u64,
    /// For each level which parts it has; its files stay if there are goals, and paths are found by them.
    levels: Vec<u64>,
    keeps_levels: bool,
    saved_levels: RowLog<'s>,
    publisher: Option<Publisher<'s>>,
    /// How many levels and merged sets there were when something was published.
    n_published: (u64, u64),
    prefix: &'static str,
    after_level: Option<&'s mut AfterLevel<'s>>,
    /// With how many states whoever is called after levels is done.
    done_with: u64,
    values: std::marker::PhantomData<V>,
}

impl<'s, K: Key, V: Value, S: Stored<K, V>> Search<'s, K, V, S> {
    fn new(tally: &'s Tally<'s>, disk: &'s dyn Disk, stored: S, shares: Option<Shares>) -> Self {
        let widths = stored.widths(tally.graph.row_bytes());
        let levels = RowLogOptions::smallest(checkpoint::PLACES_BYTES, FileKind::Other);
        Self {
            tally,
            disk,
            stored,
            shares: shares.unwrap_or_else(|| Shares::of::<K, V>(tally.context, widths)),
            expansion: Expansion::new(tally),
            visited: Vec::new(),
            n_merged: 0,
            levels: Vec::new(),
            keeps_levels: !tally.goals.is_empty() && !S::IS_COMPACT,
            saved_levels: RowLog::new(disk, "levels", levels, tally.context.budget),
            publisher: None,
            n_published: (0, 0),
            prefix: "",
            after_level: None,
            done_with: 0,
            values: std::marker::PhantomData,
        }
    }

    /// The same, publishing how far it is, and going on from there.
    fn published(self) -> Self {
        self.published_as(checkpoint::NAME)
    }

    fn published_as(mut self, name: &'static str) -> Self {
        let after = self.shares.publish_after;
        self.publisher = Some(Publisher::new(self.tally.context, self.disk, name, after));
        self
    }

    fn run(mut self) -> Result<Exploration, SearchError> {
        let searched = self.search();
        self.tally.memory_is_a_limit(searched)?;
        let mut exploration = self.tally.result();
        exploration.levels = self.levels.len() as u64;
        exploration.stored_bytes = self.visited.iter().map(RunParts::bytes).sum();
        if !S::IS_COMPACT {
            let name = self.name(LEVEL);
            let mut levels = LevelFiles::<K>::new(self.disk, self.tally, &name, &self.levels);
            exploration.paths = rebuild_paths(self.tally, &mut levels)?;
        }
        Ok(exploration)
    }

    fn search(&mut self) -> Result<(), SearchError> {
        let mut frontier = match self.take_up()? {
            Some(frontier) => frontier,
            None => self.initial_level()?,
        };
        while self.end_level(&frontier) {
            // Where a limit ends the search within a level, it is gone on with from the level's beginning.
            let mut counted = Manifest::new();
            self.tally.note(&mut counted);
            if self.tally.is_over() {
                return self.publish_at_limit(&frontier, &counted);
            }
            self.publish_if_due(&frontier, &counted)?;
            let candidates = self.expand(&frontier)?;
            if self.tally.is_stopped() {
                drop(candidates);
                return self.publish_at_limit(&frontier, &counted);
            }
            self.merge_visited()?;
            let next = self.new_level(candidates)?;
            if S::IS_COMPACT {
                self.remove(std::mem::replace(&mut frontier, next))?;
            } else {
                frontier = next;
            }
        }
        Ok(())
    }

    fn initial_level(&mut self) -> Result<RunParts<'s, K>, SearchError> {
        let mut initial = RowBuffer::new(self.tally.graph.row_bytes());
        self.tally.graph.initial(&mut initial);
        let mut candidates = self.candidates(0)?;
        for row in initial.as_rows().iter() {
            let (key, value) = self.stored.split(row);
            candidates.push(key, value)?;
        }
        self.new_level(vec![candidates.into_pieces()?])
    }

    /// Tells whoever wants to know that a level is complete; whether the search goes on.
    fn end_level(&mut self, newest: &RunParts<'s, K>) -> bool {
        if let Some(after) = &mut self.after_level {
            let counts = self.tally.result();
            let runs = self.visited.iter().flat_map(RunParts::files).map(str::to_owned).collect();
            let newest = newest.files().map(str::to_owned).collect();
            let (states, transitions, done_with) = (counts.states, counts.transitions, self.done_with);
            match after(LevelEnd { states, transitions, runs, newest, done_with }) {
                Some(done_with) => self.done_with = done_with,
                None => self.tally.stop(),
            }
        }
        newest.rows() > 0
    }

    fn name(&self, what: &str) -> String {
        format!("{}{what}", self.prefix)
    }

    /// Where one thread collects successors.
    fn candidates(&self, thread: usize) -> Result<ExternalSort<'s, K, V, First<V>>, SearchError> {
        let name = self.name(&format!("candidates-{thread}"));
        Ok(ExternalSort::new(self.disk, &name, self.shares.sort, first as First<V>, self.tally.context.budget)?)
    }

    /// Expands a level; its successors as far as each thread has sorted them.
    fn expand(&mut self, frontier: &RunParts<'s, K>) -> Result<Vec<SortedPieces<'s, K, V>>, SearchError> {
        self.begin_phase("expand");
        self.tally.begin_level(self.levels.len() - 1, frontier.rows());
        let budget = self.tally.context.budget;
        let level = Mutex::new(frontier.reader((None, None), READ_BUFFERS, budget)?);
        let (width, stored) = (self.tally.graph.row_bytes(), self.stored);
        let mut workers = (0..self.expansion.n_threads())
            .map(|thread| Ok(Collector { level: &level, stored, row: vec![0; width], found: self.candidates(thread)? }))
            .collect::<Result<Vec<_>, SearchError>>()?;
        self.expansion.expand_all(&mut workers, frontier.rows())?;
        workers.into_iter().map(|worker| Ok(worker.found.into_pieces()?)).collect()
    }

    /// Merges candidates and leaves out those that were visited: the next level, which is visited from now on.
    fn new_level(&mut self, candidates: Vec<SortedPieces<'s, K, V>>) -> Result<RunParts<'s, K>, SearchError> {
        self.begin_phase("subtract");
        let runs = candidates.iter().flat_map(|pieces| pieces.runs.iter().map(PartsInput::Run));
        let in_memory = candidates.iter().map(|pieces| PartsInput::Rows(&pieces.keys, &pieces.values));
        let inputs: Vec<PartsInput<'_, 's, K, V>> = runs.chain(in_memory).collect();
        let (name, writer) = (self.name(&format!("{LEVEL}{}", self.levels.len())), self.writer());
        let level = writer.write_union::<K, V, ()>(&name, &inputs, first, &self.visited)?;
        drop(inputs);
        for run in candidates.into_iter().flat_map(|pieces| pieces.runs) {
            let name = run.name().to_owned();
            drop(run);
            self.disk.remove(&name).map_err(lariat_storage::StorageError::from)?;
        }
        if level.rows() > 0 {
            self.tally.add_states(level.rows());
            let visited = if S::IS_COMPACT { self.write_keys(&level)? } else { level.clone() };
            self.levels.push(level.places());
            self.visited.push(visited);
        }
        Ok(level)
    }

    /// The keys of a level without their values.
    fn write_keys(&self, level: &RunParts<'s, K>) -> Result<RunParts<'s, K>, SearchError> {
        let (name, writer) = (self.name(&format!("{KEYS}{}", self.levels.len())), self.key_writer());
        let ranges = writer.ranges::<K, V>(&[PartsInput::Parts(level)]);
        Ok(writer.write::<K, ()>(&name, &ranges, |bounds| {
            Ok(Box::new(KeysOnly::new(level.reader::<V>(bounds, READ_BUFFERS, self.tally.context.budget)?)))
        })?)
    }

    /// Keeps the runs of visited states few. The newest level was expanded before this is called.
    fn merge_visited(&mut self) -> Result<(), SearchError> {
        if self.visited.len() < self.shares.visited_max {
            return Ok(());
        }
        self.begin_phase("merge");
        let small = take_smallest(&mut self.visited, RunParts::rows);
        let name = self.name(&format!("{MERGED}{}", self.n_merged));
        self.n_merged += 1;
        let inputs: Vec<PartsInput<'_, 's, K>> = small.iter().map(PartsInput::Parts).collect();
        let merged = self.key_writer().write_union::<K, (), ()>(&name, &inputs, first, &[])?;
        drop(inputs);
        self.visited.push(merged);
        for parts in small {
            let is_level = parts.files().any(|name| name.starts_with(&self.name(LEVEL)));
            if !(is_level && self.keeps_levels) {
                self.remove(parts)?;
            }
        }
        Ok(())
    }

    /// The writer of levels.
    fn writer(&self) -> PartsWriter<'s> {
        let context = self.tally.context;
        PartsWriter {
            disk: self.disk,
            budget: context.budget,
            threads: context.threads.max(1),
            options: self.shares.sort.run,
            batch_rows: self.shares.batch_rows,
            buffers: READ_BUFFERS,
            rows_to_share: self.shares.rows_to_share,
        }
    }

    /// The writer of visited sets.
    fn key_writer(&self) -> PartsWriter<'s> {
        PartsWriter { options: self.shares.run, ..self.writer() }
    }

    fn begin_phase(&self, name: &'static str) {
        self.tally.context.begin_phase(name);
    }
}

/// One thread's work on a level: states come from a reader that all share, successors go to its own candidates.
struct Collector<'w, 's, K: Key, V: Value, S> {
    level: &'w Mutex<PartsReader<'s, K, V>>,
    stored: S,
    row: Vec<u8>,
    found: ExternalSort<'s, K, V, First<V>>,
}

impl<K: Key, V: Value, S: Stored<K, V>> Work for Collector<'_, '_, K, V, S> {
    fn take(&mut self, batch: &mut RowBuffer) -> Result<(), SearchError> {
        let mut level = lock(self.level);
        let (keys, values) = level.batch()?;
        let n = keys.len().min(BATCH_ROWS);
        for (key, value) in keys[..n].iter().zip(values) {
            self.stored.write(*key, *value, &mut self.row);
            batch.push(&self.row);
        }
        level.consume(n);
        Ok(())
    }

    fn put(&mut self, _from: Rows<'_>, edges: &Edges) -> Result<(), SearchError> {
        for target in edges.targets().iter() {
            let (key, value) = self.stored.split(target);
            self.found.push(key, value)?;
        }
        Ok(())
    }
}
