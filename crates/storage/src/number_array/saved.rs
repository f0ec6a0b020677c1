//! The numbers of an array as a file that outlives it: written in order, noted in a manifest, and read into an array again.
//!
//! Who knows all items in their order writes them here at once, and needs no array for that.
//!
//! # Cost
//! The buffers of a log. Writing and loading are scans.
//!
//! # Format
//! A log of words with the bits of an array's words (`docs/formats.md`, row logs). The manifest has the items and the bits of each.

use super::{NumberArray, Placement};
use crate::{Manifest, RowLog, RowLogOptions, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};

/// Bytes of a word.
const WORD_BYTES: usize = 8;

/// Items that are written to disk.
pub struct SavedArray<'b> {
    name: String,
    log: RowLog<'b>,
    len: u64,
    bits: u32,
    /// The items behind the last full word.
    word: u64,
}

fn items_key(name: &str) -> String {
    format!("{name}-items")
}

fn bits_key(name: &str) -> String {
    format!("{name}-bits")
}

impl<'b> SavedArray<'b> {
    /// No items yet, of `bits` bits each; the file has this name. It takes about `memory_bytes` while it grows.
    pub fn new(disk: &'b dyn Disk, name: &str, bits: u32, memory_bytes: usize, budget: &'b MemoryBudget) -> Self {
        assert!(bits.is_power_of_two() && bits <= 64, "items do not lie in two words");
        let options = RowLogOptions::within(WORD_BYTES, memory_bytes, FileKind::Table);
        let log = RowLog::new(disk, name, options, budget);
        Self { name: name.to_owned(), log, len: 0, bits, word: 0 }
    }

    /// How many items there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the next item.
    #[inline]
    pub fn push(&mut self, item: u64) -> Result<(), StorageError> {
        debug_assert!(item <= u64::MAX >> (64 - self.bits), "{item} does not fit {} bits", self.bits);
        let per_word = u64::from(64 / self.bits);
        self.word |= item << (self.len % per_word * u64::from(self.bits));
        self.len += 1;
        if self.len.is_multiple_of(per_word) {
            self.log.push(&self.word.to_le_bytes())?;
            self.word = 0;
        }
        Ok(())
    }

    /// Makes what was written survive a crash, and notes it. No more items may be taken then.
    pub fn note(&mut self, manifest: &mut Manifest) -> Result<(), StorageError> {
        if self.log.len() < NumberArray::words_for(self.len, self.bits) {
            self.log.push(&self.word.to_le_bytes())?;
        }
        manifest.set_number(&items_key(&self.name), self.len);
        manifest.set_number(&bits_key(&self.name), u64::from(self.bits));
        self.log.note(manifest, &self.name)
    }

    /// An array with the items that were noted under a name, in memory if that takes no more than `memory_bytes`; else its file has the name with `-array` behind.
    pub fn load(
        disk: &'b dyn Disk,
        name: &str,
        manifest: &Manifest,
        memory_bytes: u64,
        budget: &'b MemoryBudget,
    ) -> Result<NumberArray<'b>, StorageError> {
        let (len, bits) = (manifest.number(&items_key(name))?, manifest.number(&bits_key(name))? as u32);
        if !bits.is_power_of_two() || bits > 64 {
            return Err(StorageError::corrupt(name, 0, "the bits of an item", bits));
        }
        let mut log = RowLog::new(disk, name, RowLogOptions::smallest(WORD_BYTES, FileKind::Table), budget);
        log.take_up(manifest, name)?;
        let words = NumberArray::words_for(len, bits);
        if log.len() != words {
            return Err(StorageError::corrupt(name, 0, format_args!("{words} words"), log.len()));
        }
        let placement = Placement::within(NumberArray::bytes_for(len, bits), memory_bytes);
        let mut array = NumberArray::new(len, bits, placement, disk, &format!("{name}-array"), budget)?;
        array.load(&mut log)?;
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use lariat_disk::FaultyDisk;

    #[test]
    fn what_was_noted_is_loaded_again() {
        let mut random = Random::new(1);
        for round in 0..200 {
            let (disk, budget) = (FaultyDisk::default(), MemoryBudget::new(1 << 22));
            let bits = 1 << random.below(7);
            let items: Vec<u64> = (0..random.below(3000))
                .map(|_| (random.below(1 << 30) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits))
                .collect();
            let mut manifest = Manifest::new();
            let mut saved = SavedArray::new(&disk, "numbers", bits, 1 << 14, &budget);
            items.iter().for_each(|item| saved.push(*item).unwrap());
            saved.note(&mut manifest).unwrap();
            manifest.publish(&disk, &budget).unwrap();
            drop(saved);
            let manifest = Manifest::open(&disk, &budget).unwrap().unwrap();
            // Loading is possible as often as one likes, in memory and on disk.
            for memory_bytes in [1 << 20, 0] {
                let mut array = SavedArray::load(&disk, "numbers", &manifest, memory_bytes, &budget).unwrap();
                assert_eq!(array.len(), items.len() as u64);
                for (place, item) in items.iter().enumerate() {
                    assert_eq!(array.get(place as u64).unwrap(), *item, "round {round}, {bits} bits");
                }
            }
            assert!(SavedArray::load(&disk, "others", &manifest, 0, &budget).is_err());
        }
    }
}
