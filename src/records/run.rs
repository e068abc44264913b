//! A training run: its plan, its steps and epochs as they come, and what is saved of it.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Accuracy, InitializationReport, LearningRateChange, SplitEvaluation};
use crate::run_config::{Classes, DeviceChoice, Precision, RunConfig};
use crate::text::format::grouped;

/// Names one job of this session, a training run among others, so that stale events can be
/// recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// The extent of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunPlan {
    /// Images the weights learn from.
    pub train_images: u64,
    /// Images held back from training, chosen by seed.
    pub validation_images: u64,
    /// Images of the test split, read once at the end.
    pub test_images: u64,
    /// The classes of its data.
    pub classes: Classes,
    /// Trainable numbers.
    pub parameters: u64,
    /// Optimizer steps in one epoch.
    pub steps_per_epoch: u64,
    /// Optimizer steps in all.
    pub total_steps: u64,
    /// Where it trains (never `Auto`).
    pub device: DeviceChoice,
    /// Number format of the products.
    pub precision: Precision,
    /// Worker threads.
    pub threads: u32,
}

/// How far a run is: its completed epochs, and the steps of the epoch that follows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPosition {
    /// Completed epochs.
    pub epochs: u32,
    /// Steps done of the next epoch; 0 between two epochs.
    pub steps: u64,
    /// Optimizer steps in one epoch.
    pub steps_per_epoch: u64,
}

impl RunPosition {
    /// Steps done in all.
    pub fn total_steps(self) -> u64 {
        self.steps_per_epoch
            .saturating_mul(u64::from(self.epochs))
            .saturating_add(self.steps)
    }
}

/// A phrase that follows "after": "epoch 3", or "step 120 of epoch 4".
impl Display for RunPosition {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { epochs, steps, .. } = *self;
        if steps == 0 && epochs > 0 {
            write!(f, "epoch {epochs}")
        } else {
            write!(
                f,
                "step {} of epoch {}",
                grouped(steps),
                u64::from(epochs) + 1
            )
        }
    }
}

/// How a run was saved that could not be saved as a whole where it was to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rescue {
    pub folder: PathBuf,
    /// True if that is in the system's temporary folder, which does not last.
    pub temporary: bool,
    /// True if only its model and its figures were saved, without its steps, its misclassified
    /// images, its samples from the posterior and its snapshots.
    pub model_alone: bool,
}

/// One optimizer step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct StepPoint {
    /// Steps done, from 1.
    pub step: u64,
    /// Mean cross-entropy of the batch, in nats, before the update.
    #[schemars(with = "Option<f32>")]
    pub loss: f32,
    /// Accuracy on the batch, before the update.
    pub accuracy: f32,
    /// The learning rate of the update.
    pub learning_rate: f32,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Steps done.
    pub step: u64,
    /// The current epoch, from 1.
    pub epoch: u32,
    /// Training images per second, lately.
    pub images_per_second: f32,
    /// Seconds of training so far, pauses excluded.
    pub elapsed_seconds: f32,
    /// Estimated seconds until the last step is done.
    pub remaining_seconds: f32,
    /// Resident memory of the process, in bytes.
    pub memory_bytes: u64,
    /// What the loss is multiplied by so that small gradients survive f16; `None` in other
    /// precisions.
    pub loss_scale: Option<f32>,
    /// Steps skipped so far because their gradients overflowed in f16.
    pub skipped_steps: u64,
}

/// How training diverged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Divergence {
    /// The loss or a gradient was NaN or infinite.
    #[default]
    NotFinite,
    /// The loss was finite, but larger than any network's that learns.
    Exploded,
}

impl Divergence {
    /// How training diverged, in the middle of a sentence.
    pub fn at_step(self, step: u64) -> String {
        let step = grouped(step);
        match self {
            Self::NotFinite => {
                format!("the loss or its gradient became NaN or infinite at step {step}")
            }
            Self::Exploded => format!("the loss exploded at step {step}"),
        }
    }
}

