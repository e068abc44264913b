//! Everything a training step changes, as it is kept for a rollback and stored in checkpoints; and
//! the last good state of a run, to go back to when training diverges.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::math::packed;
use crate::nn::{Net, Parameter};
use crate::optim::{LossScale, OptimizerConfig, OptimizerState, WeightEma};
use crate::records::Divergence;
use crate::run_config::RunConfig;

/// The weights and all that decides how the next step changes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainState {
    pub step: u64,
    #[serde(with = "packed")]
    pub weights: Vec<Vec<f32>>,
    pub optimizer: OptimizerState,
    pub ema: Option<WeightEma>,
    /// The loss scale of a run in f16.
    pub loss_scale: Option<LossScale>,
}

impl TrainState {
    /// True when it can be the state of this network with this optimizer, and is finite.
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
    pub state: TrainState,
    pub snapshot: Arc<TrainState>,
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

/// Rollbacks after which a run gives up.
const MAX_ROLLBACKS: u32 = 3;
const SNAPSHOT_EVERY: u64 = 200;
/// A run whose loss is more than this many times that of guessing is about to diverge: it is not a
/// state to go back to, though it is still finite.
const MAX_LOSS: f64 = 2.0;

/// No step of a run that learns has such a loss. The first ones at a high learning rate, or with
/// pSGLD's noise, may reach a million.
const EXPLODED_LOSS: f64 = 1e12;

/// How a step diverged that had this loss and gradients of this norm; `None` for one that did not.
pub fn divergence_of_step(loss: f64, gradient_norm: f64) -> Option<Divergence> {
    if !loss.is_finite() || !gradient_norm.is_finite() {
        Some(Divergence::NotFinite)
    } else {
        (loss > EXPLODED_LOSS).then_some(Divergence::Exploded)
    }
}

/// The rollbacks a run has left, and how much they have lowered its learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RollbackBudget {
    left: u32,
    lr_factor: f32,
}

impl Default for RollbackBudget {
    fn default() -> Self {
        Self {
            left: MAX_ROLLBACKS,
            lr_factor: 1.0,
        }
    }
}

#[derive(Debug)]
pub struct Rollback {
    snapshot: Arc<TrainState>,
    snapshot_every: u64,
    budget: RollbackBudget,
}

impl Rollback {
    /// Starts with a good state: that of a new run, or the one a resumed run had.
    pub fn new(snapshot: Arc<TrainState>, budget: RollbackBudget, steps_per_epoch: u64) -> Self {
        Self {
            snapshot,
            snapshot_every: SNAPSHOT_EVERY.min(steps_per_epoch.max(1)),
            budget,
        }
    }

    /// True when the state after `steps_done` steps should become the snapshot, if it is good.
    pub fn is_due(&self, steps_done: u64) -> bool {
        steps_done >= self.snapshot.step + self.snapshot_every
    }

    /// True when a state with this loss is good for a network with this many classes, as long as
    /// its weights are finite.
    pub fn is_good(loss: f64, classes: usize) -> bool {
        loss < MAX_LOSS * (classes as f64).ln()
    }

    /// Takes a state with a good loss as the new snapshot.
    pub fn offer(&mut self, state: TrainState) {
        // Weights may be infinite though gradients are finite: behind a ReLU that is dead because
        // of them.
        if state.is_finite() {
            self.snapshot = Arc::new(state);
        }
    }

    /// The state to go back to, from where the run trains at half its learning rate; `None` when no
    /// rollback is left.
    pub fn rollback(&mut self) -> Option<Arc<TrainState>> {
        let RollbackBudget { left, lr_factor } = self.budget;
        self.budget = RollbackBudget {
            left: left.checked_sub(1)?,
            lr_factor: lr_factor / 2.0,
        };
        Some(self.snapshot())
    }

    pub fn snapshot(&self) -> Arc<TrainState> {
        Arc::clone(&self.snapshot)
    }

    pub const fn budget(&self) -> RollbackBudget {
        self.budget
    }

    /// What rollbacks multiply every learning rate by.
    pub const fn lr_factor(&self) -> f32 {
        self.budget.lr_factor
    }

    pub const fn left(&self) -> u32 {
        self.budget.left
    }
}
