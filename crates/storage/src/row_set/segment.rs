//! A segment of the row set: up to 16,384 rows whose hashes begin alike, or rather their rests, in the order of arrival, and the lines that find them.
//!
//! The line of a row follows from its hash; a row whose line is full goes to another one that follows from its hash, too: to go to the
//! neighbour would fill whole neighbourhoods at these loads, and probing would be three times as long. Lines are added by a fifth at a time, and
//! then all rows are entered anew, which takes the time of reading them once from the processor's cache. So the load stays between
//! [`LOAD_MAX`] and five sixths of it; segments do that at different sizes, so that the whole set's load hardly moves.
//!
//! # Invariants
//! 1. Rows `0..n_rows` are different from each other, and their hashes begin with `prefix`, which has `depth` bits.
//! 2. Each of them has one entry, in the first line of its hash's [`Probe`] that was not full.
//! 3. `n_rows <= LOAD_MAX * entries`, so that there is a line that is not full, and probing ends.
//! 4. `pending.end <= sealed <= n_rows`, and `levels` sums up to `sealed`; `unqueued`, if there is one, is at least `sealed`.

use super::RowPools;
use super::blocks::{LineBlocks, RowBlocks};
use super::levels::LevelCounts;
use super::line::{ENTRIES, Line, PLACE_BITS, TAG};
use super::rest::{OPEN_BITS, rest_of, restore};
use crate::hash::{hash_row, rows_equal};
use crate::prefetch::prefetch_address;
use lariat_base::rows::{RowBuffer, Rows};
use std::ops::Range;

const ROWS_MAX: usize = 1 << PLACE_BITS;
/// Entries in use to entries, at most, in percent.
const LOAD_MAX: usize = 94;
/// By how much lines grow, in percent.
pub(super) const GROWTH: usize = 18;
/// Rows that are hashed together when all are entered anew.
const HASHES: usize = 64;
/// Rows that are handed out together.
const STRETCH: usize = 256;

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It was there.
    Before,
    /// It was stored, and belongs into the search's queue.
    Now,
    /// It was stored, and is handed out as pending.
    NowPending,
}

/// Why a row could not be stored.
pub(super) enum NoRoom {
    /// The memory budget is used up.
    Memory,
    /// The segment is full and must be split.
    Segment,
}

/// What every probe reads comes first: it is one cache line.
#[repr(C, align(64))]
pub(super) struct Segment {
    n_rows: u32,
    n_lines: u32,
    lines: LineBlocks,
    pub(super) rows: RowBlocks,
    /// The first row of the level that is being filled that is not in the search's queue.
    pub(super) unqueued: Option<usize>,
    /// Whether the set knows that rows have come since the last level was sealed.
    pub(super) is_touched: bool,
    pub(super) depth: u32,
    pub(super) prefix: u64,
    /// Rows of the last level that was sealed and that nobody has taken yet.
    pub(super) pending: Range<usize>,
    pub(super) sealed: usize,
    pub(super) levels: Option<LevelCounts>,
}

const _: () = assert!(std::mem::offset_of!(Segment, unqueued) == 64);

#[inline(always)]
fn tag_of(hash: u64) -> u8 {
    (hash & TAG) as u8
}

/// The lines in which a row's entry is looked for, one after the other.
struct Probe {
    line: usize,
    n_lines: usize,
    /// The bits of the hash that choose the line: the first ones of all choose the segment, the last ones are the tag.
    bits: u32,
    n_steps: u32,
}

impl Probe {
    /// After so many lines the others follow in turn, so that none is left out.
    const JUMPS: u32 = 16;

    #[inline(always)]
    fn new(hash: u64, n_lines: usize) -> Self {
        let bits = (hash >> 8) as u32;
        Self { line: Self::line_of(bits, n_lines), n_lines, bits, n_steps: 0 }
    }

    #[inline(always)]
    fn line_of(bits: u32, n_lines: usize) -> usize {
        ((u64::from(bits) * n_lines as u64) >> 32) as usize
    }

    #[inline(always)]
    fn step(&mut self) {
        self.n_steps += 1;
        if self.n_steps < Self::JUMPS {
            self.bits = self.bits.wrapping_mul(0x9E37_79B1).rotate_left(15);
            self.line = Self::line_of(self.bits, self.n_lines);
        } else {
            self.line = if self.line + 1 == self.n_lines { 0 } else { self.line + 1 };
        }
    }
}

/// How many lines so many rows need at the highest load with `room` percent more, in whole blocks.
fn lines_for(n_rows: usize, room: usize) -> usize {
    let needed = (n_rows * 100).div_ceil(ENTRIES * LOAD_MAX) * (100 + room) / 100;
    needed.max(1).next_multiple_of(LineBlocks::LINES)
}

