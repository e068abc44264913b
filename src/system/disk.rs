//! Disks: the room on one, and what looks like a disk but is none.

use std::io;
use std::path::{Path, PathBuf};

/// Bytes that this user can still write on the disk of `folder`, or of the nearest folder above it
/// that exists.
pub fn available(folder: &Path) -> io::Result<u64> {
    let folder = std::path::absolute(folder)?;
    let there = folder
        .ancestors()
        .find(|above| above.is_dir())
        .map_or_else(|| PathBuf::from("."), Path::to_owned);
    bytes(&there)
}

/// True for a folder whose files are not on a disk but made up by the kernel, such as
/// `/proc` and `/sys`: there is no end to them.
pub fn is_of_the_kernel(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        // In linux/magic.h: proc, sysfs, cgroup, cgroup2, debugfs, tracefs, securityfs.
        const TYPES: [rustix::fs::FsWord; 7] = [
            0x9fa0,
            0x6265_6572,
            0x0027_e0eb,
            0x6367_7270,
            0x6462_6720,
            0x7472_6163,
            0x7363_6673,
        ];
        rustix::fs::statfs(folder).is_ok_and(|disk| TYPES.contains(&disk.f_type))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
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
    let known = unsafe {
        GetDiskFreeSpaceExW(
            name.as_ptr(),
            &raw mut bytes,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    };
    if known == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(bytes)
    }
}
