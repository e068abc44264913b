//! Single files: a temporary file beside the target, flush, sync, rename, sync of the folder; and
//! making folders and names durable. A file that was synced is lost in a power cut if the entry for
//! it in its folder was not.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::read::require_regular;
use super::temporary::{remove_leftovers, temporary_file};
use crate::system::WriteError;

/// Longer chains of symbolic links lead in circles.
const MAX_LINKS: usize = 40;

/// Writes `bytes` to `path`, creating its folder; on any failure the old file, if there was one, is
/// untouched. Refuses to replace anything but a regular file: a folder, a device, a pipe, a
/// symbolic link.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    write_whole_with(path, |file| file.write_all(bytes))
}

/// The same with whatever `write` writes, piece by piece.
pub fn write_whole_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let write_all = || -> io::Result<()> {
        check_target(path)?;
        let folder = folder_of(path);
        create_folder(folder)?;
        remove_leftovers(folder);
        let mut file = temporary_file(folder, "")?;
        fill(file.as_file_mut(), write)?;
        file.persist(path).map_err(|failed| failed.error)?;
        sync_folder(folder);
        Ok(())
    };
    write_all().map_err(|error| WriteError::new(path, &error))
}

/// The same if `path` may be a symbolic link, which stays one: the file that it leads to is
/// written, or created.
pub fn write_through_links(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let target = follow(path).map_err(|error| WriteError::new(path, &error))?;
    write_whole(&target, bytes)
}

fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !target.is_symlink() {
            return Ok(target);
        }
        target = folder_of(&target).join(std::fs::read_link(&target)?);
    }
    Err(io::Error::other("its symbolic links lead in circles"))
}

/// An error unless nothing or a regular file is there.
pub fn check_target(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) => require_regular(&metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes what `write` writes, to the disk itself.
pub fn fill(
    file: &mut File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut watched = Watched {
        to: BufWriter::new(&mut *file),
        error: None,
    };
    let written = write(&mut watched).and_then(|()| watched.flush());
    // The system's error, even if a format's library replaces its text.
    written.map_err(|error| watched.error.take().unwrap_or(error))?;
    drop(watched);
    file.sync_all()
}

/// Keeps the last error of what it writes to.
struct Watched<W> {
    to: W,
    error: Option<io::Error>,
}

impl<W> Watched<W> {
    fn kept<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.error = Some(
                error
                    .raw_os_error()
                    .map_or_else(|| error.kind().into(), io::Error::from_raw_os_error),
            );
        }
        result
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes);
        self.kept(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.to.flush();
        self.kept(flushed)
    }
}

/// Lets nobody but the user read what this process writes from now on: folders have the mode 700,
/// files 600. On Windows, the user's folders are private already.
pub fn keep_new_files_private() {
    #[cfg(unix)]
    // SAFETY: it changes nothing but the umask, and cannot fail.
    unsafe {
        libc::umask(0o077);
    }
}

/// The folder that a path lies in; `.` for a mere name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."))
}

/// Creates a folder with all those above it, each entered durably in the one above it. Nothing
/// if it exists.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let missing: Vec<&Path> = folder
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.is_dir())
        .collect();
    std::fs::create_dir_all(folder)?;
    for made in missing {
        sync_folder(folder_of(made));
    }
    Ok(())
}

/// Makes new, renamed and removed entries of a folder durable. A failure is logged and no more:
/// what was written is whole and in place, and some file systems cannot do this at all.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) {
    if let Err(error) = File::open(folder).and_then(|opened| opened.sync_all()) {
        tracing::debug!(%error, folder = %folder.display(), "a folder could not be synced");
    }
}

#[cfg(not(unix))]
pub fn sync_folder(_: &Path) {}
