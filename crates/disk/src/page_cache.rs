//! Keeping the page cache empty of our files where it cannot be bypassed: what went through it is written out and forgotten.
//!
//! All of it is advice: where the system does not take it, transfers still do what they should.

#![expect(unsafe_code, reason = "advice to the kernel about files has no safe interface")]

use std::fs::File;

/// Tells the kernel that a part of a file will be read soon.
pub(crate) fn will_need(file: &File, at: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    advise(file, at, bytes, libc::POSIX_FADV_WILLNEED);
    #[cfg(not(target_os = "linux"))]
    let _ = (file, at, bytes);
}

/// Tells the kernel to forget a part of a file that was read.
pub(crate) fn forget(file: &File, at: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    advise(file, at, bytes, libc::POSIX_FADV_DONTNEED);
    #[cfg(not(target_os = "linux"))]
    let _ = (file, at, bytes);
}

/// Begins to write out a part of a file.
pub(crate) fn begin_write_out(file: &File, at: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    sync_range(file, at, bytes, libc::SYNC_FILE_RANGE_WRITE);
    #[cfg(not(target_os = "linux"))]
    let _ = (file, at, bytes);
}

/// Waits until a part of a file is written out, and forgets it.
pub(crate) fn write_out_and_forget(file: &File, at: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    {
        let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        sync_range(file, at, bytes, all);
    }
    forget(file, at, bytes);
}

#[cfg(target_os = "linux")]
fn advise(file: &File, at: u64, bytes: u64, advice: libc::c_int) {
    use std::os::fd::AsRawFd;
    // SAFETY: numbers only.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), at as libc::off_t, bytes as libc::off_t, advice) };
}

#[cfg(target_os = "linux")]
fn sync_range(file: &File, at: u64, bytes: u64, flags: libc::c_uint) {
    use std::os::fd::AsRawFd;
    // SAFETY: numbers only.
    unsafe { libc::sync_file_range(file.as_raw_fd(), at as libc::off64_t, bytes as libc::off64_t, flags) };
}
