//! Owns training: the loop (`session`, readable top to bottom), the validation split, and the figures it reports.
//! Must not know windows, commands, or where runs are kept.

mod batches;
mod best_checkpoint;
mod checkpoint;
mod device_batches;
mod error;
mod loader;
mod memory;
mod metrics;
mod micro_batches;
mod observer;
mod pending;
mod plan;
mod rollback;
mod run_clock;
mod session;
mod state;
mod stepper;
mod trained_model;

pub use checkpoint::{Checkpoint, CheckpointCard};
pub use error::TrainError;

pub use loader::{Loader, Shuffle};
pub use memory::{gpu_memory_needed, memory_needed};
pub use observer::Observer;
pub use plan::check;
pub use session::{micro_batch, train};
pub use trained_model::TrainedModel;

impl From<candle_core::Error> for TrainError {
    fn from(error: candle_core::Error) -> Self {
        crate::nn::ComputeError::from(error).into()
    }
}
