//! Copies of blocks that were read lately, for single items that are asked for anywhere in a file.
//!
//! A block has one place, which it shares with others; the one that was read last is there. Memory is taken block by block as places fill, and where the budget has no
//! more to give, places stay empty.
//!
//! # Cost
//! Up to the bytes that are allowed, of which some 40 for each place from the beginning on.

use crate::{Reservation, ReservedVec};
use lariat_base::MemoryBudget;

/// What the list of places takes for each.
const PLACE_BYTES: usize = size_of::<Option<(u64, ReservedVec<'_, u8>)>>();

pub(crate) struct BlockCopies<'b> {
    places: Vec<Option<(u64, ReservedVec<'b, u8>)>>,
    budget: &'b MemoryBudget,
    _memory: Option<Reservation<'b>>,
}

impl<'b> BlockCopies<'b> {
    /// For blocks of a size; none if that is more than is allowed, or left.
    pub(crate) fn within(memory_bytes: usize, block_bytes: usize, budget: &'b MemoryBudget) -> Self {
        let n_places = memory_bytes / (block_bytes + PLACE_BYTES);
        let memory = Reservation::new((n_places * PLACE_BYTES) as u64, budget).ok();
        let n_places = if memory.is_some() { n_places } else { 0 };
        Self { places: (0..n_places).map(|_| None).collect(), budget, _memory: memory }
    }

    fn place(&self, block: u64) -> Option<usize> {
        (!self.places.is_empty()).then(|| (block % self.places.len() as u64) as usize)
    }

    /// The copy of a block, if there is one.
    pub(crate) fn get(&self, block: u64) -> Option<&[u8]> {
        let (there, bytes) = self.places[self.place(block)?].as_ref()?;
        (*there == block).then_some(&bytes[..])
    }

    /// Puts a copy of a block into its place, if there is memory for it.
    pub(crate) fn put(&mut self, block: u64, bytes: &[u8]) {
        let Some(place) = self.place(block) else { return };
        let taken = self.places[place].take().map(|(_, copy)| copy);
        let Some(mut copy) = taken.or_else(|| ReservedVec::with_capacity(bytes.len(), self.budget).ok()) else {
            return;
        };
        copy.clear();
        if copy.extend_from_slice(bytes).is_ok() {
            self.places[place] = Some((block, copy));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;

    #[test]
    fn a_copy_is_what_was_put_there_last_or_nothing() {
        let mut random = Random::new(3);
        for memory in [0, 100, 5_000, 60_000] {
            let budget = MemoryBudget::new(40_000);
            let mut copies = BlockCopies::within(memory, 512, &budget);
            let mut contents = vec![None; 100];
            let mut n_found = 0;
            for _ in 0..3_000 {
                let block = random.below(100);
                if let Some(copy) = copies.get(block as u64) {
                    assert_eq!(contents[block], Some(copy.to_vec()));
                    n_found += 1;
                }
                let bytes = vec![random.below(256) as u8; 512];
                copies.put(block as u64, &bytes);
                contents[block] = Some(bytes);
            }
            assert!(budget.used() <= (memory as u64).min(budget.max()));
            assert_eq!(n_found > 0, memory >= 5_000);
            drop(copies);
            assert_eq!(budget.used(), 0);
        }
    }
}
