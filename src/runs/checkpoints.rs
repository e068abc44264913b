//! The folder of checkpoints: a folder in it for each run that is in progress or was interrupted.
//!
//! Whoever trains a run holds a lock on a file in its folder. The system releases it however that process ends, so a folder that nobody
//! holds is that of an interrupted run.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::RunError;
use super::checkpoint_file;
use super::folder::unwritable;
use crate::system::files::{open_regular, write_whole_with};
use crate::train::{Checkpoint, CheckpointCard};

const CHECKPOINT: &str = "checkpoint";
const LOCK: &str = "lock";

/// The folder of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    root: PathBuf,
}

/// A run that was interrupted and can be resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptedRun {
    /// Where its checkpoint is.
    pub folder: PathBuf,
    /// Its settings and completed epochs.
    pub card: CheckpointCard,
}

/// The folder of one run, in which each checkpoint replaces the one before.
#[derive(Debug)]
pub struct CheckpointFolder {
    folder: PathBuf,
    /// Taken with the first checkpoint.
    lock: Option<File>,
}

impl Checkpoints {
    /// The checkpoints in this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A folder for a new run. Nothing is created before its first checkpoint.
    pub fn begin(&self) -> CheckpointFolder {
        let now = jiff::Timestamp::now().as_nanosecond();
        CheckpointFolder { folder: self.root.join(format!("{now}-{}", std::process::id())), lock: None }
    }

    /// The checkpoint of an interrupted run, and the folder for its next ones. An error if the run is in progress elsewhere, or damaged.
    pub fn resume(folder: &Path) -> Result<(CheckpointFolder, Checkpoint), RunError> {
        let mut own = CheckpointFolder { folder: folder.to_owned(), lock: None };
        if !folder.is_dir() {
            return Err(malformed(folder, "the folder no longer exists"));
        }
        own.lock().map_err(|error| match error {
            TryLockError::WouldBlock => RunError::InUse { folder: folder.to_owned() },
            TryLockError::Error(error) => unreadable(folder, &error),
        })?;
        let file = open_regular(&folder.join(CHECKPOINT)).map_err(|error| unreadable(folder, &error))?;
        let checkpoint = checkpoint_file::read(&mut BufReader::new(file)).map_err(|reason| malformed(folder, &reason))?;
        Ok((own, checkpoint))
    }

    /// What is known of the run in this folder without loading its weights.
    pub fn read_card(folder: &Path) -> Result<InterruptedRun, RunError> {
        let mut file = open_regular(&folder.join(CHECKPOINT)).map_err(|error| unreadable(folder, &error))?;
        let card = checkpoint_file::read_card(&mut file).map_err(|reason| malformed(folder, &reason))?;
        Ok(InterruptedRun { folder: folder.to_owned(), card })
    }

    /// Interrupted runs, the newest first. Checkpoints that cannot be read are skipped, and stay where they are.
    pub fn list(&self) -> Vec<InterruptedRun> {
        let Ok(entries) = fs::read_dir(&self.root) else { return Vec::new() };
        let interrupted = |folder: PathBuf| {
            let run = Self::read_card(&folder).inspect_err(|error| tracing::info!(%error, "no checkpoint")).ok()?;
            let held = matches!(open_regular(&folder.join(LOCK)).map(|lock| lock.try_lock()), Ok(Err(TryLockError::WouldBlock)));
            (!held).then_some(run)
        };
        let mut runs: Vec<_> = entries.filter_map(|entry| interrupted(entry.ok()?.path())).collect();
        let made = |run: &InterruptedRun| run.card.made_at.parse::<jiff::Timestamp>().ok();
        runs.sort_by(|a, b| made(b).cmp(&made(a)).then_with(|| b.folder.cmp(&a.folder)));
        runs
    }

    /// Deletes an interrupted run. Only a folder with a checkpoint, directly in this one, is ever deleted.
    pub fn delete(&self, folder: &Path) -> Result<(), RunError> {
        if folder.parent() != Some(&self.root) {
            return Err(malformed(folder, "it is not in the checkpoints folder"));
        }
        let (own, _) = Self::resume(folder)?;
        own.delete().map_err(|error| unreadable(folder, &error))
    }
}

impl CheckpointFolder {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Replaces the checkpoint, whole or not at all.
    pub fn write(&mut self, checkpoint: &Checkpoint) -> Result<(), RunError> {
        let failed = |error: &io::Error| unwritable(&self.folder, error);
        fs::create_dir_all(&self.folder).map_err(|error| failed(&error))?;
        let file = self.folder.join(CHECKPOINT);
        if self.lock.is_none()
            && let Err(error) = self.lock()
        {
            // Without locks, on some network disks, a run in progress may be listed as interrupted: better than no checkpoint.
            tracing::info!(%error, "the checkpoint's folder cannot be locked");
        }
        Ok(write_whole_with(&file, |to| checkpoint_file::write(to, checkpoint))?)
    }

    /// Deletes the folder: the run is complete.
    pub fn delete(self) -> io::Result<()> {
        let Self { folder, lock } = self;
        drop(lock);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn lock(&mut self) -> Result<(), TryLockError> {
        let file = File::options().create(true).append(true).open(self.folder.join(LOCK)).map_err(TryLockError::Error)?;
        file.try_lock()?;
        self.lock = Some(file);
        Ok(())
    }
}

fn unreadable(folder: &Path, error: &io::Error) -> RunError {
    RunError::Unreadable { folder: folder.to_owned(), reason: error.to_string() }
}

fn malformed(folder: &Path, reason: &str) -> RunError {
    RunError::Malformed { folder: folder.to_owned(), reason: reason.to_owned() }
}
