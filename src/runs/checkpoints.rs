//! The folder of checkpoints: a folder in it for each run that is in progress or was interrupted.
//!
//! Whoever trains a run holds a lock on a file in its folder. The system releases it however that
//! process ends, so a folder that nobody holds belongs to an interrupted run.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::folder::{checkpoint_name, unwritable};
use super::{RunError, checkpoint_file};
use crate::records::RunPosition;
use crate::system::files::{
    create_folder, folder_of, open_lock, open_regular, read_limited, remove_leftovers, sync_folder,
    write_whole, write_whole_with,
};
use crate::train::{Checkpoint, CheckpointCard};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    root: PathBuf,
}

/// A run that was interrupted and can be resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptedRun {
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
            return Err(RunError::malformed(folder, "the folder no longer exists"));
        }
        own.lock().map_err(|error| match error {
            LockError::Held => RunError::InUse {
                folder: folder.to_owned(),
            },
            LockError::Failed(error) => RunError::unreadable(folder)(error),
        })?;
        let file = open_regular(&folder.join(CHECKPOINT)).map_err(RunError::unreadable(folder))?;
        let checkpoint = checkpoint_file::read(&mut BufReader::new(file))
            .map_err(|reason| RunError::malformed(folder, reason))?;
        Ok((own, checkpoint))
    }

    /// The facts of the run in this folder, without its weights.
    pub fn read_card(folder: &Path) -> Result<InterruptedRun, RunError> {
        let mut file =
            open_regular(&folder.join(CHECKPOINT)).map_err(RunError::unreadable(folder))?;
        let card = checkpoint_file::read_card(&mut file)
            .map_err(|reason| RunError::malformed(folder, reason))?;
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
            return Err(RunError::malformed(
                folder,
                "it is not in the checkpoints folder",
            ));
        }
        let (own, _) = Self::resume(folder)?;
        own.delete().map_err(RunError::unreadable(folder))
    }
}

/// True for folders with the names that [`unique_name`] returns.
fn is_ours(path: &Path) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let name = path
        .file_name()
        .and_then(OsStr::to_str)
        .and_then(|name| name.split_once('-'));
    name.is_some_and(|(time, process)| is_number(time) && is_number(process))
        && fs::symlink_metadata(path).is_ok_and(|there| there.is_dir())
}

pub const CHECKPOINT: &str = "checkpoint";
const LOCK: &str = "lock";
/// Where the run was to be saved when it ended: a path, as JSON.
const TARGET: &str = "target.json";
const MAX_TARGET_BYTES: u64 = 1 << 20;

/// How often a lock is tried for that another process may hold for no longer than it takes to look
/// at it, and the time between.
const ATTEMPTS: u32 = 20;
const MOMENT: Duration = Duration::from_millis(10);

/// The folder of one run, in which each checkpoint replaces the one before.
#[derive(Debug)]
pub struct CheckpointFolder {
    folder: PathBuf,
    /// Held from the start of the run, or from its first checkpoint if the folder could not be
    /// created before.
    lock: Option<File>,
}

/// A name that no folder here has: the time in nanoseconds, and this process.
pub fn unique_name() -> String {
    format!(
        "{}-{}",
        jiff::Timestamp::now().as_nanosecond(),
        std::process::id()
    )
}

