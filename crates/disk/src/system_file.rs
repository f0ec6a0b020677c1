//! One file of the system.
//!
//! With a ring, a transfer is handed to the kernel at once. Without one, a write is done at once and a read when it is waited for; through
//! the page cache the kernel reads ahead in between.

#![expect(unsafe_code, reason = "buffers are handed to the kernel")]

use crate::counters::{AccessPosition, Direction};
use crate::{AlignedBuffer, DiskError, DiskFile, FileKind, IoCounters, IoMode, PAGE_BYTES, Pending, UsageLedger, Wait};
use crate::{Completed, page_cache};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(target_os = "linux")]
use crate::ring::{Rings, Span, Ticket};

/// What all files of a disk share.
pub(crate) struct Shared {
    pub(crate) mode: IoMode,
    pub(crate) usage: UsageLedger,
    pub(crate) counters: IoCounters,
    #[cfg(target_os = "linux")]
    pub(crate) rings: Option<Rings>,
}

impl Shared {
    /// What files need for one way of transferring.
    pub(crate) fn new(mode: IoMode, usage: UsageLedger) -> Self {
        Self {
            mode,
            usage,
            counters: IoCounters::default(),
            #[cfg(target_os = "linux")]
            rings: if mode == IoMode::DirectRing { Rings::new().ok() } else { None },
        }
    }

    /// Whether the kernel works on transfers while we go on.
    pub(crate) fn has_ring(&self) -> bool {
        #[cfg(target_os = "linux")]
        let has_ring = self.rings.is_some();
        #[cfg(not(target_os = "linux"))]
        let has_ring = false;
        has_ring
    }
}

/// A file that is open.
pub(crate) struct SystemFile(Arc<OpenFile>);

struct OpenFile {
    file: File,
    name: String,
    path: PathBuf,
    kind: FileKind,
    /// The length, shared by all that have the file open, transfers under way included.
    length: Arc<AtomicU64>,
    position: AccessPosition,
    shared: Arc<Shared>,
    /// The part that was written last and is still in the page cache.
    cached: Mutex<Option<(u64, u64)>>,
}

impl SystemFile {
    pub(crate) fn new(
        file: File,
        path: PathBuf,
        name: &str,
        kind: FileKind,
        length: Arc<AtomicU64>,
        shared: &Arc<Shared>,
    ) -> Self {
        let (name, shared, cached) = (name.to_owned(), shared.clone(), Mutex::new(None));
        Self(Arc::new(OpenFile { file, name, path, kind, length, position: AccessPosition::default(), shared, cached }))
    }
}

impl DiskFile for SystemFile {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn len(&self) -> u64 {
        self.0.length.load(Ordering::Relaxed)
    }

    fn read<'b>(&self, buffer: AlignedBuffer<'b>, at: u64, bytes: usize) -> Pending<'b> {
        self.0.clone().begin(Direction::Read, buffer, at, bytes)
    }

    fn write<'b>(&self, buffer: AlignedBuffer<'b>, at: u64, bytes: usize) -> Pending<'b> {
        if let Err(error) = self.0.grow(at + bytes as u64) {
            return Pending::ended(buffer, Err(error));
        }
        self.0.clone().begin(Direction::Write, buffer, at, bytes)
    }

    fn sync(&self) -> Result<(), DiskError> {
        self.0.forget_cached(None);
        self.0.shared.counters.waiting(|| self.0.file.sync_data()).map_err(|error| self.0.error("sync", None, error))
    }

    fn truncate(&self, bytes: u64) -> Result<(), DiskError> {
        self.0.file.set_len(bytes).map_err(|error| self.0.error("truncate", Some(bytes), error))?;
        let before = self.0.length.swap(bytes, Ordering::Relaxed);
        match bytes.checked_sub(before) {
            Some(more) => self.0.shared.usage.grow(more, &self.0.path),
            None => {
                self.0.shared.usage.shrink(before - bytes);
                Ok(())
            }
        }
    }
}

impl OpenFile {
    fn error(&self, operation: &'static str, offset: Option<u64>, error: io::Error) -> DiskError {
        DiskError::from_system(&self.path, operation, offset, error)
    }

    /// Notes that the file reaches `end`.
    fn grow(&self, end: u64) -> Result<(), DiskError> {
        let mut length = self.length.load(Ordering::Relaxed);
        while end > length {
            self.shared.usage.grow(end - length, &self.path)?;
            match self.length.compare_exchange(length, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => {
                    self.shared.usage.shrink(end - length);
                    length = now;
                }
            }
        }
        Ok(())
    }

