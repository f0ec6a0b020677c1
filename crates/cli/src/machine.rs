//! What the machine has and what this process uses of it.

use std::fs;

/// Bytes of memory that this process can have: the machine's, or its control group's if that is less.
pub fn memory_total() -> Option<u64> {
    let machine = memory_field("/proc/meminfo", "MemTotal:");
    match (machine, control_group_limit()) {
        (Some(machine), Some(group)) => Some(machine.min(group)),
        (machine, group) => machine.or(group),
    }
}

/// The most memory that this process has had at once, where the system tells.
pub fn memory_peak() -> Option<u64> {
    memory_field("/proc/self/status", "VmHWM:")
}

/// The value of a line such as `MemTotal:  123 kB`.
fn memory_field(file: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The smallest limit of the control groups that this process is in.
fn control_group_limit() -> Option<u64> {
    let read = |path: String| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            c if c.split(',').any(|c| c == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        // A limit of any group above holds too.
        let mut path = path.trim_end_matches('/');
        loop {
            limits.extend(read(format!("{root}{path}/{file}")));
            match path.rfind('/') {
                Some(parent) => path = &path[..parent],
                None => break,
            }
        }
    }
    limits.into_iter().min()
}

/// How many processors this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
