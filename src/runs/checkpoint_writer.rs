//! Owns writing checkpoints on a thread of its own, so that no run waits for a disk. Must not know what is done when it fails.

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::Place;
use crate::problem::Problem;
use crate::train::Checkpoint;

/// What is told when a checkpoint was written, or not.
pub type Told = dyn FnMut(&Path, u32, Result<(), Problem>) + Send;

/// Writes the checkpoints of a run. Dropping it leaves the last one; [`CheckpointWriter::over`] removes it.
#[derive(Debug)]
pub struct CheckpointWriter {
    /// The newest that was not begun: while the disk is slower than the run, those between are left out.
    next: Arc<Mutex<Option<Checkpoint>>>,
    bell: SyncSender<()>,
    thread: JoinHandle<Place>,
}

impl CheckpointWriter {
    /// Writes to this place; `told` hears of each, with the number of epochs in it.
    pub fn start(mut place: Place, mut told: Box<Told>) -> Result<Self, Problem> {
        let next = Arc::new(Mutex::new(None::<Checkpoint>));
        let (bell, rung) = sync_channel(1);
        let mailbox = Arc::clone(&next);
        let write = move || {
            while rung.recv().is_ok() {
                let Some(checkpoint) = mailbox.lock().unwrap_or_else(PoisonError::into_inner).take() else { continue };
                let kept = place.keep(&checkpoint);
                told(place.folder(), checkpoint.card.epochs.len() as u32, kept);
            }
            place
        };
        let thread =
            Builder::new().name("checkpoints".to_owned()).spawn(write).map_err(|error| Problem::Compute { message: error.to_string() })?;
        Ok(Self { next, bell, thread })
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
        let Self { next: _, bell, thread } = self;
        drop(bell);
        thread.join().ok()
    }
}
