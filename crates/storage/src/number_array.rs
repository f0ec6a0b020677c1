//! A fixed number of small numbers, all zero at first: bits, marks, counters, distances; in memory, or on disk with some of it in memory.
//!
//! A search that numbers its states keeps what it knows of them here. On disk, whoever asks for many items at once has their blocks read
//! together ([`NumberArray::fetch`]).
//!
//! # Invariants
//! 1. An item has 1, 2, 4, 8, 16, 32 or 64 bits, so that none lies in two words.
//!
//! # Cost
//! In memory the bits of all items. On disk the memory that it is given, and a random read for each block of a page that is not in it.

mod saved;

pub use saved::SavedArray;

use crate::block_cache::{BLOCK_CAPACITY, BlockCache};
use crate::block_file::get_u64;
use crate::{ReservedVec, RowLog, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};

/// Words of a block on disk.
const BLOCK_WORDS: u64 = (BLOCK_CAPACITY / 8) as u64;

/// Where an array is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In memory.
    Memory,
    /// On disk, with so many bytes of it in memory.
    Disk {
        /// Bytes of memory.
        cache_bytes: usize,
    },
}

impl Placement {
    /// In memory if that takes no more than `memory_bytes`, else on disk with so much of it in memory.
    pub fn within(bytes: u64, memory_bytes: u64) -> Self {
        if bytes <= memory_bytes { Self::Memory } else { Self::Disk { cache_bytes: memory_bytes as usize } }
    }
}

enum Words<'b> {
    Memory(ReservedVec<'b, u64>),
    Disk(Box<BlockCache<'b>>),
}

/// Numbers of a few bits each.
pub struct NumberArray<'b> {
    len: u64,
    bits: u32,
    /// The logarithm of the items in a word.
    per_word: u32,
    mask: u64,
    words: Words<'b>,
    disk: &'b dyn Disk,
    name: String,
    budget: &'b MemoryBudget,
}

impl<'b> NumberArray<'b> {
    /// `len` zeros of `bits` bits; `name` is the file's, if there is one. The file goes when the array does.
    pub fn new(
        len: u64,
        bits: u32,
        placement: Placement,
        disk: &'b dyn Disk,
        name: &str,
        budget: &'b MemoryBudget,
    ) -> Result<Self, StorageError> {
        assert!(bits.is_power_of_two() && bits <= 64, "items do not lie in two words");
        let n_words = Self::words_for(len, bits);
        let words = match placement {
            Placement::Memory => {
                let mut words = ReservedVec::with_capacity(n_words as usize, budget)?;
                words.resize(n_words as usize, 0)?;
                Words::Memory(words)
            }
            Placement::Disk { cache_bytes } => {
                let file = disk.create(name, FileKind::Table)?;
                let blocks = n_words.div_ceil(BLOCK_WORDS);
                Words::Disk(Box::new(BlockCache::new(file, 0, blocks, false, cache_bytes, budget)?))
            }
        };
        let (per_word, mask) = ((64 / bits).ilog2(), u64::MAX >> (64 - bits));
        Ok(Self { len, bits, per_word, mask, words, disk, name: name.to_owned(), budget })
    }

    /// The bytes of so many items.
    pub fn bytes_for(len: u64, bits: u32) -> u64 {
        8 * Self::words_for(len, bits)
    }

    /// The fewest bits that an item needs to hold this number.
    pub fn bits_for(number: u64) -> u32 {
        (64 - number.leading_zeros()).max(1).next_power_of_two()
    }

    fn words_for(len: u64, bits: u32) -> u64 {
        len.div_ceil(u64::from(64 / bits))
    }

    /// How many items there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The largest number that an item can be.
    pub fn max(&self) -> u64 {
        self.mask
    }

