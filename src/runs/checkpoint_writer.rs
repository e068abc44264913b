//! Writes checkpoints on a thread of its own, so that no run waits for a disk.
//!
//! Training in the background runs with idle scheduling, which every thread that it starts inherits and cannot leave again without special
//! rights. A writer started by the run would compete with the very threads it serves. So the [`CheckpointThread`] is started before, by
//! whoever starts the engine, and only lowers its priority a little: behind what draws, before what trains. Measured with epochs of about
//! 0.3 s of the MLP on two cores that other programs kept busy, in one or two runs each, so only the order of magnitude counts: a checkpoint
//! was written 73 ms after its epoch (median; 260 ms at most), where a writer with idle scheduling took 153 and 181 ms (762 and 450 at most)
//! and skipped 13 and 1 of 60.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

#[cfg(target_os = "linux")]
use thread_priority::unix::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

use super::CheckpointFolder;
use super::RunError;
use crate::nn::ComputeError;
use crate::records::RunPosition;
use crate::train::Checkpoint;

/// The thread's priority on a scale of 0 to 99 whose middle is normal.
const BELOW_NORMAL: u8 = 25;

/// Called with the folder, how far the run is in the checkpoint, and whether it was written.
pub type OnWritten = dyn FnMut(&Path, RunPosition, Result<(), RunError>) + Send;

type Job = Box<dyn FnOnce() + Send>;

/// The thread that writes all checkpoints, one run after the other.
#[derive(Debug)]
pub struct CheckpointThread(Sender<Job>);

impl CheckpointThread {
    /// Starts it, in the background with a priority below normal.
    pub fn start(background: bool) -> Self {
        let (sender, jobs) = channel::<Job>();
        let work = move || {
            if background {
                lower_priority();
            }
            for job in jobs {
                // Whoever waits for the job learns of its end.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        // Without the thread every job is refused.
        if let Err(error) = Builder::new().name("checkpoints".to_owned()).spawn(work) {
            tracing::error!(%error, "no thread for checkpoints");
        }
        Self(sender)
    }
}

/// Schedules this thread after those of normal priority, but before idle ones.
fn lower_priority() {
    let lower = ThreadPriorityValue::try_from(BELOW_NORMAL).map_or(ThreadPriority::Min, ThreadPriority::Crossplatform);
    #[cfg(target_os = "linux")]
    let lowered =
        set_thread_priority_and_policy(thread_native_id(), lower, ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other));
    #[cfg(not(target_os = "linux"))]
    let lowered = thread_priority::set_current_thread_priority(lower);
    if let Err(error) = lowered {
        tracing::debug!(?error, "checkpoints are written with the usual priority");
    }
}

/// Writes the checkpoints of a run. Dropping it keeps the last one; [`CheckpointWriter::remove`] deletes it.
#[derive(Debug)]
pub struct CheckpointWriter {
    /// The newest that has not been started: when the disk is slower than the run, those in between are skipped.
    next: Arc<Mutex<Option<Checkpoint>>>,
    wake: SyncSender<()>,
    /// Comes back when everything is written.
    finished: Mutex<Receiver<CheckpointFolder>>,
    path: PathBuf,
}

impl CheckpointWriter {
    /// Writes to this folder, on that thread; `on_written` is called after each.
    pub fn start(
        checkpoint_thread: &CheckpointThread,
        mut folder: CheckpointFolder,
        mut on_written: Box<OnWritten>,
    ) -> Result<Self, RunError> {
        let next = Arc::new(Mutex::new(None::<Checkpoint>));
        let (wake, woken) = sync_channel(1);
        let (done, written) = sync_channel(1);
        let path = folder.path().to_owned();
        let newest = Arc::clone(&next);
        let write = move || {
            while woken.recv().is_ok() {
                let Some(checkpoint) = newest.lock().unwrap_or_else(PoisonError::into_inner).take() else { continue };
                let kept = folder.write(&checkpoint);
                on_written(folder.path(), checkpoint.card.position(), kept);
            }
            // Nobody waits for it if the run crashed.
            let _ = done.send(folder);
        };
        let gone = |_| ComputeError::failed(&"the checkpoint thread has stopped");
        checkpoint_thread.0.send(Box::new(write)).map_err(gone)?;
        Ok(Self { next, wake, finished: Mutex::new(written), path })
    }

    /// The folder they go to.
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// Has this checkpoint written soon.
    pub fn write(&self, checkpoint: Checkpoint) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(checkpoint);
        // The thread will wake anyway if one wake-up is pending.
        let _ = self.wake.try_send(());
    }

    /// For a run that can be resumed: waits until everything is written.
    pub fn keep(self) {
        self.end();
    }

    /// For a run that is complete: its checkpoint is deleted.
    pub fn remove(self) {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(error)) = self.end().map(CheckpointFolder::delete) {
            tracing::info!(%error, "a checkpoint remains");
        }
    }

    fn end(self) -> Option<CheckpointFolder> {
        let Self { wake, finished, .. } = self;
        drop(wake);
        finished.into_inner().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }
}
