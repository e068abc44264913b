//! Training: the loop (`session`, to be read from top to bottom) and its parts: batches, steps,
//! rollback, checkpoints, telemetry.
//!
//! It does not depend on windows, commands, or where runs are stored.

mod batches;
mod checkpoint;
mod error;
mod fine_tune;
mod gradient_noise;
mod history;
mod learning_probe;
mod memory;
mod metrics;
mod observer;
mod plan;
mod progress;
mod run_clock;
mod session;
mod single_step;
mod stepper;
mod time_to_accuracy;
mod trained_model;

pub use batches::{Batch, Loader, Shuffle};
pub use checkpoint::{Checkpoint, CheckpointCard, RunOrigin, RunPlaces};
pub use error::TrainError;
pub use fine_tune::{ENOUGH, FineTuning, REHEARSED};
pub use gradient_noise::GradientNoise;
pub use history::{HISTORY_BYTES, Snapshot, snapshot_steps};
pub use learning_probe::{LearningProbe, first_layer};
pub use memory::{gpu_memory_needed, memory_needed, micro_batch_size, too_many_parameters};
pub use observer::{EndRequest, RunObserver, RunStart, StepRequest};
pub use plan::{InitialState, check};
pub use session::{search_learning_rate, train, train_from, validate};
pub use time_to_accuracy::{Target, time_to_accuracy};
pub use trained_model::{TrainOutcome, TrainedModel};
