//! Owns what a run tells, and asks, whoever started it. Must not know who that is.

use super::checkpoint::Checkpoint;
use crate::nn::Net;
use crate::records::{EpochRecord, Intervention, RunPlan, StepPoint, Telemetry};

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    Continue,
    /// It ends now; the last completed epoch is kept.
    Stop,
}

/// Watches and steers a run, from the thread it runs on. The networks it is shown share their weights with the run: a clone kept from
/// `prepare` is the newest model at any later call.
pub trait Observer: Send {
    /// The data is split and the network built; the first step follows.
    /// `before` are the epochs it had completed when it was interrupted, if it is one that goes on.
    fn prepare(&mut self, _plan: &RunPlan, _net: &Net, _before: &[EpochRecord]) {}

    /// Called between micro-batches of at most 128 images, while learning as well as while measuring. It may take its time (that
    /// is how a run pauses, and how drawings are read in between): this time counts as no part of the run.
    fn between(&mut self, net: &Net) -> Flow;

    /// A step was made.
    fn step(&mut self, _point: StepPoint, _now: Telemetry) {}

    /// The run did something by itself that was not in its plan.
    fn intervened(&mut self, _intervention: Intervention) {}

    /// An epoch was completed and validated; 99 % of the validation images have a digit score of at least `digit_threshold`.
    fn epoch(&mut self, _record: &EpochRecord, _net: &Net, _digit_threshold: f32) {}

    /// The run could go on from here if it were interrupted. Follows each `epoch`.
    fn checkpoint(&mut self, _checkpoint: Checkpoint) {}
}
