//! Training: learning, reproducibility, stopping, resuming, rollback, telemetry.

mod batch_growth;
mod batches;
mod determinism;
mod diverging;
mod endings;
mod gradient_noise;
mod history;
mod interrupted;
mod learning;
mod learning_probe;
mod micro_batches;
mod on_a_device;
mod precisions;
mod rate_search;
mod refusals;
mod steering;
mod stopping;
mod time_to_accuracy;
mod validating;
pub mod watcher;
