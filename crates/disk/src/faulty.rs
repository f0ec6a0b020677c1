//! A disk in memory that fails when it is told to: for tests of everything that must survive a failing disk.
//!
//! It knows what a crash would leave. What was written but not synced may be lost, page by page; what was created, removed or renamed since the
//! directory was synced may be lost from some moment on. [`FaultyDisk::after_crash`] draws one of the possible states.

use crate::counters::{AccessPosition, Direction};
use crate::{AlignedBuffer, Completed, Disk, DiskError, DiskFile, DiskUsage, FileEntry, FileKind, IoCounters, IoMode};
use crate::{PAGE_BYTES, Pending, UsageLedger, Wait};
use lariat_base::Random;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// When a disk fails. Operations of a sort are counted from 1.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    /// The change (write, sync, truncation, creation, removal, renaming) at which everything ends: it may be done in part, and nothing after it is.
    pub crash_at_change: Option<u64>,
    /// The read that is an error.
    pub fail_read: Option<u64>,
    /// The read that ends early.
    pub short_read: Option<u64>,
    /// The write that is an error, nothing of it done.
    pub fail_write: Option<u64>,
    /// The write that is an error, half of it done.
    pub short_write: Option<u64>,
    /// The sync that is an error.
    pub fail_sync: Option<u64>,
    /// The bytes that the disk has.
    pub size: Option<u64>,
    /// The bytes that may be on it.
    pub limit: Option<u64>,
    /// How long every transfer takes.
    pub latency: Duration,
    /// Decides what is lost in a crash.
    pub seed: u64,
}

/// A disk in memory.
pub struct FaultyDisk {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    usage: UsageLedger,
    counters: IoCounters,
    plan: FaultPlan,
}

type Names = BTreeMap<String, usize>;

#[derive(Default)]
struct State {
    contents: Vec<Contents>,
    names: Names,
    /// The directory as it was when it was synced, and after each change since.
    names_since_sync: Vec<Names>,
    random: Option<Random>,
    changes: u64,
    reads: u64,
    writes: u64,
    syncs: u64,
    has_crashed: bool,
}

#[derive(Clone, Default)]
struct Contents {
    bytes: Vec<u8>,
    /// What was there at the last sync.
    synced: Vec<u8>,
}

impl Default for FaultyDisk {
    fn default() -> Self {
        Self::new(FaultPlan::default())
    }
}

impl FaultyDisk {
    /// An empty disk.
    pub fn new(plan: FaultPlan) -> Self {
        Self::with_files(plan, Vec::new())
    }

    /// A disk that has files.
    pub fn with_files(plan: FaultPlan, files: Vec<(String, Vec<u8>)>) -> Self {
        let bytes = files.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let mut state = State { random: Some(Random::new(plan.seed)), ..State::default() };
        for (name, bytes) in files {
            state.names.insert(name, state.contents.len());
            state.contents.push(Contents { synced: bytes.clone(), bytes });
        }
        state.names_since_sync.push(state.names.clone());
        let usage = UsageLedger::new(bytes, plan.limit);
        let shared = Shared { state: Mutex::new(state), usage, counters: IoCounters::default(), plan };
        Self { shared: Arc::new(shared) }
    }

    /// What a crash now, or the one that happened, may leave, on a disk with another plan.
    pub fn after_crash(&self, plan: FaultPlan) -> Self {
        let mut state = self.shared.lock();
        let mut random = state.random.take().unwrap_or_else(|| Random::new(0));
        let names = state.names_since_sync[random.below(state.names_since_sync.len())].clone();
        let mut left = |contents: &Contents| {
            let mut bytes = contents.synced.clone();
            // A length is either the old one or the new one; what of it was not synced may be zeros.
            if random.one_in(2) {
                bytes.resize(contents.bytes.len(), 0);
            }
            for (page, written) in bytes.chunks_mut(PAGE_BYTES).zip(contents.bytes.chunks(PAGE_BYTES)) {
                if page.len() == written.len() && random.one_in(2) {
                    page.copy_from_slice(written);
                }
            }
            bytes
        };
        let files = names.into_iter().map(|(name, place)| (name, left(&state.contents[place]))).collect();
        state.random = Some(random);
        Self::with_files(plan, files)
    }

