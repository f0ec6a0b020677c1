//! Rows and buffers of rows.

/// A view of rows that lie one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl<'a> Rows<'a> {
    /// Views `bytes` as rows of `width` bytes.
    pub fn new(bytes: &'a [u8], width: usize) -> Self {
        debug_assert!(width > 0 && bytes.len().is_multiple_of(width));
        Self { bytes, width }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The width of each.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One row.
    pub fn row(&self, i: usize) -> &'a [u8] {
        &self.bytes[i * self.width..(i + 1) * self.width]
    }

    /// All rows.
    pub fn iter(&self) -> std::slice::ChunksExact<'a, u8> {
        self.bytes.chunks_exact(self.width)
    }

    /// All bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first `n` rows, and the others.
    pub fn split_at(&self, n: usize) -> (Self, Self) {
        let (first, others) = self.bytes.split_at(n * self.width);
        (Self::new(first, self.width), Self::new(others, self.width))
    }
}

/// Copies a row to a place as wide as it. Rows are short, and a call to the general copy costs more than this.
#[inline(always)]
pub fn copy_row(row: &[u8], place: &mut [u8]) {
    let n = row.len();
    match n {
        0 => {}
        1..=3 => {
            place[0] = row[0];
            place[n / 2] = row[n / 2];
            place[n - 1] = row[n - 1];
        }
        4..=7 => {
            copy_bytes::<4>(row, place, 0);
            copy_bytes::<4>(row, place, n - 4);
        }
        8..=32 => {
            for at in (0..n - 7).step_by(8) {
                copy_bytes::<8>(row, place, at);
            }
            copy_bytes::<8>(row, place, n - 8);
        }
        _ => place.copy_from_slice(row),
    }
}

#[inline(always)]
fn copy_bytes<const N: usize>(from: &[u8], to: &mut [u8], at: usize) {
    to[at..at + N].copy_from_slice(&from[at..at + N]);
}

/// Rows that the buffer owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowBuffer {
    bytes: Vec<u8>,
    width: usize,
}

impl RowBuffer {
    /// An empty buffer for rows of `width` bytes.
    pub fn new(width: usize) -> Self {
        assert!(width > 0, "rows have at least one byte");
        Self { bytes: Vec::new(), width }
    }

    /// Appends a row.
    pub fn push(&mut self, row: &[u8]) {
        debug_assert_eq!(row.len(), self.width);
        self.bytes.extend_from_slice(row);
    }

    /// Appends rows.
    pub fn extend(&mut self, rows: Rows<'_>) {
        debug_assert_eq!(rows.width, self.width);
        self.bytes.extend_from_slice(rows.bytes);
    }

    /// The bytes of all rows, for whoever writes them itself: they must be whole rows.
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Forgets all rows, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// One row.
    pub fn row(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.width..(i + 1) * self.width]
    }

    /// A view of all rows.
    pub fn as_rows(&self) -> Rows<'_> {
        Rows::new(&self.bytes, self.width)
    }

    /// The width of each row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All rows.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, u8> {
        self.bytes.chunks_exact(self.width)
    }

    /// The last row.
    pub fn last(&self) -> Option<&[u8]> {
        self.bytes.rchunks_exact(self.width).next()
    }

    /// Forgets all rows but the first `n`.
    pub fn truncate(&mut self, n: usize) {
        self.bytes.truncate(n * self.width);
    }

    /// Turns the order of the rows round.
    pub fn reverse(&mut self) {
        // All bytes the other way round, and then those of each row again.
        self.bytes.reverse();
        self.bytes.chunks_exact_mut(self.width).for_each(<[u8]>::reverse);
    }

    /// Moves the first `n` rows behind the others.
    pub fn rotate_left(&mut self, n: usize) {
        self.bytes.rotate_left(n * self.width);
    }
}

/// The edges that leave a batch of rows: targets, grouped by source.
#[derive(Clone, Debug)]
pub struct Edges {
    targets: RowBuffer,
    /// For each source, where its targets end.
    ends: Vec<u32>,
    full_bytes: usize,
    most_bytes: usize,
    has_overflowed: bool,
}

impl Edges {
    /// An empty buffer for targets of `width` bytes, as many as there are.
    pub fn new(width: usize) -> Self {
        Self::bounded(width, usize::MAX)
    }

    /// An empty buffer that is full with so many bytes of targets: no source is begun then. It may hold more, since sources are not
    /// divided.
    pub fn bounded(width: usize, full_bytes: usize) -> Self {
        Self {
            targets: RowBuffer::new(width),
            ends: Vec::new(),
            full_bytes,
            most_bytes: usize::MAX,
            has_overflowed: false,
        }
    }

    /// The same, with no more bytes of targets than this, which the edges of one source may need: what is more is dropped, and the buffer has overflowed.
    pub fn within(self, most_bytes: usize) -> Self {
        Self { most_bytes, ..self }
    }

