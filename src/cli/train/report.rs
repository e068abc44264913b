//! The output of `inkling train`: JSON objects for scripts and lines for people.

use std::path::Path;

use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::format::{clock, quoted};
use crate::cli::output::Output;
use crate::problem::Problem;
use crate::records::{
    EpochRecord, InitializationReport, Intervention, Rescue, RunPlan, RunPosition, RunSummary,
    SplitEvaluation, StepPoint,
};
use crate::run_config::RunConfig;
use crate::runs::Checkpoints;
use crate::text::format::{count, grouped, percent};
use crate::text::visible;
use crate::window::harder_data_note;

/// JSON at the start of the run: its configuration and plan.
#[derive(Debug, Serialize)]
pub struct Started<'a> {
    event: &'static str,
    config: &'a RunConfig,
    plan: &'a RunPlan,
}

impl<'a> Started<'a> {
    pub const fn new(config: &'a RunConfig, plan: &'a RunPlan) -> Self {
        Self {
            event: "started",
            config,
            plan,
        }
    }
}

/// JSON before the first step: what the weights were initialised from, where those are statistics
/// of the training images.
#[derive(Debug, Serialize)]
pub struct Initialized<'a> {
    event: &'static str,
    #[serde(flatten)]
    report: &'a InitializationReport,
}

impl<'a> Initialized<'a> {
    pub const fn new(report: &'a InitializationReport) -> Self {
        Self {
            event: "initialized",
            report,
        }
    }
}

/// JSON for each step, so that other programs can follow the curve.
#[derive(Debug, Serialize)]
pub struct Step<'a> {
    event: &'static str,
    #[serde(flatten)]
    point: &'a StepPoint,
}

impl<'a> Step<'a> {
    pub const fn new(point: &'a StepPoint) -> Self {
        Self {
            event: "step",
            point,
        }
    }
}

/// JSON after each epoch.
#[derive(Debug, Serialize)]
pub struct Epoch<'a> {
    event: &'static str,
    #[serde(flatten)]
    record: &'a EpochRecord,
}

impl<'a> Epoch<'a> {
    pub const fn new(record: &'a EpochRecord) -> Self {
        Self {
            event: "epoch",
            record,
        }
    }
}

/// JSON when the run intervenes: a skipped step, a rollback, smaller micro-batches, or early
/// stopping.
#[derive(Debug, Serialize)]
pub struct Intervened<'a> {
    event: &'static str,
    #[serde(flatten)]
    intervention: &'a Intervention,
}

impl<'a> Intervened<'a> {
    pub const fn new(intervention: &'a Intervention) -> Self {
        Self {
            event: "intervened",
            intervention,
        }
    }
}

/// JSON when the run has ended but could not be saved yet.
#[derive(Debug, Serialize)]
pub struct NotSaved {
    event: &'static str,
    reason: String,
    /// The folder of its checkpoint, if there is one.
    checkpoint: Option<String>,
}

impl NotSaved {
    pub fn new(problem: &Problem, checkpoint: Option<&Path>) -> Self {
        Self {
            event: "not_saved",
            reason: problem.to_string(),
            checkpoint: checkpoint.map(|folder| folder.display().to_string()),
        }
    }
}

/// JSON before the end of a run that was saved, but not as a whole where it was to be.
#[derive(Debug, Serialize)]
pub struct Rescued {
    event: &'static str,
    reason: String,
    run: String,
    temporary: bool,
    model_alone: bool,
}

impl Rescued {
    pub fn new(
        problem: &Problem,
        Rescue {
            folder,
            temporary,
            model_alone,
        }: &Rescue,
    ) -> Self {
        Self {
            event: "rescued",
            reason: problem.to_string(),
            run: folder.display().to_string(),
            temporary: *temporary,
            model_alone: *model_alone,
        }
    }
}

/// JSON at the end of a run that was saved.
#[derive(Serialize)]
struct Finished<'a> {
    event: &'static str,
    run: String,
    model: &'static str,
    model_path: String,
    device: &'static str,
    precision: &'static str,
    parameters: u64,
    train_seconds: f64,
    epoch_seconds: Vec<f32>,
    images_per_second: f64,
    validation_accuracy: Option<f32>,
    /// Null if the data has no test images, or their evaluation was stopped.
    test_accuracy: Option<f64>,
    stopped: bool,
    stopped_early: bool,
    kept_epoch: Option<u32>,
    config: &'a RunConfig,
}

/// JSON at the end of a run that was stopped before its first epoch was complete.
#[derive(Serialize)]
struct Unfinished {
    event: &'static str,
    /// The folder it can be resumed from; absent where nothing was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
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
    output.json(&Finished {
        event: "finished",
        run: summary.folder.display().to_string(),
        model: summary.config.model.name(),
        model_path: summary.model_path.display().to_string(),
        device: summary.plan.device.name(),
        precision: summary.plan.precision.name(),
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
        let (took, speed) = (
            clock(summary.train_seconds),
            grouped(summary.images_per_second.round() as u64),
        );
        format!("Done. {accuracy}. Training took {took} at {speed} images/s.")
    } else {
        format!(
            "Stopped after {epochs} of {}; the model was saved. {accuracy}.",
            count(u64::from(summary.config.epochs), "epoch")
        )
    })?;
    if let Some(note) = summary
        .test
        .as_ref()
        .and_then(|_| harder_data_note(&summary.config.data))
    {
        output.text(&note)?;
    }
    output.text(&format!(
        "Model saved as {}",
        visible::path(&summary.model_path)
    ))?;
    let one = summary.classes().one();
    output.text(&format!(
        "Try it on an image of {one}: inkling predict --model {} drawing.png",
        quoted(&summary.model_path)
    ))
}

/// Prints that the run was stopped without a model, and whether it can be resumed.
pub fn unfinished(checkpoint: Option<&Path>, output: &mut Output) -> Result<(), Failure> {
    let event = if checkpoint.is_some() {
        "unfinished"
    } else {
        "discarded"
    };
    output.json(&Unfinished {
        event,
        checkpoint: checkpoint.map(|folder| folder.display().to_string()),
    })?;
    output.text(match checkpoint.map(Checkpoints::position) {
        Some(Some(position)) if position.epochs > 0 => {
            "Stopped before training went on. To resume the run: inkling train --resume"
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
