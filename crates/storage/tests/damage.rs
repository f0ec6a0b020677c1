//! Damaged files are errors that name the file: never a panic, never a wrong answer.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::{MemoryBudget, Random};
use lariat_disk::{DiskError, FaultPlan, FaultyDisk};
use lariat_storage::stream::RowStream;
use lariat_storage::{Run, RunOptions, RunReader, RunWriter, StorageError};

const OPTIONS: RunOptions =
    RunOptions { row_bytes: 5, value_bytes: 2, block_bytes: 4096, group_rows: 700, buffers: 2, blocks_at_once: 1 };

fn rows() -> Vec<(u64, u16)> {
    let mut random = Random::new(1);
    let mut key = 0;
    let mut row = |i: u64| {
        key += if i.is_multiple_of(3) { 1 + random.next_u64() % 100_000 } else { 5 };
        (key, (i % 100) as u16)
    };
    (0..6000).map(&mut row).collect()
}

fn write(disk: &FaultyDisk, rows: &[(u64, u16)], budget: &MemoryBudget) -> Result<(), StorageError> {
    let mut writer = RunWriter::new(disk, "run", &OPTIONS, budget)?;
    for (key, value) in rows {
        writer.push(*key, *value)?;
    }
    writer.finish()?.sync()
}

fn read(disk: &FaultyDisk, budget: &MemoryBudget) -> Result<Vec<(u64, u16)>, StorageError> {
    let run = Run::<u64>::open(disk, "run", 5, 2, budget)?;
    let mut reader = RunReader::<u64, u16>::new(&run, 2, budget)?;
    let mut rows = Vec::new();
    loop {
        let (keys, values) = reader.batch()?;
        if keys.is_empty() {
            return Ok(rows);
        }
        rows.extend(keys.iter().copied().zip(values.iter().copied()));
        let n = keys.len();
        reader.consume(n);
    }
}

fn file_of(rows: &[(u64, u16)]) -> Vec<u8> {
    let budget = MemoryBudget::new(1 << 24);
    let disk = FaultyDisk::default();
    write(&disk, rows, &budget).unwrap();
    disk.files().remove(0).1
}

fn disk_with(bytes: Vec<u8>) -> FaultyDisk {
    FaultyDisk::with_files(FaultPlan::default(), vec![("run".to_owned(), bytes)])
}

#[test]
fn a_flipped_bit_anywhere_is_an_error() {
    let (rows, budget) = (rows(), MemoryBudget::new(1 << 24));
    let whole = file_of(&rows);
    assert!(whole.len() > 5 * 4096, "several blocks");
    assert_eq!(read(&disk_with(whole.clone()), &budget).unwrap(), rows);
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        match read(&disk_with(bytes), &budget) {
            Err(StorageError::Corrupt { file, offset, .. }) => {
                assert_eq!(file, "run");
                assert!(offset <= place as u64 && place as u64 - offset < 4096, "byte {place}: found at {offset}");
            }
            Err(StorageError::Version { .. }) => assert!((12..16).contains(&place)),
            Err(error) => panic!("byte {place}: {error}"),
            Ok(_) => panic!("byte {place} was not noticed"),
        }
    }
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_file_that_was_cut_off_is_an_error() {
    let (rows, budget) = (rows(), MemoryBudget::new(1 << 24));
    let whole = file_of(&rows[..1500]);
    for length in 0..whole.len() {
        let error = read(&disk_with(whole[..length].to_vec()), &budget).unwrap_err();
        assert!(matches!(&error, StorageError::Corrupt { file, .. } if file == "run"), "{length}: {error}");
    }
    let mut longer = whole;
    longer.extend([0; 4096]);
    assert!(matches!(read(&disk_with(longer), &budget), Err(StorageError::Corrupt { .. })));
}

#[test]
fn blocks_in_each_others_place_are_noticed() {
    let budget = MemoryBudget::new(1 << 24);
    let mut bytes = file_of(&rows());
    let (first, second) = bytes[4096..3 * 4096].split_at_mut(4096);
    first.swap_with_slice(second);
    assert!(matches!(read(&disk_with(bytes), &budget), Err(StorageError::Corrupt { offset: 4096, .. })));
}

