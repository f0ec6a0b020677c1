//! States of one thread that wait: the last ones in a small buffer, which most never leave, the others in a queue that may go to disk.

use lariat_base::MemoryBudget;
use lariat_disk::{Disk, FileKind};
use lariat_graph::{RowBuffer, Rows};
use lariat_storage::{RowLogOptions, RowQueue, StorageError};

/// Bytes of the states in the buffer.
const NEAR_BYTES: usize = 64 << 10;

pub(super) struct Waiting<'b> {
    near: RowBuffer,
    near_max: usize,
    far: RowQueue<'b>,
}

impl<'b> Waiting<'b> {
    /// A queue that takes so much memory, for states that are taken in batches of so many.
    pub(super) fn new(
        (disk, name): (&'b dyn Disk, &str),
        row_bytes: usize,
        batch_rows: usize,
        queue_bytes: usize,
        budget: &'b MemoryBudget,
    ) -> Self {
        let options = RowLogOptions::within(row_bytes, queue_bytes, FileKind::Queue);
        Self {
            near: RowBuffer::new(row_bytes),
            near_max: (NEAR_BYTES / row_bytes.max(1)).max(4 * batch_rows),
            far: RowQueue::new(disk, name, options, budget),
        }
    }

    pub(super) fn push(&mut self, row: &[u8]) -> Result<(), StorageError> {
        if self.near.len() == self.near_max {
            return self.far.push(row);
        }
        self.near.push(row);
        Ok(())
    }

    /// Takes up to so many states into an empty buffer; none if none wait.
    pub(super) fn take(&mut self, n_max: usize, rows: &mut RowBuffer) -> Result<(), StorageError> {
        if !self.near.is_empty() {
            rows.extend(self.take_near(n_max).as_rows());
        } else if !self.far.is_empty() {
            rows.extend(self.far.take_rows(n_max)?);
        }
        Ok(())
    }

    /// Half of the states in the buffer, if they are more than so many.
    pub(super) fn take_half(&mut self, n_min: usize) -> Option<RowBuffer> {
        (self.near.len() > n_min).then(|| self.take_near(self.near.len() / 2))
    }

    /// Those that came last.
    fn take_near(&mut self, n_max: usize) -> RowBuffer {
        let n_left = self.near.len().saturating_sub(n_max);
        let mut taken = RowBuffer::new(self.near.width());
        taken.extend(rows_behind(&self.near, n_left));
        self.near.truncate(n_left);
        taken
    }
}

fn rows_behind(rows: &RowBuffer, n: usize) -> Rows<'_> {
    rows.as_rows().split_at(n).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_base::Random;
    use lariat_disk::{FaultPlan, FaultyDisk};
    use std::collections::BTreeSet;

    #[test]
    fn every_state_comes_back_once() {
        let (budget, disk) = (MemoryBudget::new(8 << 20), FaultyDisk::new(FaultPlan::default()));
        let mut waiting = Waiting::new((&disk, "waiting"), 4, 3, 8192, &budget);
        let mut random = Random::new(1);
        let mut expected = BTreeSet::new();
        let mut taken = RowBuffer::new(4);
        for i in 0..200_000u32 {
            waiting.push(&i.to_le_bytes()).unwrap();
            expected.insert(i);
            taken.clear();
            match random.below(5) {
                0 => waiting.take(random.below(7), &mut taken).unwrap(),
                1 if random.one_in(20_000) => taken.extend(waiting.take_half(2).unwrap_or(RowBuffer::new(4)).as_rows()),
                _ => {}
            }
            taken.iter().for_each(|row| assert!(expected.remove(&u32::from_le_bytes(row.try_into().unwrap()))));
        }
        assert!(!waiting.far.is_empty() && !waiting.near.is_empty(), "{} wait", expected.len());
        loop {
            taken.clear();
            waiting.take(1000, &mut taken).unwrap();
            if taken.is_empty() {
                break;
            }
            taken.iter().for_each(|row| assert!(expected.remove(&u32::from_le_bytes(row.try_into().unwrap()))));
        }
        assert!(expected.is_empty());
    }
}
