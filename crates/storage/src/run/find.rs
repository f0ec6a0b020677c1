//! Looks for single rows in a run.
//!
//! # Cost
//! One block and one group of decoded rows. One random read for each row that is not in the block that was read last.

use super::group::{Group, Widths};
use super::index::Run;
use crate::block_file::BlockReader;
use crate::key::Key;
use crate::{ReservedVec, StorageError};
use lariat_base::MemoryBudget;

/// Answers whether rows are in a run, whose rows have no values.
pub struct RunFinder<'b, K: Key> {
    run: Run<'b, K>,
    widths: Widths,
    blocks: BlockReader<'b>,
    /// The block that was read last, and where in it the group begins that was decoded last.
    block: Option<u64>,
    group: Option<usize>,
    keys: ReservedVec<'b, K>,
    values: ReservedVec<'b, ()>,
}

impl<'b, K: Key> RunFinder<'b, K> {
    /// For rows of a run.
    pub fn new(run: &Run<'b, K>, budget: &'b MemoryBudget) -> Self {
        let file = run.file();
        Self {
            widths: run.widths(),
            blocks: BlockReader::new(file.clone(), file.row_blocks(), 1, budget),
            run: run.clone(),
            block: None,
            group: None,
            keys: ReservedVec::new(budget),
            values: ReservedVec::new(budget),
        }
    }

    /// The run.
    pub fn run(&self) -> &Run<'b, K> {
        &self.run
    }

    /// Whether a row is there.
    pub fn contains(&mut self, key: K) -> Result<bool, StorageError> {
        if self.run.bounds().is_none_or(|(first, last)| key < first || key > last) {
            return Ok(false);
        }
        let number = self.run.block_of(key);
        if self.block != Some(number) {
            (self.block, self.group) = (None, None);
            self.blocks.jump(number, number + 1);
            if !self.blocks.advance()? {
                return Ok(false);
            }
            self.block = Some(number);
        }
        let Some((block, at)) = self.blocks.current() else {
            return Ok(false);
        };
        let group_rows = self.run.file().shape.group_rows;
        let (mut place, mut rows_left, mut last) = (0, block.items as usize, None);
        while rows_left > 0 {
            let Some(group) = Group::<K>::at(block.contents, place, self.widths, group_rows) else {
                return Err(StorageError::corrupt(self.run.name(), at + place as u64, "a group of rows", "none"));
            };
            if group.first > key {
                break;
            }
            (rows_left, last) = (rows_left.saturating_sub(group.rows), Some(place));
            place += group.bytes;
        }
        let Some(place) = last else {
            return Ok(false);
        };
        if self.group != Some(place) {
            let group = Group::<K>::at(block.contents, place, self.widths, group_rows);
            let decoded = match group {
                Some(group) => group.decode(self.widths, &mut self.keys, &mut self.values)?.then_some(group.rows),
                None => None,
            };
            let Some(rows) = decoded else {
                self.group = None;
                return Err(StorageError::corrupt(self.run.name(), at + place as u64, "rows", "something else"));
            };
            self.keys.truncate(rows);
            self.group = Some(place);
        }
        Ok(self.keys.binary_search(&key).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunOptions, RunWriter};
    use lariat_base::Random;
    use lariat_disk::FaultyDisk;
    use std::collections::BTreeSet;

    #[test]
    fn finds_what_is_there_and_nothing_else() {
        let mut random = Random::new(9);
        for _ in 0..30 {
            let (budget, disk) = (MemoryBudget::new(1 << 20), FaultyDisk::default());
            let options = RunOptions { block_bytes: 4096, group_rows: 40, buffers: 2, ..RunOptions::new(6) };
            let n = random.below(5000);
            let keys: BTreeSet<u64> = (0..n).map(|_| random.below(20_000) as u64 * 77).collect();
            let mut writer = RunWriter::<u64>::new(&disk, "run", &options, &budget).unwrap();
            keys.iter().for_each(|key| writer.push(*key, ()).unwrap());
            let run = writer.finish().unwrap();
            let mut finder = RunFinder::new(&run, &budget);
            for _ in 0..3000 {
                let key = random.below(20_100 * 77) as u64;
                let near = key / 77 * 77;
                assert_eq!(finder.contains(key).unwrap(), keys.contains(&key), "{key}");
                assert_eq!(finder.contains(near).unwrap(), keys.contains(&near), "{near}");
            }
        }
    }
}
