//! The program's own code in memory, which is a mapped file, too; and memory that it has freed.
//!
//! The compiler of models is most of the program, runs once, and stays in memory although nobody asks for it again: some megabytes
//! that count as the process's own. Given back, pages that are needed after all come back from the system's cache.

#![expect(unsafe_code, reason = "pages are given back without a safe interface")]
#![cfg_attr(target_os = "linux", expect(clippy::disallowed_methods, reason = "this crate is where files are read"))]

/// Linux brings the neighbours of a page along, up to so many bytes, but none beyond the mapping that the page is in.
#[cfg(target_os = "linux")]
const NEIGHBOURHOOD_BYTES: usize = 64 << 10;

/// From this size on memory is asked of the system and given back to it: a block of a run.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES_MIN: i32 = 128 << 10;
/// Heaps that threads share for what is smaller. Searches allocate little while they run.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS_MAX: i32 = 2;

/// Gives back the pages of the program's code and constants. Where that is not possible nothing happens.
///
/// What has come back since the last time is what a search needs, and with it come neighbours that it does not need. Where that was so, pages are made mappings of
/// their own, so that they come back alone.
pub fn release() {
    #[cfg(target_os = "linux")]
    {
        static RANGES: std::sync::OnceLock<Vec<(usize, usize)>> = std::sync::OnceLock::new();
        let is_first = RANGES.get().is_none();
        let mappings = || std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        for &(start, end) in RANGES.get_or_init(|| file_ranges(&mappings())) {
            if !is_first {
                set_apart_resident(start, end);
            }
            // SAFETY: the pages are never written to and are in the file as they were, so they are read from there when they are needed.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
    }
}

/// Makes a mapping of every page around those that are in memory. Neighbours stay apart as long as the advice about them differs.
#[cfg(target_os = "linux")]
fn set_apart_resident(start: usize, end: usize) {
    use std::os::unix::fs::FileExt;
    /// Bytes that tell about a page, and the bit of the last one that says that it is in memory.
    const ENTRY_BYTES: usize = 8;
    const PRESENT: u8 = 1 << 7;
    // SAFETY: it only asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(NEIGHBOURHOOD_BYTES);
    let mut entries = vec![0; (end - start) / page * ENTRY_BYTES];
    let pages = std::fs::File::open("/proc/self/pagemap");
    let read = pages.and_then(|file| file.read_exact_at(&mut entries, (start / page * ENTRY_BYTES) as u64));
    if read.is_err() {
        return;
    }
    static APART: std::sync::Mutex<std::collections::BTreeSet<usize>> =
        std::sync::Mutex::new(std::collections::BTreeSet::new());
    let mut apart = APART.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut done = start;
    for (i, entry) in entries.chunks_exact(ENTRY_BYTES).enumerate() {
        let address = start + i * page;
        if entry[ENTRY_BYTES - 1] & PRESENT == 0 || address < done {
            continue;
        }
        let first = (address / NEIGHBOURHOOD_BYTES * NEIGHBOURHOOD_BYTES).max(start);
        done = (first / NEIGHBOURHOOD_BYTES * NEIGHBOURHOOD_BYTES + NEIGHBOURHOOD_BYTES).min(end);
        if !apart.insert(first) {
            continue;
        }
        for odd in (first..done).step_by(page).filter(|address| !(address / page).is_multiple_of(2)) {
            // SAFETY: advice about how a page will be used changes nothing about what is in it.
            unsafe { libc::madvise(odd as *mut libc::c_void, page, libc::MADV_RANDOM) };
        }
    }
}

/// Gives memory that was freed back to the system, where the allocator keeps it for later.
pub fn release_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it only touches memory that is free.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Has buffers given back to the system when they are freed. By itself the GNU allocator keeps what was freed for threads that may want it again, the more the larger it was, and
/// that is memory which no budget sees: a search that gives the memory of one thing to another had twice its share. To be called before there are threads.
pub fn keep_little_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets numbers that the allocator looks at when it is asked for memory.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
        libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX);
    }
}

/// The addresses of private file mappings that are not writable and that nobody has ever written to. What the loader wrote before it
/// took the right to write away is not in the file.
#[cfg(any(target_os = "linux", test))]
fn file_ranges(smaps: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut candidate = None;
    for line in smaps.lines() {
        if let Some(written) = line.strip_prefix("Anonymous:") {
            if written.split_ascii_whitespace().next() == Some("0") {
                ranges.extend(candidate);
            }
            candidate = None;
        } else if let Some(range) = address_range(line) {
            let mut words = line.split_ascii_whitespace().skip(1);
            let is_constant = matches!(words.next(), Some("r-xp" | "r--p"));
            candidate = (is_constant && words.nth(3).is_some_and(|path| path.starts_with('/'))).then_some(range);
        }
    }
    ranges
}

/// The addresses with which the description of a mapping begins.
#[cfg(any(target_os = "linux", test))]
fn address_range(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split_ascii_whitespace().next()?.split_once('-')?;
    let address = |hex| usize::from_str_radix(hex, 16).ok();
    Some((address(start)?, address(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_the_file_is_given_back() {
        let smaps = "\
55d0a000-55d0b000 r--p 00000000 fe:00 11 /usr/bin/lariat
Rss:                   4 kB
Anonymous:             0 kB
55d0b000-55d1c000 r-xp 00001000 fe:00 11 /usr/bin/lariat
Rss:                  68 kB
Anonymous:             0 kB
55d1c000-55d1d000 r--p 00012000 fe:00 11 /usr/bin/lariat
Anonymous:             4 kB
55d1d000-55d1e000 rw-p 00013000 fe:00 11 /usr/bin/lariat
Anonymous:             0 kB
7f00a000-7f00b000 r-xp 00000000 00:00 0
Anonymous:             0 kB
7f00c000-7f00d000 rwxp 00000000 fe:00 12 /usr/lib/odd.so
Anonymous:             0 kB
7ffe0000-7ffe1000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
";
        assert_eq!(file_ranges(smaps), [(0x55d0_a000, 0x55d0_b000), (0x55d0_b000, 0x55d1_c000)]);
    }

    #[test]
    fn the_program_runs_on() {
        keep_little_freed();
        for _ in 0..3 {
            release();
            release_freed();
        }
        assert_eq!(format!("{}", 6 * 7), "42");
    }
}
