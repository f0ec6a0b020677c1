//! Transfers through io_uring: begun by any thread, waited for by any thread, without a thread of their own.
//!
//! All files of a disk share some rings, and a thread begins its transfers in one of them, so that threads seldom meet. Who waits first in a ring becomes its leader: it sleeps in the
//! kernel until something has ended, and wakes the others, which sleep beside it; whoever finds no leader becomes the next one.
//!
//! # Invariants
//! 1. The submission queue is touched under `submission` only, the completion queue under `tickets` only.
//! 2. A ticket is taken before its entry is queued and given back after its completion was seen, so that no two operations under way
//!    have the same.

#![expect(unsafe_code, reason = "the kernel reads and writes buffers while we go on")]

use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Entries of the submission queue. Each is handed to the kernel at once, so this bounds nothing but a burst.
const ENTRIES: u32 = 64;
/// Waits for completions (`IORING_ENTER_GETEVENTS`).
const ENTER_GETEVENTS: u32 = 1;

/// More threads than this share rings.
const RINGS: usize = 4;

/// Some io_uring instances.
pub(crate) struct Rings(Vec<Ring>);

/// An operation that is under way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    ring: usize,
    number: u32,
}

impl Rings {
    pub(crate) fn new() -> io::Result<Self> {
        (0..RINGS).map(|_| Ring::new()).collect::<io::Result<_>>().map(Self)
    }

    /// Begins to read.
    ///
    /// # Safety
    /// The memory must stay valid, and unused by others, until [`Rings::wait`] has returned the ticket's result.
    pub(crate) unsafe fn read(&self, span: &Span) -> io::Result<Ticket> {
        let entry = opcode::Read::new(types::Fd(span.file), span.memory, span.bytes).offset(span.at).build();
        // SAFETY: as promised by the caller.
        unsafe { self.start(entry) }
    }

    /// Begins to write.
    ///
    /// # Safety
    /// The memory must stay valid and unchanged until [`Rings::wait`] has returned the ticket's result.
    pub(crate) unsafe fn write(&self, span: &Span) -> io::Result<Ticket> {
        let entry = opcode::Write::new(types::Fd(span.file), span.memory, span.bytes).offset(span.at).build();
        // SAFETY: as promised by the caller.
        unsafe { self.start(entry) }
    }

    /// # Safety
    /// The memory that the entry names must stay valid until its result was waited for.
    unsafe fn start(&self, entry: squeue::Entry) -> io::Result<Ticket> {
        let ring = ring_of_this_thread();
        // SAFETY: as promised by the caller.
        let number = unsafe { self.0[ring].start(entry) }?;
        Ok(Ticket { ring, number })
    }

    /// Waits for the end of an operation: the number of bytes, or an error.
    pub(crate) fn wait(&self, ticket: Ticket) -> io::Result<usize> {
        self.0[ticket.ring].wait(ticket.number)
    }
}

/// Threads take turns.
fn ring_of_this_thread() -> usize {
    static N_THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static RING: usize = N_THREADS.fetch_add(1, Ordering::Relaxed) % RINGS);
    RING.with(|ring| *ring)
}

/// One io_uring instance.
struct Ring {
    uring: IoUring,
    submission: Mutex<()>,
    tickets: Mutex<Tickets>,
    ended: Condvar,
}

#[derive(Default)]
struct Tickets {
    /// For each ticket the result, once there is one.
    results: Vec<Option<i32>>,
    free: Vec<u32>,
    /// Whether a thread sleeps in the kernel.
    has_leader: bool,
}

/// A piece of memory and the place in a file that belongs to it.
pub(crate) struct Span {
    pub(crate) file: RawFd,
    pub(crate) memory: *mut u8,
    pub(crate) bytes: u32,
    pub(crate) at: u64,
}

impl Ring {
    fn new() -> io::Result<Self> {
        let uring = IoUring::new(ENTRIES)?;
        Ok(Self { uring, submission: Mutex::default(), tickets: Mutex::default(), ended: Condvar::new() })
    }

    /// # Safety
    /// The memory that the entry names must stay valid until its result was waited for.
    unsafe fn start(&self, entry: squeue::Entry) -> io::Result<u32> {
        let ticket = self.take_ticket();
        let entry = entry.user_data(u64::from(ticket));
        let _alone = self.submission.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock makes this the only view of the queue; the entry's memory is the caller's promise.
        while unsafe { self.uring.submission_shared().push(&entry) }.is_err() {
            // Full of entries that an overloaded kernel did not take yet.
            self.submit()?;
        }
        // The kernel takes a queued entry sooner or later, so a refusal here ends the ring but not the promise about its memory.
        self.submit()?;
        Ok(ticket)
    }

    fn submit(&self) -> io::Result<()> {
        loop {
            match self.uring.submit() {
                Ok(_) => return Ok(()),
                Err(error) if is_passing(&error) => std::thread::yield_now(),
                Err(error) => return Err(error),
            }
        }
    }

    fn take_ticket(&self) -> u32 {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        match tickets.free.pop() {
            Some(ticket) => ticket,
            None => {
                tickets.results.push(None);
                tickets.results.len() as u32 - 1
            }
        }
    }

    /// Waits for the end of an operation: the number of bytes, or an error.
    fn wait(&self, ticket: u32) -> io::Result<usize> {
        let place = ticket as usize;
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(result) = tickets.results[place].take() {
                tickets.free.push(ticket);
                return match result {
                    0.. => Ok(result as usize),
                    _ => Err(io::Error::from_raw_os_error(-result)),
                };
            }
            if tickets.has_leader {
                tickets = self.ended.wait(tickets).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if self.collect(&mut tickets) {
                self.ended.notify_all();
                continue;
            }
            tickets.has_leader = true;
            drop(tickets);
            // SAFETY: no argument is passed. An error (a signal) only means to look again.
            let _ = unsafe { self.uring.submitter().enter::<libc::sigset_t>(0, 1, ENTER_GETEVENTS, None) };
            tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
            tickets.has_leader = false;
            self.collect(&mut tickets);
            self.ended.notify_all();
        }
    }

    /// Notes the results that the kernel has ready; whether there were any.
    fn collect(&self, tickets: &mut Tickets) -> bool {
        let mut any = false;
        // SAFETY: the lock around the tickets makes this the only view of the queue.
        for completion in unsafe { self.uring.completion_shared() } {
            tickets.results[completion.user_data() as usize] = Some(completion.result());
            any = true;
        }
        any
    }
}

/// Whether the kernel asks to try again.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY))
}
