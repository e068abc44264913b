//! How far a run is: what the training loop itself keeps from step to step, and which epoch's
//! weights become the model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checkpoint::{Checkpoint, CheckpointCard};
use super::history::{History, Snapshot};
use super::metrics::Metrics;
use super::stepper::StepperState;
use crate::math::packed;
use crate::math::random::Random;
use crate::nn::Net;
use crate::records::{
    Calibration, EpochRecord, LearningRateChange, MAX_POSTERIOR_SAMPLES, RunPlan, RunPosition,
    StepCurve,
};
use crate::run_config::RunConfig;

pub struct RunProgress {
    pub step: u64,
    pub curve: StepCurve,
    /// Changes of the learning rate by whoever watches, oldest first.
    pub rate_changes: Vec<LearningRateChange>,
    pub epochs: Vec<EpochRecord>,
    /// How much larger batches are than in the first epoch.
    pub batch_factor: u32,
    /// The epoch that follows them, as far as it is done.
    pub current: PartialEpoch,
    /// Where dropout's randomness comes from.
    pub dropout: Random,
    /// The epoch whose weights will be kept: the last one, or with early stopping the best one;
    /// `None` before the first is completed.
    pub best: Option<Arc<EpochWeights>>,
    /// With Langevin dynamics the weights after the last epochs: samples from their posterior, the
    /// oldest first.
    pub posterior: Vec<Arc<EpochWeights>>,
    /// The network as it was after earlier steps, the earliest first.
    pub snapshots: Vec<Arc<Snapshot>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialEpoch {
    /// Optimizer steps over batches as large as in the first epoch.
    pub steps: u64,
    pub images: u64,
    /// Metrics of the steps that were not rolled back.
    pub metrics: Metrics,
    pub seconds: f64,
}

impl RunProgress {
    /// Before the first step.
    pub fn start(config: &RunConfig) -> Self {
        Self {
            step: 0,
            curve: StepCurve::default(),
            rate_changes: Vec::new(),
            epochs: Vec::new(),
            batch_factor: 1,
            current: PartialEpoch::default(),
            dropout: Random::stream(config.seed, "dropout", 0),
            best: None,
            posterior: Vec::new(),
            snapshots: Vec::new(),
        }
    }

    /// Where a checkpoint was taken, and what its stepper needs.
    pub fn resume(checkpoint: Checkpoint) -> (Self, StepperState) {
        let Checkpoint {
            card,
            current,
            batch_factor,
            dropout,
            stepper,
            best,
            posterior,
            snapshots,
        } = checkpoint;
        (
            Self {
                step: stepper.state.step,
                curve: card.curve,
                rate_changes: card.rate_changes,
                epochs: card.epochs,
                batch_factor,
                current,
                dropout,
                best,
                posterior,
                snapshots,
            },
            stepper,
        )
    }

    /// The state that an interrupted run is resumed from.
    pub fn checkpoint(
        &self,
        config: &RunConfig,
        plan: &RunPlan,
        stepper: StepperState,
    ) -> Checkpoint {
        let card = CheckpointCard {
            config: config.clone(),
            train_images: plan.train_images,
            epochs: self.epochs.clone(),
            curve: self.curve.clone(),
            rate_changes: self.rate_changes.clone(),
            steps: self.current.steps,
            steps_per_epoch: plan.steps_per_epoch,
            origin: None,
            made_at: jiff::Timestamp::now().to_string(),
        };
        Checkpoint {
            card,
            current: self.current,
            batch_factor: self.batch_factor,
            dropout: self.dropout.clone(),
            stepper,
            best: self.best.clone(),
            posterior: self.posterior.clone(),
            snapshots: self.snapshots.clone(),
        }
    }

    /// True when the network is to be kept as it is after the steps so far.
    pub fn is_snapshot_due(&self, history: &History) -> bool {
        let kept = self.snapshots.iter().map(|snapshot| snapshot.record);
        history.is_due(kept, self.step)
    }

    pub fn epoch(&self) -> u32 {
        self.epochs.len() as u32 + 1
    }

    /// The factor on the scheduled learning rate.
    pub fn rate_factor(&self) -> f32 {
        self.rate_changes.last().map_or(1.0, |change| change.factor)
    }

    /// Multiplies the learning rate by this from the next step on; returns the change, if it is
    /// one.
    pub fn change_rate(&mut self, factor: f32) -> Option<LearningRateChange> {
        let step = self.step;
        let change = LearningRateChange { step, factor };
        if !change.is_valid() || factor == self.rate_factor() {
            return None;
        }
        self.rate_changes.pop_if(|last| last.step == step);
        self.rate_changes.push(change);
        Some(change)
    }

    pub fn position(&self, plan: &RunPlan) -> RunPosition {
        RunPosition {
            epochs: self.epochs.len() as u32,
            steps: self.current.steps,
            steps_per_epoch: plan.steps_per_epoch,
        }
    }

    pub fn seconds(&self) -> f64 {
        self.epochs
            .iter()
            .map(|record| f64::from(record.seconds))
            .sum::<f64>()
            + self.current.seconds
    }

    /// Counts a step over this many images, which stands for `steps` over batches that have not
    /// grown.
    pub fn add_step(&mut self, steps: u64, images: usize) {
        self.step += steps;
        self.current.steps += steps;
        self.current.images += images as u64;
    }

    /// Completes the epoch in progress, whose weights the network has.
    pub fn complete_epoch(
        &mut self,
        config: &RunConfig,
        record: EpochRecord,
        net: &Net,
        calibration: Calibration,
    ) -> candle_core::Result<()> {
        let is_kept = config.early_stopping.is_none()
            || self
                .best
                .as_ref()
                .is_none_or(|best| is_better(&record, &best.record));
        let is_sample = config.samples_posterior() && record.epoch > config.epochs / 2;
        if is_kept || is_sample {
            let weights = Arc::new(EpochWeights {
                record,
                weights: net.weights()?,
                calibration,
            });
            if is_sample {
                if self.posterior.len() >= MAX_POSTERIOR_SAMPLES {
                    self.posterior.remove(0);
                }
                self.posterior.push(Arc::clone(&weights));
            }
            if is_kept {
                self.best = Some(weights);
            }
        }
        self.epochs.push(record);
        self.current = PartialEpoch::default();
        Ok(())
    }

    /// The best epoch, if patience for a better one is exhausted before the last epoch.
    pub fn stopped_early(&self, config: &RunConfig) -> Option<u32> {
        let (done, best) = (self.epochs.len() as u32, self.best.as_ref()?.record.epoch);
        let patience = config.early_stopping?;
        (done < config.epochs && done - best >= patience).then_some(best)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochWeights {
    pub record: EpochRecord,
    #[serde(with = "packed")]
    pub weights: Vec<Vec<f32>>,
    /// Fitted for these weights on the validation split.
    #[serde(flatten)]
    pub calibration: Calibration,
}

/// A higher validation accuracy, or the same with a lower loss.
fn is_better(record: &EpochRecord, than: &EpochRecord) -> bool {
    let [new, old] =
        [record, than].map(|record| (record.validation_accuracy, -record.validation_loss));
    new > old
}