impl Segment {
    /// A segment without rows for the hashes that begin with the `depth` bits of `prefix`, with room for `n_rows` whose rests have `width` bytes.
    pub(super) fn new(
        width: usize,
        depth: u32,
        prefix: u64,
        n_rows: usize,
        pools: &RowPools<'_>,
    ) -> Result<Self, NoRoom> {
        let mut segment = Self {
            depth,
            prefix,
            n_rows: 0,
            n_lines: 0,
            rows: RowBlocks::new(width),
            lines: LineBlocks::default(),
            pending: 0..0,
            sealed: 0,
            unqueued: None,
            is_touched: false,
            levels: None,
        };
        let has_room = segment.rows.resize(n_rows, &pools.rows) && segment.set_lines(lines_for(n_rows, 0), pools);
        if !has_room {
            segment.give_back(pools);
            return Err(NoRoom::Memory);
        }
        segment.clear_lines();
        Ok(segment)
    }

    #[inline(always)]
    pub(super) fn n_rows(&self) -> usize {
        self.n_rows as usize
    }

    #[inline(always)]
    fn n_lines(&self) -> usize {
        self.n_lines as usize
    }

    /// Forgets the rows behind the first `n_rows`; their entries stay until all are made anew.
    pub(super) fn truncate(&mut self, n_rows: usize) {
        self.n_rows = n_rows as u32;
    }

    fn give_back(&mut self, pools: &RowPools<'_>) {
        // To have less always succeeds.
        let _ = self.rows.resize(0, &pools.rows) && self.lines.resize(0, &pools.lines);
    }

    #[inline(always)]
    fn probe(&self, hash: u64) -> Probe {
        Probe::new(hash, self.n_lines())
    }

    /// Fetches what tells where that line is.
    #[inline(always)]
    pub(super) fn prefetch_line_block(&self, hash: u64) {
        prefetch_address(self.lines.glance(self.probe(hash).line));
    }

    /// Fetches the line in which a row's entry is most often found.
    #[inline(always)]
    pub(super) fn prefetch_line(&self, hash: u64) {
        prefetch_address(self.lines.get(self.probe(hash).line));
    }

    /// Fetches what a probe reads next: the stored row that is probably equal, or the next line.
    #[inline(always)]
    pub(super) fn prefetch_row(&self, hash: u64) {
        let mut probe = self.probe(hash);
        let line = self.lines.get(probe.line);
        let found = line.find(tag_of(hash), |place| {
            prefetch_address(self.rows.glance(place));
            true
        });
        if !found && line.is_full() {
            probe.step();
            prefetch_address(self.lines.get(probe.line));
        }
    }

    /// Stores a row unless it is there. `queues` says whether the search's queue has room for it.
    #[inline(always)]
    pub(super) fn insert(&mut self, hash: u64, row: &[u8], queues: bool, pools: &RowPools<'_>) -> Result<Met, NoRoom> {
        let rest = rest_of(row);
        let tag = tag_of(hash);
        let mut probe = self.probe(hash);
        loop {
            let line = self.lines.get(probe.line);
            if line.find(tag, |place| rows_equal(self.rows.row(place), rest)) {
                return Ok(Met::Before);
            }
            if !line.is_full() {
                break;
            }
            probe.step();
        }
        let mut at = probe.line;
        if self.n_rows() == self.rows.capacity() {
            self.reserve_row(pools)?;
        }
        if (self.n_rows() + 1) * 100 > self.n_lines() * ENTRIES * LOAD_MAX {
            self.grow(pools)?;
            at = self.free_line(hash);
        }
        let place = self.append(rest);
        self.lines.get_mut(at).push(tag, place);
        if queues && self.unqueued.is_none() {
            return Ok(Met::Now);
        }
        self.unqueued.get_or_insert(place);
        Ok(Met::NowPending)
    }

    /// Puts a row's rest behind the others, without an entry; there must be room for it.
    #[inline(always)]
    pub(super) fn append(&mut self, rest: &[u8]) -> usize {
        let place = self.n_rows();
        self.rows.write(place, rest);
        self.n_rows += 1;
        place
    }

    #[cold]
    fn reserve_row(&mut self, pools: &RowPools<'_>) -> Result<(), NoRoom> {
        if self.n_rows() == ROWS_MAX {
            return Err(NoRoom::Segment);
        }
        if self.rows.resize(self.n_rows() + 1, &pools.rows) { Ok(()) } else { Err(NoRoom::Memory) }
    }

    /// Has so many lines; entries are lost. If there is no memory for them nothing changes.
    fn set_lines(&mut self, n_lines: usize, pools: &RowPools<'_>) -> bool {
        let has_room = self.lines.resize(n_lines, &pools.lines);
        if has_room {
            self.n_lines = n_lines as u32;
        }
        has_room
    }

