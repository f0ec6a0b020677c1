//! The program's own code in memory, which is a mapped file, too; and memory that it has freed.
//!
//! The compiler of models is most of the program, runs once, and stays in memory although nobody asks for it again: some megabytes
//! that count as the process's own. Given back, pages that are needed after all come back from the system's cache.

#![expect(unsafe_code, reason = "pages are given back without a safe interface")]
#![cfg_attr(target_os = "linux", expect(clippy::disallowed_methods, reason = "this crate is where files are read"))]

/// Gives back the pages of the program's code. Where that is not possible nothing happens.
pub fn release() {
    #[cfg(target_os = "linux")]
    for (start, end) in code_ranges(&std::fs::read_to_string("/proc/self/maps").unwrap_or_default()) {
        // SAFETY: the pages are code that is never written to, so they are in the file as they were, and are read from there when they
        // are needed.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
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

/// The addresses of private file mappings that are executable and not writable.
#[cfg(any(target_os = "linux", test))]
fn code_ranges(maps: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    maps.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (addresses, rights, path) = (words.next()?, words.next()?, words.nth(3)?);
        let (start, end) = addresses.split_once('-')?;
        let address = |hex| usize::from_str_radix(hex, 16).ok();
        (rights == "r-xp" && path.starts_with('/')).then_some((address(start)?, address(end)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_from_files_is_given_back() {
        let maps = "\
55d0a000-55d0b000 r--p 00000000 fe:00 11 /usr/bin/lariat
55d0b000-55d1c000 r-xp 00001000 fe:00 11 /usr/bin/lariat
55d1c000-55d1d000 rw-p 00012000 fe:00 11 /usr/bin/lariat
7f00a000-7f00b000 r-xp 00000000 00:00 0
7f00c000-7f00d000 rwxp 00000000 fe:00 12 /usr/lib/odd.so
7ffe0000-7ffe1000 r-xp 00000000 00:00 0 [vdso]
";
        assert_eq!(code_ranges(maps).collect::<Vec<_>>(), [(0x55d0_b000, 0x55d1_c000)]);
    }

    #[test]
    fn the_program_runs_on() {
        release();
        release_freed();
        assert_eq!(format!("{}", 6 * 7), "42");
    }
}