    /// Everything that is on it.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let state = self.shared.lock();
        state.names.iter().map(|(name, place)| (name.clone(), state.contents[*place].bytes.clone())).collect()
    }

    /// How many changes there were: [`FaultPlan::crash_at_change`] counts them.
    pub fn changes(&self) -> u64 {
        self.shared.lock().changes
    }

    /// Whether it has crashed.
    pub fn has_crashed(&self) -> bool {
        self.shared.lock().has_crashed
    }

    fn open_contents(&self, name: &str, place: usize, kind: FileKind) -> Arc<dyn DiskFile> {
        let (name, shared) = (name.to_owned(), self.shared.clone());
        Arc::new(FaultyFile { shared, place, name, kind, position: AccessPosition::default() })
    }

    /// Begins a change of the directory.
    fn change(&self, name: &str, operation: &'static str) -> Result<MutexGuard<'_, State>, DiskError> {
        let mut state = self.shared.lock();
        self.shared.change(&mut state, name, operation)?;
        Ok(state)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a change, and crashes if it is the one.
    fn change(&self, state: &mut State, name: &str, operation: &'static str) -> Result<(), DiskError> {
        state.changes += 1;
        if self.plan.crash_at_change == Some(state.changes) {
            state.has_crashed = true;
        }
        if state.has_crashed { Err(fault(name, operation, None, "a crash")) } else { Ok(()) }
    }

    fn write(&self, place: usize, name: &str, bytes: &[u8], at: u64) -> Result<(), DiskError> {
        let mut state = self.lock();
        if state.has_crashed {
            return Err(fault(name, "write", Some(at), "a crash"));
        }
        let (start, end) = (at as usize, at as usize + bytes.len());
        let before = state.contents[place].bytes.len();
        let more = end.saturating_sub(before) as u64;
        if self.plan.size.is_some_and(|size| self.usage.usage().now + more > size) {
            return Err(DiskError::Full { path: path(name), offset: Some(at) });
        }
        self.usage.grow(more, &path(name))?;
        state.writes += 1;
        let is_short = self.plan.short_write == Some(state.writes);
        let fails = self.plan.fail_write == Some(state.writes);
        let crash = self.change(&mut state, name, "write");
        // An interrupted write is done in part: half of it, or what the seed leaves of it after a crash.
        let done = if fails {
            0
        } else if is_short {
            bytes.len() / 2
        } else {
            bytes.len()
        };
        let contents = &mut state.contents[place].bytes;
        contents.resize(before.max(end), 0);
        contents[start..start + done].copy_from_slice(&bytes[..done]);
        if fails || is_short {
            return Err(fault(name, "write", Some(at), "a planned error"));
        }
        crash
    }

    fn read(&self, place: usize, name: &str, bytes: &mut [u8], at: u64) -> Result<(), DiskError> {
        let mut state = self.lock();
        state.reads += 1;
        if state.has_crashed || self.plan.fail_read == Some(state.reads) {
            return Err(fault(name, "read", Some(at), "a planned error"));
        }
        let contents = &state.contents[place].bytes;
        let there = contents.len().saturating_sub(at as usize).min(bytes.len());
        let got = if self.plan.short_read == Some(state.reads) { there / 2 } else { there };
        bytes[..got].copy_from_slice(&contents[at as usize..at as usize + got]);
        if got < bytes.len() {
            let expected = bytes.len() as u64;
            return Err(DiskError::Short { path: path(name), offset: at, expected, got: got as u64 });
        }
        Ok(())
    }
}

fn path(name: &str) -> PathBuf {
    Path::new("simulated").join(name)
}

fn fault(name: &str, operation: &'static str, offset: Option<u64>, what: &str) -> DiskError {
    DiskError::Io { path: path(name), operation, offset, source: Arc::new(io::Error::other(what.to_owned())) }
}

impl Disk for FaultyDisk {
    fn create(&self, name: &str, kind: FileKind) -> Result<Arc<dyn DiskFile>, DiskError> {
        let mut state = self.change(name, "create")?;
        if state.names.contains_key(name) {
            return Err(DiskError::Exists { path: path(name) });
        }
        let place = state.contents.len();
        state.contents.push(Contents::default());
        state.names.insert(name.to_owned(), place);
        state.note_names();
        Ok(self.open_contents(name, place, kind))
    }

    fn open(&self, name: &str, kind: FileKind) -> Result<Arc<dyn DiskFile>, DiskError> {
        let state = self.shared.lock();
        let place = *state.names.get(name).ok_or_else(|| DiskError::Missing { path: path(name) })?;
        Ok(self.open_contents(name, place, kind))
    }

    fn remove(&self, name: &str) -> Result<(), DiskError> {
        let mut state = self.change(name, "remove")?;
        let place = state.names.remove(name).ok_or_else(|| DiskError::Missing { path: path(name) })?;
        self.shared.usage.shrink(state.contents[place].bytes.len() as u64);
        state.note_names();
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        let mut state = self.change(from, "rename")?;
        let place = state.names.remove(from).ok_or_else(|| DiskError::Missing { path: path(from) })?;
        if let Some(replaced) = state.names.insert(to.to_owned(), place) {
            self.shared.usage.shrink(state.contents[replaced].bytes.len() as u64);
        }
        state.note_names();
        Ok(())
    }

    fn sync_directory(&self) -> Result<(), DiskError> {
        let mut state = self.change("", "sync")?;
        state.names_since_sync = vec![state.names.clone()];
        Ok(())
    }

    fn list(&self) -> Result<Vec<FileEntry>, DiskError> {
        let state = self.shared.lock();
        let entry = |(name, place): (&String, &usize)| FileEntry {
            name: name.clone(),
            bytes: state.contents[*place].bytes.len() as u64,
        };
        Ok(state.names.iter().map(entry).collect())
    }

    fn io_mode(&self) -> IoMode {
        IoMode::Simulated
    }

    fn usage(&self) -> DiskUsage {
        self.shared.usage.usage()
    }

    fn counters(&self) -> &IoCounters {
        &self.shared.counters
    }
}

impl State {
    fn note_names(&mut self) {
        self.names_since_sync.push(self.names.clone());
    }
}

struct FaultyFile {
    shared: Arc<Shared>,
    place: usize,
    name: String,
    kind: FileKind,
    position: AccessPosition,
}

impl FaultyFile {
    fn ended<'b>(&self, buffer: AlignedBuffer<'b>, result: Result<(), DiskError>) -> Pending<'b> {
        if self.shared.plan.latency.is_zero() {
            return Pending::ended(buffer, result);
        }
        let until = Instant::now() + self.shared.plan.latency;
        Pending::under_way(Box::new(Delayed { completed: Completed { buffer, result }, until }))
    }

    fn count(&self, direction: Direction, at: u64, bytes: usize) {
        assert!(at.is_multiple_of(PAGE_BYTES as u64) && bytes.is_multiple_of(PAGE_BYTES), "transfers are whole pages");
        let access = self.position.next(at, bytes as u64);
        self.shared.counters.count(self.kind, direction, access, bytes as u64);
    }
}

