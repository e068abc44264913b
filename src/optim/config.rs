//! What an optimiser is built from.

use super::adafactor;
use super::rule::slots;
use super::state::MAX_SLOTS;
use crate::run_config::{OptimizerKind, RunConfig};

/// An optimiser's hyperparameters, but for the learning rate, which a schedule sets at each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimizerConfig {
    /// Which optimiser.
    pub kind: OptimizerKind,
    /// λ, for parameters that decay.
    pub weight_decay: f32,
    /// μ, for SGD.
    pub momentum: f32,
    /// Whether SGD's momentum is Nesterov's.
    pub nesterov: bool,
    /// Training images, which the noise of Langevin dynamics depends on.
    pub images: u64,
    /// Seeds that noise.
    pub seed: u64,
}

impl OptimizerConfig {
    /// The optimiser of a run on this many training images.
    pub const fn new(config: &RunConfig, images: u64) -> Self {
        let RunConfig {
            optimizer,
            weight_decay,
            momentum,
            nesterov,
            seed,
            ..
        } = *config;
        Self {
            kind: optimizer,
            weight_decay: weight_decay as f32,
            momentum: momentum as f32,
            nesterov,
            images,
            seed,
        }
    }

    /// How many numbers it keeps for each weight from step to step: 2 for Adam; 0 for Adafactor,
    /// which keeps next to none.
    pub fn numbers_per_weight(&self) -> usize {
        if self.kind == OptimizerKind::Adafactor {
            0
        } else {
            slots(self)
        }
    }

    /// How many numbers each slot has for a parameter of these dimensions.
    pub(super) fn slot_lens(&self, dims: &[usize]) -> [usize; MAX_SLOTS] {
        if self.kind == OptimizerKind::Adafactor {
            return adafactor::slot_lens(dims);
        }
        let used = slots(self);
        std::array::from_fn(|slot| {
            if slot < used {
                dims.iter().product()
            } else {
                0
            }
        })
    }
}