    /// More lines, and all rows entered anew.
    #[cold]
    fn grow(&mut self, pools: &RowPools<'_>) -> Result<(), NoRoom> {
        let n_rows = self.n_rows() + 1;
        // Segments of one age get different numbers of lines, so that they grow at different sizes.
        let growth = if n_rows < ROWS_MAX / 8 { 100 + self.prefix as usize * 7 % GROWTH } else { GROWTH };
        if !self.set_lines(lines_for(n_rows, growth), pools) && !self.set_lines(lines_for(n_rows, 0), pools) {
            return Err(NoRoom::Memory);
        }
        self.enter_all();
        Ok(())
    }

    /// Has as few blocks and lines as its rows need with `room` percent more, and enters all of them anew.
    pub(super) fn fit(&mut self, room: usize, pools: &RowPools<'_>) {
        // To have less always succeeds; to have more may not, and then the lines are as many as they were.
        let _ = self.rows.resize(self.n_rows(), &pools.rows);
        let _ = self.set_lines(lines_for(self.n_rows(), room), pools);
        self.enter_all();
    }

    /// The first line with room for a row with this hash.
    #[inline(always)]
    fn free_line(&self, hash: u64) -> usize {
        let mut probe = self.probe(hash);
        while self.lines.get(probe.line).is_full() {
            probe.step();
        }
        probe.line
    }

    fn clear_lines(&mut self) {
        (0..self.n_lines()).for_each(|i| *self.lines.get_mut(i) = Line::EMPTY);
    }

    fn enter_all(&mut self) {
        self.clear_lines();
        // First the hashes of some rows, then their entries: the processor does more of each at once that way.
        let mut hashes = [0; HASHES];
        for first in (0..self.n_rows()).step_by(HASHES) {
            let n = HASHES.min(self.n_rows() - first);
            hashes.iter_mut().zip(first..first + n).for_each(|(out, place)| *out = hash_row(self.rows.row(place)));
            for (i, hash) in hashes[..n].iter().enumerate() {
                let at = self.free_line(*hash);
                self.lines.get_mut(at).push(tag_of(*hash), first + i);
            }
        }
    }

    /// The first byte of the hashes of all rows.
    fn first_byte(&self) -> u8 {
        (self.prefix >> (self.depth - OPEN_BITS)) as u8
    }

    /// Puts whole rows behind those of `out`.
    fn restore_rows(&self, range: Range<usize>, out: &mut RowBuffer, width: usize) {
        let first = self.first_byte();
        range.for_each(|place| restore(self.rows.row(place), first, width, out.bytes_mut()));
    }

    fn for_each_stretch(&self, range: Range<usize>, mut visit: impl FnMut(Rows<'_>), width: usize) {
        let mut rows = RowBuffer::new(width);
        for start in range.clone().step_by(STRETCH) {
            rows.clear();
            self.restore_rows(start..range.end.min(start + STRETCH), &mut rows, width);
            visit(rows.as_rows());
        }
    }

    /// Ends a level: what arrived since the last one was sealed and is not queued is pending now. How many rows the level has.
    pub(super) fn seal_level(&mut self, level: usize) -> usize {
        let n_rows = self.n_rows() - self.sealed;
        self.pending = self.unqueued.take().unwrap_or(self.n_rows())..self.n_rows();
        self.sealed = self.n_rows();
        self.is_touched = false;
        if let Some(levels) = &mut self.levels {
            levels.push(level, n_rows);
        }
        n_rows
    }

    /// Moves up to `n_max` pending rows of `width` bytes behind those of `out`; how many.
    pub(super) fn take_pending(&mut self, n_max: usize, out: &mut RowBuffer, width: usize) -> usize {
        let start = self.pending.start;
        let n = n_max.min(self.pending.len());
        self.restore_rows(start..start + n, out, width);
        self.pending.start += n;
        n
    }

    /// Where the rows of a level begin, and how many they are.
    fn level(&mut self, level: usize) -> (usize, usize) {
        self.levels.as_mut().map_or((0, 0), |levels| levels.find(level))
    }

    /// Calls `visit` with the rows of levels before this one, or with all others.
    pub(super) fn for_rows_before(&mut self, level: usize, before: bool, visit: impl FnMut(Rows<'_>), width: usize) {
        let (end, _) = self.level(level);
        self.for_each_stretch(if before { 0..end } else { end..self.n_rows() }, visit, width);
    }

    /// Calls `visit` with the rows of a level; never if levels are not kept.
    pub(super) fn for_rows_of_level(&mut self, level: usize, visit: impl FnMut(Rows<'_>), width: usize) {
        let (start, n_rows) = self.level(level);
        self.for_each_stretch(start..start + n_rows, visit, width);
    }
}
