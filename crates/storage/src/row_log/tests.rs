use super::*;
use lariat_base::Random;
use lariat_disk::FaultyDisk;

fn row(i: u64, width: usize) -> Vec<u8> {
    (0..width).map(|place| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (8 * (place % 8))) as u8 ^ place as u8).collect()
}

fn check_range(log: &mut RowLog<'_>, rows: Range<u64>, width: usize, random: &mut Random) {
    let mut reader = log.reader(rows.clone(), 1 + random.below(4)).unwrap();
    let mut next = rows.start;
    loop {
        let n_max = if random.one_in(2) { usize::MAX } else { 1 + random.below(50) };
        let read = reader.take_rows(n_max).unwrap();
        if read.is_empty() {
            break;
        }
        assert!(read.len() <= n_max);
        for found in read.iter() {
            assert_eq!(found, row(next, width));
            next += 1;
        }
        assert_eq!(reader.rows_left(), rows.end - next);
        // The log may grow while it is read.
        if random.one_in(5) {
            log.push(&row(log.len(), width)).unwrap();
        }
    }
    assert_eq!(next, rows.end);
}

fn check_single_rows(log: &mut RowLog<'_>, width: usize, random: &mut Random) {
    let mut positions: Vec<u64> = (0..random.below(200)).map(|_| random.below(log.len() as usize) as u64).collect();
    positions.sort_unstable();
    let mut seen = vec![false; positions.len()];
    let mut finder = RowFinder::new(1 + random.below(20));
    finder
        .find(log, &positions, |i, found| {
            assert_eq!(found, row(positions[i], width));
            seen[i] = true;
        })
        .unwrap();
    assert!(seen.iter().all(|seen| *seen));
    let mut latest = LatestRows::new(1 + random.below(5));
    for _ in 0..random.below(200) {
        let position = positions.get(random.below(2 * positions.len())).copied().unwrap_or(log.len() / 2);
        assert_eq!(latest.row(log, position).unwrap(), row(position, width));
    }
}

#[test]
fn rows_of_a_block_that_is_kept_are_not_read_again() {
    let (budget, disk) = (MemoryBudget::new(1 << 20), FaultyDisk::default());
    let mut log = RowLog::new(&disk, "log", RowLogOptions::smallest(100, FileKind::Table), &budget);
    (0..4000).for_each(|i| log.push(&row(i, 100)).unwrap());
    log.rest().unwrap();
    let mut latest = LatestRows::new(2);
    let n_blocks = 4000_u64.div_ceil(log.rows_per_block() as u64);
    let n_reads = || {
        let total = disk.counters().total();
        total.sequential_reads + total.random_reads
    };
    let before = n_reads();
    (0..4000).rev().for_each(|i| assert_eq!(latest.row(&mut log, i).unwrap(), row(i, 100)));
    assert_eq!(n_reads() - before, n_blocks);
    latest.clear();
    assert_eq!(budget.used(), 0);
}

#[test]
fn rows_come_back_from_wherever_they_are() {
    let mut random = Random::new(5);
    for round in 0..200 {
        let budget = MemoryBudget::new(1 << 20);
        let disk = FaultyDisk::default();
        let width = [1, 3, 8, 16, 100, 1000, 2500][random.below(7)];
        let mut options = RowLogOptions::smallest(width, FileKind::Table);
        options.block_bytes *= 1 + random.below(2);
        options.blocks_at_once = 1 + random.below(4);
        let mut log = RowLog::new(&disk, "log", options, &budget);
        for _ in 0..20 {
            let n = random.below(3 * options.rows_per_block());
            for _ in 0..n {
                log.push(&row(log.len(), width)).unwrap();
            }
            if random.one_in(3) {
                log.rest().unwrap();
                assert_eq!(budget.used(), 0, "a log at rest has no memory");
            }
            if log.is_empty() {
                continue;
            }
            let mut ends = [0; 2].map(|_| random.below(log.len() as usize + 1) as u64);
            ends.sort_unstable();
            check_range(&mut log, ends[0]..ends[1], width, &mut random);
            check_single_rows(&mut log, width, &mut random);
            if random.one_in(40) {
                log.clear().unwrap();
                assert_eq!(disk.list().unwrap().len(), 0);
            }
        }
        let all = log.len();
        if round % 2 == 0 {
            check_range(&mut log, 0..all, width, &mut random);
        } else {
            let mut reader = log.into_reader(2).unwrap();
            let mut next = 0;
            while reader.rows_left() > 0 {
                reader.next_rows().unwrap().iter().for_each(|found| {
                    assert_eq!(found, row(next, width));
                    next += 1;
                });
            }
            assert_eq!(next, all);
        }
        assert!(budget.used() < 1 << 20);
    }
}

#[test]
fn what_fits_the_tail_has_no_file() {
    let budget = MemoryBudget::new(1 << 20);
    let disk = FaultyDisk::default();
    let mut log = RowLog::new(&disk, "log", RowLogOptions::within(8, 64 << 10, FileKind::Queue), &budget);
    (0..4000).for_each(|i| log.push(&row(i, 8)).unwrap());
    check_range(&mut log, 0..4000, 8, &mut Random::new(1));
    assert_eq!(disk.list().unwrap().len(), 0);
    (4000..20_000).for_each(|i| log.push(&row(log.len().max(i), 8)).unwrap());
    assert!(budget.peak() <= 128 << 10, "{}", budget.peak());
    assert_eq!(disk.list().unwrap().len(), 1);
}

#[test]
fn a_flipped_bit_is_an_error() {
    let budget = MemoryBudget::new(1 << 20);
    let disk = FaultyDisk::default();
    let mut log = RowLog::new(&disk, "log", RowLogOptions::smallest(8, FileKind::Table), &budget);
    (0..1000).for_each(|i| log.push(&row(i, 8)).unwrap());
    log.rest().unwrap();
    let whole = disk.files().remove(0).1;
    for place in (0..whole.len()).step_by(97) {
        let file = disk.open("log", FileKind::Table).unwrap();
        let mut buffer = AlignedBuffer::new(whole.len(), &budget).unwrap();
        buffer.copy_from_slice(&whole);
        buffer[place] ^= 4;
        let bytes = buffer.len();
        file.write(buffer, 0, bytes).wait().result.unwrap();
        let n_blocks = 1000_u64.div_ceil(log.rows_per_block() as u64);
        let rows_of_whole_blocks = (n_blocks - 1) * log.rows_per_block() as u64;
        let block = place / PAGE_BYTES;
        let read = |log: &mut RowLog<'_>| {
            let mut reader = log.reader(0..rows_of_whole_blocks, 2)?;
            while !reader.next_rows()?.is_empty() {}
            Ok(())
        };
        let result: Result<(), StorageError> = read(&mut log);
        let is_last = block as u64 == n_blocks - 1;
        assert_eq!(result.is_err(), !is_last, "byte {place}: {result:?}");
        if is_last {
            assert!(log.reader(0..1000, 2).is_err(), "byte {place}");
        }
    }
}
