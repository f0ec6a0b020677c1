//! Logs and queues that grow, are noted in a manifest now and then, and are taken up after a crash at any moment.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use lariat_base::{MemoryBudget, Random};
use lariat_disk::{Disk, FaultPlan, FaultyDisk, FileKind};
use lariat_storage::{Manifest, RowLog, RowLogOptions, RowQueue, StorageError};

fn row(i: u64, width: usize) -> Vec<u8> {
    (0..width).map(|place| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (8 * (place % 8))) as u8 ^ place as u8).collect()
}

fn shape(random: &mut Random, width: usize) -> RowLogOptions {
    let mut options = RowLogOptions::smallest(width, FileKind::Table);
    // Blocks of several pages can be torn.
    options.block_bytes *= 1 + random.below(3);
    options.blocks_at_once = 1 + random.below(3);
    options
}

fn publish(manifest: &Manifest, disk: &dyn Disk, budget: &MemoryBudget) -> Result<(), StorageError> {
    manifest.publish(disk, budget)?;
    manifest.remove_others(disk)
}

/// Lets a log grow and publishes it; how many rows were published, and the error that ended it.
fn grow_log(disk: &FaultyDisk, seed: u64, width: usize) -> (u64, Result<(), StorageError>) {
    let mut random = Random::new(seed);
    let budget = MemoryBudget::new(1 << 20);
    let mut published = 0;
    let mut grow = || {
        let mut log = RowLog::new(disk, "log", shape(&mut random, width), &budget);
        if let Some(manifest) = Manifest::open(disk, &budget)? {
            log.take_up(&manifest, "rows")?;
        }
        for _ in 0..6 {
            for _ in 0..random.below(8000 / width) {
                log.push(&row(log.len(), width))?;
            }
            if random.one_in(3) {
                log.rest()?;
            }
            let mut manifest = Manifest::new();
            log.note_growing(&mut manifest, "rows")?;
            if random.one_in(3) {
                // Noted twice, as it is.
                manifest = Manifest::new();
                log.note_growing(&mut manifest, "rows")?;
            }
            publish(&manifest, disk, &budget)?;
            published = log.len();
        }
        Ok(())
    };
    let result = grow();
    (published, result)
}

fn check_log(disk: &FaultyDisk, at_least: u64, width: usize, what: &str) {
    let budget = MemoryBudget::new(1 << 20);
    let mut log = RowLog::new(disk, "log", RowLogOptions::smallest(width, FileKind::Table), &budget);
    if let Some(manifest) = Manifest::open(disk, &budget).unwrap() {
        log.take_up(&manifest, "rows").unwrap();
    }
    assert!(log.len() >= at_least, "{what}: {} of {at_least} rows", log.len());
    let mut reader = log.reader(0..log.len(), 2).unwrap();
    let mut next = 0;
    loop {
        let rows = reader.next_rows().unwrap();
        if rows.is_empty() {
            break;
        }
        for found in rows.iter() {
            assert_eq!(found, row(next, width), "{what}: row {next}");
            next += 1;
        }
    }
    assert_eq!(next, log.len());
}

#[test]
fn a_log_that_grows_has_all_published_rows_after_a_crash() {
    for seed in 0..12 {
        let width = [3, 16, 100, 1000][seed as usize % 4];
        let undisturbed = FaultyDisk::default();
        grow_log(&undisturbed, seed, width).1.unwrap();
        for change in 1..=undisturbed.changes() {
            let plan = FaultPlan { crash_at_change: Some(change), seed: seed * 999 + change, ..FaultPlan::default() };
            let disk = FaultyDisk::new(plan);
            let (published, result) = grow_log(&disk, seed, width);
            assert!(result.is_err());
            let after = disk.after_crash(FaultPlan::default());
            let what = format!("seed {seed}, change {change}");
            check_log(&after, published, width, &what);
            // It goes on growing from there.
            let (published, result) = grow_log(&after, seed + 50, width);
            result.unwrap();
            check_log(&after, published, width, &what);
        }
    }
}

/// Pushes and takes rows, and publishes the queue; the rows that were pushed and taken when it was published.
fn use_queue(disk: &FaultyDisk, seed: u64, width: usize, from: (u64, u64)) -> ((u64, u64), Result<(), StorageError>) {
    let mut random = Random::new(seed);
    let budget = MemoryBudget::new(1 << 20);
    let mut published = from;
    let mut work = || {
        let mut queue = RowQueue::new(disk, "queue", shape(&mut random, width), &budget);
        if let Some(manifest) = Manifest::open(disk, &budget)? {
            queue.take_up(&manifest, "rows")?;
            published = (manifest.number("pushed")?, manifest.number("taken")?);
        }
        let (mut pushed, mut taken) = published;
        assert_eq!(queue.len(), pushed - taken);
        for _ in 0..6 {
            for _ in 0..random.below(9000 / width) {
                queue.push(&row(pushed, width))?;
                pushed += 1;
            }
            for _ in 0..random.below(6) {
                for found in queue.take_rows(1 + random.below(4000 / width))?.iter() {
                    assert_eq!(found, row(taken, width), "row {taken} of {pushed}");
                    taken += 1;
                }
            }
            if random.one_in(3) {
                queue.rest()?;
            }
            let mut manifest = Manifest::new();
            manifest.set_number("pushed", pushed);
            manifest.set_number("taken", taken);
            queue.note(&mut manifest, "rows")?;
            publish(&manifest, disk, &budget)?;
            published = (pushed, taken);
        }
        Ok(())
    };
    let result = work();
    (published, result)
}

#[test]
fn a_queue_goes_on_in_order_after_a_crash() {
    for seed in 0..12 {
        let width = [3, 16, 100, 1000][seed as usize % 4];
        let undisturbed = FaultyDisk::default();
        use_queue(&undisturbed, seed, width, (0, 0)).1.unwrap();
        for change in 1..=undisturbed.changes() {
            let plan = FaultPlan { crash_at_change: Some(change), seed: seed * 999 + change, ..FaultPlan::default() };
            let disk = FaultyDisk::new(plan);
            let ((pushed, _), result) = use_queue(&disk, seed, width, (0, 0));
            assert!(result.is_err());
            let after = disk.after_crash(FaultPlan::default());
            // Rows are compared while they are taken.
            let ((pushed_again, _), result) = use_queue(&after, seed + 50, width, (0, 0));
            result.unwrap();
            assert!(pushed_again >= pushed, "seed {seed}, change {change}");
        }
    }
}
