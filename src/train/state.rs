//! Everything a training step changes, as it is kept for a rollback and stored in checkpoints.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rollback::RollbackBudget;
use crate::math::packed;
use crate::nn::{Net, Parameter};
use crate::optim::{LossScale, OptimizerConfig, OptimizerState, WeightEma};
use crate::run_config::RunConfig;

/// The weights and all that decides how the next step changes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainState {
    /// Steps done.
    pub step: u64,
    /// Weights and buffers of the network.
    #[serde(with = "packed")]
    pub weights: Vec<Vec<f32>>,
    /// The optimiser's state.
    pub optimizer: OptimizerState,
    /// The running average of the weights.
    pub ema: Option<WeightEma>,
    /// The loss scale of a run in f16.
    pub loss_scale: Option<LossScale>,
}

impl TrainState {
    /// True when it can be the state of this network with this optimiser, and is finite.
    pub fn fits(&self, config: &RunConfig, optimizer: &OptimizerConfig, net: &Net) -> bool {
        let averaged = self.ema.as_ref().map(|ema| have_lens_of(ema.values(), net));
        have_lens_of(&self.weights, net)
            && self.optimizer.fits(optimizer, net.parameters())
            && averaged == config.weight_averaging.map(|_| true)
            && self.is_finite()
    }

    /// True when every weight and every averaged one is finite.
    pub fn is_finite(&self) -> bool {
        let averaged = self.ema.iter().flat_map(WeightEma::values);
        self.weights
            .iter()
            .chain(averaged)
            .flatten()
            .all(|value| value.is_finite())
    }
}

/// What an interrupted run needs to take its next step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepperState {
    /// What a step changes.
    pub state: TrainState,
    /// What a rollback goes back to.
    pub snapshot: Arc<TrainState>,
    /// Rollbacks that are left.
    pub budget: RollbackBudget,
    /// Steps skipped so far because a gradient overflowed.
    pub skipped: u64,
}

/// True when these can be the weights of this network.
pub fn have_lens_of(weights: &[Vec<f32>], net: &Net) -> bool {
    weights
        .iter()
        .map(Vec::len)
        .eq(net.parameters().iter().map(Parameter::len))
}
