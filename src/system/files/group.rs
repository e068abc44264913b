//! Several files in one folder, all or none.
//!
//! New files are written to a temporary folder in the target folder, together with links to the
//! files that they replace and a journal. Then they are renamed to their targets. Deleting the
//! journal is the moment at which the group counts: whoever finds one of a process that has ended
//! undoes what was renamed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::read::{open_regular, read_limited};
use super::temporary::{TemporaryFolder, in_folder};
use super::write::{check_target, fill, folder_of, sync_folder, write_whole};
use crate::system::WriteError;
use crate::system::sha256::digest_of;

const JOURNAL: &str = "group.json";
/// Larger journals are not ours: a group has a few files.
const MAX_JOURNAL_BYTES: u64 = 1 << 20;

/// What has to be known of a file to undo it. Its new content lies under its number in the
/// temporary folder, what it replaces beside that.
#[derive(Serialize, Deserialize)]
struct Entry {
    name: OsString,
    replaces: bool,
    /// SHA-256 of the new content: a file that differs from it is somebody else's by now, and left
    /// alone.
    digest: [u8; 32],
}

/// Writes several files in the same folder, which is created if need be. On any failure, all of
/// them are as before; if the process dies in between, `remove_leftovers` makes them so. Refuses
/// to replace anything but regular files.
pub fn write_group<B: AsRef<[u8]>>(files: &[(PathBuf, B)]) -> Result<(), WriteError> {
    let Some((first, _)) = files.first() else {
        return Ok(());
    };
    if let [(path, bytes)] = files {
        return write_whole(path, bytes.as_ref());
    }
    let folder = folder_of(first);
    let prepared = prepare(folder, files)?;
    for (number, (path, _)) in files.iter().enumerate() {
        if let Err(error) = std::fs::rename(new_file(prepared.path(), number), path) {
            return Err(undone(prepared, path, &error));
        }
    }
    sync_folder(folder);
    if let Err(error) = std::fs::remove_file(prepared.path().join(JOURNAL)) {
        return Err(undone(prepared, first, &error));
    }
    // Before what was replaced is deleted: after a power cut, the journal must not be back alone.
    sync_folder(prepared.path());
    Ok(())
}

/// Everything that has to be on the disk before the first file is renamed.
fn prepare<B: AsRef<[u8]>>(
    folder: &Path,
    files: &[(PathBuf, B)],
) -> Result<TemporaryFolder, WriteError> {
    let of_folder = |error: &io::Error| WriteError::new(folder, error);
    let temporary = TemporaryFolder::new_in(folder).map_err(|error| of_folder(&error))?;
    let mut entries: Vec<Entry> = Vec::new();
    for (number, (path, bytes)) in files.iter().enumerate() {
        let entry = stage(temporary.path(), number, folder, path, bytes.as_ref())
            .map_err(|error| WriteError::new(path, &error))?;
        if entries.iter().any(|earlier| earlier.name == entry.name) {
            return Err(WriteError::new(
                path,
                &io::Error::other("two files of a group have this name"),
            ));
        }
        entries.push(entry);
    }
    let journal = serde_json::to_vec(&entries).map_err(|error| of_folder(&error.into()))?;
    write_whole(&temporary.path().join(JOURNAL), &journal)?;
    sync_folder(folder);
    Ok(temporary)
}

fn stage(
    temporary: &Path,
    number: usize,
    folder: &Path,
    path: &Path,
    bytes: &[u8],
) -> io::Result<Entry> {
    check_target(path)?;
    let name = path
        .file_name()
        .filter(|_| folder_of(path) == folder)
        .map(OsStr::to_owned);
    let name =
        name.ok_or_else(|| io::Error::other("the files of a group must be in one folder"))?;
    fill(&mut File::create(new_file(temporary, number))?, |file| {
        file.write_all(bytes)
    })?;
    let replaces = path.exists();
    if replaces {
        keep_old(path, &old_file(temporary, number))?;
    }
    Ok(Entry {
        name,
        replaces,
        digest: Sha256::digest(bytes).into(),
    })
}

/// Gives a file a second name, or a copy if the file system has no links.
fn keep_old(path: &Path, old: &Path) -> io::Result<()> {
    if std::fs::hard_link(path, old).is_ok() {
        return Ok(());
    }
    std::fs::copy(path, old)?;
    File::options().write(true).open(old)?.sync_all()
}

fn undone(prepared: TemporaryFolder, path: &Path, error: &io::Error) -> WriteError {
    if undo(prepared.path()).is_err() {
        // The next start, or the next time something is written here, tries again.
        prepared.abandon();
    }
    WriteError::new(path, error)
}

/// Undoes the group of a temporary folder, if it has one that was not finished. May be interrupted
/// and called again.
pub fn undo(temporary: &Path) -> io::Result<()> {
    let journal = temporary.join(JOURNAL);
    if !journal.is_file() {
        return Ok(());
    }
    let entries: Vec<Entry> = serde_json::from_slice(&read_limited(&journal, MAX_JOURNAL_BYTES)?)?;
    let folder = folder_of(temporary);
    for (number, entry) in entries.iter().enumerate() {
        let target = in_folder(folder, &entry.name)?;
        let renamed = !new_file(temporary, number).exists();
        if !renamed || !is_ours(&target, &entry.digest) {
            continue;
        }
        let old = old_file(temporary, number);
        match entry.replaces {
            true if old.exists() => std::fs::rename(old, target)?,
            true => {}
            false => std::fs::remove_file(target)?,
        }
    }
    sync_folder(folder);
    std::fs::remove_file(journal)
}

fn is_ours(target: &Path, digest: &[u8; 32]) -> bool {
    open_regular(target)
        .and_then(digest_of)
        .is_ok_and(|found| found == *digest)
}

fn new_file(temporary: &Path, number: usize) -> PathBuf {
    temporary.join(format!("{number}.new"))
}

fn old_file(temporary: &Path, number: usize) -> PathBuf {
    temporary.join(format!("{number}.old"))
}
