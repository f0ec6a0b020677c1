//! The manifest: the one file that says what of a directory counts.
//!
//! A search writes its files, syncs them, notes them and its own state in a [`Manifest`], and publishes it. The manifest is written under
//! another name, synced, and renamed, so that at every moment the old one or the new one is there as a whole; a crash costs at most what was
//! done since. What no manifest names is left over from a crash, and is removed when the directory is opened again.
//!
//! # Invariants
//! 1. What a published manifest names was on disk before its name was.
//!
//! # Format
//! `docs/formats.md`, manifest: lines of text with a checksum.

mod text;

use crate::StorageError;
use lariat_base::MemoryBudget;
use lariat_disk::{AlignedBuffer, Disk, DiskError, FileKind, PAGE_BYTES};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the published manifest.
pub const MANIFEST: &str = "manifest";
/// Its name while it is written.
const UNPUBLISHED: &str = "manifest-new";
/// More than any manifest has, so that a damaged directory does not eat the memory.
const BYTES_MAX: u64 = 64 << 20;

/// The state of a search, and the files that belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    numbers: BTreeMap<String, u64>,
    texts: BTreeMap<String, String>,
    files: Vec<ManifestFile>,
}

/// A file that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    /// What the search uses it for.
    pub role: String,
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Its length.
    pub bytes: u64,
}

impl Manifest {
    /// A manifest that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a number, in place of the one with that key.
    pub fn set_number(&mut self, key: &str, number: u64) {
        self.numbers.insert(key.to_owned(), number);
    }

    /// Notes a text, in place of the one with that key.
    pub fn set_text(&mut self, key: &str, text: &str) {
        self.texts.insert(key.to_owned(), text.to_owned());
    }

    /// Notes all numbers and texts of another one.
    pub fn copy_from(&mut self, other: &Manifest) {
        self.numbers.extend(other.numbers.clone());
        self.texts.extend(other.texts.clone());
    }

    /// Notes a file, behind those that have the same role.
    pub fn add_file(&mut self, file: ManifestFile) {
        self.files.push(file);
    }

    /// The number with a key; it is an error if there is none.
    pub fn number(&self, key: &str) -> Result<u64, StorageError> {
        self.numbers
            .get(key)
            .copied()
            .ok_or_else(|| StorageError::corrupt(MANIFEST, 0, format_args!("a number {key}"), "none"))
    }

    /// The text with a key; it is an error if there is none.
    pub fn text(&self, key: &str) -> Result<&str, StorageError> {
        let text = self.texts.get(key).map(String::as_str);
        text.ok_or_else(|| StorageError::corrupt(MANIFEST, 0, format_args!("a text {key}"), "none"))
    }

    /// All files, in the order in which they were noted.
    pub fn files(&self) -> &[ManifestFile] {
        &self.files
    }

    /// The files with a role, in the order in which they were noted.
    pub fn files_of(&self, role: &str) -> impl Iterator<Item = &ManifestFile> {
        self.files.iter().filter(move |file| file.role == role)
    }

