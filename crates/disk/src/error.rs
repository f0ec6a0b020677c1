//! What can go wrong with files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a disk did not do what it was asked for.
#[derive(Clone, Debug)]
pub enum DiskError {
    /// The system refused an operation.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried, as a verb.
        operation: &'static str,
        /// Where in the file, if it matters.
        offset: Option<u64>,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The file system has no space left.
    Full {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: Option<u64>,
    },
    /// More would be on disk than was allowed.
    Limit {
        /// The file.
        path: PathBuf,
        /// The bytes that are allowed.
        limit: u64,
        /// The bytes that there would be.
        needed: u64,
    },
    /// Another process uses the directory.
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// There is no such file.
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// There is such a file already.
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file ended before a transfer did.
    Short {
        /// The file.
        path: PathBuf,
        /// Where the transfer began.
        offset: u64,
        /// The bytes that were asked for.
        expected: u64,
        /// The bytes that there were.
        got: u64,
    },
}

impl DiskError {
    /// The error for what the system answered.
    pub fn from_system(path: &Path, operation: &'static str, offset: Option<u64>, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DiskError::Full { path, offset },
            io::ErrorKind::NotFound => DiskError::Missing { path },
            io::ErrorKind::AlreadyExists => DiskError::Exists { path },
            _ => DiskError::Io { path, operation, offset, source: Arc::new(source) },
        }
    }

    /// Whether there was not enough space: because of a limit, or because the file system is full.
    pub fn is_out_of_space(&self) -> bool {
        matches!(self, DiskError::Full { .. } | DiskError::Limit { .. })
    }
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiskError::Io { path, operation, offset, source } => {
                write!(f, "cannot {operation} {}", path.display())?;
                if let Some(offset) = offset {
                    write!(f, " at byte {offset}")?;
                }
                write!(f, ": {source}")
            }
            DiskError::Full { path, .. } => write!(f, "no space is left on the disk of {}", path.display()),
            DiskError::Limit { path, limit, needed } => {
                write!(f, "{}: {needed} bytes would be on disk, {limit} are allowed", path.display())
            }
            DiskError::Locked { path } => write!(f, "{} is locked: another process uses the directory", path.display()),
            DiskError::Missing { path } => write!(f, "{} does not exist", path.display()),
            DiskError::Exists { path } => write!(f, "{} exists already", path.display()),
            DiskError::Short { path, offset, expected, got } => {
                write!(f, "{} ends early: {expected} bytes expected at byte {offset}, {got} found", path.display())
            }
        }
    }
}

impl std::error::Error for DiskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DiskError::Io { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
