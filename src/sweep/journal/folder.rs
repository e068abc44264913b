//! The folder of a sweep: begun, opened and locked.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{JOURNAL, Sweep};
use crate::sweep::definition::Definition;
use crate::sweep::error::SweepError;
use crate::system::WriteError;
use crate::system::files::{
    TemporaryFolder, create_folder, open_append, open_lock, read_limited, sync_folder, write_whole,
};
use crate::text::visible;

const DEFINITION: &str = "sweep.json";
const LOCK: &str = "lock";
const MAX_DEFINITION_BYTES: u64 = 1 << 20;
/// 10,000 trials of 40 epochs have about as much.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;
/// How often the lock is tried for, and the time between: a process that was killed, or a child
/// that is just being started, may hold it for a moment.
const ATTEMPTS: u32 = 50;
const MOMENT: Duration = Duration::from_millis(10);

impl Sweep {
    /// Begins a sweep in this folder, which is made; it must be empty if it is there.
    pub fn create(folder: &Path, definition: Definition) -> Result<Self, SweepError> {
        definition
            .problems()
            .into_iter()
            .next()
            .map_or(Ok(()), Err)?;
        if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(SweepError::Occupied {
                folder: folder.to_owned(),
            });
        }
        create_folder(folder).map_err(|error| WriteError::new(folder, &error))?;
        let lock = lock(folder)?;
        write_definition(folder, &definition)?;
        let journal = journal_of(folder)?;
        sync_folder(folder);
        Ok(Self {
            folder: folder.to_owned(),
            definition,
            trials: Vec::new(),
            ends: Vec::new(),
            elapsed: 0.0,
            tested: None,
            journal,
            _lock: lock,
        })
    }

    /// Begins a sweep in a new folder in `root`, named after the time. It is created under a
    /// temporary name, so that a process that is killed meanwhile leaves only what
    /// [`remove_leftovers`](crate::system::files::remove_leftovers) deletes.
    pub fn create_in(root: &Path, definition: Definition) -> Result<Self, SweepError> {
        let name = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S").to_string();
        let mut temporary =
            TemporaryFolder::new_in(root).map_err(|error| WriteError::new(root, &error))?;
        // Its files are closed again: Windows does not rename a folder with open files in it.
        drop(Self::create(temporary.path(), definition)?);
        let mut attempt = 1;
        loop {
            let folder = root.join(if attempt == 1 {
                name.clone()
            } else {
                format!("{name}-{attempt}")
            });
            match temporary.move_to(&folder) {
                Ok(()) => return Self::open(&folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
                Err(error) => return Err(WriteError::new(&folder, &error).into()),
            }
        }
    }

    /// Opens a sweep, to resume it or to see what came of it.
    pub fn open(folder: &Path) -> Result<Self, SweepError> {
        let path = folder.join(DEFINITION);
        let unreadable = |path: &Path, error: &io::Error| SweepError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let malformed = |path: &Path, reason: String| SweepError::Malformed {
            path: path.to_owned(),
            reason: visible::one_line(&reason),
        };
        let read =
            || read_limited(&path, MAX_DEFINITION_BYTES).map_err(|error| unreadable(&path, &error));
        // No lock is made in a folder that has no sweep. What is read counts only under the lock:
        // another process may be extending the sweep.
        read()?;
        let lock = lock(folder)?;
        let json = read()?;
        let definition: Definition =
            serde_json::from_slice(&json).map_err(|error| malformed(&path, error.to_string()))?;
        if let Some(problem) = definition.problems().into_iter().next() {
            return Err(malformed(&path, problem.to_string()));
        }
        let path = folder.join(JOURNAL);
        let bytes = match read_limited(&path, MAX_JOURNAL_BYTES) {
            // Killed between making the folder and the journal.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes.map_err(|error| unreadable(&path, &error))?,
        };
        let journal = journal_of(folder)?;
        let mut sweep = Self {
            folder: folder.to_owned(),
            definition,
            trials: Vec::new(),
            ends: Vec::new(),
            elapsed: 0.0,
            tested: None,
            journal,
            _lock: lock,
        };
        let whole = sweep
            .replay(&bytes)
            .map_err(|reason| malformed(&path, reason))?;
        if whole < bytes.len() {
            write_whole(&path, &bytes[..whole])?;
            sweep.journal = journal_of(folder)?;
        }
        Ok(sweep)
    }

    /// The folders in `root` that contain a sweep, even a damaged one. Hidden folders are still
    /// being created.
    pub fn folders_in(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
        let entries = fs::read_dir(root)
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        let not_hidden =
            entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
        not_hidden
            .map(|entry| entry.path())
            .filter(|folder| folder.join(DEFINITION).is_file())
    }

    /// The folder of the newest sweep in this one.
    pub fn newest(root: &Path) -> Result<PathBuf, SweepError> {
        Self::folders_in(root)
            .max()
            .ok_or_else(|| SweepError::None {
                folder: root.to_owned(),
            })
    }
}

pub(super) fn write_definition(folder: &Path, definition: &Definition) -> Result<(), SweepError> {
    let path = folder.join(DEFINITION);
    let json = serde_json::to_vec_pretty(definition)
        .map_err(|error| WriteError::new(&path, &error.into()))?;
    Ok(write_whole(&path, &json)?)
}

fn journal_of(folder: &Path) -> Result<File, SweepError> {
    let path = folder.join(JOURNAL);
    Ok(open_append(&path).map_err(|error| WriteError::new(&path, &error))?)
}

fn lock(folder: &Path) -> Result<File, SweepError> {
    let path = folder.join(LOCK);
    let lock = open_lock(&path).map_err(|error| WriteError::new(&path, &error))?;
    for _ in 0..ATTEMPTS {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) => std::thread::sleep(MOMENT),
            Err(TryLockError::Error(error)) => return Err(WriteError::new(&path, &error).into()),
        }
    }
    Err(SweepError::InUse {
        folder: folder.to_owned(),
    })
}
