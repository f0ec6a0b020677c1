//! Files that were removed and are kept, empty, for those that are made next.
//!
//! A search makes and removes hundreds of files a second where memory is small, and file systems are not made for that: ext4 looks at every
//! file that was removed in the last seconds before it makes a new one. To give an empty file another name is cheap.
//!
//! # Invariants
//! 1. A spare file is empty, and its name ends like no other file's.

#![allow(clippy::disallowed_methods, reason = "this is where files are renamed and removed")]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// What the names of spare files end with. Other files of the directory are not ours.
const EXTENSION: &str = "lariat-spare";
/// How many are kept at most; each is open.
const SPARES_MAX: usize = 64;

/// Spare files of a directory; they go when this does.
pub(crate) struct SpareFiles {
    directory: PathBuf,
    files: Vec<(PathBuf, File)>,
    n_ever: u64,
}

impl SpareFiles {
    /// None yet. Those that a process left when it was killed are removed.
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                std::fs::remove_file(path)?;
            }
        }
        Ok(Self { directory: directory.to_owned(), files: Vec::new(), n_ever: 0 })
    }

    /// Removes a file from its place, and keeps it if there are few; `open` opens it as files are opened here.
    pub(crate) fn remove<E>(&mut self, path: &Path, open: impl FnOnce(&Path) -> Result<File, E>) -> io::Result<()> {
        // Whatever fails, the plain way is left.
        if self.files.len() < SPARES_MAX
            && let Ok(file) = open(path)
        {
            let spare = self.directory.join(format!("{}.{EXTENSION}", self.n_ever));
            self.n_ever += 1;
            // Its name goes first: whoever is killed here leaves no file that is empty under a name that counts.
            if std::fs::rename(path, &spare).is_ok() {
                if file.set_len(0).is_err() {
                    return std::fs::remove_file(spare);
                }
                self.files.push((spare, file));
                return Ok(());
            }
        }
        std::fs::remove_file(path)
    }

    /// Gives a spare file this name, which no file has; none if there is none.
    pub(crate) fn take(&mut self, path: &Path) -> Option<File> {
        let (spare, file) = self.files.pop()?;
        std::fs::rename(spare, path).is_ok().then_some(file)
    }

    /// Lets all of them go.
    pub(crate) fn clear(&mut self) {
        for (path, _) in self.files.drain(..) {
            // An empty file that cannot be removed is in nobody's way.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for SpareFiles {
    fn drop(&mut self) {
        self.clear();
    }
}
