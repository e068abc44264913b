//! The reports of a run to whoever started it, and how that steers it.

use std::time::Duration;

use super::checkpoint::Checkpoint;
use crate::data::Split;
use crate::nn::Net;
use crate::progress::Cancelled;
use crate::records::{
    Calibration, EpochRecord, InitializationReport, Intervention, LearningRateChange, RunPlan,
    RunPosition, SingleStep, StepPoint, Telemetry, UnitName,
};

/// How an observer ends a run before its last epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRequest {
    /// The run is over: its model is from the last completed epoch. Before the first is
    /// complete, it ends as if interrupted.
    Stop,
    /// The run is to be resumed later: it completes the step it is in, hands over a checkpoint, and
    /// ends.
    Interrupt,
}

impl From<Cancelled> for EndRequest {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Stop
    }
}

/// A step that is to be looked at closely.
#[derive(Clone, Debug, Default)]
pub struct StepRequest {
    /// The unit whose weights are of interest.
    pub unit: Option<UnitName>,
}

/// A run before its first step: its data is split and its network built.
#[derive(Clone, Copy, Debug)]
pub struct RunStart<'r> {
    pub plan: &'r RunPlan,
    pub net: &'r Net,
    pub validation: &'r Split,
    /// The training images, and which of them it trains on.
    pub train: (&'r Split, &'r [u32]),
    /// The epochs completed before it was interrupted, if it is resumed.
    pub before: &'r [EpochRecord],
    /// Its steps until then, thinned.
    pub curve: &'r [StepPoint],
    pub position: RunPosition,
}

/// Watches and steers a run, on the thread it runs on. The networks passed to it share their
/// weights with the run: a clone kept from `prepare` is the newest model at any later call.
pub trait RunObserver: Send {
    /// The first step follows.
    fn prepare(&mut self, _run: &RunStart<'_>) {}

    /// The network starts from weights that follow from the training images. Follows `prepare`, of
    /// a resumed run as well.
    fn initialized(&mut self, _report: &InitializationReport) {}

    /// Called between micro-batches of at most 128 images, in training as well as in validation. It
    /// may block: that is how a run is paused, and how drawings are recognized meanwhile. This time
    /// does not count as part of the run. An error ends the run; after an interruption this is not
    /// called again.
    fn on_micro_batch(&mut self, net: &Net) -> Result<(), EndRequest>;

    /// What the learning rate is to be multiplied by from the next step on; `None` if nobody has
    /// changed that.
    fn rate_factor(&mut self) -> Option<f32> {
        None
    }

    fn rate_changed(&mut self, _change: LearningRateChange) {}

    fn step(&mut self, _point: StepPoint, _now: Telemetry) {}

    /// How the next step is to be recorded, if it is. `single_step` follows it, then
    /// `on_micro_batch`.
    fn step_request(&self) -> Option<StepRequest> {
        None
    }

    fn single_step(&mut self, _step: SingleStep) {}

    /// The run did something that was not planned, such as a rollback.
    fn intervened(&mut self, _intervention: Intervention) {}

    /// An epoch was completed and validated; `calibration` was fitted on the validation images for
    /// its weights.
    fn epoch(&mut self, _record: &EpochRecord, _net: &Net, _calibration: Calibration) {}

    /// The run could be resumed from here if it were interrupted. Follows each `epoch`, and steps
    /// at intervals.
    fn checkpoint(&mut self, _checkpoint: Checkpoint) {}

    /// The time between two checkpoints within an epoch, pauses excluded. Usually there are none.
    fn checkpoint_interval(&self) -> Duration {
        Duration::MAX
    }

    /// How many bytes may be taken by snapshots of the network, for whoever looks at it as it was
    /// during the run. Usually none are kept.
    fn history_bytes(&self) -> u64 {
        0
    }
}
