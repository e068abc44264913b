//! The output of `inkling train`: JSON objects for scripts and lines for people.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::output::{Output, clock};
use crate::notices::harder_data_note;
use crate::records::{
    EpochRecord, InitializationReport, Intervention, RunPlan, RunPosition, RunSummary,
    SplitEvaluation, StepPoint,
};
use crate::run_config::{DeviceChoice, ModelKind, Precision, RunConfig};
use crate::runs::{Checkpoints, Repeats, Reproduction, RunEntry};
use crate::text::format::{count, grouped, percent};
use crate::text::visible::{self, quoted};

/// A line of JSON.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JsonLine<'a> {
    /// The run begins.
    Started {
        config: &'a RunConfig,
        plan: &'a RunPlan,
    },
    /// The weights were initialized from statistics of training images.
    Initialized(&'a InitializationReport),
    /// A step was taken.
    Step(&'a StepPoint),
    /// An epoch was completed.
    Epoch(&'a EpochRecord),
    /// The run did something by itself.
    Intervened(&'a Intervention),
    /// The run has ended but could not be saved yet.
    NotSaved {
        reason: String,
        /// The folder of its checkpoint; `None` if there is none, so that the run cannot be
        /// resumed.
        checkpoint: Option<String>,
    },
    /// The run could not be saved as a whole where it was to be, and was saved another way; its
    /// end follows, and the exit status is not 0.
    Rescued {
        reason: String,
        /// Its folder.
        run: String,
        /// Whether that is in the system's temporary folder.
        temporary: bool,
        /// Whether its steps, misclassified images and samples from the posterior are missing.
        model_alone: bool,
    },
    /// The run ended and was saved.
    Finished {
        /// Its folder.
        run: String,
        model: ModelKind,
        model_path: String,
        device: DeviceChoice,
        precision: Precision,
        parameters: u64,
        train_seconds: f64,
        epoch_seconds: Vec<f32>,
        images_per_second: f64,
        /// That of the weights that were kept.
        validation_accuracy: Option<f32>,
        /// `None` if the data has no test images, or their evaluation was stopped.
        test_accuracy: Option<f64>,
        /// Whether it was stopped before it was complete.
        stopped: bool,
        /// Whether early stopping ended it.
        stopped_early: bool,
        /// The epoch whose weights were kept.
        kept_epoch: Option<u32>,
        config: &'a RunConfig,
    },
    /// The run was stopped before its first epoch was complete and can be resumed.
    Unfinished {
        /// The folder of its checkpoint.
        checkpoint: String,
    },
    /// The run was stopped before its first step; nothing was saved.
    Discarded,
    /// Repeated runs have ended.
    Repeated {
        runs: usize,
        /// "test", or "validation" if the data has no test images.
        measured_on: &'static str,
        mean_accuracy: f64,
        /// The lower end of the 95% interval of the mean.
        low: f64,
        /// The upper end of it.
        high: f64,
        standard_deviation: f64,
        lowest: RepeatedRun,
        highest: RepeatedRun,
    },
    /// A run was trained again, with --reproduce.
    Reproduced {
        /// Whether all weights are the same.
        same: bool,
        tensors: usize,
        /// Tensors that differ.
        differing: usize,
        /// Of two weights; `None` if a tensor is missing or has another shape.
        largest_difference: Option<f32>,
        /// The differences that may be the reason.
        circumstances: Vec<&'static str>,
    },
}

/// One of the repeated runs.
#[derive(Serialize, JsonSchema)]
pub struct RepeatedRun {
    pub seed: u64,
    pub accuracy: f64,
    /// Its folder.
    pub run: String,
}

/// The line at the start of the run.
pub fn plan(config: &RunConfig, plan: &RunPlan) -> String {
    format!(
        "Training {} ({} parameters) on {} images of {} ({} more for validation): {} of {}, {}, {}, {}, seed {}.",
        config.network().label(),
        grouped(plan.parameters),
        grouped(plan.train_images),
        config.data.label(),
        grouped(plan.validation_images),
        count(u64::from(config.epochs), "epoch"),
        count(plan.steps_per_epoch, "step"),
        plan.precision.name(),
        plan.device.label(),
        count(u64::from(plan.threads), "thread"),
        config.seed
    )
}

/// The line after each epoch.
pub fn epoch(config: &RunConfig, record: &EpochRecord) -> String {
    format!(
        "Epoch {} of {}: training loss {:.4}, accuracy {}; validation loss {:.4}, accuracy {}; {}.",
        record.epoch,
        config.epochs,
        record.train_loss,
        percent(f64::from(record.train_accuracy), 2),
        record.validation_loss,
        percent(f64::from(record.validation_accuracy), 2),
        clock(f64::from(record.seconds))
    )
}

/// Whether the run was not stopped and evaluated its test set, if it has one.
pub fn is_complete(summary: &RunSummary) -> bool {
    !summary.stopped && (summary.test.is_some() || summary.plan.test_images == 0)
}

/// Prints how the run ended, where the model was saved, and what to try next.
pub fn finished(summary: &RunSummary, output: &mut Output) -> Result<(), Failure> {
    let validation_accuracy = summary.kept().map(|epoch| epoch.validation_accuracy);
    output.json(&JsonLine::Finished {
        run: summary.folder.display().to_string(),
        model: summary.config.model,
        model_path: summary.model_path.display().to_string(),
        device: summary.plan.device,
        precision: summary.plan.precision,
        parameters: summary.plan.parameters,
        train_seconds: summary.train_seconds,
        epoch_seconds: summary.epochs.iter().map(|epoch| epoch.seconds).collect(),
        images_per_second: summary.images_per_second,
        validation_accuracy,
        test_accuracy: summary.test.as_ref().map(|test| test.evaluation.accuracy),
        stopped: !is_complete(summary),
        stopped_early: summary.stopped_early,
        kept_epoch: summary.kept().map(|record| record.epoch),
        config: &summary.config,
    })?;
    let epochs = summary.epochs.len();
    let validated = percent(f64::from(validation_accuracy.unwrap_or_default()), 2);
    let tested = summary.test.as_ref().map(SplitEvaluation::accuracy);
    let accuracy = tested.map_or_else(
        || format!("Validation accuracy: {validated}"),
        |test| format!("{test} (validation: {validated})"),
    );
    output.text(&if is_complete(summary) {
        let took = clock(summary.train_seconds);
        let speed = grouped(summary.images_per_second.round() as u64);
        format!("Done. {accuracy}. Training took {took} at {speed} images/s.")
    } else {
        format!(
            "Stopped after {epochs} of {}; the model was saved. {accuracy}.",
            count(u64::from(summary.config.epochs), "epoch")
        )
    })?;
    if summary.test.is_some()
        && let Some(note) = harder_data_note(&summary.config.data)
    {
        output.hint(&note)?;
    }
    saved(summary, output)
}

/// Prints where a model was saved, and what to try with it.
pub fn saved(summary: &RunSummary, output: &mut Output) -> Result<(), Failure> {
    let path = &summary.model_path;
    output.text(&format!("Model saved as {}", visible::path(path)))?;
    output.hint(&format!(
        "Try it on an image of {}: inkling predict --model {} drawing.png",
        summary.plan.classes.one(),
        quoted(path)
    ))
}

/// Prints that the run was stopped without a model, and whether it can be resumed.
pub fn unfinished(checkpoint: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
    let line = checkpoint.map_or(JsonLine::Discarded, |folder| JsonLine::Unfinished {
        checkpoint: folder.display().to_string(),
    });
    output.json(&line)?;
    output.text(match checkpoint.map(Checkpoints::position) {
        Some(Some(position)) if position.epochs > 0 => {
            "Stopped before training continued. To resume the run: inkling train --resume"
        }
        Some(_) => {
            "Stopped before the first epoch was complete. To resume the run: inkling train --resume"
        }
        None => "Stopped before the first step; nothing was saved.",
    })
}

/// Whether a run whose engine was lost can be resumed.
pub fn lost(resumable: Option<RunPosition>) -> String {
    match resumable {
        Some(position) => format!(
            "The run was last saved after {position}. To resume it from there: inkling train --resume"
        ),
        None => "The run had no checkpoint yet, so it cannot be resumed.".to_owned(),
    }
}

/// Prints the mean accuracy of the runs that belong to this one, with its interval; nothing if
/// fewer than two are left.
pub fn repeated(saved: &[RunEntry], one: &RunSummary, output: &mut Output) -> Result<(), Failure> {
    let Some(repeats) = Repeats::of(saved, one) else {
        return Ok(());
    };
    let (Some(mean), Some((lowest, highest))) = (repeats.mean(), repeats.extremes()) else {
        return Ok(());
    };
    let one = |run: &RunSummary| RepeatedRun {
        seed: run.config.seed,
        accuracy: repeats.accuracy(run),
        run: run.folder.display().to_string(),
    };
    output.json(&JsonLine::Repeated {
        runs: mean.count,
        measured_on: repeats.measured_on(),
        mean_accuracy: mean.mean,
        low: mean.low,
        high: mean.high,
        standard_deviation: mean.deviation,
        lowest: one(lowest),
        highest: one(highest),
    })?;
    output.text(&repeats.sentence())
}

/// Prints whether the weights came out the same; a failure if they did not.
pub fn reproduced(
    first: &RunSummary,
    again: &RunSummary,
    output: &mut Output,
) -> Result<(), Failure> {
    let found = Reproduction::compare(first, again)?;
    let (same, sentence) = (found.is_same(), found.sentence());
    output.json(&JsonLine::Reproduced {
        same,
        tensors: found.tensors,
        differing: found.differing,
        largest_difference: found.largest_difference,
        circumstances: found.circumstances,
    })?;
    if same {
        output.text(&sentence)
    } else {
        Err(Failure::Failed(sentence))
    }
}
