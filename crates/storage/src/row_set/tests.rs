use super::*;
use crate::pages::LARGE_PAGE;
use lariat_base::Random;
use std::collections::{BTreeMap, BTreeSet};

/// Queues every third row that it may, and notes what it is told.
#[derive(Default)]
struct Notes {
    n_asked: usize,
    queued: Vec<Vec<u8>>,
    pending: Vec<Vec<u8>>,
}

impl NewRows for Notes {
    fn has_room(&mut self) -> bool {
        self.n_asked += 1;
        !self.n_asked.is_multiple_of(3)
    }

    fn new_row(&mut self, _: usize, row: &[u8], queued: bool) {
        if queued { &mut self.queued } else { &mut self.pending }.push(row.to_vec());
    }
}

fn random_rows(random: &mut Random, width: usize, n: usize, values: usize) -> RowBuffer {
    let mut rows = RowBuffer::new(width);
    for _ in 0..n {
        let value = (random.below(values) as u64).wrapping_mul(0x1234_5678_9ABC_DEF1);
        let row: Vec<u8> = (0..width).map(|i| (value >> (i % 8 * 7)) as u8).collect();
        rows.push(&row);
    }
    rows
}

/// Inserts the rows of a level batch by batch, and takes pending ones of the level before in between, as a search does.
fn fill_level(
    set: &mut RowSet<'_>,
    rows: &RowBuffer,
    n_batch: usize,
    taken: &mut RowBuffer,
) -> Result<Notes, TableFull> {
    let mut notes = Notes::default();
    for bytes in rows.as_rows().bytes().chunks(n_batch * rows.as_rows().width()) {
        set.insert(Rows::new(bytes, rows.as_rows().width()), &mut notes)?;
        set.take_pending(7, taken);
    }
    Ok(notes)
}

#[test]
fn stores_every_row_once_and_hands_each_out_once() {
    for (width, n_rows, n_values, n_levels) in [
        (1, 2_000, 256, 6),
        (2, 100_000, 1 << 30, 6),
        (3, 90_000, 400_000, 6),
        (9, 150_000, 1 << 30, 6),
        (33, 60_000, 1 << 30, 6),
        (700, 9_000, 1 << 30, 3),
        (9, 80_000, 1 << 30, 1000),
    ] {
        let budget = MemoryBudget::new(256 << 20);
        let pools = RowPools::new(width, &budget);
        let mut set = RowSet::new(0, 1, true, &pools).unwrap();
        let mut random = Random::new(width as u64);
        let mut levels: Vec<BTreeSet<Vec<u8>>> = Vec::new();
        let mut all = BTreeSet::new();
        let mut expected_pending = BTreeSet::new();
        for level in 0..n_levels {
            let rows = random_rows(&mut random, width, n_rows / n_levels, n_values);
            let new: BTreeSet<Vec<u8>> =
                rows.as_rows().iter().map(<[u8]>::to_vec).filter(|row| all.insert(row.clone())).collect();
            let mut taken = RowBuffer::new(width);
            let notes = fill_level(&mut set, &rows, 500, &mut taken).unwrap();
            while {
                let before = taken.len();
                set.take_pending(1000, &mut taken);
                taken.len() > before
            } {}
            let found: BTreeSet<_> = notes.queued.iter().chain(&notes.pending).cloned().collect();
            assert_eq!(found.len(), notes.queued.len() + notes.pending.len(), "each is new once");
            assert_eq!(found, new);
            assert_eq!(taken.len(), expected_pending.len());
            assert_eq!(taken.as_rows().iter().map(<[u8]>::to_vec).collect::<BTreeSet<_>>(), expected_pending);
            expected_pending = notes.pending.into_iter().collect();
            assert_eq!(set.seal_level(), new.len() as u64, "level {level}");
            levels.push(new);
        }
        assert_eq!(set.len(), all.len() as u64);
        for (level, expected) in levels.iter().enumerate() {
            let mut found = BTreeSet::new();
            set.for_rows_of_level(level, |rows| found.extend(rows.iter().map(<[u8]>::to_vec)));
            assert_eq!(&found, expected);
        }
        let not_handed_out = budget.used() - pools.memory_bytes();
        assert!(not_handed_out <= 2 * LARGE_PAGE as u64, "{not_handed_out} bytes");
        drop(set);
        drop(pools);
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn rows_are_shared_out_evenly() {
    let mut random = Random::new(9);
    let mut counts = BTreeMap::new();
    for row in random_rows(&mut random, 9, 30_000, 1 << 30).as_rows().iter() {
        *counts.entry(part_of(row, 3).0).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 3);
    assert!(counts.values().all(|n| (9_500..10_500).contains(n)), "{counts:?}");
}

#[test]
fn parts_together_store_what_one_set_does() {
    let width = 5;
    for n_parts in [2, 3, 12, PARTS_MAX] {
        let budget = MemoryBudget::new(256 << 20);
        let pools = RowPools::new(width, &budget);
        let mut parts: Vec<_> = (0..n_parts).map(|part| RowSet::new(part, n_parts, true, &pools).unwrap()).collect();
        let rows = random_rows(&mut Random::new(4), width, 60_000, 1 << 15);
        for row in rows.as_rows().iter() {
            let (part, hash) = part_of(row, n_parts);
            parts[part].insert_hashed(Rows::new(row, width), &[hash], &mut Notes::default()).unwrap();
        }
        let mut found = Vec::new();
        for part in &mut parts {
            part.seal_level();
            part.for_rows_of_level(0, |rows| found.extend(rows.iter().map(<[u8]>::to_vec)));
        }
        found.sort();
        let expected: BTreeSet<_> = rows.as_rows().iter().map(<[u8]>::to_vec).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_full_budget_is_an_answer_and_is_used_well() {
    for (budget_bytes, bytes_beyond_row) in [(4 << 20, 7.5), (16 << 20, 4.0), (64 << 20, 3.0)] {
        let budget = MemoryBudget::new(budget_bytes);
        let pools = RowPools::new(8, &budget);
        let mut set = RowSet::new(0, 1, false, &pools).unwrap();
        let mut n = 0u64;
        let full = loop {
            let mut rows = RowBuffer::new(8);
            (0..100).for_each(|i| rows.push(&(n * 100 + i).to_le_bytes()));
            if let Err(full) = set.insert(rows.as_rows(), &mut Notes::default()) {
                break full;
            }
            n += 1;
        };
        assert_eq!(full, TableFull::Memory);
        assert!(budget.peak() <= budget.max());
        let beyond = budget.peak() as f64 / set.len() as f64 - 8.0;
        assert!(beyond <= bytes_beyond_row, "{beyond} bytes beyond the row");
    }
}