/// A change that a run makes by itself when something goes wrong, or an early end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Intervention {
    /// Gradients overflowed in f16: their step was skipped and the loss scale halved.
    SkippedStep {
        /// The step, from 1.
        step: u64,
        /// The scale from here on.
        loss_scale: f32,
    },
    /// Training diverged: it continues from an earlier state, at half its learning rate.
    RolledBack {
        /// The step it happened at, from 1.
        step: u64,
        /// The step whose state training continues from; 0 is the start.
        to_step: u64,
        /// The factor on every learning rate from here on.
        lr_factor: f32,
        /// Rollbacks that are left before the run gives up.
        left: u32,
        /// How it diverged.
        cause: Divergence,
    },
    /// Memory ran low: batches are computed in smaller micro-batches, whose gradients add up to the
    /// same.
    SmallerMicroBatches {
        /// The step it happened at, from 1.
        step: u64,
        /// Images of a micro-batch from here on.
        images: u32,
    },
    /// The run ended with a model that does far worse than guessing: its loss exploded without
    /// becoming NaN.
    WorseThanChance {
        /// The model's loss on the validation split, in nats.
        #[schemars(with = "Option<f32>")]
        validation_loss: f32,
        /// The loss of guessing, in nats.
        chance_loss: f32,
    },
    /// The gradient has become smaller than its noise: from here on, batches are larger.
    LargerBatches {
        /// The first epoch with them.
        epoch: u32,
        /// Their images.
        batch_size: u32,
        /// The gradient noise scale in images; `None` if it is larger than could be measured.
        noise_scale: Option<f32>,
    },
    /// Validation did not improve for as many epochs as configured: training stopped.
    StoppedEarly {
        /// The last epoch trained.
        epoch: u32,
        /// The one whose weights the model has.
        best_epoch: u32,
    },
}

/// One epoch, as it is kept with the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct EpochRecord {
    /// From 1.
    pub epoch: u32,
    /// Steps done at its end.
    pub step: u64,
    /// Mean of the epoch's batch losses, in nats.
    #[schemars(with = "Option<f32>")]
    pub train_loss: f32,
    /// Accuracy on the training images, each before the step it was part of.
    pub train_accuracy: f32,
    /// Mean cross-entropy on the validation split, in nats.
    #[schemars(with = "Option<f32>")]
    pub validation_loss: f32,
    /// Accuracy on the validation split.
    pub validation_accuracy: f32,
    /// Seconds of training, without validation and pauses.
    pub seconds: f32,
}

impl EpochRecord {
    /// True when the model is right hardly more often than by guessing among this many classes, and
    /// so overconfident that its loss is ten times the loss of guessing.
    pub fn is_worse_than_chance(&self, classes: usize) -> bool {
        let far_worse =
            self.validation_loss.is_nan() || self.validation_loss > 10.0 * chance_loss(classes);
        self.validation_accuracy < (2.0 / classes as f32).min(0.75) && far_worse
    }
}