impl DiskFile for FaultyFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.shared.lock().contents[self.place].bytes.len() as u64
    }

    fn read<'b>(&self, mut buffer: AlignedBuffer<'b>, at: u64, bytes: usize) -> Pending<'b> {
        self.count(Direction::Read, at, bytes);
        let result = self.shared.read(self.place, &self.name, &mut buffer[..bytes], at);
        self.ended(buffer, result)
    }

    fn write<'b>(&self, buffer: AlignedBuffer<'b>, at: u64, bytes: usize) -> Pending<'b> {
        self.count(Direction::Write, at, bytes);
        let result = self.shared.write(self.place, &self.name, &buffer[..bytes], at);
        self.ended(buffer, result)
    }

    fn sync(&self) -> Result<(), DiskError> {
        let mut state = self.shared.lock();
        state.syncs += 1;
        if self.shared.plan.fail_sync == Some(state.syncs) {
            return Err(fault(&self.name, "sync", None, "a planned error"));
        }
        self.shared.change(&mut state, &self.name, "sync")?;
        let contents = &mut state.contents[self.place];
        contents.synced.clone_from(&contents.bytes);
        Ok(())
    }

    fn truncate(&self, bytes: u64) -> Result<(), DiskError> {
        let mut state = self.shared.lock();
        self.shared.change(&mut state, &self.name, "truncate")?;
        let contents = &mut state.contents[self.place].bytes;
        let before = contents.len() as u64;
        contents.resize(bytes as usize, 0);
        match bytes.checked_sub(before) {
            Some(more) => self.shared.usage.grow(more, &path(&self.name)),
            None => {
                self.shared.usage.shrink(before - bytes);
                Ok(())
            }
        }
    }
}

/// A transfer that takes its time.
struct Delayed<'b> {
    completed: Completed<'b>,
    until: Instant,
}

