//! What comes of a run, and what its end adds to it: a digit detector, and samples from the
//! posterior of the weights that are calibrated for use together.

use std::sync::Arc;

use super::history::Snapshot;
use super::progress::{EpochWeights, RunProgress};
use crate::data::Split;
use crate::hardware::machine;
use crate::infer::{fit_digit_detector, fit_shared_temperature, measure};
use crate::nn::{ComputeError, DeviceContext, FORMAT_VERSION, ModelCard, ModelFile, Net};
use crate::problem::{Code, Problem};
use crate::progress::{Progress, Unwatched};
use crate::records::{
    Accuracy, Calibration, EpochRecord, RunPlan, RunSummary, SplitEvaluation, StepCurve,
};
use crate::run_config::{Classes, RunConfig};

/// The result of a run.
#[derive(Clone, Debug)]
pub enum TrainOutcome {
    /// It finished, or was stopped after its first epoch.
    Trained(Box<TrainedModel>),
    /// It trained for its validation accuracy alone, and has no model.
    Validated,
    /// It was stopped before its first epoch was complete: it has no model, but can be resumed like
    /// an interrupted run.
    Unfinished,
    /// It was interrupted: it can be resumed from the last checkpoint that its observer got.
    Interrupted,
}

/// A model with the summary of its run, which completed at least one epoch.
#[derive(Clone, Debug)]
pub struct TrainedModel {
    /// The summary of the run; it has no folder yet.
    pub summary: RunSummary,
    pub curve: StepCurve,
    /// The network with the weights of the epoch that was kept.
    pub net: Net,
    /// Fitted for these weights on the validation split.
    pub calibration: Calibration,
    /// Samples from the posterior of the weights, if the optimizer draws them.
    pub posterior: Vec<Arc<EpochWeights>>,
    /// The network as it was before, the earliest step first.
    pub snapshots: Vec<Arc<Snapshot>>,
}

impl TrainedModel {
    /// Of a run that has ended, whose network has the weights of the epoch `best`.
    pub(super) fn new(
        config: &RunConfig,
        plan: RunPlan,
        progress: RunProgress,
        best: &EpochWeights,
        net: Net,
        calibration: Calibration,
        test: Option<SplitEvaluation>,
    ) -> Self {
        let stopped_early = progress.stopped_early(config).is_some();
        let RunProgress {
            epochs,
            curve,
            rate_changes,
            posterior,
            mut snapshots,
            ..
        } = progress;
        // With early stopping, the run went on after the epoch that was kept.
        snapshots.retain(|snapshot| snapshot.record.step < best.record.step);
        let train_seconds: f64 = epochs.iter().map(|epoch| f64::from(epoch.seconds)).sum();
        let summary = RunSummary {
            stopped: epochs.len() < config.epochs as usize && !stopped_early,
            stopped_early,
            kept_epoch: Some(best.record.epoch),
            train_seconds,
            images_per_second: plan.train_images as f64 * epochs.len() as f64
                / train_seconds.max(1e-9),
            epochs,
            test,
            machine: machine(),
            rate_changes,
            posterior_samples: posterior.len() as u32,
            snapshots: snapshots.iter().map(|snapshot| snapshot.record).collect(),
            ..RunSummary::new(config.clone(), plan)
        };
        Self {
            summary,
            curve,
            net,
            calibration,
            posterior,
            snapshots,
        }
    }

    pub fn model_file(&self) -> ModelFile {
        let test = self.summary.test.as_ref().map(SplitEvaluation::accuracy);
        ModelFile {
            net: self.net.clone(),
            card: self.card(self.summary.kept(), self.calibration, test),
        }
    }

    /// The samples of the posterior as they are saved, the oldest first, on the CPU. The one with
    /// the model's own weights has its digit detector, which was fitted for these.
    pub fn posterior_files(&self) -> candle_core::Result<Vec<ModelFile>> {
        let file = |sample: &Arc<EpochWeights>| {
            let net = self.net.to_device(&DeviceContext::CPU)?;
            if Some(sample.record.epoch) == self.summary.kept_epoch {
                let calibration = Calibration {
                    temperature: sample.calibration.temperature,
                    ..self.calibration
                };
                return Ok(ModelFile {
                    net,
                    card: self.card(Some(&sample.record), calibration, None),
                });
            }
            let net = net.with_digit_detector(None);
            net.set_weights(&sample.weights)?;
            Ok(ModelFile {
                net,
                card: self.card(Some(&sample.record), sample.calibration, None),
            })
        };
        self.posterior.iter().map(file).collect()
    }

