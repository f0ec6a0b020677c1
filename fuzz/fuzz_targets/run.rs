//! Any bytes as a run or as a manifest: there are rows or an error.
//!
//! Bytes that are no file are made the contents of a block whose checksums are right, so that the decoders behind the checksums are reached.

#![no_main]

use lariat_base::MemoryBudget;
use lariat_disk::{FaultPlan, FaultyDisk};
use lariat_storage::stream::RowStream;
use lariat_storage::{Key, Manifest, Run, RunReader, Value, Wide};
use libfuzzer_sys::fuzz_target;

const PAGE: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let budget = MemoryBudget::new(64 << 20);
    for name in ["run", "manifest"] {
        let disk = FaultyDisk::with_files(FaultPlan::default(), vec![(name.to_owned(), data.to_vec())]);
        let _ = Manifest::open(&disk, &budget);
        read::<u64, ()>(&disk, 8, 0, &budget);
    }
    read::<u64, u16>(&forged(data, 5, 2), 5, 2, &budget);
    read::<u128, u64>(&forged(data, 11, 8), 11, 8, &budget);
    read::<Wide<3>, ()>(&forged(data, 20, 0), 20, 0, &budget);
    assert_eq!(budget.used(), 0);
});

fn read<K: Key, V: Value>(disk: &FaultyDisk, row: usize, value: usize, budget: &MemoryBudget) {
    let Ok(run) = Run::<K>::open(disk, "run", row, value, budget) else {
        return;
    };
    for skip in [false, true] {
        let Ok(mut reader) = RunReader::<K, V>::new(&run, 2, budget) else {
            return;
        };
        if skip && reader.skip_to(K::from_row(&[9, 1])).is_err() {
            return;
        }
        while let Ok((keys, values)) = reader.batch() {
            assert_eq!(keys.len(), values.len());
            let n = keys.len();
            if n == 0 {
                break;
            }
            reader.consume(n);
        }
    }
}

/// A run with one block that has these contents; the first two bytes are its number of rows.
fn forged(data: &[u8], row: usize, value: usize) -> FaultyDisk {
    let (rows, contents) = data.split_first_chunk().map_or((1, data), |(rows, rest)| (u16::from_le_bytes(*rows), rest));
    let rows = u64::from(rows.max(1));
    let contents = &contents[..contents.len().min(PAGE - 48)];
    let mut header = vec![0; PAGE];
    put(&mut header, 0, b"LARIAT\r\n");
    for (i, number) in [1, 1, row as u32, value as u32, PAGE as u32, 65535].iter().enumerate() {
        put(&mut header, 8 + 4 * i, &number.to_le_bytes());
    }
    seal(&mut header, PAGE - 8, u64::MAX);
    let block = block(0, contents, rows as u32);
    let mut entries = vec![0; row + 8];
    entries.extend(vec![0xff; row]);
    entries.extend(rows.to_le_bytes());
    let index = self::block(1, &entries, 2);
    let mut footer = vec![0; PAGE];
    put(&mut footer, 0, b"LARIATok");
    for (i, number) in [rows, 1, 2 * PAGE as u64, 1, 4 * PAGE as u64].iter().enumerate() {
        put(&mut footer, 8 + 8 * i, &number.to_le_bytes());
    }
    seal(&mut footer, PAGE - 8, u64::MAX - 1);
    FaultyDisk::with_files(FaultPlan::default(), vec![("run".to_owned(), [header, block, index, footer].concat())])
}

fn block(number: u64, contents: &[u8], items: u32) -> Vec<u8> {
    let mut block = vec![0; PAGE];
    put(&mut block, 8, &number.to_le_bytes());
    put(&mut block, 16, &(contents.len() as u32).to_le_bytes());
    put(&mut block, 20, &items.to_le_bytes());
    put(&mut block, 32, contents);
    let sum = twox_hash::XxHash3_64::oneshot_with_seed(number, &block[8..]);
    put(&mut block, 0, &sum.to_le_bytes());
    block
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// Writes the checksum of the bytes before it.
fn seal(page: &mut [u8], at: usize, place: u64) {
    let sum = twox_hash::XxHash3_64::oneshot_with_seed(place, &page[..at]);
    put(page, at, &sum.to_le_bytes());
}
