//! Nested depth-first search on disk with visited states sorted by their hash, and the recent ones in memory.
//!
//! Each of the two searches has a table H in memory with the states that it visited lately, in the order in which they came, and a table on disk with
//! all others. A state is looked for in H, and only if it is not there in one block of the table on disk. When H is full, its oldest
//! states are merged into the table on disk.
//!
//! # Paper
//! Wu, Huang, Su, Cai, Zhang, *An I/O efficient model checking algorithm for large-scale systems* (2014): IOEMC.
//!
//! | paper | here |
//! |---|---|
//! | DFS1, DFS2: Algorithms 4 and 5 | `nested.rs` |
//! | H1, H2 in T11, T12 | `recent`, a sixth of the memory each |
//! | tableDD1, tableDD2, sorted by hash | `table`: a run whose rows are the state and then four bytes of its hash, which come first in the order |
//! | CDD: H, then *check(s, tableDD)* | [`Cached::visit`] |
//! | LHS, *Merge-sort*: Algorithm 1, `rho1` | [`Cached::merge`] |
//! | DPM, *Dmem-DB*, *DDB-mem*: Algorithms 2 and 3, `rho2` | the stacks of `nested.rs`, which share the memory T2 |
//!
//! *Completed.* The first key of every block of a table is in memory, so that a check is one read. A stack has the state and the number of its next
//! successor. The second search begins when an accepting state is left; the path to it is what is on the first stack.
//!
//! *Deviations.* LHS writes a new file from the first record on instead of moving records within the old one from the last on, with as many transfers
//! ((m + 2n)/B): a crash then leaves the old one. As in the paper, each merge of `rho1` of H reads and writes the whole table, which is quadratic.
//!
//! # Cost
//! Two expansions of each state for each search. A read for each successor that is not in H; N/(rho1 M) merges of the whole table.

use crate::nested::{Nested, Visited};
use crate::{Context, LassoSearch, SearchError};
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind, PAGE_BYTES};
use lariat_graph::Graph;
use lariat_storage::stream::{Merge, RowStream, SliceStream, write_all};
use lariat_storage::{
    Key, Manifest, ManifestFile, RecentTable, ReservedVec, RowLog, RowLogOptions, Run, RunFinder, RunOptions,
    RunReader, RunWriter, for_row_width, hash_row,
};

const NAME: &str = "ioemc";
/// Bytes of the hash behind a row in a table.
const HASH_BYTES: usize = 4;
/// Blocks of more bytes would be read for a single state.
const BLOCK_BYTES_MAX: usize = 16 << 10;
/// Rows that are decoded for a single state, at most.
const GROUP_ROWS: usize = 128;

/// The parameters of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The fraction of H that is merged into the table on disk at once.
    pub rho1: f64,
    /// The fraction of the stacks' memory that goes to disk at once.
    pub rho2: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { rho1: 0.02, rho2: 0.9 }
    }
}

/// Looks for an accepting cycle.
pub fn find_lasso(graph: &dyn Graph, options: Options, context: &Context) -> Result<LassoSearch, SearchError> {
    find_lasso_within(graph, options, context, None)
}

/// What each part may use.
pub(crate) struct Shares {
    /// Each of H1 and H2.
    pub(crate) recent_bytes: usize,
    pub(crate) stack_bytes: usize,
    /// The shape of tables.
    pub(crate) run: RunOptions,
    /// States that are merged at once, at most.
    pub(crate) merged_max: usize,
}

impl Shares {
    fn of<K: Key>(context: &Context, row_bytes: usize) -> Self {
        let memory = usize::try_from(context.budget.left()).unwrap_or(usize::MAX);
        Self {
            recent_bytes: memory / 6,
            stack_bytes: memory / 5,
            run: table_shape(row_bytes, memory / 24),
            merged_max: (memory / 10 / size_of::<K>()).max(1),
        }
    }
}

/// The shape of tables for rows of a width.
pub(crate) fn table_shape(row_bytes: usize, memory_bytes: usize) -> RunOptions {
    let shape = RunOptions::within(row_bytes + HASH_BYTES, 0, memory_bytes);
    let least = (4 * (row_bytes + HASH_BYTES)).next_multiple_of(PAGE_BYTES);
    RunOptions {
        block_bytes: shape.block_bytes.min(BLOCK_BYTES_MAX.max(least)),
        group_rows: shape.group_rows.min(GROUP_ROWS),
        ..shape
    }
}

/// The same, with other shares of the memory than there would be.
pub(crate) fn find_lasso_within(
    graph: &dyn Graph,
    options: Options,
    context: &Context,
    shares: Option<Shares>,
) -> Result<LassoSearch, SearchError> {
    let disk = context.disk.ok_or(SearchError::NoDisk)?;
    for_row_width!(graph.row_bytes() + HASH_BYTES, K => search::<K>(graph, options, context, disk, shares))
}

fn search<K: Key>(
    graph: &dyn Graph,
    options: Options,
    context: &Context,
    disk: &dyn Disk,
    shares: Option<Shares>,
) -> Result<LassoSearch, SearchError> {
    let shares = shares.unwrap_or_else(|| Shares::of::<K>(context, graph.row_bytes()));
    let side = |name| -> Result<Cached<'_, K>, SearchError> {
        Ok(Cached {
            name,
            context,
            disk,
            budget: context.budget,
            rho1: options.rho1,
            run: shares.run,
            merged_max: shares.merged_max,
            recent: RecentTable::new(graph.row_bytes(), shares.recent_bytes, context.budget)?,
            table: None,
            n_merges: 0,
            n_saved: 0,
            has_merged: false,
        })
    };
    let visited = BothSides { sides: [side("table-1")?, side("table-2")?] };
    Nested::new(NAME, graph, context, disk, visited, (shares.stack_bytes, options.rho2)).run()
}

