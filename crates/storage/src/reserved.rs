//! Vectors within the memory budget, in one piece, for buffers of rows.

use lariat_base::{BudgetExceeded, MemoryBudget};
use std::ops::{Deref, DerefMut};

/// A share of the budget for memory that something else allocates.
pub struct Reservation<'b> {
    bytes: u64,
    budget: &'b MemoryBudget,
}

impl<'b> Reservation<'b> {
    /// Takes `bytes` out of the budget until it is dropped.
    pub fn new(bytes: u64, budget: &'b MemoryBudget) -> Result<Self, BudgetExceeded> {
        budget.reserve(bytes)?;
        Ok(Self { bytes, budget })
    }

    /// Gives some of it back, for memory that is taken out of the budget by itself now.
    pub fn shrink(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.release(bytes);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

/// A vector whose capacity is taken from the budget.
pub struct ReservedVec<'b, T> {
    items: Vec<T>,
    /// The items that there is room for: what was asked for, an allocator may hand out more.
    room: usize,
    budget: &'b MemoryBudget,
}

impl<'b, T> ReservedVec<'b, T> {
    /// An empty vector without capacity.
    pub fn new(budget: &'b MemoryBudget) -> Self {
        Self { items: Vec::new(), room: 0, budget }
    }

    /// An empty vector for `n` items.
    pub fn with_capacity(n: usize, budget: &'b MemoryBudget) -> Result<Self, BudgetExceeded> {
        let mut vector = Self::new(budget);
        vector.reserve(n)?;
        Ok(vector)
    }

    /// Makes room for `more` items, at least doubling the capacity if it has to grow.
    pub fn reserve(&mut self, more: usize) -> Result<(), BudgetExceeded> {
        let needed = self.items.len() + more;
        if needed <= self.room || size_of::<T>() == 0 {
            return Ok(());
        }
        let new = if self.room == 0 { needed } else { needed.max(2 * self.room) };
        // While the items move, old and new memory are there at once.
        self.budget.reserve(Self::bytes(new))?;
        let mut items = Vec::with_capacity(new);
        items.append(&mut self.items);
        self.items = items;
        self.budget.release(Self::bytes(std::mem::replace(&mut self.room, new)));
        Ok(())
    }

    /// Appends an item.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), BudgetExceeded> {
        self.reserve(1)?;
        self.items.push(item);
        Ok(())
    }

    /// Forgets all items, and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Keeps the first `n` items.
    pub fn truncate(&mut self, n: usize) {
        self.items.truncate(n);
    }

    /// How many items there is memory for.
    pub fn capacity(&self) -> usize {
        self.room
    }

    /// Bytes taken from the budget.
    pub fn memory_bytes(&self) -> u64 {
        Self::bytes(self.room)
    }

    fn bytes(room: usize) -> u64 {
        (room * size_of::<T>()) as u64
    }
}

impl<'b, T: Copy + From<u8>> ReservedVec<'b, T> {
    /// So many numbers that are zero. What was not written to takes no memory of the system.
    pub fn of_zeros(n: usize, budget: &'b MemoryBudget) -> Result<Self, BudgetExceeded> {
        budget.reserve(Self::bytes(n))?;
        Ok(Self { items: vec![T::from(0); n], room: n, budget })
    }
}

impl<T: Copy> ReservedVec<'_, T> {
    /// Appends items.
    pub fn extend_from_slice(&mut self, items: &[T]) -> Result<(), BudgetExceeded> {
        self.reserve(items.len())?;
        self.items.extend_from_slice(items);
        Ok(())
    }

    /// Gives it `n` items: cuts it off, or appends copies of `item`.
    pub fn resize(&mut self, n: usize, item: T) -> Result<(), BudgetExceeded> {
        self.reserve(n.saturating_sub(self.items.len()))?;
        self.items.resize(n, item);
        Ok(())
    }
}

impl<T> Deref for ReservedVec<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for ReservedVec<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<T> Drop for ReservedVec<'_, T> {
    fn drop(&mut self) {
        self.budget.release(self.memory_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_within_the_budget() {
        let budget = MemoryBudget::new(1000);
        let mut vector: ReservedVec<u64> = ReservedVec::with_capacity(10, &budget).unwrap();
        assert_eq!(budget.used(), 80);
        for i in 0..20 {
            vector.push(i).unwrap();
        }
        assert_eq!((budget.used(), vector.memory_bytes()), (160, 160));
        assert_eq!(vector.iter().sum::<u64>(), 190);
        assert_eq!(ReservedVec::<u32>::of_zeros(3, &budget).unwrap()[..], [0, 0, 0]);
        assert!(ReservedVec::<u32>::of_zeros(300, &budget).is_err());
        assert_eq!(budget.used(), 160);
        assert!(vector.resize(200, 0).is_err());
        assert_eq!(vector.len(), 20, "a refusal changes nothing");
        drop(vector);
        assert_eq!(budget.used(), 0);
        let mut nothing: ReservedVec<()> = ReservedVec::new(&budget);
        nothing.resize(1 << 40, ()).unwrap();
        assert_eq!((nothing.len(), budget.used()), (1 << 40, 0));
    }
}
