//! Files of one directory: the only user of file-system calls below the command line.
//!
//! Everything that is larger than memory goes through [`Disk`] and [`DiskFile`], so that there is one place where transfers are counted
//! ([`IoCounters`]), where a limit on disk space is kept, and where tests can make a disk fail ([`FaultyDisk`]).
//!
//! Transfers are positional, whole pages, to and from [`AlignedBuffer`]s, and begin when they are asked for: the caller goes on and waits
//! for a [`Pending`] later. [`SystemDisk`] bypasses the page cache where it can, since memory that the kernel uses for our files is memory
//! that the budget does not see.
//!
//! | what | file |
//! |---|---|
//! | a directory of the system | `system.rs`, one of its files `system_file.rs` |
//! | files that were removed, kept for the next ones | `spare_files.rs` |
//! | transfers through io_uring | `ring.rs` |
//! | keeping the page cache empty where it cannot be bypassed | `page_cache.rs` |
//! | how much is on disk, and the limit | `usage.rs` |
//! | how much was read and written | `counters.rs` |
//! | a disk in memory that fails when told to | `faulty.rs` |
//! | the program's own file in memory | `program_pages.rs` |
//!
//! # Invariants
//! 1. A transfer is complete or an error: nobody sees half of one.
//! 2. A buffer belongs to its transfer until the transfer has ended, even if nobody waits for it.

mod buffer;
mod counters;
mod error;
mod faulty;
mod page_cache;
mod pending;
pub mod program_pages;
#[cfg(target_os = "linux")]
mod ring;
mod spare_files;
mod system;
mod system_file;
mod usage;

pub use buffer::{AlignedBuffer, PAGE_BYTES};
pub use counters::{Access, Direction, IoCount, IoCounters, IoLine};
pub use error::DiskError;
pub use faulty::{FaultPlan, FaultyDisk};
pub use pending::{Completed, Pending, Wait};
pub use system::{LOCK_FILE, SystemDisk, SystemDiskOptions};
pub use usage::{DiskUsage, UsageLedger};

use std::fmt;
use std::sync::Arc;

/// A directory of files that one process uses.
pub trait Disk: Send + Sync {
    /// Makes an empty file; it is an error if there is one of that name.
    fn create(&self, name: &str, kind: FileKind) -> Result<Arc<dyn DiskFile>, DiskError>;

    /// Opens a file that exists.
    fn open(&self, name: &str, kind: FileKind) -> Result<Arc<dyn DiskFile>, DiskError>;

    /// Removes a file. Its space counts as free from then on, so nobody should have it open.
    fn remove(&self, name: &str) -> Result<(), DiskError>;

    /// Gives a file another name, in place of the file that has it, if there is one: at every moment one of the two is there.
    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError>;

    /// Makes creations, removals and renamings so far survive a crash.
    fn sync_directory(&self) -> Result<(), DiskError>;

    /// All files, in the order of their names.
    fn list(&self) -> Result<Vec<FileEntry>, DiskError>;

    /// How transfers are done.
    fn io_mode(&self) -> IoMode;

    /// Bytes on disk: now, at most, and allowed.
    fn usage(&self) -> DiskUsage;

    /// The counters of all transfers.
    fn counters(&self) -> &IoCounters;
}

/// A file of a [`Disk`], shared by all that read or write it.
pub trait DiskFile: Send + Sync {
    /// Its name in the directory.
    fn name(&self) -> &str;

    /// Its length, transfers that are under way included.
    fn len(&self) -> u64;

    /// Whether it is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Begins to read `bytes` bytes at `at` into the beginning of `buffer`. Both must be multiples of [`PAGE_BYTES`]. Reading behind the
    /// end is [`DiskError::Short`].
    fn read<'b>(&self, buffer: AlignedBuffer<'b>, at: u64, bytes: usize) -> Pending<'b>;

    /// Begins to write the first `bytes` bytes of `buffer` at `at`. Both must be multiples of [`PAGE_BYTES`].
    fn write<'b>(&self, buffer: AlignedBuffer<'b>, at: u64, bytes: usize) -> Pending<'b>;

    /// Makes what was written, and waited for, survive a crash.
    fn sync(&self) -> Result<(), DiskError>;

    /// Cuts the file to a length.
    fn truncate(&self, bytes: u64) -> Result<(), DiskError>;
}

/// A file in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// How transfers are done, the best way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoMode {
    /// Past the page cache, several at once through io_uring.
    DirectRing,
    /// Past the page cache, one after the other.
    Direct,
    /// Through the page cache, which is told to forget what went through it.
    Buffered,
    /// In memory: a disk for tests.
    Simulated,
}

impl fmt::Display for IoMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IoMode::DirectRing => "direct, io_uring",
            IoMode::Direct => "direct",
            IoMode::Buffered => "buffered",
            IoMode::Simulated => "simulated",
        })
    }
}

/// What a file is for, by which transfers are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// Sorted rows.
    Run,
    /// Rows that wait for something, in the order in which they came.
    Queue,
    /// A stack's lower part.
    Stack,
    /// Data that is read and written anywhere.
    Table,
    /// The list of what counts.
    Manifest,
    /// Something else.
    Other,
}

impl FileKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [FileKind; 6] =
        [FileKind::Run, FileKind::Queue, FileKind::Stack, FileKind::Table, FileKind::Manifest, FileKind::Other];

    /// The word for it in statistics.
    pub fn name(self) -> &'static str {
        match self {
            FileKind::Run => "run",
            FileKind::Queue => "queue",
            FileKind::Stack => "stack",
            FileKind::Table => "table",
            FileKind::Manifest => "manifest",
            FileKind::Other => "other",
        }
    }
}
