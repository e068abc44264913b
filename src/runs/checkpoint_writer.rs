//! Writes checkpoints on a separate thread, so that no run waits for a disk.
//!
//! Training in the background runs with idle scheduling, which every thread that it starts inherits
//! and cannot leave again without special rights. A writer started by the run would compete with
//! the very threads it serves. So the [`CheckpointThread`] is started before, by whoever starts the
//! engine, and only lowers its priority a little: behind what draws, before what trains. Measured
//! with epochs of about 0.3 s of the MLP on two cores that other programs kept busy, in one or two
//! runs each, so only the order of magnitude counts: a checkpoint was written 73 ms after its epoch
//! (median; 260 ms at most), where a writer with idle scheduling took 153 and 181 ms (762 and 450
//! at most) and skipped 13 and 1 of 60.

use std::ffi::OsStr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{CHECKPOINT, CheckpointFolder, Checkpoints, RunError};
use crate::nn::ComputeError;
use crate::records::RunPosition;
use crate::system::threads::{self, lock};
use crate::train::Checkpoint;

/// When a checkpoint that could not be written is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Called with the folder, how far the run is in the checkpoint, and whether it was written.
pub type OnWritten = dyn FnMut(&Path, RunPosition, Result<(), RunError>) + Send;

type Job = Box<dyn FnOnce() + Send>;

/// The thread that writes all checkpoints, one run after the other.
#[derive(Debug)]
pub struct CheckpointThread(Sender<Job>);

impl CheckpointThread {
    /// Starts it, in the background with a priority below normal. An error if there can be no
    /// further thread.
    pub fn start(background: bool) -> io::Result<Self> {
        let (sender, jobs) = channel::<Job>();
        let work = move || {
            if background {
                threads::below_normal();
            }
            for job in jobs {
                // Whoever waits for the job learns of its end.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        threads::spawn("checkpoints", work)?;
        Ok(Self(sender))
    }
}

/// Writes the checkpoints of a run. Dropping it keeps the last one; [`CheckpointWriter::remove`]
/// deletes it.
#[derive(Debug)]
pub struct CheckpointWriter {
    /// The newest that is not written: when the disk is slower than the run, those in between are
    /// skipped.
    next: Arc<Mutex<Option<Checkpoint>>>,
    wake: SyncSender<()>,
    /// Comes when everything is written.
    finished: Mutex<Receiver<()>>,
    folder: Arc<Mutex<Option<CheckpointFolder>>>,
    path: PathBuf,
}

impl CheckpointWriter {
    /// Writes to this folder, on that thread; `on_written` is called after each, and after each
    /// failure. A checkpoint that could not be written is tried again until there is a newer one.
    pub fn start(
        checkpoint_thread: &CheckpointThread,
        mut folder: CheckpointFolder,
        mut on_written: Box<OnWritten>,
    ) -> Result<Self, RunError> {
        folder.claim();
        let next = Arc::new(Mutex::new(None::<Checkpoint>));
        let (wake, woken) = sync_channel(1);
        let (done, finished) = sync_channel(1);
        let path = folder.path().to_owned();
        let folder = Arc::new(Mutex::new(Some(folder)));
        let (newest, place, at) = (Arc::clone(&next), Arc::clone(&folder), path.clone());
        let work = move || {
            let mut wait = Duration::MAX;
            loop {
                let over = woken.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected);
                let checkpoint = lock(&newest).take();
                if let Some(checkpoint) = checkpoint {
                    let kept = lock(&place)
                        .as_mut()
                        .map_or(Ok(()), |folder| folder.write(&checkpoint));
                    wait = if kept.is_ok() {
                        Duration::MAX
                    } else {
                        RETRY_AFTER
                    };
                    let failed = kept.is_err();
                    on_written(&at, checkpoint.card.position(), kept);
                    if failed {
                        lock(&newest).get_or_insert(checkpoint);
                    }
                }
                if over {
                    break;
                }
            }
            // Nobody waits for it if the run crashed.
            let _ = done.send(());
        };
        let gone = |_| ComputeError::failed(&"the checkpoint thread has stopped");
        checkpoint_thread.0.send(Box::new(work)).map_err(gone)?;
        Ok(Self {
            next,
            wake,
            finished: Mutex::new(finished),
            folder,
            path,
        })
    }

    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// The folder's name, which no other run's has.
    pub fn name(&self) -> Option<&str> {
        self.path.file_name().and_then(OsStr::to_str)
    }

    /// How far the run is in the checkpoint on the disk; `None` if none could be written.
    pub fn position(&self) -> Option<RunPosition> {
        Checkpoints::position(&self.path)
    }

    /// Bytes that the checkpoint on the disk takes.
    pub fn bytes(&self) -> u64 {
        std::fs::metadata(self.path.join(CHECKPOINT)).map_or(0, |file| file.len())
    }

    pub fn write(&self, checkpoint: Checkpoint) {
        *lock(&self.next) = Some(checkpoint);
        // The thread will wake anyway if one wake-up is pending.
        let _ = self.wake.try_send(());
    }

    /// Notes where the run is about to be saved, so that its checkpoint is not taken for an
    /// interrupted run's if this process is killed before it could delete it.
    pub fn note_target(&self, target: &Path) {
        if let Some(folder) = lock(&self.folder).as_mut()
            && let Err(error) = folder.note_target(target)
        {
            // A full disk, perhaps: it matters only to one who is killed at the wrong moment.
            tracing::info!(%error, "where the run is saved could not be noted");
        }
    }

    /// For a run that can be resumed: waits until everything is written. Returns the folder, if
    /// there is a checkpoint in it.
    pub fn keep(self) -> Option<PathBuf> {
        self.end()?.release()
    }

    /// For a run that is complete: its checkpoint is deleted.
    pub fn remove(self) {
        lock(&self.next).take();
        if let Some(Err(error)) = self.end().map(CheckpointFolder::delete) {
            tracing::info!(%error, "a checkpoint remains");
        }
    }

    fn end(self) -> Option<CheckpointFolder> {
        let Self {
            wake,
            finished,
            folder,
            ..
        } = self;
        drop(wake);
        // An error means that the thread is gone: it writes nothing any more either.
        let _ = finished
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        lock(&folder).take()
    }
}
