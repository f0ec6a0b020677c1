//! A folder that goes away.

use std::path::{Path, PathBuf};

/// A fresh folder under the system's temporary one, removed with all it holds when this is dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Makes the folder.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(name: &str) -> Result<Self, String> {
        let parent = std::env::temp_dir();
        let process = std::process::id();
        for attempt in 0..1000 {
            let path = parent.join(format!("lariat-bench-{name}-{process}-{attempt}"));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(format!("cannot make the folder {}: {e}", path.display())),
            }
        }
        Err(format!("cannot make a fresh folder in {}", parent.display()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What is left in the temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
