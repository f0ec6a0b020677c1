//! A directory of the system as a disk, in every way of transferring.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "these tests make directories")]

use lariat_base::MemoryBudget;
use lariat_disk::{
    AlignedBuffer, Disk, DiskError, FileEntry, FileKind, IoMode, PAGE_BYTES, SystemDisk, SystemDiskOptions,
};
use std::path::{Path, PathBuf};

const MODES: [IoMode; 3] = [IoMode::DirectRing, IoMode::Direct, IoMode::Buffered];

/// A directory that is gone at the end of the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lariat-disk-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(directory: &Path, limit: Option<u64>, mode: IoMode) -> Result<SystemDisk, DiskError> {
    SystemDisk::open(directory, SystemDiskOptions { limit, io_mode: Some(mode) })
}

/// A page that belongs to a place.
fn fill(buffer: &mut [u8], page: u64) {
    for (i, byte) in buffer.iter_mut().enumerate() {
        *byte = (page as usize * 31 + i * 7 + i / 251) as u8;
    }
}

#[test]
fn transfers_come_back_whatever_the_way_and_the_order() {
    for mode in MODES {
        let directory = Directory::new(&format!("transfers-{mode:?}"));
        let disk = open(&directory.0, None, mode).unwrap();
        let budget = MemoryBudget::new(64 << 20);
        let pages = 64;
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (disk, budget) = (&disk, &budget);
                scope.spawn(move || {
                    let name = format!("file-{thread}");
                    let file = disk.create(&name, FileKind::Run).unwrap();
                    let mut pending = Vec::new();
                    for page in 0..pages {
                        let mut buffer = AlignedBuffer::new(PAGE_BYTES, budget).unwrap();
                        fill(&mut buffer, page * 3 + thread);
                        pending.push(file.write(buffer, page * PAGE_BYTES as u64, PAGE_BYTES));
                    }
                    for write in pending {
                        write.wait().result.unwrap();
                    }
                    file.sync().unwrap();
                    assert_eq!(file.len(), pages * PAGE_BYTES as u64);
                    let file = disk.open(&name, FileKind::Run).unwrap();
                    let begin = |page: u64| {
                        let buffer = AlignedBuffer::new(PAGE_BYTES, budget).unwrap();
                        (page, file.read(buffer, page * PAGE_BYTES as u64, PAGE_BYTES))
                    };
                    // Backwards, all at once, every other one never waited for.
                    let reads: Vec<_> = (0..pages).rev().map(begin).collect();
                    let mut expected = vec![0; PAGE_BYTES];
                    for (page, read) in reads {
                        if page % 2 == 0 {
                            let buffer = read.wait().buffer().unwrap();
                            fill(&mut expected, page * 3 + thread);
                            assert!(*buffer == *expected, "page {page}");
                        }
                    }
                });
            }
        });
        assert_eq!(budget.used(), 0);
        let total = disk.counters().total();
        assert_eq!((total.writes(), total.sequential_writes, total.reads()), (192, 192, 192), "{mode}");
        assert_eq!(total.bytes_read(), 192 * PAGE_BYTES as u64);
    }
}

