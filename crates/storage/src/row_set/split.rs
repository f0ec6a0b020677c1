//! Splitting a segment that is full.

use super::RowPools;
use super::levels::LevelCounts;
use super::segment::{GROWTH, NoRoom, Segment};
use crate::hash::hash_row;

impl Segment {
    /// Moves the rows whose hash goes on with a 1 to a new segment, which has the next longer prefix. `spread` is a number that
    /// differs between segments.
    pub(super) fn split(&mut self, width: usize, spread: usize, pools: &RowPools<'_>) -> Result<Segment, NoRoom> {
        let depth = self.depth + 1;
        let prefix = self.prefix << 1;
        // The bits that the last byte is mixed into are part of the prefix.
        let is_moved = |rest: &[u8]| hash_row(rest) >> (64 - depth) & 1 == 1;
        let n_moved = (0..self.n_rows()).filter(|place| is_moved(self.rows.row(*place))).count();
        // The other side's memory is there before a row moves, so that what follows cannot fail half-way.
        let mut other = Segment::new(width, depth, prefix | 1, n_moved, pools)?;
        self.move_rows(&mut other, is_moved);
        (self.depth, self.prefix) = (depth, prefix);
        // Segments of one age get different numbers of lines, so that they grow at different sizes.
        let room = spread * 7 % GROWTH;
        self.fit(room, pools);
        other.fit(GROWTH - 1 - room, pools);
        Ok(other)
    }

    /// Moves rows to `other`, keeping the order on both sides, and the levels' bounds with them.
    fn move_rows(&mut self, other: &mut Segment, is_moved: impl Fn(&[u8]) -> bool) {
        let n_rows = self.n_rows();
        let old_levels: Option<Vec<(usize, usize)>> = self.levels.take().map(|levels| levels.all());
        let level_ends = old_levels.iter().flatten().scan(0, |end, (_, count)| {
            *end += count;
            Some(*end)
        });
        let (unqueued, is_touched) = (self.unqueued, self.is_touched);
        let bounds = [self.pending.start, self.pending.end, self.sealed, unqueued.unwrap_or(n_rows)];
        let mut kept_before: Vec<usize> = bounds.into_iter().chain(level_ends).collect();
        let mut order: Vec<usize> = (0..kept_before.len()).collect();
        order.sort_by_key(|which| kept_before[*which]);
        let mut order = order.into_iter().peekable();
        let mut moved_before = vec![0; kept_before.len()];
        let mut kept = 0;
        for place in 0..=n_rows {
            while let Some(which) = order.next_if(|which| kept_before[*which] == place) {
                moved_before[which] = place - kept;
            }
            if place == n_rows {
                break;
            }
            if is_moved(self.rows.row(place)) {
                other.append(self.rows.row(place));
            } else {
                self.rows.copy(place, kept);
                kept += 1;
            }
        }
        self.truncate(kept);
        kept_before.iter_mut().zip(&moved_before).for_each(|(bound, moved)| *bound -= moved);
        for (side, bounds) in [(self, &kept_before), (other, &moved_before)] {
            side.pending = bounds[0]..bounds[1];
            side.sealed = bounds[2];
            side.unqueued = unqueued.map(|_| bounds[3]);
            side.is_touched = is_touched;
            side.levels = old_levels.as_ref().map(|levels| counts_between(levels, &bounds[4..]));
        }
    }
}

/// The counts of levels that now end at these places.
fn counts_between(levels: &[(usize, usize)], ends: &[usize]) -> LevelCounts {
    let mut counts = LevelCounts::default();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).zip(levels).for_each(|((start, end), (level, _))| counts.push(*level, end - start));
    counts
}