/// Why a folder could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("it is held by another process")]
    Held,
    /// It has no locks, or cannot be written to.
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl CheckpointFolder {
    /// At this path. Nothing is created yet.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder, lock: None }
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Creates it and locks it for this process, so that others see that the run is in progress.
    /// If that fails, the first checkpoint tries it again.
    pub fn claim(&mut self) {
        if let Err(error) = self.create() {
            tracing::info!(%error, "the folder for checkpoints could not be created yet");
        }
    }

    /// Replaces the checkpoint, whole or not at all.
    pub fn write(&mut self, checkpoint: &Checkpoint) -> Result<(), RunError> {
        self.create()
            .map_err(|error| unwritable(&self.folder, &error))?;
        Ok(write_whole_with(&self.folder.join(CHECKPOINT), |to| {
            checkpoint_file::write(to, checkpoint)
        })?)
    }

    /// Notes where the run is about to be saved. If this process is killed between saving it and
    /// deleting the checkpoint, [`CheckpointFolder::is_saved`] is true.
    pub fn note_target(&mut self, target: &Path) -> Result<(), RunError> {
        let target = std::path::absolute(target).map_err(|error| unwritable(target, &error))?;
        let json = serde_json::to_vec(target.as_os_str())
            .map_err(|error| unwritable(&self.folder, &error.into()))?;
        self.create()
            .map_err(|error| unwritable(&self.folder, &error))?;
        Ok(write_whole(&self.folder.join(TARGET), &json)?)
    }

    /// True if the run was saved: then this folder should be gone.
    pub fn is_saved(&self) -> bool {
        let target = read_limited(&self.folder.join(TARGET), MAX_TARGET_BYTES).ok();
        let target = target.and_then(|json| serde_json::from_slice::<OsString>(&json).ok());
        let saved = target.and_then(|target| checkpoint_name(Path::new(&target)));
        saved.is_some()
            && saved.as_deref() == self.folder.file_name().and_then(|name| name.to_str())
    }

    /// True while a process holds the lock.
    pub fn is_held(&self) -> bool {
        self.lock.is_some()
            || matches!(
                open_regular(&self.folder.join(LOCK)).map(|lock| lock.try_lock_shared()),
                Ok(Err(TryLockError::WouldBlock))
            )
    }

    pub fn lock(&mut self) -> Result<(), LockError> {
        self.lock_opened_by(open_lock)
    }

    fn lock_opened_by(
        &mut self,
        open: impl Fn(&Path) -> io::Result<File>,
    ) -> Result<(), LockError> {
        for attempt in 1..=ATTEMPTS {
            let lock = open(&self.folder.join(LOCK))?;
            match lock.try_lock() {
                // Whoever removes leftovers may have been faster.
                Ok(()) if !self.folder.join(LOCK).exists() => {
                    return Err(io::Error::from(io::ErrorKind::NotFound).into());
                }
                Ok(()) => {
                    self.lock = Some(lock);
                    return Ok(());
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => std::thread::sleep(MOMENT),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        Err(LockError::Held)
    }

    /// Gives it back at the end of a run that may be resumed: its path if there is a checkpoint in
    /// it. Without one, nothing is left of it.
    pub fn release(self) -> Option<PathBuf> {
        let path = self.folder.clone();
        if path.join(CHECKPOINT).exists() {
            return Checkpoints::position(&path).map(|_| path);
        }
        if let Err(error) = self.delete() {
            tracing::info!(%error, "an empty folder remains among the checkpoints");
        }
        None
    }

    /// Deletes the folder: the run is complete.
    pub fn delete(self) -> io::Result<()> {
        let Self { folder, mut lock } = self;
        // The checkpoint first: what is left of the rest is a leftover.
        allow_missing(fs::remove_file(folder.join(CHECKPOINT)))?;
        if cfg!(windows) {
            // No file that is open is deleted there.
            lock = None;
        }
        // Under another name immediately: whoever begins a run in the folder meanwhile makes it
        // anew, and loses nothing.
        let away = folder.with_file_name(unique_name());
        let removed = remove_lock_last(if fs::rename(&folder, &away).is_ok() {
            &away
        } else {
            &folder
        });
        drop(lock);
        allow_missing(removed)
    }

    /// Deletes what a process that was killed left in it, or all of it if there is nothing to
    /// resume; nothing while a living process holds it.
    pub fn remove_leftovers(mut self) -> io::Result<()> {
        // No lock is made if there is none: a folder without one begins or ends at this moment,
        // or is what a killed process left of one. If it is empty it goes, and whoever begins makes
        // it anew.
        let is_empty = !self.folder.join(CHECKPOINT).exists();
        match if is_empty {
            self.lock_opened_by(open_regular)
        } else {
            self.lock()
        } {
            Err(LockError::Held) => return Ok(()),
            Err(LockError::Failed(error))
                if is_empty && error.kind() == io::ErrorKind::NotFound =>
            {
                return match fs::remove_dir(&self.folder) {
                    Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
                    removed => allow_missing(removed),
                };
            }
            Err(LockError::Failed(error)) => return Err(error),
            Ok(()) => {}
        }
        remove_leftovers(&self.folder);
        if self.is_saved() || !self.folder.join(CHECKPOINT).exists() {
            self.delete()
        } else {
            Ok(())
        }
    }

    /// Creates and locks the folder, if that was not done yet.
    fn create(&mut self) -> io::Result<()> {
        let mut locked = Err(LockError::Held);
        for _ in 0..ATTEMPTS {
            if self.lock.is_some() {
                return Ok(());
            }
            create_folder(folder_of(&self.folder))?;
            // Locked immediately, before the disk is waited for.
            match fs::create_dir(&self.folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => locked = self.lock(),
            }
            // Whoever removes leftovers deletes a folder in which there is no checkpoint yet.
            if !matches!(&locked, Err(LockError::Failed(error)) if error.kind() == io::ErrorKind::NotFound)
            {
                break;
            }
        }
        sync_folder(folder_of(&self.folder));
        if let Err(error) = locked {
            // Without locks, on some network disks, a run in progress may be listed as interrupted:
            // better than no checkpoint.
            tracing::info!(%error, "the checkpoint's folder cannot be locked");
        }
        Ok(())
    }
}

/// Removes a folder in such an order that without a lock it is empty.
fn remove_lock_last(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() != LOCK {
            allow_missing(fs::remove_file(entry.path()))?;
        }
    }
    allow_missing(fs::remove_file(folder.join(LOCK)))?;
    fs::remove_dir(folder)
}

fn allow_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
