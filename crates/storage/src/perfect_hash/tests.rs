use super::*;
use lariat_base::Random;
use lariat_base::rows::RowBuffer;
use lariat_disk::{FaultPlan, FaultyDisk};

fn rows(n: usize, width: usize) -> RowBuffer {
    let mut rows = RowBuffer::new(width);
    for i in 0..n as u32 {
        let mut row = vec![0; width];
        row[width - 4..].copy_from_slice(&i.to_le_bytes());
        rows.push(&row);
    }
    rows
}

fn build(disk: &FaultyDisk, rows: Rows<'_>, memory: usize, budget: &MemoryBudget) -> Result<(), StorageError> {
    let options = PerfectHashOptions { rows: rows.len() as u64, threads: 1 + memory % 3, memory_bytes: memory };
    let mut builder = PerfectHashBuilder::new(disk, "hash", options, budget)?;
    rows.iter().try_for_each(|row| builder.push(row))?;
    builder.finish()
}

fn check_numbers(hash: &mut PerfectHash<'_>, rows: Rows<'_>) {
    let (mut numbers, mut seen) = (Vec::new(), vec![false; rows.len()]);
    for bytes in rows.bytes().chunks(100 * rows.width()) {
        hash.numbers(Rows::new(bytes, rows.width()), &mut numbers).unwrap();
        for number in &numbers {
            assert!(!std::mem::replace(&mut seen[*number as usize], true), "{number} twice");
        }
    }
    assert!(seen.iter().all(|seen| *seen));
}

#[test]
fn every_row_has_a_number_of_its_own() {
    let mut random = Random::new(1);
    let sizes = (0..60).chain([100, 1000, 12_599, 12_600, 12_601, 25_300, 100_000, 300_000]);
    for n in sizes {
        let budget = MemoryBudget::new(8 << 20);
        let disk = FaultyDisk::default();
        let rows = rows(n, 4 + random.below(20));
        build(&disk, rows.as_rows(), [1 << 18, 4 << 20][random.below(2)], &budget).unwrap();
        assert_eq!(disk.list().unwrap().len(), 1, "queues are gone");
        for placement in
            [Placement::Memory, Placement::Disk { cache_bytes: 0 }, Placement::Disk { cache_bytes: 1 << 17 }]
        {
            let mut hash = PerfectHash::open(&disk, "hash", placement, &budget).unwrap();
            assert_eq!(hash.len(), n as u64);
            check_numbers(&mut hash, rows.as_rows());
            // A row that is not of the set gets a number, too.
            let mut numbers = Vec::new();
            let stranger = vec![255; rows.as_rows().width()];
            hash.numbers(Rows::new(&stranger, stranger.len()), &mut numbers).unwrap();
            assert!(numbers[0] < (n as u64).max(1));
        }
        assert_eq!(budget.used(), 0);
    }
}

#[test]
fn takes_few_bits_a_row() {
    let budget = MemoryBudget::new(64 << 20);
    let disk = FaultyDisk::default();
    build(&disk, rows(1_000_000, 8).as_rows(), 32 << 20, &budget).unwrap();
    let _hash = PerfectHash::open(&disk, "hash", Placement::Memory, &budget).unwrap();
    let bits = budget.used() as f64 * 8.0 / 1e6;
    assert!(bits < 2.7, "{bits}");
    assert_eq!(budget.used(), PerfectHash::memory_bytes_for(1_000_000));
}

#[test]
fn a_row_that_comes_twice_is_an_error() {
    let budget = MemoryBudget::new(8 << 20);
    let disk = FaultyDisk::default();
    let mut rows = rows(1000, 8);
    let row = rows.row(17).to_vec();
    rows.push(&row);
    let error = build(&disk, rows.as_rows(), 1 << 20, &budget).unwrap_err();
    assert!(matches!(error, StorageError::Shape { .. }), "{error}");
}

