//! Large zeroed memory, in large pages where the system has them: rows and slots are visited in random order, and with small
//! pages the processor spends much of its time on looking up where they are.
//!
//! Pages that were not written to take no memory.

#![expect(unsafe_code, reason = "memory is asked for and advised about without a safe interface")]

use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::AtomicU64;

/// Zeroed bytes; none if there is no memory.
pub(super) fn zeroed_bytes(n: usize) -> Option<Box<[u8]>> {
    // SAFETY: zero is a byte.
    unsafe { zeroed(n) }
}

/// Zeroed numbers; none if there is no memory.
pub(super) fn zeroed_numbers(n: usize) -> Option<Box<[u32]>> {
    // SAFETY: zero is a number.
    unsafe { zeroed(n) }
}

/// Zeroed words; none if there is no memory.
pub(crate) fn zeroed_words(n: usize) -> Option<Box<[AtomicU64]>> {
    // SAFETY: zero is a number.
    unsafe { zeroed(n) }
}

/// # Safety
/// Zero bytes must be a value of `T`.
unsafe fn zeroed<T>(n: usize) -> Option<Box<[T]>> {
    let layout = Layout::array::<T>(n).ok()?;
    if layout.size() == 0 {
        return Some(Box::default());
    }
    // SAFETY: the size is not 0.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        return None;
    }
    advise_large_pages(memory, layout.size());
    // SAFETY: the memory was made by the allocator of boxes with the layout of `n` values, which zero bytes are.
    Some(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory.cast::<T>(), n)) })
}

/// Asks for large pages; where there are none nothing changes.
pub(crate) fn advise_large_pages(memory: *mut u8, n_bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        use crate::pages::LARGE_PAGE;
        if n_bytes >= LARGE_PAGE {
            let before = memory.align_offset(PAGE);
            // SAFETY: whole pages inside of the memory, of which only the size is asked to change.
            unsafe { libc::madvise(memory.add(before).cast(), (n_bytes - before) / PAGE * PAGE, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, n_bytes);
}