    fn begin<'b>(
        self: Arc<Self>,
        direction: Direction,
        buffer: AlignedBuffer<'b>,
        at: u64,
        bytes: usize,
    ) -> Pending<'b> {
        assert!(at.is_multiple_of(PAGE_BYTES as u64) && bytes.is_multiple_of(PAGE_BYTES), "transfers are whole pages");
        assert!(bytes <= buffer.len(), "a transfer fits its buffer");
        self.shared.counters.count(self.kind, direction, self.position.next(at, bytes as u64), bytes as u64);
        let mut buffer = buffer;
        #[cfg(target_os = "linux")]
        if let Some(rings) = &self.shared.rings {
            return match self.start(rings, direction, &mut buffer, at, bytes) {
                Ok(ticket) => {
                    let transfer = Transfer { file: self, direction, buffer, at, bytes };
                    Pending::under_way(Box::new(RingTransfer(Some((ticket, transfer)))))
                }
                // The kernel may still come to this memory, so it must never be used again.
                Err(error) => Pending::ended(buffer.leak(), Err(self.error(verb(direction), Some(at), error))),
            };
        }
        if self.shared.mode == IoMode::Buffered && direction == Direction::Read {
            page_cache::will_need(&self.file, at, bytes as u64);
        }
        let transfer = Box::new(Transfer { file: self, direction, buffer, at, bytes });
        match direction {
            Direction::Read => Pending::under_way(transfer),
            Direction::Write => {
                let Completed { buffer, result } = transfer.wait();
                Pending::ended(buffer, result)
            }
        }
    }

    /// Hands a transfer to the kernel. The caller keeps the buffer until it has waited for the ticket.
    #[cfg(target_os = "linux")]
    fn start(
        &self,
        rings: &Rings,
        direction: Direction,
        buffer: &mut AlignedBuffer<'_>,
        at: u64,
        bytes: usize,
    ) -> io::Result<Ticket> {
        use std::os::fd::AsRawFd;
        let span = Span { file: self.file.as_raw_fd(), memory: buffer.pointer(), bytes: bytes as u32, at };
        // SAFETY: the buffer goes into a `RingTransfer`, which waits for the ticket before it lets go of it, even when dropped.
        unsafe {
            match direction {
                Direction::Read => rings.read(&span),
                Direction::Write => rings.write(&span),
            }
        }
    }

    /// Transfers the rest of a buffer, from byte `done` on, piece by piece.
    fn transfer_rest(&self, direction: Direction, buffer: &mut [u8], at: u64, done: usize) -> Result<(), DiskError> {
        let expected = buffer.len() as u64;
        // Transfers past the page cache begin at pages.
        let mut done = done / PAGE_BYTES * PAGE_BYTES;
        while done < buffer.len() {
            let here = at + done as u64;
            let moved = match direction {
                Direction::Read => self.file.read_at(&mut buffer[done..], here),
                Direction::Write => self.file.write_at(&buffer[done..], here),
            };
            match moved {
                Ok(moved) if moved > 0 && (done + moved).is_multiple_of(PAGE_BYTES) => done += moved,
                Ok(moved) if moved >= PAGE_BYTES => done += moved / PAGE_BYTES * PAGE_BYTES,
                Ok(moved) => {
                    let got = (done + moved) as u64;
                    return Err(DiskError::Short { path: self.path.clone(), offset: at, expected, got });
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(verb(direction), Some(here), error)),
            }
        }
        if self.shared.mode == IoMode::Buffered {
            match direction {
                Direction::Read => page_cache::forget(&self.file, at, expected),
                Direction::Write => {
                    page_cache::begin_write_out(&self.file, at, expected);
                    self.forget_cached(Some((at, expected)));
                }
            }
        }
        Ok(())
    }

    /// Lets go of the part of the page cache that was written last, and notes another one.
    fn forget_cached(&self, next: Option<(u64, u64)>) {
        let before = std::mem::replace(&mut *self.cached.lock().unwrap_or_else(PoisonError::into_inner), next);
        if let Some((at, bytes)) = before {
            page_cache::write_out_and_forget(&self.file, at, bytes);
        }
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.forget_cached(None);
    }
}

fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    }
}

/// A transfer that is done when it is waited for.
struct Transfer<'b> {
    file: Arc<OpenFile>,
    direction: Direction,
    buffer: AlignedBuffer<'b>,
    at: u64,
    bytes: usize,
}

impl<'b> Transfer<'b> {
    fn finish(mut self, done: usize) -> Completed<'b> {
        let result = self.file.transfer_rest(self.direction, &mut self.buffer[..self.bytes], self.at, done);
        Completed { buffer: self.buffer, result }
    }
}

impl<'b> Wait<'b> for Transfer<'b> {
    fn wait(self: Box<Self>) -> Completed<'b> {
        let shared = self.file.shared.clone();
        shared.counters.waiting(|| self.finish(0))
    }
}

/// Whether the kernel has let go of a transfer that nothing is wrong with: it was interrupted, or the thread that began it ended before
/// its turn came.
#[cfg(target_os = "linux")]
fn was_given_up(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::ECANCELED))
}

/// A transfer that the kernel works on; none after it was waited for.
#[cfg(target_os = "linux")]
struct RingTransfer<'b>(Option<(Ticket, Transfer<'b>)>);

#[cfg(target_os = "linux")]
impl<'b> RingTransfer<'b> {
    fn end(ticket: Ticket, transfer: Transfer<'b>) -> Completed<'b> {
        let moved = match &transfer.file.shared.rings {
            Some(rings) => transfer.file.shared.counters.waiting(|| rings.wait(ticket)),
            None => Ok(0),
        };
        match moved {
            Ok(moved) if moved == transfer.bytes => Completed { buffer: transfer.buffer, result: Ok(()) },
            // Short of its end: a signal came, or the file ends there, which the next piece shows.
            Ok(moved) => transfer.finish(moved),
            Err(error) if was_given_up(&error) => transfer.finish(0),
            Err(error) => {
                let error = transfer.file.error(verb(transfer.direction), Some(transfer.at), error);
                Completed { buffer: transfer.buffer, result: Err(error) }
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl<'b> Wait<'b> for RingTransfer<'b> {
    fn wait(mut self: Box<Self>) -> Completed<'b> {
        match self.0.take() {
            Some((ticket, transfer)) => Self::end(ticket, transfer),
            None => unreachable!("a transfer is waited for once"),
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for RingTransfer<'_> {
    fn drop(&mut self) {
        if let Some((ticket, transfer)) = self.0.take() {
            Self::end(ticket, transfer);
        }
    }
}
