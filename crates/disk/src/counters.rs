//! How much was read and written: by phase, by kind of file, sequentially or not.
//!
//! Counted where transfers begin. An access is sequential if it begins where the last one on that file, as it was opened, ended; the first
//! is if it begins at the file's beginning.

use crate::FileKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Whether bytes come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// They come from disk.
    Read,
    /// They go to disk.
    Write,
}

/// Whether an access begins where the last one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It does.
    Sequential,
    /// It begins elsewhere.
    Random,
}

/// Numbers of operations and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCount {
    /// Reads that begin where the last access ended.
    pub sequential_reads: u64,
    /// Bytes of these.
    pub sequential_bytes_read: u64,
    /// Other reads.
    pub random_reads: u64,
    /// Bytes of these.
    pub random_bytes_read: u64,
    /// Writes that begin where the last access ended.
    pub sequential_writes: u64,
    /// Bytes of these.
    pub sequential_bytes_written: u64,
    /// Other writes.
    pub random_writes: u64,
    /// Bytes of these.
    pub random_bytes_written: u64,
}

impl IoCount {
    /// All reads.
    pub fn reads(&self) -> u64 {
        self.sequential_reads + self.random_reads
    }

    /// All writes.
    pub fn writes(&self) -> u64 {
        self.sequential_writes + self.random_writes
    }

    /// All bytes that came from disk.
    pub fn bytes_read(&self) -> u64 {
        self.sequential_bytes_read + self.random_bytes_read
    }

    /// All bytes that went to disk.
    pub fn bytes_written(&self) -> u64 {
        self.sequential_bytes_written + self.random_bytes_written
    }

    fn from_cells(cells: [u64; CELLS]) -> Self {
        Self {
            sequential_reads: cells[0],
            sequential_bytes_read: cells[1],
            random_reads: cells[2],
            random_bytes_read: cells[3],
            sequential_writes: cells[4],
            sequential_bytes_written: cells[5],
            random_writes: cells[6],
            random_bytes_written: cells[7],
        }
    }
}

/// The count of one kind of file in one phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLine {
    /// The phase's name; empty for what happened before the first.
    pub phase: String,
    /// The kind.
    pub kind: FileKind,
    /// The count.
    pub count: IoCount,
}

const CELLS: usize = 8;
const KINDS: usize = FileKind::ALL.len();

#[derive(Debug, Default)]
struct Phase {
    name: String,
    cells: [[AtomicU64; CELLS]; KINDS],
}

/// The counters of a disk.
#[derive(Debug)]
pub struct IoCounters {
    phases: RwLock<Phases>,
    waited_nanos: AtomicU64,
}

#[derive(Debug)]
struct Phases {
    all: Vec<Phase>,
    current: usize,
}

impl Default for IoCounters {
    fn default() -> Self {
        Self {
            phases: RwLock::new(Phases { all: vec![Phase::default()], current: 0 }),
            waited_nanos: AtomicU64::new(0),
        }
    }
}

impl IoCounters {
    /// What is counted from now on belongs to this phase; to a phase of that name that was there before, if there was one.
    pub fn begin_phase(&self, name: &str) {
        let mut phases = self.phases.write().unwrap_or_else(PoisonError::into_inner);
        phases.current = match phases.all.iter().position(|phase| phase.name == name) {
            Some(place) => place,
            None => {
                phases.all.push(Phase { name: name.to_owned(), ..Phase::default() });
                phases.all.len() - 1
            }
        };
    }

    /// Counts an access.
    pub fn count(&self, kind: FileKind, direction: Direction, access: Access, bytes: u64) {
        let phases = self.phases.read().unwrap_or_else(PoisonError::into_inner);
        let cell = match (direction, access) {
            (Direction::Read, Access::Sequential) => 0,
            (Direction::Read, Access::Random) => 2,
            (Direction::Write, Access::Sequential) => 4,
            (Direction::Write, Access::Random) => 6,
        };
        let cells = &phases.all[phases.current].cells[kind as usize];
        cells[cell].fetch_add(1, Ordering::Relaxed);
        cells[cell + 1].fetch_add(bytes, Ordering::Relaxed);
    }

    /// Does something that waits for the disk, and counts the time that it takes.
    pub fn waiting<T>(&self, wait: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = wait();
        self.waited_nanos.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }

    /// The time for which threads waited for the disk, added up.
    pub fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited_nanos.load(Ordering::Relaxed))
    }

    /// What was counted: a line for each phase and kind that has something.
    pub fn lines(&self) -> Vec<IoLine> {
        let phases = self.phases.read().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        for phase in &phases.all {
            for (kind, cells) in FileKind::ALL.iter().zip(&phase.cells) {
                let count = IoCount::from_cells(std::array::from_fn(|i| cells[i].load(Ordering::Relaxed)));
                if count != IoCount::default() {
                    lines.push(IoLine { phase: phase.name.clone(), kind: *kind, count });
                }
            }
        }
        lines
    }

    /// All of it, added up.
    pub fn total(&self) -> IoCount {
        let phases = self.phases.read().unwrap_or_else(PoisonError::into_inner);
        let all = || phases.all.iter().flat_map(|phase| &phase.cells);
        IoCount::from_cells(std::array::from_fn(|i| all().map(|cells| cells[i].load(Ordering::Relaxed)).sum()))
    }
}

/// Where the last access to an open file ended.
#[derive(Debug, Default)]
pub(crate) struct AccessPosition(AtomicU64);

impl AccessPosition {
    /// Notes an access and tells what it is.
    pub(crate) fn next(&self, at: u64, bytes: u64) -> Access {
        let before = self.0.swap(at + bytes, Ordering::Relaxed);
        if before == at { Access::Sequential } else { Access::Random }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_phase_kind_and_order() {
        let counters = IoCounters::default();
        counters.count(FileKind::Run, Direction::Write, Access::Sequential, 10);
        counters.begin_phase("merge");
        counters.count(FileKind::Run, Direction::Read, Access::Random, 20);
        counters.begin_phase("expand");
        counters.count(FileKind::Queue, Direction::Write, Access::Random, 30);
        counters.begin_phase("merge");
        counters.count(FileKind::Run, Direction::Read, Access::Sequential, 40);
        let lines = counters.lines();
        let short: Vec<_> =
            lines.iter().map(|l| (l.phase.as_str(), l.kind, l.count.reads(), l.count.writes())).collect();
        let expected = [("", FileKind::Run, 0, 1), ("merge", FileKind::Run, 2, 0), ("expand", FileKind::Queue, 0, 1)];
        assert_eq!(short, expected);
        let total = counters.total();
        assert_eq!((total.bytes_read(), total.bytes_written()), (60, 40));
        assert_eq!((total.random_bytes_read, total.sequential_bytes_read), (20, 40));
    }

    #[test]
    fn an_access_is_sequential_where_the_last_one_ended() {
        let position = AccessPosition::default();
        let accesses = [(0, 8), (8, 8), (32, 8), (40, 8), (40, 8)].map(|(at, bytes)| position.next(at, bytes));
        use Access::{Random, Sequential};
        assert_eq!(accesses, [Sequential, Sequential, Random, Sequential, Random]);
    }
}
