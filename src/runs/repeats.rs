//! Repeated runs: the statistics of the same settings with several seeds, and whether a run that
//! was started again has the same weights as the first time.

use std::path::Path;

use half::f16;
use safetensors::Dtype;

use super::{RunEntry, RunError};
use crate::math::statistics::{MeanInterval, mean_interval};
use crate::nn::{MAX_FILE_BYTES, SafetensorsFile, floats};
use crate::records::RunSummary;
use crate::run_config::RunConfig;
use crate::system::files::read_limited;
use crate::text::format::{count, percent, significant};

/// The repetitions after this one that are not among these runs.
pub fn missing_repetitions(config: &RunConfig, runs: &[RunEntry]) -> Vec<RunConfig> {
    let mut missing = config.next_repetitions();
    let saved = |run: &RunConfig| {
        runs.iter()
            .flat_map(|entry| &entry.summary)
            .any(|summary| summary.config.repetition == run.repetition)
    };
    missing.retain(|run| !saved(run));
    missing
}

/// The runs of one repetition that were saved and not stopped, in the order of their numbers; at
/// least two.
#[derive(Clone, Debug)]
pub struct Repeats<'r> {
    runs: Vec<(&'r RunEntry, &'r RunSummary)>,
    tested: bool,
}

impl<'r> Repeats<'r> {
    /// The runs that were repeated together with this one; `None` while there are not two.
    pub fn of(runs: &'r [RunEntry], one: &RunSummary) -> Option<Self> {
        let begun = &one.config.repetition.as_ref()?.begun;
        let summaries = runs
            .iter()
            .filter_map(|entry| Some((entry, &**entry.summary.as_ref().ok()?)));
        let is_one = |summary: &RunSummary| {
            summary.is_typical()
                && summary
                    .config
                    .repetition
                    .as_ref()
                    .is_some_and(|run| run.begun == *begun)
        };
        let mut runs: Vec<_> = summaries.filter(|(_, summary)| is_one(summary)).collect();
        runs.sort_by_key(|(_, summary)| summary.config.repetition.as_ref().map(|run| run.number));
        let tested = runs.iter().all(|(_, summary)| summary.test.is_some());
        (runs.len() >= 2).then_some(Self { runs, tested })
    }

    pub fn runs(&self) -> &[(&'r RunEntry, &'r RunSummary)] {
        &self.runs
    }

    /// What the accuracies were measured on: "test" images if all runs were, else "validation"
    /// images.
    pub const fn measured_on(&self) -> &'static str {
        if self.tested { "test" } else { "validation" }
    }

    /// The accuracy of a run, 0 to 1.
    pub fn accuracy(&self, run: &RunSummary) -> f64 {
        let validation = || {
            run.kept()
                .map_or(0.0, |record| f64::from(record.validation_accuracy))
        };
        run.test
            .as_ref()
            .filter(|_| self.tested)
            .map_or_else(validation, |test| test.evaluation.accuracy)
    }

    pub fn mean(&self) -> Option<MeanInterval> {
        mean_interval(
            &self
                .runs
                .iter()
                .map(|(_, run)| self.accuracy(run))
                .collect::<Vec<_>>(),
        )
    }

    /// The run with the lowest accuracy, and that with the highest.
    pub fn extremes(&self) -> Option<(&'r RunSummary, &'r RunSummary)> {
        let by = |a: &&&RunSummary, b: &&&RunSummary| self.accuracy(a).total_cmp(&self.accuracy(b));
        let all: Vec<&RunSummary> = self.runs.iter().map(|(_, run)| *run).collect();
        Some((all.iter().min_by(by)?, all.iter().max_by(by)?))
    }

    /// For each epoch that two runs or more have completed: the epoch, and the mean validation
    /// accuracy with its interval.
    pub fn by_epoch(&self) -> Vec<(u32, MeanInterval)> {
        let last = self
            .runs
            .iter()
            .filter_map(|(_, run)| run.epochs.last())
            .map(|record| record.epoch)
            .max()
            .unwrap_or_default();
        let at = |epoch: u32| -> Vec<f64> {
            let of = |run: &RunSummary| {
                run.epochs
                    .iter()
                    .find(|record| record.epoch == epoch)
                    .map(|record| record.validation_accuracy)
            };
            self.runs
                .iter()
                .filter_map(|(_, run)| of(run))
                .map(f64::from)
                .collect()
        };
        (1..=last)
            .filter_map(|epoch| Some((epoch, mean_interval(&at(epoch))?)))
            .collect()
    }

    /// "5 runs: mean test accuracy 99.21%, 95% interval of the mean 99.15% to 99.27% (Student's
    /// t), standard deviation 0.05 percentage points; lowest 99.10% (seed 5), highest 99.30%
    /// (seed 3)."
    pub fn sentence(&self) -> String {
        let (Some(mean), Some((worst, best))) = (self.mean(), self.extremes()) else {
            return String::new();
        };
        let one = |run: &RunSummary| {
            format!(
                "{} (seed {})",
                percent(self.accuracy(run), 2),
                run.config.seed
            )
        };
        format!(
            "{} runs: mean {} accuracy {}, 95% interval of the mean {} to {} (Student's t), standard deviation {:.2} percentage points; \
             lowest {}, highest {}.",
            mean.count,
            self.measured_on(),
            percent(mean.mean, 2),
            percent(mean.low.max(0.0), 2),
            percent(mean.high.min(1.0), 2),
            mean.deviation * 100.0,
            one(worst),
            one(best),
        )
    }
}

