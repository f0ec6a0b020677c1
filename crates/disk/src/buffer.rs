//! Buffers that begin at a page, as transfers past the page cache need them, within the memory budget.

#![expect(unsafe_code, reason = "memory with an alignment is asked for without a safe interface")]

use lariat_base::{BudgetExceeded, MemoryBudget};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// What addresses, offsets and lengths of transfers are multiples of.
pub const PAGE_BYTES: usize = 4096;

/// Whole pages of memory.
pub struct AlignedBuffer<'b> {
    memory: NonNull<u8>,
    bytes: usize,
    budget: &'b MemoryBudget,
}

// SAFETY: the buffer owns its memory alone, and the budget is shared by threads anyway.
unsafe impl Send for AlignedBuffer<'_> {}
// SAFETY: a shared buffer is only read.
unsafe impl Sync for AlignedBuffer<'_> {}

impl<'b> AlignedBuffer<'b> {
    /// Zeroed memory of at least `bytes` bytes, rounded up to whole pages.
    pub fn new(bytes: usize, budget: &'b MemoryBudget) -> Result<Self, BudgetExceeded> {
        let bytes = bytes.max(1).next_multiple_of(PAGE_BYTES);
        budget.reserve(bytes as u64)?;
        let refused = BudgetExceeded { requested: bytes as u64, left: 0 };
        let memory = Layout::from_size_align(bytes, PAGE_BYTES).ok().and_then(|layout| {
            // SAFETY: there is at least one page.
            NonNull::new(unsafe { alloc_zeroed(layout) })
        });
        match memory {
            Some(memory) => Ok(Self { memory, bytes, budget }),
            None => {
                budget.release(bytes as u64);
                Err(refused)
            }
        }
    }

    /// Never gives the memory back, and leaves an empty buffer. The budget goes on counting it.
    pub(crate) fn leak(self) -> Self {
        let empty = Self { memory: NonNull::dangling(), bytes: 0, budget: self.budget };
        std::mem::forget(self);
        empty
    }

    /// Where the memory is, for a kernel that fills or reads it.
    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.memory.as_ptr()
    }
}

impl Deref for AlignedBuffer<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the memory is ours, initialised, and this long.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.bytes) }
    }
}

impl DerefMut for AlignedBuffer<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the memory is ours alone, initialised, and this long.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.bytes) }
    }
}

impl Drop for AlignedBuffer<'_> {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        // SAFETY: the layout is the one that the memory was made with.
        unsafe { dealloc(self.memory.as_ptr(), Layout::from_size_align_unchecked(self.bytes, PAGE_BYTES)) };
        self.budget.release(self.bytes as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_pages_of_the_budget() {
        let budget = MemoryBudget::new(3 * PAGE_BYTES as u64);
        let mut one = AlignedBuffer::new(1, &budget).unwrap();
        let two = AlignedBuffer::new(PAGE_BYTES + 1, &budget).unwrap();
        assert_eq!((one.len(), two.len()), (PAGE_BYTES, 2 * PAGE_BYTES));
        assert_eq!(one.as_ptr().align_offset(PAGE_BYTES), 0);
        assert!(one.iter().all(|b| *b == 0));
        one[PAGE_BYTES - 1] = 7;
        assert!(AlignedBuffer::new(1, &budget).is_err());
        drop((one, two));
        assert_eq!(budget.used(), 0);
    }
}
