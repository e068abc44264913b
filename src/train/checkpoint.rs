//! The complete state of a run after an epoch: a resumed run computes, bit for bit, what the interrupted one would have computed.
//!
//! Shuffling and augmentation need no state here: their random numbers follow from seed, epoch and position.

use serde::{Deserialize, Serialize};

use super::TrainError;
use super::best_checkpoint::BestEpoch;
use super::state::StepperState;
use crate::math::random::Random;
use crate::nn::Net;
use crate::optim::OptimizerConfig;
use crate::records::{EpochRecord, RunPlan};
use crate::run_config::RunConfig;

/// What a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointCard {
    /// The run's configuration.
    pub config: RunConfig,
    /// Training images: a data set that has another number by now has changed.
    pub train_images: u64,
    /// Every completed epoch; at least one.
    pub epochs: Vec<EpochRecord>,
    /// When it was taken, RFC 3339 in UTC.
    pub made_at: String,
}

/// A run after an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What it belongs to.
    pub card: CheckpointCard,
    pub(super) progress: StepperState,
    pub(super) dropout: Random,
    pub(super) kept: BestEpoch,
}

impl Checkpoint {
    /// Whether this run can be resumed from here. It may use another device, or another number of threads.
    pub(super) fn check(&self, config: &RunConfig, plan: &RunPlan, net: &Net) -> Result<(), TrainError> {
        let Self { card, progress, kept, .. } = self;
        let refuse = |reason: &str| Err(TrainError::NotResumable { reason: reason.to_owned() });
        let resumed = RunConfig {
            device: config.device,
            threads: config.threads,
            memory_limit: config.memory_limit,
            preset: config.preset,
            ..card.config.clone()
        };
        if resumed != *config {
            return refuse("its checkpoint was saved with different settings");
        }
        let steps = plan.steps_per_epoch * card.epochs.len() as u64;
        if card.train_images != plan.train_images || progress.state.step != steps || card.epochs.is_empty() {
            return refuse("its data set has changed");
        }
        let lens = |weights: &[Vec<f32>]| weights.iter().map(Vec::len).eq(net.parameters().iter().map(crate::nn::Parameter::len));
        let optimizer = OptimizerConfig::new(config, plan.train_images);
        let averaged = progress.state.ema.as_ref().map(|ema| lens(ema.values()));
        let intact = lens(&progress.state.weights)
            && lens(&kept.weights)
            && progress.state.optimizer.fits(&optimizer, net.parameters())
            && averaged == config.weight_averaging.map(|_| true)
            && progress.state.is_finite();
        if intact { Ok(()) } else { refuse("its checkpoint is damaged") }
    }
}
