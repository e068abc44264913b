//! The file behind the log: every process of Inkling appends to the same one, a line at a time. One
//! that is full is renamed, and the one before the last is deleted. Only the user can read it.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

use crate::system::files::open_append_private;

/// The log in use, and older ones.
pub const NAMES: [&str; 3] = ["inkling.log", "inkling.1.log", "inkling.2.log"];
/// A log of this many bytes is full.
pub const MAX_BYTES: u64 = 1 << 20;

/// The log in a folder, opened when the first line is written.
pub struct LogFile {
    folder: PathBuf,
    open: Mutex<Option<File>>,
}

impl LogFile {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            open: Mutex::new(None),
        }
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.as_ref().is_some_and(|file| {
            file.metadata()
                .is_ok_and(|metadata| metadata.len() < MAX_BYTES)
        }) {
            *open = Some(self.next()?);
        }
        open.as_mut().map_or(Ok(()), |file| file.write_all(line))
    }

    /// The file to write to from now on.
    fn next(&self) -> io::Result<File> {
        std::fs::create_dir_all(&self.folder)?;
        let [current, older, oldest] = NAMES.map(|name| self.folder.join(name));
        let file = open_append_private(&current)?;
        let is_full = || {
            current
                .metadata()
                .is_ok_and(|metadata| metadata.len() >= MAX_BYTES)
        };
        if !is_full() {
            return Ok(file);
        }
        // One process renames; what others write in the meantime goes to the full one. Without
        // locks, two of them may lose an older log.
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && is_full() {
            let _ = std::fs::rename(&older, oldest);
            std::fs::rename(&current, older)?;
        }
        open_append_private(&current)
    }
}

/// A line of the log on its way to the file.
pub struct Line<'a>(&'a LogFile);

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(self)
    }
}

impl Write for Line<'_> {
    /// Called once for each line. On a full disk the line is lost.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let _ = self.0.append(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
