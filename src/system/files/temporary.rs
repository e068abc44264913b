//! Names and locks of temporary files. A lock says that the process that writes the file lives: the
//! system releases it when the process ends, however it ends.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

const PREFIX: &str = ".inkling-";
/// Random letters and digits after it.
const RANDOM_LENGTH: usize = 6;
/// What the name of a folder's lock adds to the folder's.
pub const LOCK_SUFFIX: &str = ".lock";
/// How often another name is tried when a new file was taken for a leftover before it was locked.
const ATTEMPTS: usize = 16;

/// A new, locked file in `folder`, deleted when dropped, with the rights (less the umask) that any
/// new file gets.
pub fn temporary_file(folder: &Path, suffix: &str) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder
        .prefix(PREFIX)
        .rand_bytes(RANDOM_LENGTH)
        .suffix(suffix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    for _ in 0..ATTEMPTS {
        let file = builder.tempfile_in(folder)?;
        match Lock::of(file.as_file()) {
            // Whoever removes leftovers was faster: it holds the file, or has deleted it already.
            Lock::Held => {}
            Lock::Taken if !file.path().exists() => {}
            Lock::Taken | Lock::Unsupported => return Ok(file),
        }
    }
    Err(io::Error::other(
        "temporary files disappear as soon as they are created",
    ))
}

/// The result of trying to lock a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// It is this process's now, until the file is closed.
    Taken,
    Held,
    /// The file system has no locks, as some network disks.
    Unsupported,
}

impl Lock {
    pub fn of(file: &File) -> Self {
        match file.try_lock() {
            Ok(()) => Self::Taken,
            Err(TryLockError::WouldBlock) => Self::Held,
            Err(TryLockError::Error(_)) => Self::Unsupported,
        }
    }
}

/// True for names that `temporary_file` and `TemporaryFolder` give, and for no others: what else
/// begins alike may be somebody's.
pub fn is_temporary(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    let random = random.map(|random| random.strip_suffix(LOCK_SUFFIX).unwrap_or(random));
    random.is_some_and(|random| {
        random.len() == RANDOM_LENGTH && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
