//! Training: learning, repeatability, stopping, the validation split, the figures.

mod astray;
mod batches;
mod endings;
mod hold_out;
mod interrupted;
mod learning;
mod micro_batches;
mod on_a_device;
mod precisions;
mod refusals;
mod stopping;
pub mod watcher;
