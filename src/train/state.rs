//! Everything a training step changes, as it is kept for a rollback and stored in checkpoints.

use serde::{Deserialize, Serialize};

use super::rollback::RollbackBudget;
use crate::optim::{LossScale, OptimizerState, WeightEma};

/// The weights and all that decides how the next step changes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainState {
    /// Steps done.
    pub step: u64,
    /// Weights and buffers of the network.
    pub weights: Vec<Vec<f32>>,
    /// The optimiser's state.
    #[serde(rename = "memory")]
    pub optimizer: OptimizerState,
    /// The running average of the weights.
    #[serde(rename = "average")]
    pub ema: Option<WeightEma>,
    /// The loss scale of a run in f16.
    pub loss_scale: Option<LossScale>,
}

impl TrainState {
    /// True when every weight and every averaged one is finite.
    pub fn is_finite(&self) -> bool {
        let averaged = self.ema.iter().flat_map(WeightEma::values);
        self.weights.iter().chain(averaged).flatten().all(|value| value.is_finite())
    }
}

/// What an interrupted run needs to take its next step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepperState {
    /// What a step changes.
    pub state: TrainState,
    /// Rollbacks that are left.
    #[serde(rename = "attempts")]
    pub budget: RollbackBudget,
    /// Steps skipped so far because a gradient overflowed.
    pub skipped: u64,
}
