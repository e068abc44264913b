//! The complete state of a run between two steps: a resumed run computes, bit for bit, what the
//! interrupted one would have computed.
//!
//! Shuffling and augmentation need no state here: their random numbers follow from seed, epoch and
//! position.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::batches::EpochSteps;
use super::gradient_noise::MAX_GROWTH;
use super::history::Snapshot;
use super::progress::{EpochWeights, PartialEpoch};
use super::stepper::{StepperState, TrainState, have_lens_of};
use crate::data::Fingerprint;
use crate::math::random::Random;
use crate::nn::Net;
use crate::optim::OptimizerConfig;
use crate::problem::Problem;
use crate::records::{
    EpochRecord, LearningRateChange, MAX_POSTERIOR_SAMPLES, MAX_SNAPSHOTS, RunPlan, RunPosition,
    StepCurve,
};
use crate::run_config::{RunConfig, WeightFormat};
use crate::train::TrainError;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointCard {
    pub config: RunConfig,
    /// Training images: a data set that has another number by now has changed.
    pub train_images: u64,
    pub epochs: Vec<EpochRecord>,
    pub curve: StepCurve,
    /// Changes of the learning rate while it trained, oldest first.
    pub rate_changes: Vec<LearningRateChange>,
    /// Steps done of the epoch that follows them.
    pub steps: u64,
    /// Optimizer steps in one epoch.
    pub steps_per_epoch: u64,
    /// Where its data comes from and where its result goes, if it is trained by an engine.
    pub origin: Option<RunOrigin>,
    /// When it was taken, RFC 3339 in UTC.
    pub made_at: String,
}

/// A run between two steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub card: CheckpointCard,
    pub(super) current: PartialEpoch,
    pub(super) batch_factor: u32,
    pub(super) dropout: Random,
    pub(super) stepper: StepperState,
    pub(super) best: Option<Arc<EpochWeights>>,
    pub(super) posterior: Vec<Arc<EpochWeights>>,
    pub(super) snapshots: Vec<Arc<Snapshot>>,
}

impl CheckpointCard {
    pub fn position(&self) -> RunPosition {
        RunPosition {
            epochs: self.epochs.len() as u32,
            steps: self.steps,
            steps_per_epoch: self.steps_per_epoch,
        }
    }
}

impl Checkpoint {
    /// Whether this run can be resumed from here. It may use another device, or another number of
    /// threads.
    pub(super) fn check(
        &self,
        config: &RunConfig,
        plan: &RunPlan,
        net: &Net,
    ) -> Result<(), Problem> {
        let Self {
            card,
            current,
            batch_factor,
            stepper,
            best,
            posterior,
            snapshots,
            ..
        } = self;
        let refuse = |reason: &str| {
            Err(TrainError::NotResumable {
                reason: reason.to_owned(),
            }
            .into())
        };
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
        let position = card.position();
        if (card.train_images, card.steps_per_epoch) != (plan.train_images, plan.steps_per_epoch) {
            return refuse("its data set has changed");
        }
        let optimizer = OptimizerConfig::new(config, plan.train_images);
        let fits = |state: &TrainState| state.fits(config, &optimizer, net);
        let best_fits = best.as_ref().map(|best| have_lens_of(&best.weights, net));
        let intact = stepper.state.step == position.total_steps()
            && stepper.state.step <= plan.total_steps
            && current.steps == card.steps
            && card.steps <= plan.steps_per_epoch
            && (*batch_factor == 1
                || config.growing_batches
                    && batch_factor.is_power_of_two()
                    && *batch_factor <= MAX_GROWTH)
            && card.rate_changes.iter().all(LearningRateChange::is_valid)
            && current.images <= plan.train_images
            && EpochSteps::new(config, plan.train_images).completed(current.images)
                == current.steps
            && fits(&stepper.state)
            && fits(&stepper.snapshot)
            && posterior.len() <= MAX_POSTERIOR_SAMPLES
            && posterior
                .iter()
                .all(|sample| have_lens_of(&sample.weights, net))
            && snapshots.len() <= MAX_SNAPSHOTS
            && snapshots.iter().all(|snapshot| snapshot.fits(net))
            && best_fits == (position.epochs > 0).then_some(true);
        if intact {
            Ok(())
        } else {
            refuse("its checkpoint is damaged")
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrigin {
    /// The content of its data set.
    pub data: Fingerprint,
    /// The folders and options it was started with.
    pub places: RunPlaces,
}

/// Where a run's data comes from and where its result goes; all folders are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPlaces {
    /// The folder that relative paths in the name of its data start from.
    pub working_folder: PathBuf,
    /// Where data sets are looked for by name, best first.
    pub data_folders: Vec<PathBuf>,
    /// The folder that it is to be saved as; `None` for a new one among the others.
    pub out: Option<PathBuf>,
    /// True if it may replace a run that is there.
    pub replace: bool,
    /// How its model file stores the weights.
    pub weights: WeightFormat,
}

impl RunOrigin {
    /// Whether this is the data set that the run was trained on.
    pub fn check(&self, data: &Fingerprint) -> Result<(), Problem> {
        self.data
            .difference(data)
            .map_or(Ok(()), |part| Err(TrainError::DataChanged { part }.into()))
    }
}