    /// The most bytes of targets.
    pub fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// Whether so many bytes more are too many; then the buffer has overflowed.
    pub fn would_overflow(&mut self, bytes: usize) -> bool {
        let is_too_much = bytes > self.most_bytes - self.targets.bytes.len().min(self.most_bytes);
        self.has_overflowed |= is_too_much;
        is_too_much
    }

    /// Whether edges were dropped.
    pub fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }

    /// The bytes of targets with which the buffer is full.
    pub fn full_bytes(&self) -> usize {
        self.full_bytes
    }

    /// Whether no other source should be begun.
    pub fn is_full(&self) -> bool {
        self.targets.bytes.len() >= self.full_bytes
    }

    /// Appends an edge to the source that is being written.
    pub fn push(&mut self, target: &[u8]) {
        if !self.would_overflow(target.len()) {
            self.targets.push(target);
        }
    }

    /// Ends the edges of the current source and begins those of the next.
    pub fn end_source(&mut self) {
        self.ends.push(self.targets.len() as u32);
    }

    /// The bytes of all targets and, for each source, the number of targets up to its last: for graphs that write both themselves. The
    /// bytes must be whole targets, and the last number theirs.
    pub fn parts_mut(&mut self) -> (&mut Vec<u8>, &mut Vec<u32>) {
        (&mut self.targets.bytes, &mut self.ends)
    }

    /// Forgets all edges, and keeps the memory.
    pub fn clear(&mut self) {
        self.targets.clear();
        self.ends.clear();
        self.has_overflowed = false;
    }

    /// How many sources there are.
    pub fn n_sources(&self) -> usize {
        self.ends.len()
    }

    /// The places of a source's edges among all targets.
    pub fn range_of(&self, source: usize) -> std::ops::Range<usize> {
        let start = if source == 0 { 0 } else { self.ends[source - 1] as usize };
        start..self.ends[source] as usize
    }

    /// The targets of one source.
    pub fn targets_of(&self, source: usize) -> Rows<'_> {
        let range = self.range_of(source);
        let width = self.targets.width;
        Rows::new(&self.targets.bytes[range.start * width..range.end * width], width)
    }

    /// All targets, source after source.
    pub fn targets(&self) -> Rows<'_> {
        self.targets.as_rows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_buffer_is_full_behind_the_source_that_fills_it() {
        let mut edges = Edges::bounded(2, 5);
        for (source, full) in [(1, false), (2, true)] {
            (0..source).for_each(|_| edges.push(&[1, 2]));
            edges.end_source();
            assert_eq!(edges.is_full(), full);
        }
        assert_eq!((edges.n_sources(), edges.targets().len()), (2, 3));
        edges.clear();
        assert!(!edges.is_full() && edges.full_bytes() == 5);
        assert!(!Edges::new(2).is_full());
    }

    #[test]
    fn a_buffer_never_has_more_than_the_most() {
        let mut edges = Edges::bounded(2, 2).within(6);
        (0..3).for_each(|_| edges.push(&[1, 2]));
        assert!(!edges.has_overflowed() && edges.would_overflow(1));
        edges.clear();
        assert!(!edges.has_overflowed());
        (0..4).for_each(|_| edges.push(&[1, 2]));
        assert!(edges.has_overflowed() && edges.targets().len() == 3);
    }

    #[test]
    fn rows_are_moved_as_a_whole() {
        let mut rows = RowBuffer::new(2);
        [[1, 2], [3, 4], [5, 6]].iter().for_each(|row| rows.push(row));
        rows.reverse();
        assert_eq!(rows.as_rows().bytes(), &[5, 6, 3, 4, 1, 2]);
        rows.rotate_left(1);
        assert_eq!(rows.as_rows().bytes(), &[3, 4, 1, 2, 5, 6]);
        assert_eq!(rows.last(), Some(&[5, 6][..]));
        rows.truncate(2);
        assert_eq!(rows.iter().collect::<Vec<_>>(), [[3, 4], [1, 2]]);
        rows.truncate(0);
        assert_eq!(rows.last(), None);
    }

    #[test]
    fn rows_are_split_between_rows() {
        let rows = Rows::new(&[1, 2, 3, 4, 5, 6], 2);
        let (first, others) = rows.split_at(1);
        assert_eq!((first.bytes(), others.bytes()), (&[1, 2][..], &[3, 4, 5, 6][..]));
        assert!(rows.split_at(3).1.is_empty());
    }

    #[test]
    fn rows_of_any_width_are_copied() {
        for width in 1..=40u8 {
            let row: Vec<u8> = (1..=width).collect();
            let mut place = vec![0; usize::from(width)];
            copy_row(&row, &mut place);
            assert_eq!(place, row);
        }
    }
}
