//! Folders that appear whole or not at all: filled under a temporary name, then renamed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::leftovers::remove_leftovers;
use super::read::{read_limited, require_regular};
use super::sync::{create_folder, folder_of, sync_folder};
use super::temporary::{LOCK_SUFFIX, temporary_file};
use super::write::write_whole;

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
            // Where even that fails, the old one stays where the next start finds it.
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