    /// Whether it is in memory as a whole.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.words, Words::Memory(_))
    }

    /// The word of an item, and where in it the item begins.
    #[inline]
    fn place(&self, item: u64) -> (u64, u32) {
        debug_assert!(item < self.len, "item {item} of {}", self.len);
        (item >> self.per_word, (item as u32 & ((1 << self.per_word) - 1)) * self.bits)
    }

    /// Has the blocks of some items in memory, as far as there is room: what is asked for next comes from there.
    pub fn fetch(&mut self, items: &[u64]) -> Result<(), StorageError> {
        let per_word = self.per_word;
        let Words::Disk(cache) = &mut self.words else {
            return Ok(());
        };
        let n = items.len().min(cache.blocks_at_once());
        cache.fetch(items[..n].iter().map(|item| (item >> per_word) / BLOCK_WORDS))
    }

    /// An item.
    #[inline]
    pub fn get(&mut self, item: u64) -> Result<u64, StorageError> {
        let (word, shift) = self.place(item);
        let word = match &mut self.words {
            Words::Memory(words) => words[word as usize],
            Words::Disk(cache) => get_u64(cache.contents(word / BLOCK_WORDS)?, (word % BLOCK_WORDS) as usize * 8),
        };
        Ok(word >> shift & self.mask)
    }

    /// Replaces an item; bits that it has no room for are an error in the program.
    #[inline]
    pub fn set(&mut self, item: u64, value: u64) -> Result<(), StorageError> {
        debug_assert!(value <= self.mask, "{value} does not fit {} bits", self.bits);
        let ((word, shift), mask) = (self.place(item), self.mask);
        let replaced = |old: u64| old & !(mask << shift) | value << shift;
        match &mut self.words {
            Words::Memory(words) => {
                let place = &mut words[word as usize];
                *place = replaced(*place);
            }
            Words::Disk(cache) => {
                let contents = cache.contents_mut(word / BLOCK_WORDS)?;
                let at = (word % BLOCK_WORDS) as usize * 8;
                let new = replaced(get_u64(contents, at));
                contents[at..at + 8].copy_from_slice(&new.to_le_bytes());
            }
        }
        Ok(())
    }

    /// Sets a bit, or the lowest bit of an item that was zero; whether it was zero.
    #[inline]
    pub fn mark(&mut self, item: u64) -> Result<bool, StorageError> {
        let is_new = self.get(item)? == 0;
        if is_new {
            self.set(item, 1)?;
        }
        Ok(is_new)
    }

    /// Makes all items zero.
    pub fn clear(&mut self) {
        match &mut self.words {
            Words::Memory(words) => words.fill(0),
            Words::Disk(cache) => cache.clear(),
        }
    }

    /// Calls `see` with every word of items, in order.
    fn for_each_word(&mut self, mut see: impl FnMut(u64)) -> Result<(), StorageError> {
        let n_words = Self::words_for(self.len, self.bits);
        match &mut self.words {
            Words::Memory(words) => words.iter().for_each(|word| see(*word)),
            Words::Disk(cache) => {
                for block in 0..n_words.div_ceil(BLOCK_WORDS) {
                    let n = BLOCK_WORDS.min(n_words - block * BLOCK_WORDS) as usize;
                    let contents = cache.contents(block)?;
                    (0..n).for_each(|word| see(get_u64(contents, word * 8)));
                }
            }
        }
        Ok(())
    }

    /// Writes all items to a log of words, which outlives the array.
    pub fn save(&mut self, log: &mut RowLog<'b>) -> Result<(), StorageError> {
        let mut result = Ok(());
        self.for_each_word(|word| {
            if result.is_ok() {
                result = log.push(&word.to_le_bytes());
            }
        })?;
        result
    }

    /// Takes all items from such a log, of an array with as many of them.
    pub fn load(&mut self, log: &mut RowLog<'b>) -> Result<(), StorageError> {
        let mut reader = log.reader(0..log.len(), 2)?;
        let mut word = 0;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows.iter() {
                let bytes = row.first_chunk::<8>().copied().unwrap_or_default();
                match &mut self.words {
                    Words::Memory(words) => words[word as usize] = u64::from_le_bytes(bytes),
                    Words::Disk(cache) => {
                        let at = (word % BLOCK_WORDS) as usize * 8;
                        cache.contents_mut(word / BLOCK_WORDS)?[at..at + 8].copy_from_slice(&bytes);
                    }
                }
                word += 1;
            }
        }
    }

    /// How many bits are set in all items together: in an array of bits, how many items are 1.
    pub fn count_ones(&mut self) -> Result<u64, StorageError> {
        let mut n = 0;
        self.for_each_word(|word| n += u64::from(word.count_ones()))?;
        Ok(n)
    }
}

impl Drop for NumberArray<'_> {
    fn drop(&mut self) {
        if !self.is_in_memory() {
            // The file is closed first.
            self.words = Words::Memory(ReservedVec::new(self.budget));
            // A file that stays is one that no manifest names.
            let _ = self.disk.remove(&self.name);
        }
    }
}

/// Words between two entries of a [`RankIndex`].
const RANK_WORDS: u64 = 16;

/// How many bits are set before any place of an array of bits that no longer changes.
pub struct RankIndex<'b> {
    /// Before every 16th word.
    before: ReservedVec<'b, u64>,
    ones: u64,
}

impl<'b> RankIndex<'b> {
    /// Counts the bits of an array.
    pub fn new(bits: &mut NumberArray<'b>, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        assert_eq!(bits.bits, 1, "an array of bits");
        let n_words = NumberArray::words_for(bits.len, 1);
        let mut before = ReservedVec::with_capacity(n_words.div_ceil(RANK_WORDS) as usize, budget)?;
        let (mut ones, mut word_number) = (0, 0);
        let mut refused = None;
        bits.for_each_word(|word| {
            if word_number % RANK_WORDS == 0 {
                refused = before.push(ones).err().or(refused);
            }
            word_number += 1;
            ones += u64::from(word.count_ones());
        })?;
        match refused {
            Some(refused) => Err(refused.into()),
            None => Ok(Self { before, ones }),
        }
    }

    /// Bits that are set.
    pub fn ones(&self) -> u64 {
        self.ones
    }

    /// How many bits are set before a place of the array that it was made for.
    pub fn rank(&self, bits: &mut NumberArray<'b>, place: u64) -> Result<u64, StorageError> {
        let (word, shift) = (place / 64, place % 64);
        let first = word / RANK_WORDS * RANK_WORDS;
        let mut rank = self.before[(word / RANK_WORDS) as usize];
        let inner = |word: u64| u64::from(word.count_ones());
        match &mut bits.words {
            Words::Memory(words) => {
                rank += words[first as usize..word as usize].iter().map(|word| inner(*word)).sum::<u64>();
                rank += inner(words[word as usize] & !(u64::MAX << shift));
            }
            Words::Disk(cache) => {
                for before in first..=word {
                    let contents = cache.contents(before / BLOCK_WORDS)?;
                    let bits = get_u64(contents, (before % BLOCK_WORDS) as usize * 8);
                    rank += inner(if before == word { bits & !(u64::MAX << shift) } else { bits });
                }
            }
        }
        Ok(rank)
    }
}

#[cfg(test)]
mod tests;
