//! Files that were written by the version that their names say. A change that cannot read them is a change of the format, and needs a new version.
//!
//! `cargo test -p lariat-storage --test golden -- --ignored` writes them anew, for a new version.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "these tests read and write files")]

use lariat_base::rows::RowBuffer;
use lariat_base::{MemoryBudget, Random};
use lariat_disk::{FaultPlan, FaultyDisk};
use lariat_storage::manifest::MANIFEST;
use lariat_storage::stream::RowStream;
use lariat_storage::{
    Key, Manifest, ManifestFile, PerfectHash, PerfectHashBuilder, PerfectHashOptions, Placement, Run, RunOptions,
};
use lariat_storage::{RunReader, RunWriter, Value, Wide};
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Rows with stretches that repeat, with small differences, and with differences of all sizes.
fn rows<K: Key, V: Value>() -> Vec<(K, V)> {
    let mut random = Random::new(1);
    let mut row = K::default();
    let mut next = |i: u64| {
        let difference = match i / 500 {
            0 => 1 + i % 7,
            1 => 1 + random.next_u64() % 100,
            2 => 1 + (random.next_u64() >> (24 + random.below(40))),
            _ => [3, 1 << 20, 5][i as usize % 3],
        };
        row = row.plus(K::from_row(&difference.to_le_bytes()));
        (row, V::from_word(i % 13))
    };
    (0..2000).map(&mut next).collect()
}

fn options(row_bytes: usize, value_bytes: usize) -> RunOptions {
    RunOptions { row_bytes, value_bytes, block_bytes: 4096, group_rows: 300, buffers: 2, blocks_at_once: 1 }
}

fn written<K: Key, V: Value>(options: &RunOptions) -> Vec<u8> {
    let budget = MemoryBudget::new(1 << 24);
    let disk = FaultyDisk::default();
    let mut writer = RunWriter::<K, V>::new(&disk, "run", options, &budget).unwrap();
    rows::<K, V>().into_iter().for_each(|(key, value)| writer.push(key, value).unwrap());
    writer.finish().unwrap();
    disk.files().remove(0).1
}

fn check<K: Key, V: Value>(name: &str, options: &RunOptions) {
    let budget = MemoryBudget::new(1 << 24);
    let bytes = std::fs::read(path(name)).unwrap();
    let disk = FaultyDisk::with_files(FaultPlan::default(), vec![("run".to_owned(), bytes)]);
    let run = Run::<K>::open(&disk, "run", options.row_bytes, options.value_bytes, &budget).unwrap();
    let mut reader = RunReader::<K, V>::new(&run, 2, &budget).unwrap();
    for expected in rows::<K, V>() {
        let (keys, values) = reader.batch().unwrap();
        assert_eq!((keys[0], values[0]), expected);
        reader.consume(1);
    }
    assert!(reader.batch().unwrap().0.is_empty());
}

fn manifest() -> Manifest {
    let mut manifest = Manifest::new();
    manifest.set_number("states", 1234);
    manifest.set_text("phase", "expand 100 %");
    let (role, name) = ("visited".to_owned(), "run".to_owned());
    manifest.add_file(ManifestFile { role, name, rows: 2000, bytes: 4096 });
    manifest
}

#[test]
fn runs_of_version_1_are_read() {
    check::<u64, u16>("run-v1-narrow.bin", &options(8, 2));
    check::<u128, ()>("run-v1-middle.bin", &options(9, 0));
    check::<Wide<3>, u8>("run-v1-wide.bin", &options(20, 1));
}

#[test]
fn manifests_of_version_1_are_read_and_written() {
    let budget = MemoryBudget::new(1 << 24);
    let bytes = std::fs::read(path("manifest-v1.txt")).unwrap();
    let files = vec![(MANIFEST.to_owned(), bytes.clone()), ("run".to_owned(), vec![0; 4096])];
    let disk = FaultyDisk::with_files(FaultPlan::default(), files);
    assert_eq!(Manifest::open(&disk, &budget).unwrap(), Some(manifest()));
    manifest().publish(&disk, &budget).unwrap();
    assert_eq!(disk.files()[0], (MANIFEST.to_owned(), bytes));
}

fn hashed_rows() -> RowBuffer {
    let mut rows = RowBuffer::new(5);
    (0..14_000_u64).for_each(|i| rows.push(&(i * i).to_le_bytes()[..5]));
    rows
}

#[test]
fn perfect_hash_functions_of_version_1_are_read() {
    let budget = MemoryBudget::new(1 << 24);
    let bytes = std::fs::read(path("perfect-hash-v1.bin")).unwrap();
    let disk = FaultyDisk::with_files(FaultPlan::default(), vec![("hash".to_owned(), bytes)]);
    let mut hash = PerfectHash::open(&disk, "hash", Placement::Memory, &budget).unwrap();
    let mut numbers = Vec::new();
    hash.numbers(hashed_rows().as_rows(), &mut numbers).unwrap();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..14_000));
}

#[test]
#[ignore = "writes the golden files anew"]
fn write_golden_files() {
    let budget = MemoryBudget::new(1 << 24);
    std::fs::create_dir_all(path("")).unwrap();
    std::fs::write(path("run-v1-narrow.bin"), written::<u64, u16>(&options(8, 2))).unwrap();
    std::fs::write(path("run-v1-middle.bin"), written::<u128, ()>(&options(9, 0))).unwrap();
    std::fs::write(path("run-v1-wide.bin"), written::<Wide<3>, u8>(&options(20, 1))).unwrap();
    let disk = FaultyDisk::default();
    manifest().publish(&disk, &budget).unwrap();
    std::fs::write(path("manifest-v1.txt"), &disk.files()[0].1).unwrap();
    let disk = FaultyDisk::default();
    let options = PerfectHashOptions { rows: 14_000, threads: 1, memory_bytes: 1 << 20 };
    let mut hash = PerfectHashBuilder::new(&disk, "hash", options, &budget).unwrap();
    hashed_rows().as_rows().iter().for_each(|row| hash.push(row).unwrap());
    hash.finish().unwrap();
    std::fs::write(path("perfect-hash-v1.bin"), &disk.files()[0].1).unwrap();
}
