//! Room on a disk.

use std::io;
use std::path::{Path, PathBuf};

/// Bytes that this user can still write on the disk of `folder`, or of the nearest folder above it that exists.
pub fn available(folder: &Path) -> io::Result<u64> {
    let folder = std::path::absolute(folder)?;
    let there = folder.ancestors().find(|above| above.is_dir()).map_or_else(|| PathBuf::from("."), Path::to_owned);
    bytes(&there)
}

#[cfg(unix)]
fn bytes(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(windows)]
fn bytes(folder: &Path) -> io::Result<u64> {
    use std::os::windows::ffi::OsStrExt;
    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;
    let name: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let mut bytes = 0;
    // SAFETY: the name ends with a zero, one number is written, and the others are not asked for.
    let known = unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &raw mut bytes, std::ptr::null_mut(), std::ptr::null_mut()) };
    if known == 0 { Err(io::Error::last_os_error()) } else { Ok(bytes) }
}
