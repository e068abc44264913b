//! Training: learning, repeatability, stopping, the validation split, the figures.

mod hold_out;
mod learning;
mod micro_batches;
mod refusals;
mod stopping;
pub mod watcher;
