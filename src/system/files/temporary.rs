//! What is being written: files and folders with temporary names and locks, folders that appear
//! whole or not at all, and deleting what processes that were killed left behind.
//!
//! A lock means that the process that writes the file lives: the system releases it when the
//! process ends, however it ends.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

use super::group::undo;
use super::read::{open_regular, read_limited, require_regular};
use super::write::{create_folder, folder_of, sync_folder, write_whole};
use crate::system::WriteError;

const PREFIX: &str = ".inkling-";
/// Random letters and digits after it.
const RANDOM_LENGTH: usize = 6;
/// The suffix of a folder's lock.
pub const LOCK_SUFFIX: &str = ".lock";
/// How often another name is tried when a new file was taken for a leftover before it was locked.
const ATTEMPTS: usize = 16;

/// The most names with a number that are tried for a folder.
const MAX_ALIKE: u32 = 10_000;

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

/// In a temporary folder: the folder that was to be replaced, and a file with its name.
const OLD: &str = "old";
const OLD_NAME: &str = "old.json";
/// File names have at most 255 bytes or UTF-16 units, each of which takes up to six bytes here.
const MAX_NAME_BYTES: u64 = 4_096;

/// A new, hidden folder; deleted when dropped unless it was put in its place. `remove_leftovers`
/// leaves it alone as long as this lives.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// Beside the folder and named after it. Created before the folder and deleted after it, so no
    /// living folder is ever without it.
    _lock: NamedTempFile,
    kept: bool,
}

impl TemporaryFolder {
    /// A folder in `parent`, which is created if need be.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        create_folder(parent)?;
        remove_leftovers(parent);
        let lock = temporary_file(parent, LOCK_SUFFIX)?;
        let path = lock.path().with_extension("");
        std::fs::create_dir(&path)?;
        Ok(Self {
            path,
            _lock: lock,
            kept: false,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames it to `target`, where there must be nothing: `AlreadyExists` otherwise, and another
    /// target may be tried.
    pub fn move_to(&mut self, target: &Path) -> io::Result<()> {
        if target.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        std::fs::rename(&self.path, target).map_err(|error| match error.kind() {
            // Another process has put a folder there this moment.
            io::ErrorKind::DirectoryNotEmpty => io::ErrorKind::AlreadyExists.into(),
            _ => error,
        })?;
        self.kept = true;
        sync_folder(folder_of(target));
        Ok(())
    }

    /// Renames it to the first of `name`, `name_2`, `name_3` … in `root` that is free, and gives
    /// that. `trying` is called with each before.
    pub fn move_into(
        mut self,
        root: &Path,
        name: &str,
        mut trying: impl FnMut(&Path),
    ) -> Result<PathBuf, WriteError> {
        let mut number = 1;
        loop {
            let folder = root.join(if number == 1 {
                name.to_owned()
            } else {
                format!("{name}_{number}")
            });
            trying(&folder);
            match self.move_to(&folder) {
                Ok(()) => return Ok(folder),
                // Taken, perhaps this moment, by another process.
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && number < MAX_ALIKE =>
                {
                    number += 1;
                }
                Err(error) => return Err(WriteError::new(&folder, &error)),
            }
        }
    }

    /// Puts it in the place of the folder `target`, beside it, if there is one. At every moment the
    /// old one or the new one is there, or `remove_leftovers` puts the old one back.
    pub fn replace(&mut self, target: &Path) -> io::Result<()> {
        match target.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.move_to(target),
            Err(error) => return Err(error),
            Ok(there) if !there.is_dir() => {
                return require_regular(&there).and(Err(io::ErrorKind::NotADirectory.into()));
            }
            Ok(_) => {}
        }
        let parent = folder_of(target);
        // What is deleted with the temporary folder is then the old one.
        if exchange(&self.path, target).is_ok() {
            sync_folder(parent);
            return Ok(());
        }
        let mut aside = Self::new_in(parent)?;
        let name = serde_json::to_vec(target.file_name().ok_or(io::ErrorKind::InvalidInput)?)?;
        write_whole(&aside.path.join(OLD_NAME), &name)
            .map_err(|error| io::Error::other(error.reason))?;
        std::fs::rename(target, aside.path.join(OLD))?;
        if let Err(error) = std::fs::rename(&self.path, target) {
            // If even that fails, the old one stays where the next start finds it.
            aside.kept = put_back(&aside.path).is_err();
            return Err(error);
        }
        self.kept = true;
        sync_folder(parent);
        Ok(())
    }

    /// Leaves it where it is, for `remove_leftovers` to deal with.
    pub(super) fn abandon(mut self) {
        self.kept = true;
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if !self.kept
            && let Err(error) = std::fs::remove_dir_all(&self.path)
        {
            tracing::debug!(%error, folder = %self.path.display(), "a temporary folder remains");
        }
    }
}

/// Puts the folder that this temporary one was to replace back in its place, unless something is
/// there.
pub fn put_back(temporary: &Path) -> io::Result<()> {
    let old = temporary.join(OLD);
    if !old.is_dir() {
        return Ok(());
    }
    let name: OsString =
        serde_json::from_slice(&read_limited(&temporary.join(OLD_NAME), MAX_NAME_BYTES)?)?;
    let target = in_folder(folder_of(temporary), &name)?;
    if target.symlink_metadata().is_ok() {
        return Ok(());
    }
    std::fs::rename(old, target)?;
    sync_folder(folder_of(temporary));
    Ok(())
}

/// The path of a file or folder directly in `folder`; an error for a name that leads elsewhere.
pub fn in_folder(folder: &Path, name: &OsStr) -> io::Result<PathBuf> {
    let is_name = Path::new(name).file_name() == Some(name);
    if is_name {
        Ok(folder.join(name))
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a name leads to another folder",
        ))
    }
}