    /// The snapshots as they are saved, on the CPU, without a digit detector.
    pub fn snapshot_files(&self) -> candle_core::Result<Vec<ModelFile>> {
        let epochs = &self.summary.epochs;
        let file = |snapshot: &Arc<Snapshot>| {
            let net = self.net.to_device(&DeviceContext::CPU)?;
            let net = net.with_digit_detector(None);
            snapshot.restore(&net)?;
            let step = snapshot.record.step;
            let ended = epochs.iter().find(|record| record.step == step);
            let done = epochs.iter().filter(|record| record.step <= step).count();
            let card = ModelCard {
                epochs: done as u32,
                ..self.card(ended, snapshot.calibration, None)
            };
            Ok(ModelFile { net, card })
        };
        self.snapshots.iter().map(file).collect()
    }

    /// The card of the weights of this epoch.
    fn card(
        &self,
        epoch: Option<&EpochRecord>,
        calibration: Calibration,
        test: Option<Accuracy>,
    ) -> ModelCard {
        let config = &self.summary.config;
        ModelCard {
            version: FORMAT_VERSION,
            model: self.net.model(),
            labels: self.summary.plan.classes.clone(),
            normalization: self.net.normalization(),
            calibration,
            data: config.data.clone(),
            epochs: epoch.map_or(0, |record| record.epoch),
            validation_accuracy: epoch.map(|record| record.validation_accuracy),
            test,
            config: config.clone(),
        }
    }
}

/// The samples with the temperature at which the mean of their probabilities is calibrated on the
/// validation split; `None` when `between` interrupts the run. `net` has other weights afterwards.
/// If that fails, each sample keeps its temperature.
pub fn calibrated_together(
    samples: Vec<Arc<EpochWeights>>,
    net: &Net,
    validation: &Split,
    between: &mut impl Progress,
) -> Option<Vec<Arc<EpochWeights>>> {
    match shared_temperature(&samples, net, validation, between) {
        Ok(temperature) => Some(
            samples
                .iter()
                .map(|sample| Arc::new(with_temperature(sample, temperature)))
                .collect(),
        ),
        Err(problem) if problem.code == Code::Cancelled => None,
        Err(error) => {
            tracing::warn!(%error, "the samples from the posterior could not be calibrated together");
            Some(samples)
        }
    }
}

fn with_temperature(sample: &EpochWeights, temperature: f32) -> EpochWeights {
    EpochWeights {
        calibration: Calibration {
            temperature,
            ..sample.calibration
        },
        ..sample.clone()
    }
}

fn shared_temperature(
    samples: &[Arc<EpochWeights>],
    net: &Net,
    validation: &Split,
    between: &mut impl Progress,
) -> Result<f32, Problem> {
    let mut logits = Vec::new();
    for sample in samples {
        net.set_weights(&sample.weights)
            .map_err(ComputeError::from)?;
        logits.push(
            measure(net, sample.calibration.temperature, validation, between)?
                .logits()
                .to_vec(),
        );
    }
    Ok(fit_shared_temperature(
        &logits.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        &validation.labels,
    ))
}

/// This network with a digit detector, and its calibration on the validation split with that;
/// `None` when `between` interrupts the run. If that fails, the model is as good as before, without
/// a detector.
pub fn with_digit_detector(
    net: &Net,
    calibration: Calibration,
    config: &RunConfig,
    classes: &Classes,
    (train, validation): (&Split, &Split),
    between: &mut impl Progress,
) -> Option<(Net, Calibration)> {
    let fitted = fit_digit_detector(net, &train.images, classes, config.seed, between).and_then(
        |detector| {
            let net = net.clone().with_digit_detector(Some(detector));
            let calibration = measure(&net, calibration.temperature, validation, &mut Unwatched)?
                .calibration(&validation.labels);
            Ok((net, calibration))
        },
    );
    match fitted {
        Ok(fitted) => Some(fitted),
        Err(problem) if problem.code == Code::Cancelled => None,
        Err(error) => {
            tracing::warn!(%error, "the digit detector could not be trained");
            Some((net.clone(), calibration))
        }
    }
}
