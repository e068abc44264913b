//! The folder of checkpoints: a folder in it for each run that is in progress or was interrupted.
//!
//! Whoever trains a run holds a lock on a file in its folder. The system releases it however that
//! process ends, so a folder that nobody holds is that of an interrupted run.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::checkpoint_folder::{CHECKPOINT, CheckpointFolder, LockError, unique_name};
use super::{RunError, checkpoint_file};
use crate::records::RunPosition;
use crate::system::files::open_regular;
use crate::train::{Checkpoint, CheckpointCard};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    root: PathBuf,
}

/// A run that was interrupted and can be resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptedRun {
    /// Where its checkpoint is.
    pub folder: PathBuf,
    pub card: CheckpointCard,
}

impl Checkpoints {
    /// The checkpoints in this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// A folder for a new run. Nothing is created yet.
    pub fn begin(&self) -> CheckpointFolder {
        CheckpointFolder::new(self.root.join(unique_name()))
    }

    /// The checkpoint of an interrupted run, and the folder for its next ones. An error if the run
    /// is in progress elsewhere, or damaged.
    pub fn resume(folder: &Path) -> Result<(CheckpointFolder, Checkpoint), RunError> {
        let mut own = CheckpointFolder::new(folder.to_owned());
        if !folder.is_dir() {
            return Err(malformed(folder, "the folder no longer exists"));
        }
        own.lock().map_err(|error| match error {
            LockError::Held => RunError::InUse {
                folder: folder.to_owned(),
            },
            LockError::Failed(error) => unreadable(folder, &error),
        })?;
        let file =
            open_regular(&folder.join(CHECKPOINT)).map_err(|error| unreadable(folder, &error))?;
        let checkpoint = checkpoint_file::read(&mut BufReader::new(file))
            .map_err(|reason| malformed(folder, &reason))?;
        Ok((own, checkpoint))
    }

    /// What is known of the run in this folder without loading its weights.
    pub fn read_card(folder: &Path) -> Result<InterruptedRun, RunError> {
        let mut file =
            open_regular(&folder.join(CHECKPOINT)).map_err(|error| unreadable(folder, &error))?;
        let card =
            checkpoint_file::read_card(&mut file).map_err(|reason| malformed(folder, &reason))?;
        Ok(InterruptedRun {
            folder: folder.to_owned(),
            card,
        })
    }

    /// How far the run in this folder can be resumed from; `None` if it cannot be.
    pub fn position(folder: &Path) -> Option<RunPosition> {
        Self::read_card(folder).ok().map(|run| run.card.position())
    }

    /// Interrupted runs, the newest first. Checkpoints that cannot be read are skipped, and stay
    /// where they are.
    pub fn list(&self) -> Vec<InterruptedRun> {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return Vec::new();
        };
        let interrupted = |folder: PathBuf| {
            let run = Self::read_card(&folder)
                .inspect_err(|error| tracing::info!(%error, "no checkpoint"))
                .ok()?;
            let folder = CheckpointFolder::new(folder);
            (!folder.is_held() && !folder.is_saved()).then_some(run)
        };
        let mut runs: Vec<_> = entries
            .filter_map(|entry| interrupted(entry.ok()?.path()))
            .collect();
        let made = |run: &InterruptedRun| run.card.made_at.parse::<jiff::Timestamp>().ok();
        runs.sort_by(|a, b| made(b).cmp(&made(a)).then_with(|| b.folder.cmp(&a.folder)));
        runs
    }

    /// True if one of the runs is in progress, or its process has not quite ended.
    pub fn any_in_progress(&self) -> bool {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return false;
        };
        entries
            .filter_map(Result::ok)
            .any(|entry| CheckpointFolder::new(entry.path()).is_held())
    }

    /// Deletes what processes that were killed left here: half a checkpoint, a folder without one,
    /// and the checkpoint of a run that was saved.
    pub fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return;
        };
        for folder in entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_ours(path))
        {
            if let Err(error) = CheckpointFolder::new(folder).remove_leftovers() {
                tracing::info!(%error, "a leftover remains among the checkpoints");
            }
        }
    }

    /// Deletes an interrupted run. Only a folder with a checkpoint, directly in this one, is ever
    /// deleted.
    pub fn delete(&self, folder: &Path) -> Result<(), RunError> {
        if folder.parent() != Some(&self.root) {
            return Err(malformed(folder, "it is not in the checkpoints folder"));
        }
        let (own, _) = Self::resume(folder)?;
        own.delete().map_err(|error| unreadable(folder, &error))
    }
}

/// True for folders with the names that [`unique_name`] gives.
fn is_ours(path: &Path) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let name = path
        .file_name()
        .and_then(OsStr::to_str)
        .and_then(|name| name.split_once('-'));
    name.is_some_and(|(time, process)| is_number(time) && is_number(process))
        && fs::symlink_metadata(path).is_ok_and(|there| there.is_dir())
}

fn unreadable(folder: &Path, error: &io::Error) -> RunError {
    RunError::Unreadable {
        folder: folder.to_owned(),
        reason: error.to_string(),
    }
}

fn malformed(folder: &Path, reason: &str) -> RunError {
    RunError::Malformed {
        folder: folder.to_owned(),
        reason: reason.to_owned(),
    }
}
