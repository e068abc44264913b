//! Owns writing checkpoints on a thread of its own, so that no run waits for a disk. Must not know what is done when it fails.
//!
//! Where training takes only what nobody else wants of the processor, its threads do so by idle scheduling, which threads they start inherit
//! and cannot leave again without rights that programs do not have. A writer with that would wait for the very threads it serves. So the
//! [`Scribe`] is started before, by whoever starts the engine, and only steps back a little: behind what draws, before what trains. Measured with
//! epochs of about 0.3 s of the MLP on two cores that others kept busy, in one or two runs each, so only the order of size counts: a checkpoint
//! was written 73 ms after its epoch (median; 260 ms at most), where the idle writer took 153 and 181 ms (762 and 450 at most) and left out 13
//! and 1 of 60.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

#[cfg(target_os = "linux")]
use thread_priority::unix::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

use super::Place;
use super::RunError;
use crate::nn::ComputeError;
use crate::train::Checkpoint;

/// The scribe's priority on a scale of 0 to 99 whose middle is the usual one.
const BELOW_NORMAL: u8 = 25;

/// What is told when a checkpoint was written, or not.
pub type Told = dyn FnMut(&Path, u32, Result<(), RunError>) + Send;

type Job = Box<dyn FnOnce() + Send>;

/// The thread that writes the checkpoints of one run after the other.
#[derive(Debug)]
pub struct Scribe(Sender<Job>);

impl Scribe {
    /// Starts it. With `gives_way` it steps back behind threads of usual priority.
    pub fn start(gives_way: bool) -> Self {
        let (sender, jobs) = channel::<Job>();
        let work = move || {
            if gives_way {
                step_back();
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

/// Has this thread give way to those of usual priority, but not to idle ones.
fn step_back() {
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

/// Writes the checkpoints of a run. Dropping it leaves the last one; [`CheckpointWriter::over`] removes it.
#[derive(Debug)]
pub struct CheckpointWriter {
    /// The newest that was not begun: while the disk is slower than the run, those between are left out.
    next: Arc<Mutex<Option<Checkpoint>>>,
    bell: SyncSender<()>,
    /// Comes back when all is written.
    place: Mutex<Receiver<Place>>,
    folder: PathBuf,
}

impl CheckpointWriter {
    /// Writes to this place, on that thread; `told` hears of each, with the number of epochs in it.
    pub fn start(scribe: &Scribe, mut place: Place, mut told: Box<Told>) -> Result<Self, RunError> {
        let next = Arc::new(Mutex::new(None::<Checkpoint>));
        let (bell, rung) = sync_channel(1);
        let (done, written) = sync_channel(1);
        let folder = place.folder().to_owned();
        let mailbox = Arc::clone(&next);
        let write = move || {
            while rung.recv().is_ok() {
                let Some(checkpoint) = mailbox.lock().unwrap_or_else(PoisonError::into_inner).take() else { continue };
                let kept = place.keep(&checkpoint);
                told(place.folder(), checkpoint.card.epochs.len() as u32, kept);
            }
            // Nobody waits for it where the run broke.
            let _ = done.send(place);
        };
        let gone = |_| ComputeError::failed(&"the checkpoint thread has stopped");
        scribe.0.send(Box::new(write)).map_err(gone)?;
        Ok(Self { next, bell, place: Mutex::new(written), folder })
    }

    /// The folder they go to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes this one, soon.
    pub fn write(&self, checkpoint: Checkpoint) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(checkpoint);
        // A bell that is full will be heard.
        let _ = self.bell.try_send(());
    }

    /// The run is over, but could go on: waits until everything is written.
    pub fn leave(self) {
        self.end();
    }

    /// The run is over in an orderly way: nothing of this is needed any more.
    pub fn over(self) {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(error)) = self.end().map(Place::clear) {
            tracing::info!(%error, "a checkpoint remains");
        }
    }

    fn end(self) -> Option<Place> {
        let Self { bell, place, .. } = self;
        drop(bell);
        place.into_inner().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }
}