/// How the weights of two runs differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// Tensors in the model file of the first run.
    pub tensors: usize,
    /// Those that are not the same, bit for bit.
    pub differing: usize,
    /// The largest difference of two weights; `None` if a tensor is missing or has another
    /// shape.
    pub largest_difference: Option<f32>,
    /// The differences that may be the reason: "the machine", "the device".
    pub circumstances: Vec<&'static str>,
    /// Whether algorithms were found by trying, which may be others each time.
    pub autotuned: bool,
}

/// The settings that start this run again: where it was trained, and by itself.
pub fn reproduced_config(run: &RunSummary) -> RunConfig {
    RunConfig {
        device: run.plan.device,
        repeats: 1,
        repetition: None,
        ..run.config.clone()
    }
}

impl Reproduction {
    /// Compares the weights of both runs. If one has its weights as f16, both are compared as
    /// f16.
    pub fn compare(first: &RunSummary, again: &RunSummary) -> Result<Self, RunError> {
        let (first_bytes, again_bytes) = (bytes(&first.model_path)?, bytes(&again.model_path)?);
        let (weights, weights_again) = (
            read(&first_bytes, &first.model_path)?,
            read(&again_bytes, &again.model_path)?,
        );
        let mut found = Self {
            tensors: weights.tensors().len(),
            differing: 0,
            largest_difference: Some(0.0),
            circumstances: Vec::new(),
            autotuned: again.config.autotune,
        };
        for (name, ..) in weights.tensors() {
            let (one, other) = (values(&weights, name), values(&weights_again, name));
            match (one, other) {
                (Some((shape, one, halved)), Some((other_shape, other, other_halved)))
                    if shape == other_shape =>
                {
                    let round = |value: f32| {
                        if halved || other_halved {
                            f16::from_f32(value).to_f32()
                        } else {
                            value
                        }
                    };
                    let mut pairs = one.iter().zip(&other).map(|(a, b)| (round(*a), round(*b)));
                    if pairs.clone().any(|(a, b)| a.to_bits() != b.to_bits()) {
                        found.differing += 1;
                    }
                    let largest = found.largest_difference.map(|most| {
                        pairs
                            .by_ref()
                            .fold(most, |most, (a, b)| most.max((a - b).abs()))
                    });
                    found.largest_difference = largest;
                }
                _ => (found.differing, found.largest_difference) = (found.differing + 1, None),
            }
        }
        let circumstances = [
            ("the machine", first.machine != again.machine),
            ("the device", first.plan.device != again.plan.device),
            (
                "the number of training images",
                first.plan.train_images != again.plan.train_images,
            ),
            (
                "the number of epochs",
                first.epochs.len() != again.epochs.len(),
            ),
            (
                "the learning rate, which was changed while the first run trained",
                first.rate_changes != again.rate_changes,
            ),
        ];
        found.circumstances = circumstances
            .into_iter()
            .filter_map(|(name, differs)| differs.then_some(name))
            .collect();
        Ok(found)
    }

    /// True if every weight is the same.
    pub const fn is_same(&self) -> bool {
        self.differing == 0
    }

    /// "The weights are the same, bit for bit." or by how much they differ, and what may be the
    /// reason.
    pub fn sentence(&self) -> String {
        if self.is_same() {
            return "The run was reproduced: its weights are the same, bit for bit.".to_owned();
        }
        let differing = format!(
            "The weights are not the same: {} of {} differ",
            self.differing,
            count(self.tensors as u64, "tensor")
        );
        let largest = self
            .largest_difference
            .map(|largest| format!(", by up to {}", significant(largest.into())))
            .unwrap_or_default();
        let reasons = if self.circumstances.is_empty() {
            let autotuned = if self.autotuned {
                ", or the algorithms that autotuning found,"
            } else {
                ","
            };
            format!(" The data, or the version of Inkling{autotuned} may have changed since.")
        } else {
            format!(" Also different: {}.", self.circumstances.join(", "))
        };
        format!("{differing}{largest}.{reasons}")
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, RunError> {
    read_limited(path, MAX_FILE_BYTES).map_err(RunError::unreadable(path))
}

fn read<'b>(bytes: &'b [u8], path: &Path) -> Result<SafetensorsFile<'b>, RunError> {
    SafetensorsFile::read(bytes).map_err(|reason| RunError::malformed(path, reason))
}

/// A tensor's shape and numbers, and whether they are stored as f16.
fn values<'f>(file: &'f SafetensorsFile<'_>, name: &str) -> Option<(&'f [usize], Vec<f32>, bool)> {
    let (dtype, shape, bytes) = file.tensor(name)?;
    let numbers = floats(dtype, bytes)?;
    Some((shape, numbers, dtype == Dtype::F16))
}
