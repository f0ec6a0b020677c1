//! A directory of the system as a [`Disk`].
//!
//! How transfers are done is found out by trying, the best way first: a file is written and read back past the page cache through
//! io_uring, then without it, and what works is used. Where the file system refuses, transfers go through the page cache, which is told
//! to forget them.
//!
//! # Invariants
//! 1. Nobody else uses the directory: the lock file is locked as long as the disk lives, and the system unlocks it when the process ends,
//!    however it ends.
//! 2. `lengths` knows every file of the directory whose name has our ending, and no other file is touched.

#![allow(clippy::disallowed_methods, reason = "this is where files are opened")]

use crate::spare_files::SpareFiles;
use crate::system_file::{Shared, SystemFile};
use crate::{AlignedBuffer, Disk, DiskError, DiskFile, DiskUsage, FileEntry, FileKind, IoCounters, IoMode, PAGE_BYTES};
use crate::{UsageLedger, page_cache};
use lariat_base::MemoryBudget;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What the system's names of our files end with. Other files of the directory are not ours: they are neither seen nor counted.
const ENDING: &str = ".lariat";
/// The file that says that a process uses the directory.
pub const LOCK_FILE: &str = "lariat.lock";
/// How long it is tried to lock it.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
/// The file that transfers are tried with.
const TRIAL_FILE: &str = "lariat.trial";

/// How a directory is used.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDiskOptions {
    /// The most bytes that its files may have together.
    pub limit: Option<u64>,
    /// How transfers are to be done at best; none for the best there is.
    pub io_mode: Option<IoMode>,
}

/// A directory of the system.
pub struct SystemDisk {
    directory: PathBuf,
    shared: Arc<Shared>,
    lengths: Mutex<BTreeMap<String, Arc<AtomicU64>>>,
    /// Asked for while `lengths` are locked.
    spares: Mutex<SpareFiles>,
    /// Open, and thereby locked.
    _lock: File,
}

impl SystemDisk {
    /// Takes a directory into use, and makes it if it does not exist.
    pub fn open(directory: &Path, options: SystemDiskOptions) -> Result<Self, DiskError> {
        let failed = |error| DiskError::from_system(directory, "create", None, error);
        std::fs::create_dir_all(directory).map_err(failed)?;
        let lock = lock(&directory.join(LOCK_FILE))?;
        let spares =
            SpareFiles::new(directory).map_err(|error| DiskError::from_system(directory, "list", None, error))?;
        let lengths = existing_files(directory)?;
        let usage =
            UsageLedger::new(lengths.values().map(|length| length.load(Ordering::Relaxed)).sum(), options.limit);
        let shared = Arc::new(find_io_mode(directory, options.io_mode, usage)?);
        Ok(Self {
            directory: directory.to_owned(),
            shared,
            lengths: Mutex::new(lengths),
            spares: Mutex::new(spares),
            _lock: lock,
        })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Removes all files of ours, and the directory if nothing else is in it. Nobody should have one open.
    pub fn clear(&self) -> Result<(), DiskError> {
        for file in self.list()? {
            self.remove(&file.name)?;
        }
        self.spares().clear();
        let lock = self.directory.join(LOCK_FILE);
        std::fs::remove_file(&lock).map_err(|error| DiskError::from_system(&lock, "remove", None, error))?;
        // It stays if somebody keeps something else there.
        let _ = std::fs::remove_dir(&self.directory);
        Ok(())
    }

    fn lengths(&self) -> MutexGuard<'_, BTreeMap<String, Arc<AtomicU64>>> {
        self.lengths.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spares(&self) -> MutexGuard<'_, SpareFiles> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, name: &str) -> PathBuf {
        debug_assert!(Path::new(name).components().count() == 1, "a name is not a path");
        self.directory.join(format!("{name}{ENDING}"))
    }
}