#[test]
fn other_shapes_and_versions_are_told_apart() {
    let budget = MemoryBudget::new(1 << 24);
    let whole = file_of(&rows()[..10]);
    let disk = disk_with(whole.clone());
    assert!(matches!(Run::<u64>::open(&disk, "run", 6, 2, &budget), Err(StorageError::Shape { .. })));
    assert!(matches!(Run::<u64>::open(&disk, "run", 5, 0, &budget), Err(StorageError::Shape { .. })));
    let run = Run::<u64>::open(&disk, "run", 5, 2, &budget).unwrap();
    assert!(matches!(RunReader::<u64, u32>::new(&run, 2, &budget), Err(StorageError::Shape { .. })));
    assert!(matches!(RunReader::<u64, ()>::new(&run, 2, &budget), Err(StorageError::Shape { .. })));
    let mut other = whole;
    other[12] = 9;
    let error = Run::<u64>::open(&disk_with(other), "run", 5, 2, &budget).err().unwrap();
    assert!(matches!(&error, StorageError::Version { expected: 1, got: 9, file } if file == "run"), "{error}");
}

#[test]
fn rows_out_of_order_are_refused() {
    let budget = MemoryBudget::new(1 << 24);
    for rows in [vec![(5, 0), (5, 0)], vec![(5, 0), (4, 0)], (0..700).chain([699]).map(|i| (i, 0)).collect()] {
        let error = write(&FaultyDisk::default(), &rows, &budget).unwrap_err();
        let last = rows.len() as u64 - 1;
        assert!(matches!(error, StorageError::Order { row, .. } if row == last), "{error}");
    }
}

#[test]
fn a_failing_disk_is_an_error_and_nothing_else() {
    let (rows, budget) = (rows(), MemoryBudget::new(1 << 24));
    let n_writes = file_of(&rows).len() as u64 / 4096;
    let none = FaultPlan::default;
    for n in 1..=n_writes {
        for plan in [
            FaultPlan { fail_write: Some(n), ..none() },
            FaultPlan { short_write: Some(n), ..none() },
            FaultPlan { crash_at_change: Some(n), ..none() },
        ] {
            assert!(matches!(
                write(&FaultyDisk::new(plan), &rows, &budget),
                Err(StorageError::Disk(DiskError::Io { .. }))
            ));
        }
        let full = FaultyDisk::new(FaultPlan { size: Some(n * 4096 - 1), ..none() });
        assert!(matches!(write(&full, &rows, &budget), Err(StorageError::Disk(DiskError::Full { .. }))));
        let limited = FaultyDisk::new(FaultPlan { limit: Some(n * 4096 - 1), ..none() });
        assert!(matches!(write(&limited, &rows, &budget), Err(StorageError::Disk(DiskError::Limit { .. }))));
        let file = || vec![("run".to_owned(), file_of(&rows))];
        let failing = FaultyDisk::with_files(FaultPlan { fail_read: Some(n), ..none() }, file());
        assert!(matches!(read(&failing, &budget), Err(StorageError::Disk(DiskError::Io { .. }))));
        let short = FaultyDisk::with_files(FaultPlan { short_read: Some(n), ..none() }, file());
        assert!(matches!(read(&short, &budget), Err(StorageError::Disk(DiskError::Short { .. }))));
    }
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_crash_leaves_a_whole_file_or_an_error() {
    let (rows, budget) = (rows(), MemoryBudget::new(1 << 24));
    let mut whole = 0;
    for seed in 0..300 {
        let disk = FaultyDisk::new(FaultPlan { crash_at_change: Some(1 + seed % 12), seed, ..FaultPlan::default() });
        let written = write(&disk, &rows, &budget);
        let after = disk.after_crash(FaultPlan::default());
        match read(&after, &budget) {
            Ok(left) => {
                assert!(left == rows, "what can be read is what was written");
                whole += 1;
            }
            Err(_) => assert!(written.is_err() || after.files().is_empty(), "synced, and gone, though its name is not"),
        }
    }
    assert!(whole > 0, "some crashes come late enough");
}
