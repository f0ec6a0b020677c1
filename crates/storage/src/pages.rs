//! Memory that goes back to the system at once when it is dropped, unlike what an allocator keeps for later.

#![expect(unsafe_code, reason = "memory is mapped without a safe interface")]

use std::ptr::NonNull;

/// The size of the system's large pages.
pub(crate) const LARGE_PAGE: usize = 2 << 20;

/// Whole pages, zero at first.
pub(crate) struct Pages {
    start: NonNull<u8>,
    n_bytes: usize,
}

// SAFETY: plain memory that belongs to this value alone.
unsafe impl Send for Pages {}
// SAFETY: shared references only read.
unsafe impl Sync for Pages {}

impl Pages {
    /// Memory for at least so many bytes; none if the system has none.
    pub(crate) fn new(n_bytes: usize) -> Option<Self> {
        let n_bytes = n_bytes.max(1).next_multiple_of(4096);
        system::map(n_bytes).map(|start| Self { start, n_bytes })
    }

    /// A large page, which takes memory only as it is written to, until it is [made one](Self::merge_large).
    pub(crate) fn large() -> Option<Self> {
        system::map_aligned(LARGE_PAGE).map(|start| Self { start, n_bytes: LARGE_PAGE })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Makes large pages of the small ones under this memory, whatever is in there; false where the system does not.
    pub(crate) fn merge_large(&self) -> bool {
        system::merge_large(self.start, self.n_bytes)
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: mapped with this length, and nobody writes to it while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.n_bytes) }
    }

    #[inline(always)]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped with this length, and borrowed by nobody else.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.n_bytes) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped with this length, and not used after.
        unsafe { system::unmap(self.start, self.n_bytes) };
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::ptr::NonNull;

    pub(super) fn map(n_bytes: usize) -> Option<NonNull<u8>> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, at an address of the system's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), n_bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }

    /// Maps `n_bytes`, a power of two of at least a page, at a multiple of as many.
    pub(super) fn map_aligned(n_bytes: usize) -> Option<NonNull<u8>> {
        let start = map(2 * n_bytes)?;
        let before = start.align_offset(n_bytes);
        // SAFETY: what lies before and after the aligned part of a mapping that nobody has yet, in whole pages.
        unsafe {
            let aligned = start.add(before);
            if before > 0 {
                unmap(start, before);
            }
            unmap(aligned.add(n_bytes), n_bytes - before);
            Some(aligned)
        }
    }

    pub(super) fn merge_large(start: NonNull<u8>, n_bytes: usize) -> bool {
        // SAFETY: the caller's mapping; what is in it stays as it is.
        unsafe { libc::madvise(start.as_ptr().cast(), n_bytes, libc::MADV_COLLAPSE) == 0 }
    }

    pub(super) unsafe fn unmap(start: NonNull<u8>, n_bytes: usize) {
        // SAFETY: the caller's mapping, or whole pages of it.
        unsafe { libc::munmap(start.as_ptr().cast(), n_bytes) };
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    /// Aligned to a page, and to their own size if that is one of a large page.
    fn layout(n_bytes: usize) -> Option<Layout> {
        let align = if n_bytes == super::LARGE_PAGE { n_bytes } else { 4096 };
        Layout::from_size_align(n_bytes, align).ok()
    }

    pub(super) fn map_aligned(n_bytes: usize) -> Option<NonNull<u8>> {
        map(n_bytes)
    }

    pub(super) fn merge_large(_start: NonNull<u8>, _n_bytes: usize) -> bool {
        false
    }

    pub(super) fn map(n_bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: the size is at least a page.
        NonNull::new(unsafe { alloc_zeroed(layout(n_bytes)?) })
    }

    pub(super) unsafe fn unmap(start: NonNull<u8>, n_bytes: usize) {
        if let Some(layout) = layout(n_bytes) {
            // SAFETY: allocated by `map` with this layout.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zero_and_keeps_what_is_written() {
        let mut pages = Pages::new(5000).unwrap();
        assert_eq!(pages.bytes().len(), 8192);
        assert!(pages.bytes().iter().all(|byte| *byte == 0));
        pages.bytes_mut()[8191] = 7;
        assert_eq!(pages.bytes()[8191], 7);
    }

    #[test]
    fn large_pages_are_aligned_and_keep_what_is_written() {
        let mut pages = Pages::large().unwrap();
        assert_eq!(pages.start().align_offset(LARGE_PAGE), 0);
        assert_eq!(pages.bytes().len(), LARGE_PAGE);
        pages.bytes_mut()[5000] = 7;
        // Not every system does it; in any case nothing is lost.
        pages.merge_large();
        assert_eq!(pages.bytes()[5000], 7);
        assert_eq!(pages.bytes().iter().filter(|byte| **byte != 0).count(), 1);
    }
}