fn lock(path: &Path) -> Result<File, DiskError> {
    let failed = |error| DiskError::from_system(path, "lock", None, error);
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // A process that was killed a moment ago has it until the system has taken its memory back.
            Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_PATIENCE => std::thread::sleep(LOCK_PATIENCE / 20),
            Err(TryLockError::WouldBlock) => return Err(DiskError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

fn existing_files(directory: &Path) -> Result<BTreeMap<String, Arc<AtomicU64>>, DiskError> {
    let failed = |error| DiskError::from_system(directory, "list", None, error);
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let metadata = entry.metadata().map_err(failed)?;
        if let (true, Ok(name)) = (metadata.is_file(), entry.file_name().into_string())
            && let Some(name) = name.strip_suffix(ENDING)
        {
            files.insert(name.to_owned(), Arc::new(AtomicU64::new(metadata.len())));
        }
    }
    Ok(files)
}

/// The best way of transferring that works, and is not better than `wanted`.
fn find_io_mode(directory: &Path, wanted: Option<IoMode>, usage: UsageLedger) -> Result<Shared, DiskError> {
    let mut shared = Shared::new(IoMode::DirectRing, usage);
    let path = directory.join(TRIAL_FILE);
    let modes = [IoMode::DirectRing, IoMode::Direct, IoMode::Buffered];
    let first = modes.iter().position(|mode| Some(*mode) == wanted).unwrap_or(0);
    let mut last = Ok(());
    for mode in &modes[first..] {
        shared = Shared::new(*mode, shared.usage);
        if *mode == IoMode::DirectRing && !shared.has_ring() {
            continue;
        }
        let trying = Arc::new(shared);
        last = try_transfers(&path, &trying);
        // A file that cannot be removed is in nobody's way.
        let _ = std::fs::remove_file(&path);
        shared = Arc::into_inner(trying).ok_or_else(|| DiskError::Locked { path: path.clone() })?;
        if last.is_ok() {
            shared.counters = IoCounters::default();
            return Ok(shared);
        }
    }
    last.map(|()| shared)
}

/// Writes a page and reads it back.
fn try_transfers(path: &Path, shared: &Arc<Shared>) -> Result<(), DiskError> {
    let file = open_file(path, OpenOptions::new().read(true).write(true).create(true).truncate(true), shared.mode)?;
    let file = SystemFile::new(file, path.to_owned(), TRIAL_FILE, FileKind::Other, Arc::default(), shared);
    let budget = MemoryBudget::new(PAGE_BYTES as u64);
    let failed = |_| DiskError::Full { path: path.to_owned(), offset: None };
    let mut buffer = AlignedBuffer::new(PAGE_BYTES, &budget).map_err(failed)?;
    buffer.fill(0x5a);
    let mut buffer = file.write(buffer, 0, PAGE_BYTES).wait().buffer()?;
    buffer.fill(0);
    let buffer = file.read(buffer, 0, PAGE_BYTES).wait().buffer()?;
    file.truncate(0)?;
    let got = buffer.iter().filter(|byte| **byte == 0x5a).count() as u64;
    if got == PAGE_BYTES as u64 {
        Ok(())
    } else {
        Err(DiskError::Short { path: path.to_owned(), offset: 0, expected: PAGE_BYTES as u64, got })
    }
}

fn open_file(path: &Path, options: &mut OpenOptions, mode: IoMode) -> Result<File, DiskError> {
    #[cfg(target_os = "linux")]
    if matches!(mode, IoMode::DirectRing | IoMode::Direct) {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_DIRECT);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = mode;
    options.open(path).map_err(|error| DiskError::from_system(path, "open", None, error))
}

impl Disk for SystemDisk {
    fn create(&self, name: &str, kind: FileKind) -> Result<Arc<dyn DiskFile>, DiskError> {
        let path = self.path(name);
        let mut lengths = self.lengths();
        // A spare file would take the place of one that is there.
        let spare = if lengths.contains_key(name) { None } else { self.spares().take(&path) };
        let file = match spare {
            Some(file) => file,
            None => open_file(&path, OpenOptions::new().read(true).write(true).create_new(true), self.shared.mode)?,
        };
        let length = Arc::<AtomicU64>::default();
        lengths.insert(name.to_owned(), length.clone());
        Ok(Arc::new(SystemFile::new(file, path, name, kind, length, &self.shared)))
    }

    fn open(&self, name: &str, kind: FileKind) -> Result<Arc<dyn DiskFile>, DiskError> {
        let path = self.path(name);
        let lengths = self.lengths();
        let length = lengths.get(name).ok_or_else(|| DiskError::Missing { path: path.clone() })?.clone();
        let file = open_file(&path, OpenOptions::new().read(true).write(true), self.shared.mode)?;
        if self.shared.mode == IoMode::Buffered {
            // What another process left in the page cache is not ours to count on.
            page_cache::forget(&file, 0, 0);
        }
        Ok(Arc::new(SystemFile::new(file, path, name, kind, length, &self.shared)))
    }

    fn remove(&self, name: &str) -> Result<(), DiskError> {
        let path = self.path(name);
        let mut lengths = self.lengths();
        let open = |path: &Path| open_file(path, OpenOptions::new().read(true).write(true), self.shared.mode);
        // Whoever has it open, or writes to it still, must not meet the file that comes next.
        let is_open = lengths.get(name).is_some_and(|length| Arc::strong_count(length) > 1);
        let removed = if is_open { std::fs::remove_file(&path) } else { self.spares().remove(&path, open) };
        removed.map_err(|error| DiskError::from_system(&path, "remove", None, error))?;
        if let Some(length) = lengths.remove(name) {
            self.shared.usage.shrink(length.load(Ordering::Relaxed));
        }
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        let (old, new) = (self.path(from), self.path(to));
        let mut lengths = self.lengths();
        std::fs::rename(&old, &new).map_err(|error| DiskError::from_system(&old, "rename", None, error))?;
        let length = lengths.remove(from).ok_or(DiskError::Missing { path: old })?;
        if let Some(replaced) = lengths.insert(to.to_owned(), length) {
            self.shared.usage.shrink(replaced.load(Ordering::Relaxed));
        }
        Ok(())
    }

    fn sync_directory(&self) -> Result<(), DiskError> {
        let synced = File::open(&self.directory).and_then(|directory| directory.sync_all());
        synced.map_err(|error| DiskError::from_system(&self.directory, "sync", None, error))
    }

    fn list(&self) -> Result<Vec<FileEntry>, DiskError> {
        let entry = |(name, length): (&String, &Arc<AtomicU64>)| FileEntry {
            name: name.clone(),
            bytes: length.load(Ordering::Relaxed),
        };
        Ok(self.lengths().iter().map(entry).collect())
    }

    fn io_mode(&self) -> IoMode {
        self.shared.mode
    }

    fn usage(&self) -> DiskUsage {
        self.shared.usage.usage()
    }

    fn counters(&self) -> &IoCounters {
        &self.shared.counters
    }
}