/// Lets two folders change places, in one step.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// If a file system has no locks, what has not changed for so long is a leftover.
const UNLOCKED_AGE: Duration = Duration::from_hours(24);

/// Deletes temporary files and folders directly in `folder` whose process has ended, and first
/// undoes what such a process left half done there. What cannot be deleted stays until the next
/// time. Called at every start for the folders of this installation; whatever writes calls it for
/// the folder that it writes to.
pub fn remove_leftovers(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries
        .filter_map(Result::ok)
        .filter(|entry| is_temporary(&entry.file_name()))
    {
        let path = entry.path();
        let removed = match entry.file_type() {
            Ok(kind) if kind.is_dir() => remove_folder(&path),
            Ok(kind) if kind.is_file() => remove_file(&path),
            // Nothing that Inkling creates.
            _ => continue,
        };
        match removed {
            Ok(true) => {
                tracing::info!(path = %path.display(), "removed what a process that has ended left behind");
            }
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::info!(%error, path = %path.display(), "a leftover remains"),
        }
    }
}

fn remove_file(path: &Path) -> io::Result<bool> {
    // The lock of a folder goes with the folder, which may still have something to undo.
    if path
        .extension()
        .is_some_and(|extension| extension == &LOCK_SUFFIX[1..])
        && path.with_extension("").is_dir()
    {
        return Ok(false);
    }
    // Open, and so locked, until it is deleted.
    let file = open_regular(path)?;
    if is_in_use(&file)? {
        return Ok(false);
    }
    std::fs::remove_file(path).map(|()| true)
}

fn remove_folder(path: &Path) -> io::Result<bool> {
    let lock = path.with_extension(&LOCK_SUFFIX[1..]);
    // Held until all is done, so that no two processes undo the same.
    let held = match open_regular(&lock) {
        Ok(lock) => Some(lock),
        // Its process has ended: it deletes the lock last.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(lock) = &held
        && is_in_use(lock)?
    {
        return Ok(false);
    }
    undo(path)?;
    put_back(path)?;
    std::fs::remove_dir_all(path)?;
    match std::fs::remove_file(&lock) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(true),
    }
}

/// Whether a living process has locked this file; or, if nobody can, whether it is recent.
fn is_in_use(file: &File) -> io::Result<bool> {
    Ok(match Lock::of(file) {
        Lock::Taken => false,
        Lock::Held => true,
        Lock::Unsupported => file
            .metadata()?
            .modified()?
            .elapsed()
            .is_ok_and(|age| age < UNLOCKED_AGE),
    })
}
