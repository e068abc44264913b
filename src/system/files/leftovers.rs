//! Deleting what processes that were killed left behind.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::folder::put_back;
use super::group::undo;
use super::read::open_regular;
use super::temporary::{LOCK_SUFFIX, Lock, is_temporary};

/// Where a file system has no locks, what has not changed for so long is a leftover.
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

/// Whether a living process has locked this file; or, where nobody can, whether it is recent.
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