/// The summary of a run, as in its folder's `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    pub config: RunConfig,
    pub plan: RunPlan,
    /// The run's folder.
    pub folder: PathBuf,
    /// The model file in it.
    pub model_path: PathBuf,
    /// When it ended, RFC 3339 in UTC.
    pub finished_at: String,
    /// True when it was stopped before its last epoch by whoever watched it.
    pub stopped: bool,
    /// True when it ended before its last epoch because validation did not get better any more.
    pub stopped_early: bool,
    /// The epoch whose weights are kept, from 1; `None` in imported runs.
    pub kept_epoch: Option<u32>,
    /// Every completed epoch.
    pub epochs: Vec<EpochRecord>,
    /// Seconds of training alone.
    pub train_seconds: f64,
    /// Training images per second over the whole run.
    pub images_per_second: f64,
    /// Its model's evaluation on test images, made once, after every choice; `None` if there were
    /// none, or if that was stopped.
    pub test: Option<SplitEvaluation>,
    /// The machine it was computed on, in words; empty if it was not trained by
    /// Inkling.
    pub machine: String,
    /// Changes of its learning rate while it trained, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_changes: Vec<LearningRateChange>,
    /// The statistics of the training images that its weights were initialized from, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialization: Option<InitializationReport>,
    /// The file it came from, if it was not trained here.
    pub imported: Option<String>,
    /// Distinguishes it from earlier runs with the same network and data, from 1; `None`
    /// in those that are not among the others.
    pub number: Option<u32>,
    /// Samples from the posterior of its weights, each in a model file beside the model; see
    /// [`RunSummary::posterior_sample_paths`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub posterior_samples: u32,
    /// The network as it was during the run, the earliest step first, each in a model file beside
    /// the model; see [`RunSummary::snapshot_path`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<SnapshotRecord>,
}

/// A step after which the network was kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SnapshotRecord {
    /// Steps done; 0 before the first.
    pub step: u64,
    /// Accuracy on validation images: all of them at the end of an epoch.
    pub accuracy: f32,
    /// How many these are.
    pub images: u64,
}

/// The most snapshots that a run keeps.
pub const MAX_SNAPSHOTS: usize = 24;

/// The most samples from the posterior that a run keeps: those after its last epochs.
pub const MAX_POSTERIOR_SAMPLES: usize = 10;

/// How many samples from the posterior a run with these settings keeps.
pub fn posterior_sample_count(config: &RunConfig) -> usize {
    if config.samples_posterior() {
        (config.epochs.div_ceil(2) as usize).min(MAX_POSTERIOR_SAMPLES)
    } else {
        0
    }
}

/// The cross-entropy of guessing among this many classes, in nats: the logarithm of their number.
pub fn chance_loss(classes: usize) -> f32 {
    (classes as f32).ln()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The name of the file with a sample from the posterior; samples are counted from 1.
pub fn posterior_sample_name(number: u32) -> String {
    format!("sample-{number:02}.safetensors")
}

const SNAPSHOT_NAME: [&str; 2] = ["step-", ".safetensors"];

/// The name of the file with the network after this step; the files sort by step.
pub fn snapshot_name(step: u64) -> String {
    let [before, after] = SNAPSHOT_NAME;
    format!("{before}{step:06}{after}")
}

/// The step after which the network in a file with this path was kept; `None` for any other file.
pub fn snapshot_step(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let [before, after] = SNAPSHOT_NAME;
    let step = name.strip_prefix(before)?.strip_suffix(after)?;
    let step = step.parse().ok()?;
    (snapshot_name(step) == name).then_some(step)
}

impl RunSummary {
    /// Of a run of which nothing but this is known.
    pub fn new(config: RunConfig, plan: RunPlan) -> Self {
        Self {
            config,
            plan,
            folder: PathBuf::new(),
            model_path: PathBuf::new(),
            finished_at: jiff::Timestamp::now().to_string(),
            stopped: false,
            stopped_early: false,
            kept_epoch: None,
            epochs: Vec::new(),
            train_seconds: 0.0,
            images_per_second: 0.0,
            test: None,
            machine: String::new(),
            rate_changes: Vec::new(),
            initialization: None,
            imported: None,
            number: None,
            posterior_samples: 0,
            snapshots: Vec::new(),
        }
    }

    /// True if it came of its settings alone: it was not stopped, and nobody changed its learning
    /// rate.
    pub const fn is_typical(&self) -> bool {
        !self.stopped && self.rate_changes.is_empty()
    }

    /// The same without the images of its evaluation, which take most of the space, and without its
    /// paths.
    #[must_use]
    pub fn without_images(&self) -> Self {
        let mut summary = Self {
            folder: PathBuf::new(),
            model_path: PathBuf::new(),
            ..self.clone()
        };
        if let Some(test) = &mut summary.test {
            test.evaluation.samples.clear();
        }
        summary
    }

    /// The model files of its samples from the posterior, the oldest first.
    pub fn posterior_sample_paths(&self) -> Vec<PathBuf> {
        let count = self.posterior_samples.min(MAX_POSTERIOR_SAMPLES as u32);
        (1..=count)
            .map(|number| self.folder.join(posterior_sample_name(number)))
            .collect()
    }

    /// The model file of its network as it was after this step.
    pub fn snapshot_path(&self, step: u64) -> PathBuf {
        self.folder.join(snapshot_name(step))
    }

    /// See [`Accuracy::of_model`].
    pub fn accuracy(&self) -> Option<Accuracy> {
        Accuracy::of_model(
            self.test.as_ref().map(SplitEvaluation::accuracy),
            self.kept().map(|record| record.validation_accuracy),
            Some(self.plan.validation_images),
            &self.config.data,
        )
    }

    /// The record of the epoch whose weights are kept.
    pub fn kept(&self) -> Option<&EpochRecord> {
        let kept = self.kept_epoch?;
        self.epochs.iter().find(|record| record.epoch == kept)
    }
}

/// Points at most. A run of no more steps keeps every one.
const MAX_POINTS: usize = 2_000;

/// A run's steps, oldest first. Once there are too many points, every two of them become one: the
/// mean of their losses and accuracies, at the later one's step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Rows", into = "Rows")]
pub struct StepCurve {
    points: Vec<StepPoint>,
    /// Steps in each point but the last.
    stride: u64,
    /// Steps in the last point.
    last_len: u64,
}

/// How it is saved: without the fields' names in every point.
#[derive(Serialize, Deserialize)]
struct Rows {
    points: Vec<(u64, f32, f32, f32)>,
    stride: u64,
    last_len: u64,
}

impl Default for StepCurve {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            stride: 1,
            last_len: 0,
        }
    }
}