/// The kernel cancels what an ended thread has begun and nobody has worked on yet.
#[test]
fn transfers_outlive_the_threads_that_began_them() {
    for mode in MODES {
        let directory = Directory::new(&format!("outlive-{mode:?}"));
        let disk = open(&directory.0, None, mode).unwrap();
        let budget = MemoryBudget::new(256 << 20);
        let file = disk.create("file", FileKind::Run).unwrap();
        let (n_threads, n_writes, bytes) = (40, 40, 2 * PAGE_BYTES);
        let n_pieces = n_threads * n_writes;
        let filled = |piece: u64| {
            let mut buffer = AlignedBuffer::new(bytes, &budget).unwrap();
            fill(&mut buffer, piece);
            buffer
        };
        for _round in 0..4 {
            let begin = |buffers: Vec<_>, first: u64| {
                let at = |i: usize| (first + i as u64) * bytes as u64;
                let writes = buffers.into_iter().enumerate();
                writes.map(|(i, buffer)| file.write(buffer, at(i), bytes)).collect::<Vec<_>>()
            };
            let shares: Vec<(u64, Vec<_>)> = (0..n_threads)
                .map(|i| (i * n_writes, (0..n_writes).map(|j| filled(i * n_writes + j)).collect()))
                .collect();
            let pending: Vec<_> = std::thread::scope(|scope| {
                let start = |(first, buffers)| scope.spawn(move || begin(buffers, first));
                let threads: Vec<_> = shares.into_iter().map(start).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            for write in pending {
                write.wait().result.unwrap();
            }
        }
        let mut expected = vec![0; bytes];
        for piece in 0..n_pieces {
            let buffer = AlignedBuffer::new(bytes, &budget).unwrap();
            let buffer = file.read(buffer, piece * bytes as u64, bytes).wait().buffer().unwrap();
            fill(&mut expected, piece);
            assert!(*buffer == *expected, "{mode}: piece {piece}");
        }
    }
}

#[test]
fn the_best_way_here_is_chosen() {
    let directory = Directory::new("choice");
    let disk = SystemDisk::open(&directory.0, SystemDiskOptions::default()).unwrap();
    assert!(MODES.contains(&disk.io_mode()));
    assert_eq!(disk.list().unwrap(), []);
    assert_eq!(disk.usage().now, 0);
}

#[test]
fn files_that_are_not_ours_are_not_seen() {
    let directory = Directory::new("others");
    std::fs::create_dir_all(&directory.0).unwrap();
    std::fs::write(directory.0.join("thesis.tex"), "text").unwrap();
    let disk = open(&directory.0, None, IoMode::Buffered).unwrap();
    assert_eq!((disk.list().unwrap(), disk.usage().now), (vec![], 0));
    assert!(matches!(disk.remove("thesis.tex"), Err(DiskError::Missing { .. })));
    disk.create("run", FileKind::Run).unwrap();
    assert!(directory.0.join("run.lariat").exists() && directory.0.join("thesis.tex").exists());
}

#[test]
fn reading_behind_the_end_is_an_error() {
    for mode in MODES {
        let directory = Directory::new(&format!("short-{mode:?}"));
        let disk = open(&directory.0, None, mode).unwrap();
        let budget = MemoryBudget::new(1 << 20);
        let file = disk.create("file", FileKind::Run).unwrap();
        let buffer = AlignedBuffer::new(4 * PAGE_BYTES, &budget).unwrap();
        let buffer = file.write(buffer, 0, PAGE_BYTES).wait().buffer().unwrap();
        let completed = file.read(buffer, 0, 4 * PAGE_BYTES).wait();
        let error = completed.result.unwrap_err();
        let expected = 4 * PAGE_BYTES as u64;
        assert!(
            matches!(&error, DiskError::Short { offset: 0, expected: e, got: 4096, .. } if *e == expected),
            "{error}"
        );
        file.truncate(100).unwrap();
        let error = file.read(completed.buffer, 0, PAGE_BYTES).wait().result.unwrap_err();
        assert!(matches!(error, DiskError::Short { got: 100, .. }), "{error}");
    }
}

#[test]
fn two_cannot_use_one_directory() {
    let directory = Directory::new("lock");
    let disk = open(&directory.0, None, IoMode::Buffered).unwrap();
    let refused = open(&directory.0, None, IoMode::Buffered).err().unwrap();
    assert!(matches!(refused, DiskError::Locked { .. }), "{refused}");
    drop(disk);
    open(&directory.0, None, IoMode::Buffered).unwrap();
}

#[test]
fn a_limit_is_kept_and_files_are_known_by_name() {
    for mode in MODES {
        let directory = Directory::new(&format!("limit-{mode:?}"));
        let page = PAGE_BYTES as u64;
        let disk = open(&directory.0, Some(3 * page), mode).unwrap();
        let budget = MemoryBudget::new(1 << 20);
        let buffer = AlignedBuffer::new(2 * PAGE_BYTES, &budget).unwrap();
        let one = disk.create("one", FileKind::Run).unwrap();
        let buffer = one.write(buffer, 0, 2 * PAGE_BYTES).wait().buffer().unwrap();
        let two = disk.create("two", FileKind::Run).unwrap();
        let completed = two.write(buffer, 0, 2 * PAGE_BYTES).wait();
        assert!(matches!(completed.result, Err(DiskError::Limit { limit: 12288, needed: 16384, .. })));
        let buffer = two.write(completed.buffer, 0, PAGE_BYTES).wait().buffer().unwrap();
        assert!(matches!(disk.create("two", FileKind::Run), Err(DiskError::Exists { .. })));
        assert!(matches!(disk.open("three", FileKind::Run), Err(DiskError::Missing { .. })));
        disk.rename("two", "one").unwrap();
        disk.sync_directory().unwrap();
        assert_eq!(disk.list().unwrap(), [FileEntry { name: "one".to_owned(), bytes: page }]);
        assert_eq!((disk.usage().now, disk.usage().peak), (page, 3 * page));
        drop((one, two, buffer, disk));

        let disk = open(&directory.0, None, mode).unwrap();
        assert_eq!(disk.list().unwrap(), [FileEntry { name: "one".to_owned(), bytes: page }]);
        disk.remove("one").unwrap();
        assert_eq!(disk.usage().now, 0);
        assert!(matches!(disk.remove("one"), Err(DiskError::Missing { .. })));
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_removed_file_leaves_nothing_of_itself_to_the_next() {
    for mode in MODES {
        let directory = Directory::new(&format!("spare-{mode:?}"));
        let disk = open(&directory.0, None, mode).unwrap();
        let budget = MemoryBudget::new(1 << 20);
        let write = |name: &str| {
            let file = disk.create(name, FileKind::Run).unwrap();
            assert_eq!(file.len(), 0);
            let path = directory.0.join(format!("{name}.lariat"));
            assert_eq!(std::fs::metadata(path).unwrap().len(), 0);
            let buffer = AlignedBuffer::new(PAGE_BYTES, &budget).unwrap();
            file.write(buffer, 0, PAGE_BYTES).wait().buffer().unwrap();
        };
        write("one");
        disk.remove("one").unwrap();
        assert!(disk.list().unwrap().is_empty());
        assert_eq!(disk.usage().now, 0);
        let bytes = |name: &String| std::fs::metadata(directory.0.join(name)).unwrap().len();
        assert_eq!(names(&directory.0).iter().map(bytes).sum::<u64>(), 0, "what is kept takes no room");
        assert!(matches!(disk.open("one", FileKind::Run), Err(DiskError::Missing { .. })));
        write("two");
        assert!(disk.create("two", FileKind::Run).is_err(), "there is one of that name");
        write("one");
        let listed = disk.list().unwrap();
        assert_eq!(listed.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(disk.usage().now, 2 * PAGE_BYTES as u64);
        for i in 0..200 {
            disk.create(&format!("many-{i}"), FileKind::Run).unwrap();
        }
        for i in 0..200 {
            disk.remove(&format!("many-{i}")).unwrap();
        }
        assert!(names(&directory.0).len() < 100, "not all are kept");
        drop(disk);
        assert_eq!(names(&directory.0), ["lariat.lock", "one.lariat", "two.lariat"]);
    }
}

#[test]
fn a_cleared_directory_is_gone_unless_something_else_is_in_it() {
    let directory = Directory::new("clear");
    for keeps in [false, true] {
        let disk = open(&directory.0, None, IoMode::Buffered).unwrap();
        for name in ["one", "two"] {
            disk.create(name, FileKind::Run).unwrap();
        }
        disk.remove("one").unwrap();
        if keeps {
            std::fs::write(directory.0.join("mine"), "").unwrap();
        }
        disk.clear().unwrap();
        assert_eq!(directory.0.exists(), keeps);
    }
    assert_eq!(names(&directory.0), ["mine"]);
}

#[test]
fn what_a_killed_process_kept_goes() {
    let directory = Directory::new("left-spare");
    std::fs::create_dir_all(&directory.0).unwrap();
    for name in ["7.lariat-spare", "mine.spare"] {
        std::fs::write(directory.0.join(name), "").unwrap();
    }
    drop(open(&directory.0, None, IoMode::Buffered).unwrap());
    assert_eq!(names(&directory.0), ["lariat.lock", "mine.spare"]);
}