#[test]
fn a_flipped_bit_is_an_error_and_never_a_wrong_number() {
    let budget = MemoryBudget::new(8 << 20);
    let disk = FaultyDisk::default();
    let rows = rows(30_000, 8);
    build(&disk, rows.as_rows(), 1 << 20, &budget).unwrap();
    let whole = disk.files().remove(0).1;
    let all = |bytes: Vec<u8>, placement: Placement| -> Result<(), StorageError> {
        let disk = FaultyDisk::with_files(FaultPlan::default(), vec![("hash".to_owned(), bytes)]);
        let mut hash = PerfectHash::open(&disk, "hash", placement, &budget)?;
        hash.numbers(rows.as_rows(), &mut Vec::new())
    };
    all(whole.clone(), Placement::Memory).unwrap();
    for place in (0..whole.len()).step_by(37) {
        for placement in [Placement::Memory, Placement::Disk { cache_bytes: 0 }] {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            let error = all(bytes, placement).err();
            let is_known = matches!(error, Some(StorageError::Corrupt { .. } | StorageError::Version { .. }));
            assert!(is_known, "byte {place}: {error:?}");
        }
    }
}

#[test]
fn a_disk_that_fails_is_an_error() {
    let budget = MemoryBudget::new(8 << 20);
    let rows = rows(40_000, 8);
    let work = |disk: &FaultyDisk| -> Result<(), StorageError> {
        build(disk, rows.as_rows(), 1 << 18, &budget)?;
        let mut hash = PerfectHash::open(disk, "hash", Placement::Disk { cache_bytes: 0 }, &budget)?;
        hash.numbers(rows.as_rows(), &mut Vec::new())
    };
    let undisturbed = FaultyDisk::default();
    work(&undisturbed).unwrap();
    for change in 1..=undisturbed.changes() {
        let disk = FaultyDisk::new(FaultPlan { crash_at_change: Some(change), ..FaultPlan::default() });
        assert!(matches!(work(&disk), Err(StorageError::Disk(_))), "change {change}");
    }
    let reads = undisturbed.counters().total().reads();
    for read in (1..=reads).step_by(reads as usize / 50 + 1) {
        let disk = FaultyDisk::new(FaultPlan { fail_read: Some(read), ..FaultPlan::default() });
        assert!(matches!(work(&disk), Err(StorageError::Disk(_))), "read {read}");
    }
    assert_eq!(budget.used(), 0);
}

#[test]
fn neither_memory_nor_threads_change_the_function() {
    let rows = rows(700_000, 9);
    let file = |memory_bytes: usize, threads: usize| {
        let (budget, disk) = (MemoryBudget::new(64 << 20), FaultyDisk::default());
        let options = PerfectHashOptions { rows: 700_000, threads, memory_bytes };
        let mut builder = PerfectHashBuilder::new(&disk, "hash", options, &budget).unwrap();
        rows.as_rows().iter().for_each(|row| builder.push(row).unwrap());
        builder.finish().unwrap();
        assert_eq!((disk.list().unwrap().len(), budget.used()), (1, 0));
        (disk.files().remove(0).1, disk.counters().total().reads())
    };
    let (in_memory, reads) = file(32 << 20, 1);
    assert_eq!(reads, 0, "it fits into memory");
    // In the least memory there are as many queues as pages in memory allow, and some of those are divided again.
    for (memory, threads) in [(32 << 20, 3), (1 << 20, 2), (1 << 16, 1)] {
        let (other, _) = file(memory, threads);
        assert!(other == in_memory, "{memory} bytes, {threads} threads");
    }
}

#[test]
fn another_number_of_rows_than_was_said_is_an_error() {
    let (budget, disk) = (MemoryBudget::new(8 << 20), FaultyDisk::default());
    for said in [999, 1001] {
        let options = PerfectHashOptions { rows: said, threads: 1, memory_bytes: 1 << 20 };
        let mut builder = PerfectHashBuilder::new(&disk, "hash", options, &budget).unwrap();
        let pushed = rows(1000, 8).as_rows().iter().try_for_each(|row| builder.push(row));
        let error = pushed.and_then(|()| builder.finish()).unwrap_err();
        assert!(matches!(error, StorageError::Shape { .. }), "{error}");
    }
}
