//! The visited set of a breadth-first search in memory: every row once, in little more room than the rows take.
//!
//! Rows are spread over *segments* by the first bits of their hash, and the segment tells the last byte of its rows, so that this is not
//! stored (`rest.rs`). A segment holds up to 16,384 rows in the order of arrival, so
//! a number of 14 bits and a byte of the hash are enough to find one. A full segment is split in two. A set is used by
//! one thread at a time; threads that search together divide the rows over several sets by [`part_of`], with a lock for each.
//!
//! The set knows the levels of a search as it goes, and which segments a level has touched: a level of few rows asks few of them. A search keeps a queue of the rows of the next level as far as it has room for
//! them; the others are *pending* once [`RowSet::seal_level`] has ended the level, and [`RowSet::take_pending`] hands them out.
//!
//! # Invariants
//! 1. A row is stored in the one segment that its hash leads to by the directory: a table by the first bits of the hash, in which every
//!    segment has as many entries as its prefix leaves open. In a part of a set, prefixes of other parts' rows are not asked for.
//! 2. Everything allocated for rows is reserved in the budget first.
//!
//! # Cost
//! Row - 1 + 2.8 bytes / load + 0.1 to 0.2 bytes for blocks that are not full and lists of them; the load of a segment is between 0.79 and
//! 0.94. Beside the budget: the segments themselves and the directory, 0.02 bytes a row.

mod blocks;
mod levels;
mod line;
mod pool;
mod rest;
mod segment;
mod split;

use crate::TableFull;
use crate::prefetch::prefetch_address;
use blocks::{LineBlocks, RowBlocks};
use lariat_base::MemoryBudget;
use lariat_base::rows::{RowBuffer, Rows};
use levels::LevelCounts;
use pool::Pool;
use rest::{OPEN_BITS, hash_of, rest_width};
use segment::{Met, NoRoom, Segment};

/// How many rows ahead each step of a probe is fetched: what takes longer is fetched earlier.
const AHEAD_SEGMENT: usize = 48;
const AHEAD_LINE_BLOCK: usize = 40;
const AHEAD_LINE: usize = 32;
const AHEAD_ROW: usize = 16;
/// Prefixes are this long at most; a segment's own probing uses the bits behind them.
const DEPTH_MAX: u32 = 24;

/// Into how many parts a visited set can be divided.
pub const PARTS_MAX: usize = 1 << OPEN_BITS;

/// Which of `n` parts a row belongs to, and what is its hash; there are [`PARTS_MAX`] at most.
#[inline(always)]
pub fn part_of(row: &[u8], n: usize) -> (usize, u64) {
    let hash = hash_of(row);
    ((first_byte(hash) * n) >> OPEN_BITS, hash)
}

#[inline(always)]
fn first_byte(hash: u64) -> usize {
    (hash >> (u64::BITS - OPEN_BITS)) as usize
}

/// The memory that all parts of a visited set share.
pub struct RowPools<'b> {
    width: usize,
    rows: Pool<'b>,
    lines: Pool<'b>,
}

impl<'b> RowPools<'b> {
    /// No memory yet, for rows of `width` bytes, within `budget`.
    pub fn new(width: usize, budget: &'b MemoryBudget) -> Self {
        Self {
            width,
            rows: Pool::new(RowBlocks::block_bytes(rest_width(width)), budget),
            lines: Pool::new(LineBlocks::block_bytes(), budget),
        }
    }

    /// Bytes that rows and what finds them take.
    pub fn memory_bytes(&self) -> u64 {
        self.rows.memory_bytes() + self.lines.memory_bytes()
    }
}

/// The visited set, or a part of it.
pub struct RowSet<'b> {
    width: usize,
    pools: &'b RowPools<'b>,
    segments: Vec<Segment>,
    /// For each prefix of `depth` bits the number of its segment.
    directory: Vec<u32>,
    depth: u32,
    n_rows: u64,
    hashes: Vec<u64>,
    /// How many levels were sealed.
    n_levels: usize,
    /// The segments with rows of the level that is being filled.
    touched: Vec<u32>,
    /// The segments with rows of the last level that was sealed, and from which of them pending rows are taken next.
    sealed: Vec<u32>,
    taking: usize,
}

/// Who wants to know which rows are new.
pub trait NewRows {
    /// Whether a queue has room for one more row.
    fn has_room(&mut self) -> bool;

    /// Row `i` of those to be stored was new. If it is not `queued`, [`RowSet::take_pending`] hands it out; otherwise the queue must.
    fn new_row(&mut self, i: usize, row: &[u8], queued: bool);
}

impl<'b> RowSet<'b> {
    /// An empty set in the memory of `pools`, for the rows of one of `n_parts` as [`part_of`] tells them. With `keeps_levels` it can tell the rows of
    /// every level later.
    pub fn new(part: usize, n_parts: usize, keeps_levels: bool, pools: &'b RowPools<'b>) -> Result<Self, TableFull> {
        let mut set = Self {
            width: pools.width,
            pools,
            segments: Vec::new(),
            directory: vec![0; 1 << OPEN_BITS],
            depth: OPEN_BITS,
            n_rows: 0,
            hashes: Vec::new(),
            n_levels: 0,
            touched: Vec::new(),
            sealed: Vec::new(),
            taking: 0,
        };
        for prefix in (0..1 << OPEN_BITS).filter(|prefix| (prefix * n_parts) >> OPEN_BITS == part) {
            let mut segment = Segment::new(rest_width(set.width), OPEN_BITS, prefix as u64, 0, pools)
                .map_err(|_| TableFull::Memory)?;
            segment.levels = keeps_levels.then(LevelCounts::default);
            set.directory[prefix] = set.segments.len() as u32;
            set.segments.push(segment);
        }
        Ok(set)
    }

