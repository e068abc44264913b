//! Training: the loop (`session`, to be read from top to bottom) and its parts: batches, steps,
//! rollback, checkpoints, telemetry.
//!
//! It does not depend on windows, commands, or where runs are stored.

#![warn(missing_docs)]

mod batch_growth;
mod batches;
mod best_checkpoint;
mod checkpoint;
mod device_loader;
mod digit_detector;
mod epoch_steps;
mod error;
mod fine_tune;
mod gradient_noise;
mod learning_probe;
mod loader;
mod memory;
mod metrics;
mod micro_batches;
mod observer;
mod origin;
mod pending;
mod plan;
mod posterior;
mod progress;
mod rate_search;
mod reporting;
mod rollback;
mod run_clock;
mod session;
mod state;
mod step_report;
mod stepper;
mod time_to_accuracy;
mod trained_model;

pub use checkpoint::{Checkpoint, CheckpointCard};
pub use error::TrainError;
pub use fine_tune::{ENOUGH, FineTuning, REHEARSED};
pub use gradient_noise::GradientNoise;
pub use learning_probe::LearningProbe;
pub use loader::{Loader, Shuffle};
pub use memory::{gpu_memory_needed, memory_needed, too_many_parameters};
pub use micro_batches::micro_batch_size;
pub use observer::{EndRequest, Observer};
pub use origin::{RunOrigin, RunPlaces};
pub use plan::check;
pub use rate_search::search_learning_rate;
pub use session::{Start, train, train_from, validate};
pub use time_to_accuracy::{Target, time_to_accuracy};
pub use trained_model::{TrainOutcome, TrainedModel};

impl From<candle_core::Error> for TrainError {
    fn from(error: candle_core::Error) -> Self {
        crate::nn::ComputeError::from(error).into()
    }
}