impl<'b> Wait<'b> for Delayed<'b> {
    fn wait(self: Box<Self>) -> Completed<'b> {
        std::thread::sleep(self.until.saturating_duration_since(Instant::now()));
        self.completed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::MemoryBudget;

    fn write(file: &dyn DiskFile, budget: &MemoryBudget, page: u64, byte: u8) -> Result<(), DiskError> {
        let mut buffer = AlignedBuffer::new(PAGE_BYTES, budget).unwrap();
        buffer.fill(byte);
        file.write(buffer, page * PAGE_BYTES as u64, PAGE_BYTES).wait().result
    }

    #[test]
    fn a_crash_loses_only_what_was_not_synced() {
        let budget = MemoryBudget::new(1 << 20);
        let mut was_lost = [false; 3];
        for seed in 0..100 {
            let disk = FaultyDisk::new(FaultPlan { seed, ..FaultPlan::default() });
            let file = disk.create("file", FileKind::Other).unwrap();
            write(&*file, &budget, 0, 1).unwrap();
            file.sync().unwrap();
            disk.sync_directory().unwrap();
            write(&*file, &budget, 0, 2).unwrap();
            write(&*file, &budget, 1, 3).unwrap();
            disk.rename("file", "other").unwrap();
            let left = disk.after_crash(FaultPlan::default()).files();
            assert_eq!(left.len(), 1);
            let (name, bytes) = &left[0];
            assert!(name == "file" || name == "other");
            assert!(bytes[0] == 1 || bytes[0] == 2);
            was_lost[0] |= name == "file";
            was_lost[1] |= bytes[0] == 1;
            was_lost[2] |= bytes.len() == PAGE_BYTES || bytes[PAGE_BYTES] == 0;
        }
        assert_eq!(was_lost, [true; 3], "each is lost some time");
    }

    #[test]
    fn nothing_works_after_the_planned_crash() {
        let budget = MemoryBudget::new(1 << 20);
        let disk = FaultyDisk::new(FaultPlan { crash_at_change: Some(3), ..FaultPlan::default() });
        let file = disk.create("file", FileKind::Other).unwrap();
        write(&*file, &budget, 0, 1).unwrap();
        assert!(file.sync().is_err() && disk.has_crashed());
        assert!(write(&*file, &budget, 0, 1).is_err());
        assert!(disk.create("other", FileKind::Other).is_err());
        assert_eq!(disk.changes(), 4);
    }

    #[test]
    fn a_full_disk_and_a_limit_are_different_errors() {
        let budget = MemoryBudget::new(1 << 20);
        let page = PAGE_BYTES as u64;
        for (size, limit) in [(Some(page), None), (None, Some(page))] {
            let disk = FaultyDisk::new(FaultPlan { size, limit, ..FaultPlan::default() });
            let file = disk.create("file", FileKind::Other).unwrap();
            write(&*file, &budget, 0, 1).unwrap();
            let error = write(&*file, &budget, 1, 1).unwrap_err();
            assert!(error.is_out_of_space());
            assert_eq!(matches!(error, DiskError::Full { .. }), size.is_some());
            assert_eq!(disk.usage().now, page);
        }
    }

    #[test]
    fn planned_errors_come_when_planned() {
        let budget = MemoryBudget::new(1 << 20);
        let latency = Duration::from_micros(10);
        let plan = FaultPlan {
            fail_read: Some(2),
            short_read: Some(3),
            short_write: Some(2),
            latency,
            ..FaultPlan::default()
        };
        let disk = FaultyDisk::new(FaultPlan { fail_sync: Some(1), ..plan });
        let file = disk.create("file", FileKind::Other).unwrap();
        write(&*file, &budget, 0, 1).unwrap();
        assert!(write(&*file, &budget, 0, 2).is_err());
        assert_eq!(disk.files()[0].1[PAGE_BYTES / 2 - 1..PAGE_BYTES / 2 + 1], [2, 1]);
        let read = || file.read(AlignedBuffer::new(1, &budget).unwrap(), 0, PAGE_BYTES).wait().result;
        assert!(read().is_ok());
        assert!(matches!(read(), Err(DiskError::Io { .. })));
        assert!(matches!(read(), Err(DiskError::Short { got: 2048, .. })));
        assert!(read().is_ok() && file.sync().is_err() && file.sync().is_ok());
    }
}