impl StepCurve {
    /// Takes the next step.
    pub fn add(&mut self, point: StepPoint) {
        match self.points.last_mut() {
            Some(last) if self.last_len < self.stride => {
                self.last_len += 1;
                *last = mean(last, &point, 1.0 / self.last_len as f32);
            }
            _ => {
                if self.points.len() >= MAX_POINTS {
                    let pairs = self
                        .points
                        .chunks(2)
                        .filter_map(|two| two.iter().copied().reduce(|a, b| mean(&a, &b, 0.5)));
                    self.points = pairs.collect();
                    self.stride = self.stride.saturating_mul(2);
                }
                self.points.push(point);
                self.last_len = 1;
            }
        }
    }

    /// The points, oldest first.
    pub fn points(&self) -> &[StepPoint] {
        &self.points
    }
}

/// Both points as one, in which the later one has this weight.
fn mean(earlier: &StepPoint, later: &StepPoint, weight: f32) -> StepPoint {
    let mix = |from: f32, to: f32| from + (to - from) * weight;
    StepPoint {
        loss: mix(earlier.loss, later.loss),
        accuracy: mix(earlier.accuracy, later.accuracy),
        ..*later
    }
}

impl From<Rows> for StepCurve {
    fn from(
        Rows {
            points,
            stride,
            last_len,
        }: Rows,
    ) -> Self {
        let point = |(step, loss, accuracy, learning_rate)| StepPoint {
            step,
            loss,
            accuracy,
            learning_rate,
        };
        Self {
            points: points.into_iter().map(point).collect(),
            stride: stride.max(1),
            last_len,
        }
    }
}

impl From<StepCurve> for Rows {
    fn from(
        StepCurve {
            points,
            stride,
            last_len,
        }: StepCurve,
    ) -> Self {
        let row = |point: StepPoint| (point.step, point.loss, point.accuracy, point.learning_rate);
        Self {
            points: points.into_iter().map(row).collect(),
            stride,
            last_len,
        }
    }
}