    /// Puts this manifest in place of the one that is published. Its files must have been synced; their names are here.
    pub fn publish(&self, disk: &dyn Disk, budget: &MemoryBudget) -> Result<(), StorageError> {
        let text = self.to_text();
        let mut buffer = AlignedBuffer::new(text.len(), budget)?;
        let bytes = buffer.len();
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        buffer[text.len()..].fill(b'\n');
        match disk.remove(UNPUBLISHED) {
            Ok(()) | Err(DiskError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let file = disk.create(UNPUBLISHED, FileKind::Manifest)?;
        file.write(buffer, 0, bytes).wait().result?;
        file.sync()?;
        drop(file);
        // First the names of the files that it counts on, then its own.
        disk.sync_directory()?;
        disk.rename(UNPUBLISHED, MANIFEST)?;
        Ok(disk.sync_directory()?)
    }

    /// Removes what was published, if anything was, before the files go that it names.
    pub fn retract(disk: &dyn Disk) -> Result<(), StorageError> {
        match disk.remove(MANIFEST) {
            Ok(()) => Ok(disk.sync_directory()?),
            Err(DiskError::Missing { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The manifest of a directory, if one was ever published, and nothing else is touched.
    pub fn read(disk: &dyn Disk, budget: &MemoryBudget) -> Result<Option<Self>, StorageError> {
        match disk.open(MANIFEST, FileKind::Manifest) {
            Ok(file) => {
                let length = file.len();
                if length == 0 || length > BYTES_MAX || !length.is_multiple_of(PAGE_BYTES as u64) {
                    return Err(StorageError::corrupt(MANIFEST, length, "whole pages", format_args!("{length} bytes")));
                }
                let buffer = AlignedBuffer::new(length as usize, budget)?;
                let buffer = file.read(buffer, 0, length as usize).wait().buffer()?;
                Ok(Some(Self::from_text(&buffer[..length as usize])?))
            }
            Err(DiskError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The manifest of a directory, if one was ever published. Files that it does not name are removed; those that it names must be there.
    pub fn open(disk: &dyn Disk, budget: &MemoryBudget) -> Result<Option<Self>, StorageError> {
        let manifest = Self::read(disk, budget)?;
        let present: BTreeMap<String, u64> = disk.list()?.into_iter().map(|file| (file.name, file.bytes)).collect();
        let files = manifest.as_ref().map_or(&[][..], |manifest| &manifest.files);
        for file in files {
            match present.get(&file.name) {
                Some(bytes) if *bytes >= file.bytes => {}
                got => {
                    let got = got.map_or("no such file".to_owned(), |bytes| format!("{bytes} bytes"));
                    return Err(StorageError::corrupt(&file.name, 0, format_args!("{} bytes", file.bytes), got));
                }
            }
        }
        manifest.clone().unwrap_or_default().remove_others(disk)?;
        Ok(manifest)
    }

    /// Removes all files that it does not name, but for the published manifest. Nobody may be using them.
    pub fn remove_others(&self, disk: &dyn Disk) -> Result<(), StorageError> {
        let named: BTreeSet<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        for file in disk.list()? {
            if file.name != MANIFEST && !named.contains(file.name.as_str()) {
                disk.remove(&file.name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lariat_disk::{FaultPlan, FaultyDisk};

    fn example(n: u64) -> Manifest {
        let mut manifest = Manifest::new();
        manifest.set_number("states", n);
        manifest.set_text("phase", "expand level\n%\u{e9}");
        for i in 0..n {
            let (role, name) = (["visited", "frontier"][i as usize % 2].to_owned(), format!("run-{i}"));
            manifest.add_file(ManifestFile { role, name, rows: i * 1000, bytes: PAGE_BYTES as u64 });
        }
        manifest
    }

    /// Makes a file of a page and syncs it.
    fn make_file(disk: &FaultyDisk, name: &str, budget: &MemoryBudget) -> Result<(), StorageError> {
        let file = disk.create(name, FileKind::Run)?;
        file.write(AlignedBuffer::new(1, budget)?, 0, PAGE_BYTES).wait().result?;
        Ok(file.sync()?)
    }

    #[test]
    fn what_was_published_is_what_is_opened() {
        let budget = MemoryBudget::new(1 << 20);
        let disk = FaultyDisk::default();
        assert_eq!(Manifest::open(&disk, &budget).unwrap(), None);
        for n in 0..4 {
            if n > 0 {
                make_file(&disk, &format!("run-{}", n - 1), &budget).unwrap();
            }
            example(n).publish(&disk, &budget).unwrap();
            make_file(&disk, "left-over", &budget).unwrap();
            let opened = Manifest::open(&disk, &budget).unwrap().unwrap();
            assert_eq!(opened, example(n));
            assert_eq!((opened.number("states").unwrap(), opened.text("phase").unwrap()), (n, "expand level\n%\u{e9}"));
            assert!(opened.number("phase").is_err() && opened.text("states").is_err());
            assert_eq!(disk.list().unwrap().len() as u64, n + 1, "what is left over is removed");
        }
        assert_eq!(example(4).files_of("visited").map(|file| file.rows).collect::<Vec<_>>(), [0, 2000]);
    }

    #[test]
    fn what_was_retracted_is_not_there() {
        let budget = MemoryBudget::new(1 << 20);
        let disk = FaultyDisk::default();
        Manifest::retract(&disk).unwrap();
        make_file(&disk, "run-0", &budget).unwrap();
        example(1).publish(&disk, &budget).unwrap();
        Manifest::retract(&disk).unwrap();
        disk.remove("run-0").unwrap();
        assert_eq!(Manifest::open(&disk, &budget).unwrap(), None);
    }

    #[test]
    fn files_that_are_gone_or_shorter_are_errors() {
        let budget = MemoryBudget::new(1 << 20);
        for is_gone in [false, true] {
            let disk = FaultyDisk::default();
            make_file(&disk, "run-0", &budget).unwrap();
            example(1).publish(&disk, &budget).unwrap();
            if is_gone {
                disk.remove("run-0").unwrap();
            } else {
                disk.open("run-0", FileKind::Run).unwrap().truncate(100).unwrap();
            }
            let error = Manifest::open(&disk, &budget).unwrap_err();
            assert!(matches!(&error, StorageError::Corrupt { file, .. } if file == "run-0"), "{error}");
        }
    }

    #[test]
    fn a_flipped_bit_or_a_cut_is_an_error() {
        let budget = MemoryBudget::new(1 << 20);
        let disk = FaultyDisk::default();
        make_file(&disk, "run-0", &budget).unwrap();
        example(1).publish(&disk, &budget).unwrap();
        let files = disk.files();
        let whole = files.iter().find(|(name, _)| name == MANIFEST).unwrap().1.clone();
        let open = |bytes: Vec<u8>| {
            let files = files.iter().filter(|(name, _)| name != MANIFEST).cloned();
            let files = files.chain([(MANIFEST.to_owned(), bytes)]).collect();
            Manifest::open(&FaultyDisk::with_files(FaultPlan::default(), files), &budget)
        };
        assert!(open(whole.clone()).is_ok());
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            let error = open(bytes).err();
            let is_known = matches!(error, Some(StorageError::Corrupt { .. } | StorageError::Version { .. }));
            assert!(is_known, "byte {place}: {error:?}");
            assert!(open(whole[..place].to_vec()).is_err());
        }
    }

    /// Two manifests are published, each with a file of its own; the disk crashes at every change.
    #[test]
    fn a_crash_leaves_the_old_manifest_or_the_new_one() {
        let budget = MemoryBudget::new(1 << 20);
        let publish_twice = |disk: &FaultyDisk| -> Result<u64, (u64, StorageError)> {
            let mut published = 0;
            for n in 1..=2 {
                let step = make_file(disk, &format!("run-{}", n - 1), &budget);
                step.and_then(|()| example(n).publish(disk, &budget)).map_err(|error| (published, error))?;
                published = n;
            }
            Ok(published)
        };
        let undisturbed = FaultyDisk::default();
        publish_twice(&undisturbed).unwrap();
        let mut seen = [0; 3];
        for change in 1..=undisturbed.changes() {
            for seed in 0..50 {
                let disk = FaultyDisk::new(FaultPlan { crash_at_change: Some(change), seed, ..FaultPlan::default() });
                let (published, error) = publish_twice(&disk).unwrap_err();
                assert!(matches!(error, StorageError::Disk(_)), "{error}");
                let after = disk.after_crash(FaultPlan::default());
                let opened = Manifest::open(&after, &budget).unwrap();
                let states = opened.as_ref().map_or(0, |manifest| manifest.number("states").unwrap());
                assert!(
                    states == published || states == published + 1,
                    "{published} were published, {states} are left"
                );
                assert_eq!(opened.unwrap_or_default(), if states == 0 { Manifest::new() } else { example(states) });
                seen[states as usize] += 1;
            }
        }
        assert!(seen.iter().all(|times| *times > 0), "{seen:?}");
    }

    #[test]
    fn a_full_disk_leaves_what_was_published() {
        let budget = MemoryBudget::new(1 << 20);
        for full in [true, false] {
            let room = Some(2 * PAGE_BYTES as u64 + 100);
            let (size, limit) = if full { (room, None) } else { (None, room) };
            let disk = FaultyDisk::new(FaultPlan { size, limit, ..FaultPlan::default() });
            make_file(&disk, "run-0", &budget).unwrap();
            example(1).publish(&disk, &budget).unwrap();
            let error = example(0).publish(&disk, &budget).unwrap_err();
            assert!(matches!(&error, StorageError::Disk(error) if error.is_out_of_space()), "{error}");
            assert_eq!(Manifest::open(&disk, &budget).unwrap(), Some(example(1)));
        }
    }
}
