//! What can go wrong with rows on disk.

use lariat_base::BudgetExceeded;
use lariat_disk::DiskError;
use std::fmt;

/// Why something on disk cannot be read or written.
#[derive(Clone, Debug)]
pub enum StorageError {
    /// The disk failed, is full, or a limit was reached.
    Disk(DiskError),
    /// The memory budget does not allow a buffer.
    Memory(BudgetExceeded),
    /// A file does not hold what was written: it is damaged, cut off, or no file of ours.
    Corrupt {
        /// The file's name.
        file: String,
        /// Where in the file.
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        got: String,
    },
    /// A file is of another version of its format.
    Version {
        /// The file's name.
        file: String,
        /// The version that can be read.
        expected: u32,
        /// The version that it has.
        got: u32,
    },
    /// A file holds something else than it is opened for, such as rows of another width.
    Shape {
        /// The file's name.
        file: String,
        /// What is wanted.
        expected: String,
        /// What it has.
        got: String,
    },
    /// Rows were given out of order.
    Order {
        /// The file that they were written to.
        file: String,
        /// The number of the row that is not larger than the one before.
        row: u64,
    },
    /// A thread that helps could not be started, or broke down.
    Thread(String),
}

impl StorageError {
    /// An error for damaged data.
    pub(crate) fn corrupt(file: &str, offset: u64, expected: impl fmt::Display, got: impl fmt::Display) -> Self {
        let (expected, got) = (expected.to_string(), got.to_string());
        StorageError::Corrupt { file: file.to_owned(), offset, expected, got }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorageError::Disk(error) => write!(f, "{error}"),
            StorageError::Memory(error) => write!(f, "{error}"),
            StorageError::Corrupt { file, offset, expected, got } => {
                write!(f, "{file} is damaged at byte {offset}: expected {expected}, got {got}")
            }
            StorageError::Version { file, expected, got } => {
                write!(f, "{file} has version {got} of its format, and only version {expected} can be read")
            }
            StorageError::Shape { file, expected, got } => write!(f, "{file} holds {got}, not {expected}"),
            StorageError::Order { file, row } => {
                write!(f, "internal error: row {row} for {file} is not larger than the row before")
            }
            StorageError::Thread(why) => write!(f, "a worker thread failed: {why}"),
        }
    }
}

impl std::error::Error for StorageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StorageError::Disk(error) => Some(error),
            StorageError::Memory(error) => Some(error),
            _ => None,
        }
    }
}

impl From<DiskError> for StorageError {
    fn from(error: DiskError) -> Self {
        StorageError::Disk(error)
    }
}

impl From<BudgetExceeded> for StorageError {
    fn from(error: BudgetExceeded) -> Self {
        StorageError::Memory(error)
    }
}
