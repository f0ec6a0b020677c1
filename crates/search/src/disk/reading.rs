//! How runs are read at once within some memory.

/// Blocks that a reader has in memory where nothing else is said.
pub(super) const READER_BUFFERS: usize = 2;
/// More blocks of one run do not make reading faster.
const BUFFERS_MAX: usize = 6;

/// By how many threads runs are read, with how many blocks of each run in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) threads: usize,
    pub(super) buffers: usize,
}

impl Reading {
    /// One thread, as runs are read where nothing else is said.
    pub(super) const ALONE: Self = Self { threads: 1, buffers: READER_BUFFERS };
}

/// What readers may take, and what they need.
#[derive(Clone, Copy)]
pub(super) struct Readers {
    /// Memory for all readers of a pass.
    pub(super) bytes: u64,
    /// Threads of a pass, at most; each has readers for all runs.
    pub(super) threads: usize,
    pub(super) block_bytes: u64,
    /// What a reader takes beside its blocks, with the step of merging or subtracting that it comes with.
    pub(super) step_bytes: u64,
}

impl Readers {
    /// A block may be one more while they change hands.
    pub(super) fn reader_bytes(&self, buffers: usize) -> u64 {
        (buffers as u64 + 1) * self.block_bytes + self.step_bytes
    }

    /// How many readers there can be in one thread that reads ahead.
    pub(super) fn max(&self) -> usize {
        usize::try_from(self.bytes / self.reader_bytes(READER_BUFFERS)).unwrap_or(usize::MAX)
    }

    /// How to read so many runs within `bytes`; none if they cannot be read at once. Another thread is worth more than reading ahead.
    pub(super) fn reading(&self, n_runs: usize, bytes: u64) -> Option<Reading> {
        self.reading_with_small(n_runs, 0, bytes)
    }

    /// The same where there are others beside them, of one block each, of which there is nothing to read ahead.
    pub(super) fn reading_with_small(&self, n_runs: usize, n_small: usize, bytes: u64) -> Option<Reading> {
        (1..=self.threads).rev().find_map(|threads| {
            let for_small = n_small as u64 * (self.block_bytes + self.step_bytes);
            let of_each = (bytes / threads as u64).checked_sub(for_small)? / n_runs.max(1) as u64;
            let n_blocks = of_each.checked_sub(self.step_bytes)? / self.block_bytes;
            let buffers = usize::try_from(n_blocks).unwrap_or(usize::MAX).min(BUFFERS_MAX + 1).checked_sub(1)?;
            (buffers > 0).then_some(Reading { threads, buffers })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_come_first_and_then_blocks() {
        let readers = Readers { bytes: 0, threads: 2, block_bytes: 100, step_bytes: 50 };
        let reading = |bytes| readers.reading(10, bytes).map(|reading| (reading.threads, reading.buffers));
        assert_eq!(reading(2_499), None);
        assert_eq!(reading(2_500), Some((1, 1)));
        assert_eq!(reading(4_999), Some((1, 3)));
        assert_eq!(reading(5_000), Some((2, 1)));
        assert_eq!(reading(7_000), Some((2, 2)));
        assert_eq!(reading(u64::MAX), Some((2, BUFFERS_MAX)));
        let with_small =
            |bytes| readers.reading_with_small(10, 4, bytes).map(|reading| (reading.threads, reading.buffers));
        assert_eq!((with_small(3_099), with_small(3_100), with_small(6_200)), (None, Some((1, 1)), Some((2, 1))));
        assert_eq!(Readers { bytes: 3_600, ..readers }.max(), 10);
    }
}
