//! Owns the last good state of a run, and how often it may go back there.
//! Must not know how a state is computed.

use candle_core::Tensor;
use serde::{Deserialize, Serialize};

use crate::device::Kernels;
use crate::nn::Net;
use crate::optim::{LossScale, OptimizerState, WeightEma};

/// How often a run may step back before it gives up.
const TIMES: u32 = 3;
/// The most steps between two states that are kept.
const EVERY: u64 = 200;
/// Twice the loss of guessing among ten digits. A run whose loss is above it is on its way astray, and its numbers are no place to go
/// back to, though they are numbers yet.
const LARGEST_LOSS: f64 = 2.0 * std::f64::consts::LN_10;

/// Everything a step changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Steps done.
    pub step: u64,
    /// Weights and buffers.
    pub weights: Vec<Vec<f32>>,
    /// What the optimiser remembers.
    pub memory: OptimizerState,
    /// The running average of the weights.
    pub average: Option<WeightEma>,
    /// The scale of the loss.
    pub loss_scale: Option<LossScale>,
}

impl State {
    /// True when every weight and every averaged one is a number.
    pub fn is_finite(&self) -> bool {
        let averaged = self.average.iter().flat_map(WeightEma::values);
        self.weights.iter().chain(averaged).flatten().all(|value| value.is_finite())
    }
}

/// How often a run may step back yet, and what that has done to its learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempts {
    left: u32,
    rate_factor: f32,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { left: TIMES, rate_factor: 1.0 }
    }
}

/// The state to go back to.
#[derive(Debug)]
pub struct Rollback {
    good: State,
    every: u64,
    attempts: Attempts,
}

impl Rollback {
    /// From a good state on: the start of a run, or where it goes on.
    pub fn new(good: State, attempts: Attempts, steps_per_epoch: u64) -> Self {
        Self { good, every: EVERY.min(steps_per_epoch.max(1)), attempts }
    }

    /// True when the state after `steps_done` steps should be kept, if it is good.
    pub const fn is_due(&self, steps_done: u64) -> bool {
        steps_done >= self.good.step + self.every
    }

    /// True when a state is good that makes this loss of a batch, and numbers of its gradients.
    pub fn is_good(loss: f64) -> bool {
        loss < LARGEST_LOSS
    }

    /// Keeps a good state.
    pub fn keep(&mut self, state: State) {
        self.good = state;
    }

    /// The state to go on from, at half the learning rate; `None` when the run has stepped back often enough.
    pub fn rollback(&mut self) -> Option<&State> {
        let Attempts { left, rate_factor } = self.attempts;
        self.attempts = Attempts { left: left.checked_sub(1)?, rate_factor: rate_factor / 2.0 };
        Some(&self.good)
    }

    /// How often it has stepped back, and what came of it.
    pub const fn attempts(&self) -> Attempts {
        self.attempts
    }

    /// What every learning rate is multiplied by.
    pub const fn rate_factor(&self) -> f32 {
        self.attempts.rate_factor
    }

    /// How often the run may step back yet.
    pub const fn left(&self) -> u32 {
        self.attempts.left
    }
}

/// True when every weight of the network is a number.
pub fn is_finite(net: &Net) -> candle_core::Result<bool> {
    if net.place().kernels != Kernels::Ours {
        // A number times zero is zero; what is none stays none.
        let sums = net.parameters().iter().map(|parameter| (parameter.tensor() * 0.0)?.sum_all());
        return Ok(Tensor::stack(&sums.collect::<candle_core::Result<Vec<_>>>()?, 0)?.sum_all()?.to_scalar::<f32>()? == 0.0);
    }
    net.parameters().iter().try_fold(true, |finite, parameter| {
        let mut all = finite;
        parameter.update(|values, _| all = all && values.iter().all(|value| value.is_finite()))?;
        Ok(all)
    })
}