/// The visited states of one search.
struct Cached<'s, K: Key> {
    name: &'static str,
    context: &'s Context<'s>,
    disk: &'s dyn Disk,
    budget: &'s MemoryBudget,
    rho1: f64,
    run: RunOptions,
    merged_max: usize,
    /// H.
    recent: RecentTable<'s>,
    /// tableDD.
    table: Option<RunFinder<'s, K>>,
    n_merges: u64,
    /// How often H was written.
    n_saved: u64,
    has_merged: bool,
}

/// The key of a state in a table: its hash, then its row.
fn table_key<K: Key>(row: &[u8], hash: u64) -> K {
    let mut bytes = row.to_vec();
    bytes.extend_from_slice(&hash.to_le_bytes()[..HASH_BYTES]);
    K::from_row(&bytes)
}

impl<'s, K: Key> Cached<'s, K> {
    /// Whether a state is new; it is visited from now on.
    fn visit(&mut self, row: &[u8]) -> Result<bool, SearchError> {
        let hash = hash_row(row);
        if self.recent.contains(hash, row) {
            return Ok(false);
        }
        if let Some(table) = &mut self.table
            && table.contains(table_key(row, hash))?
        {
            return Ok(false);
        }
        if self.recent.is_full() {
            self.merge()?;
        }
        self.recent.insert(hash, row);
        Ok(true)
    }

    /// Merges the oldest states of H into the table on disk.
    fn merge(&mut self) -> Result<(), SearchError> {
        self.context.begin_phase("merge");
        let n = ((self.recent.len() as f64 * self.rho1) as usize).clamp(1, self.merged_max);
        let mut keys: ReservedVec<'s, K> = ReservedVec::with_capacity(n.min(self.recent.len()), self.budget)?;
        self.recent.take_oldest(n, |row| keys.push(table_key(row, hash_row(row))))?;
        keys.sort_unstable();
        let name = format!("{}-{}", self.name, self.n_merges);
        self.n_merges += 1;
        let mut writer = RunWriter::<K>::new(self.disk, &name, &self.run, self.budget)?;
        let mut streams: Vec<Box<dyn RowStream<K, ()> + '_>> = vec![Box::new(SliceStream::of_keys(&keys))];
        if let Some(table) = self.table.take() {
            streams.push(Box::new(RunReader::<K>::new(table.run(), 2, self.budget)?));
        }
        write_all(&mut Merge::new(streams, |(), ()| (), 256, self.budget)?, &mut writer)?;
        self.table = Some(RunFinder::new(&writer.finish()?, self.budget));
        self.has_merged = true;
        self.context.begin_phase("search");
        Ok(())
    }

    fn len(&self) -> u64 {
        self.recent.len() as u64 + self.table.as_ref().map_or(0, |table| table.run().rows())
    }

    /// Notes the table, and writes H beside it.
    fn note(&mut self, manifest: &mut Manifest) -> Result<(), SearchError> {
        let mut saved = self.saved_recent();
        self.recent.for_each(|row| saved.push(row))?;
        saved.note(manifest, &format!("{}-recent", self.name))?;
        self.n_saved += 1;
        manifest.set_number(&format!("{}-saved", self.name), self.n_saved);
        manifest.set_number(&format!("{}-merges", self.name), self.n_merges);
        if let Some(table) = &self.table {
            let run = table.run();
            run.sync()?;
            let (role, name) = (self.name.to_owned(), run.name().to_owned());
            manifest.add_file(ManifestFile { role, name, rows: run.rows(), bytes: run.bytes() });
        }
        Ok(())
    }

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), SearchError> {
        self.n_merges = manifest.number(&format!("{}-merges", self.name))?;
        for file in manifest.files_of(self.name) {
            let run = Run::open(self.disk, &file.name, self.run.row_bytes, 0, self.budget)?;
            self.table = Some(RunFinder::new(&run, self.budget));
        }
        self.n_saved = manifest.number(&format!("{}-saved", self.name))?;
        let mut saved = self.saved_recent();
        saved.take_up(manifest, &format!("{}-recent", self.name))?;
        let mut reader = saved.into_reader(1)?;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows.iter() {
                // There may be less memory than there was.
                if self.recent.is_full() {
                    self.merge()?;
                }
                self.recent.insert(hash_row(row), row);
            }
        }
    }

    /// Where H is written to now, or was.
    fn saved_recent(&self) -> RowLog<'s> {
        let name = format!("{}-recent-{}", self.name, self.n_saved);
        let shape = RowLogOptions::within(self.run.row_bytes - HASH_BYTES, self.run.block_bytes, FileKind::Queue);
        RowLog::new(self.disk, &name, shape, self.budget)
    }
}

/// The visited states of both searches.
struct BothSides<'s, K: Key> {
    sides: [Cached<'s, K>; 2],
}

impl<K: Key> Visited for BothSides<'_, K> {
    fn first(&mut self, row: &[u8]) -> Result<bool, SearchError> {
        self.sides[0].visit(row)
    }

    fn second(&mut self, row: &[u8]) -> Result<bool, SearchError> {
        self.sides[1].visit(row)
    }

    fn has_spilled(&mut self) -> bool {
        self.sides.iter_mut().fold(false, |any, side| any | std::mem::take(&mut side.has_merged))
    }

    fn note(&mut self, manifest: &mut Manifest) -> Result<(), SearchError> {
        self.sides.iter_mut().try_for_each(|side| side.note(manifest))
    }

    fn take_up(&mut self, manifest: &Manifest) -> Result<(), SearchError> {
        self.sides.iter_mut().try_for_each(|side| side.take_up(manifest))
    }

    fn len(&self) -> u64 {
        self.sides[0].len()
    }
}