    /// How many rows are stored.
    pub fn len(&self) -> u64 {
        self.n_rows
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    #[inline(always)]
    fn number_of(&self, hash: u64) -> usize {
        self.directory[(hash >> (u64::BITS - self.depth)) as usize] as usize
    }

    #[inline(always)]
    fn segment_of(&self, hash: u64) -> &Segment {
        &self.segments[self.number_of(hash)]
    }

    /// Stores the rows that are not there yet, and tells `new` of each of those. After an error some of them may be stored.
    pub fn insert(&mut self, rows: Rows<'_>, new: &mut impl NewRows) -> Result<(), TableFull> {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(rows.iter().map(hash_of));
        let result = self.insert_hashed(rows, &hashes, new);
        self.hashes = hashes;
        result
    }

    /// The same where [`part_of`] has told the hashes already.
    #[inline(always)]
    pub fn insert_hashed(&mut self, rows: Rows<'_>, hashes: &[u64], new: &mut impl NewRows) -> Result<(), TableFull> {
        // What a probe reads leads to what it reads next, so each is fetched some probes ahead of the next.
        for i in 0..hashes.len() + AHEAD_SEGMENT {
            let ahead = |n: usize| (i + n).checked_sub(AHEAD_SEGMENT).and_then(|i| hashes.get(i));
            if let Some(hash) = hashes.get(i) {
                prefetch_address(self.segment_of(*hash));
            }
            if let Some(hash) = ahead(AHEAD_LINE_BLOCK) {
                self.segment_of(*hash).prefetch_line_block(*hash);
            }
            if let Some(hash) = ahead(AHEAD_LINE) {
                self.segment_of(*hash).prefetch_line(*hash);
            }
            if let Some(hash) = ahead(AHEAD_ROW) {
                self.segment_of(*hash).prefetch_row(*hash);
            }
            let Some(i) = i.checked_sub(AHEAD_SEGMENT) else { continue };
            let hash = &hashes[i];
            let row = rows.row(i);
            let met = self.insert_row(*hash, row, new.has_room())?;
            if met != Met::Before {
                self.n_rows += 1;
                new.new_row(i, row, met == Met::Now);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn insert_row(&mut self, hash: u64, row: &[u8], queues: bool) -> Result<Met, TableFull> {
        loop {
            let number = self.number_of(hash);
            let segment = &mut self.segments[number];
            match segment.insert(hash, row, queues, self.pools) {
                Ok(met) => {
                    if met != Met::Before && !segment.is_touched {
                        segment.is_touched = true;
                        self.touched.push(number as u32);
                    }
                    return Ok(met);
                }
                Err(NoRoom::Memory) => return Err(TableFull::Memory),
                Err(NoRoom::Segment) => self.split(number)?,
            }
        }
    }

    /// Splits a segment that is full.
    #[cold]
    fn split(&mut self, number: usize) -> Result<(), TableFull> {
        let spread = self.segments.len();
        let segment = &mut self.segments[number];
        if segment.depth == DEPTH_MAX {
            return Err(TableFull::Numbers);
        }
        let new = segment.split(rest_width(self.width), spread, self.pools).map_err(|_| TableFull::Memory)?;
        if new.depth > self.depth {
            self.directory = self.directory.iter().flat_map(|number| [*number; 2]).collect();
            self.depth += 1;
        }
        let open = self.depth - new.depth;
        let first = (new.prefix as usize) << open;
        self.directory[first..first + (1 << open)].fill(spread as u32);
        if new.is_touched {
            self.touched.push(spread as u32);
        }
        if !new.pending.is_empty() {
            self.sealed.push(spread as u32);
        }
        self.segments.push(new);
        Ok(())
    }

    /// Ends a level: what was stored since the last call and is not queued is handed out by [`RowSet::take_pending`] from now on. How
    /// many rows the level has.
    pub fn seal_level(&mut self) -> u64 {
        std::mem::swap(&mut self.sealed, &mut self.touched);
        self.touched.clear();
        self.taking = 0;
        let level = self.n_levels;
        self.n_levels += 1;
        self.sealed.iter().map(|number| self.segments[*number as usize].seal_level(level) as u64).sum()
    }

    /// Puts up to `n_max` rows of the sealed level behind those of `out`; none if all were handed out.
    pub fn take_pending(&mut self, n_max: usize, out: &mut RowBuffer) {
        // Splitting puts segments behind the others, with what is pending in them.
        while let Some(number) = self.sealed.get(self.taking) {
            if self.segments[*number as usize].take_pending(n_max, out, self.width) > 0 {
                return;
            }
            self.taking += 1;
        }
    }

    /// Calls `visit` with the rows of levels before this one, or with all others, a stretch at a time. Only where levels are kept.
    pub fn for_rows_before<E>(
        &mut self,
        level: usize,
        before: bool,
        mut visit: impl FnMut(Rows<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut result = Ok(());
        for segment in &mut self.segments {
            let visit = |rows: Rows<'_>| {
                if result.is_ok() {
                    result = visit(rows);
                }
            };
            segment.for_rows_before(level, before, visit, self.width);
        }
        result
    }

    /// Calls `visit` with the rows of a level, a stretch at a time. Only where levels are kept.
    pub fn for_rows_of_level(&mut self, level: usize, mut visit: impl FnMut(Rows<'_>)) {
        self.segments.iter_mut().for_each(|segment| segment.for_rows_of_level(level, &mut visit, self.width));
    }
}

#[cfg(test)]
mod tests;
