//! Memory control groups: a program in one cannot use more memory than that, the page cache included.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where Linux shows control groups.
const ROOT: &str = "/sys/fs/cgroup";

/// A control group below the one of this process, removed when this is dropped.
#[derive(Debug)]
pub struct ControlGroup {
    folder: PathBuf,
}

impl ControlGroup {
    /// Makes a group whose processes get so much memory together.
    ///
    /// # Errors
    /// If the system does not let us: it needs a memory controller, and as a rule root.
    pub fn new(bytes: u64) -> Result<Self, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let own = std::fs::read_to_string("/proc/self/cgroup").map_err(|e| format!("/proc/self/cgroup: {e}"))?;
        let (parent, limit) = place(&own).ok_or("there is no memory controller")?;
        let name = format!("lariat-bench-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = parent.join(name);
        std::fs::create_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let group = Self { folder };
        let file = group.folder.join(limit);
        std::fs::write(&file, bytes.to_string()).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(group)
    }

    /// The file to which a process that joins writes its number.
    pub fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A group that is left behind has no processes, and does no harm.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// In which folder groups can be made, and the file that has a group's limit. Version 1 has a hierarchy for memory alone, in which groups may be made below one's own;
/// in version 2 a group with processes has no others below it, so ours come to stand beside it.
fn place(own: &str) -> Option<(PathBuf, &'static str)> {
    let mut paths = own.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        rest.split_once(':')
    });
    let below = |root: &Path, path: &str| root.join(path.trim_start_matches('/'));
    let of_memory = paths.clone().find(|(controllers, _)| controllers.split(',').any(|name| name == "memory"));
    if let Some((_, path)) = of_memory {
        return Some((below(&Path::new(ROOT).join("memory"), path), "memory.limit_in_bytes"));
    }
    let (_, path) = paths.find(|(controllers, _)| controllers.is_empty())?;
    let parent = Path::new(path).parent().unwrap_or(Path::new("/"));
    Some((below(Path::new(ROOT), &parent.to_string_lossy()), "memory.max"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_found() {
        let found = |own| place(own).map(|(folder, limit)| format!("{} {limit}", folder.display()));
        let first = "5:cpu,cpuacct:/a\n4:memory:/b/c\n0::/\n";
        assert_eq!(found(first).as_deref(), Some("/sys/fs/cgroup/memory/b/c memory.limit_in_bytes"));
        assert_eq!(found("0::/user.slice/shell\n").as_deref(), Some("/sys/fs/cgroup/user.slice memory.max"));
        assert_eq!(found("0::/\n").as_deref(), Some("/sys/fs/cgroup/ memory.max"));
        assert_eq!(found("3:cpu:/\n"), None);
    }
}
