//! The files of all levels, for rebuilding paths.

use super::shares::READ_BUFFERS;
use crate::SearchError;
use crate::expansion::BATCH_ROWS;
use crate::path::Levels;
use crate::tally::Tally;
use lariat_disk::Disk;
use lariat_graph::{RowBuffer, Rows};
use lariat_storage::stream::RowStream;
use lariat_storage::{Key, Run, RunParts, RunReader};
use std::marker::PhantomData;

/// The files of all levels, for rebuilding paths.
pub(super) struct LevelFiles<'l, K> {
    disk: &'l dyn Disk,
    tally: &'l Tally<'l>,
    /// What their names begin with, and for each level which parts it has.
    name: &'l str,
    parts_of: &'l [u64],
    key: PhantomData<K>,
}

impl<'l, K: Key> LevelFiles<'l, K> {
    pub(super) fn new(disk: &'l dyn Disk, tally: &'l Tally<'l>, name: &'l str, parts_of: &'l [u64]) -> Self {
        Self { disk, tally, name, parts_of, key: PhantomData }
    }
}

impl<K: Key> Levels for LevelFiles<'_, K> {
    fn visit(
        &mut self,
        level: usize,
        visit: &mut dyn FnMut(Rows<'_>) -> Result<bool, SearchError>,
    ) -> Result<(), SearchError> {
        let (width, budget) = (self.tally.graph.row_bytes(), self.tally.context.budget);
        let mut row = vec![0; width];
        let mut rows = RowBuffer::new(width);
        for name in RunParts::<K>::names(&format!("{}{level}", self.name), self.parts_of[level]) {
            let run = Run::<K>::open(self.disk, &name, width, 0, budget)?;
            let mut reader = RunReader::<K>::new(&run, READ_BUFFERS, budget)?;
            loop {
                let (keys, _) = reader.batch()?;
                let n = keys.len().min(BATCH_ROWS);
                if n == 0 {
                    break;
                }
                rows.clear();
                for key in &keys[..n] {
                    key.write_row(&mut row);
                    rows.push(&row);
                }
                if !visit(rows.as_rows())? {
                    return Ok(());
                }
                reader.consume(n);
            }
        }
        Ok(())
    }
}
