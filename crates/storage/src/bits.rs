//! A vector of bits within the memory budget, which can be written to disk and read again.

use crate::{Manifest, ReservedVec, RowLog, RowLogOptions, StorageError};
use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};

/// Bytes that are written as one row.
const ROW_BYTES: usize = 512;
const ROW_WORDS: usize = ROW_BYTES / 8;

/// A vector of bits.
pub struct Bits<'b> {
    words: ReservedVec<'b, u64>,
    budget: &'b MemoryBudget,
}

impl<'b> Bits<'b> {
    /// So many bits, all zero, or some more.
    pub fn new(n: u64, budget: &'b MemoryBudget) -> Result<Self, StorageError> {
        let mut bits = Self { words: ReservedVec::new(budget), budget };
        bits.grow(n)?;
        Ok(bits)
    }

    /// Makes it longer, by bits that are zero.
    pub fn grow(&mut self, n: u64) -> Result<(), StorageError> {
        let words = usize::try_from(n.div_ceil(64)).unwrap_or(usize::MAX).next_multiple_of(ROW_WORDS);
        if words > self.words.len() {
            self.words.resize(words, 0)?;
        }
        Ok(())
    }

    /// Whether a bit is one.
    pub fn get(&self, place: u64) -> bool {
        self.words.get((place / 64) as usize).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// Makes a bit one; whether it was.
    pub fn set(&mut self, place: u64) -> bool {
        let word = &mut self.words[(place / 64) as usize];
        let was = *word >> (place % 64) & 1 == 1;
        *word |= 1 << (place % 64);
        was
    }

    /// Whether any of some neighbouring bits is one.
    pub fn any(&self, places: std::ops::Range<u64>) -> bool {
        places.into_iter().any(|place| self.get(place))
    }

    fn log(&self, disk: &'b dyn Disk, name: &str) -> RowLog<'b> {
        RowLog::new(disk, name, RowLogOptions::within(ROW_BYTES, 64 << 10, FileKind::Other), self.budget)
    }

    /// Writes all bits to a new file, and notes it under a role.
    pub fn note(
        &self,
        manifest: &mut Manifest,
        role: &str,
        disk: &'b dyn Disk,
        name: &str,
    ) -> Result<(), StorageError> {
        let mut log = self.log(disk, name);
        for words in self.words.chunks(ROW_WORDS) {
            let mut row = [0; ROW_BYTES];
            row.chunks_exact_mut(8).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
            log.push(&row)?;
        }
        log.note(manifest, role)
    }

    /// Takes up the bits that were noted under a role, in place of what is here.
    pub fn take_up(&mut self, manifest: &Manifest, role: &str, disk: &'b dyn Disk) -> Result<(), StorageError> {
        let mut log = self.log(disk, role);
        log.take_up(manifest, role)?;
        self.words = ReservedVec::new(self.budget);
        self.words.reserve(log.len() as usize * ROW_WORDS)?;
        let mut reader = log.into_reader(1)?;
        loop {
            let rows = reader.next_rows()?;
            if rows.is_empty() {
                return Ok(());
            }
            for bytes in rows.bytes().chunks_exact(8) {
                self.words.push(bytes.try_into().map_or(0, u64::from_le_bytes))?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use lariat_disk::FaultyDisk;

    #[test]
    fn bits_are_kept_and_come_back() {
        let (budget, disk) = (MemoryBudget::new(1 << 20), FaultyDisk::default());
        let mut random = Random::new(2);
        let mut bits = Bits::new(10, &budget).unwrap();
        let mut expected = vec![false; 10];
        for round in 0..4 {
            let n = expected.len() * 9;
            bits.grow(n as u64).unwrap();
            expected.resize(n, false);
            for _ in 0..n / 2 {
                let place = random.below(n);
                assert_eq!(bits.set(place as u64), std::mem::replace(&mut expected[place], true));
            }
            let mut manifest = Manifest::new();
            bits.note(&mut manifest, "bits", &disk, &format!("bits-{round}")).unwrap();
            let mut again = Bits::new(1, &budget).unwrap();
            again.take_up(&manifest, "bits", &disk).unwrap();
            assert!((0..n).all(|place| bits.get(place as u64) == expected[place]));
            assert!((0..n).all(|place| again.get(place as u64) == expected[place]));
            assert!(!again.get(1 << 40));
        }
    }
}
