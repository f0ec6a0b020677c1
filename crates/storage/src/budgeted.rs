//! Arrays and stacks within the memory budget, for what a search keeps beside its rows.
//!
//! Memory comes in pieces of [`PIECE_ITEMS`] items that never move, so growing copies nothing and never needs old and new space at
//! once. A stack gives its pieces back as it shrinks, except for one, so that a search that goes up and down at an edge does not
//! allocate each time.

use lariat_base::{BudgetExceeded, MemoryBudget};

const PIECE_ITEMS: usize = 1 << 12;

/// An array that grows and shrinks at its end.
pub struct BudgetedVec<'b, T> {
    /// Full ones, one that is being filled, and at most one that is empty.
    pieces: Vec<Vec<T>>,
    len: usize,
    budget: &'b MemoryBudget,
}

impl<'b, T: Copy> BudgetedVec<'b, T> {
    /// An empty array.
    pub fn new(budget: &'b MemoryBudget) -> Self {
        Self { pieces: Vec::new(), len: 0, budget }
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes taken from the budget.
    pub fn memory_bytes(&self) -> u64 {
        self.pieces.len() as u64 * Self::piece_bytes()
    }

    fn piece_bytes() -> u64 {
        (PIECE_ITEMS * size_of::<T>()) as u64
    }

    /// Appends an item.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), BudgetExceeded> {
        let piece = self.len / PIECE_ITEMS;
        if piece == self.pieces.len() {
            self.budget.reserve(Self::piece_bytes())?;
            self.pieces.push(Vec::with_capacity(PIECE_ITEMS));
        }
        self.pieces[piece].push(item);
        self.len += 1;
        Ok(())
    }

    /// Takes the last item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        let piece = last / PIECE_ITEMS;
        let item = self.pieces[piece].pop();
        self.len = last;
        if last.is_multiple_of(PIECE_ITEMS) {
            self.give_back(piece + 1);
        }
        item
    }

    /// Drops all items.
    pub fn clear(&mut self) {
        self.give_back(0);
        self.len = 0;
    }

    /// Gives back the pieces behind the first `keep`.
    #[cold]
    fn give_back(&mut self, keep: usize) {
        let surplus = self.pieces.len().saturating_sub(keep);
        self.pieces.truncate(keep);
        self.budget.release(surplus as u64 * Self::piece_bytes());
    }

    /// The item with this place.
    #[inline]
    pub fn get(&self, place: usize) -> T {
        self.pieces[place / PIECE_ITEMS][place % PIECE_ITEMS]
    }

    /// Replaces the item with this place.
    #[inline]
    pub fn set(&mut self, place: usize, item: T) {
        self.pieces[place / PIECE_ITEMS][place % PIECE_ITEMS] = item;
    }

    /// The last item, for changing it.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        let last = self.len.checked_sub(1)?;
        self.pieces[last / PIECE_ITEMS].last_mut()
    }

    /// All items, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.pieces.iter().flatten().copied()
    }
}

impl<T> Drop for BudgetedVec<'_, T> {
    fn drop(&mut self) {
        self.budget.release((self.pieces.len() * PIECE_ITEMS * size_of::<T>()) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    #[test]
    fn behaves_like_a_vector() {
        let budget = MemoryBudget::new(1 << 20);
        let mut random = Random::new(1);
        let mut expected: Vec<u32> = Vec::new();
        let mut found = BudgetedVec::new(&budget);
        for round in 0..60 {
            // Growing rounds alternate with shrinking ones.
            for _ in 0..random.below(20_000) {
                if (round % 2 == 0) != random.one_in(4) {
                    let item = random.below(1 << 30) as u32;
                    expected.push(item);
                    found.push(item).unwrap();
                } else {
                    assert_eq!(found.pop(), expected.pop());
                }
            }
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().eq(expected.iter().copied()));
            assert_eq!(found.last_mut().copied(), expected.last().copied());
            if !expected.is_empty() {
                let place = random.below(expected.len());
                assert_eq!(found.get(place), expected[place]);
                found.set(place, 7);
                expected[place] = 7;
            }
            assert_eq!(found.memory_bytes(), budget.used());
            let needed = expected.len() as u64 * 4;
            assert!(budget.used() <= needed + 3 * 4 * PIECE_ITEMS as u64, "surplus is given back");
        }
        found.clear();
        assert_eq!((found.len(), budget.used()), (0, 0));
        found.push(3).unwrap();
        assert_eq!((found.pop(), found.pop()), (Some(3), None));
        drop(found);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_full_budget_is_an_answer() {
        let budget = MemoryBudget::new(10 * PIECE_ITEMS as u64);
        let mut found = BudgetedVec::new(&budget);
        let n = (0..).take_while(|i| found.push(*i as u16).is_ok()).count();
        assert_eq!(n, 5 * PIECE_ITEMS);
        assert_eq!(found.len(), n);
    }
}
