//! Owns the language between engine and window: closed enums of plain data that could cross a pipe.
//! Must not know egui, candle, channels or threads.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bench::{Extent, Report, Row, Saved, Side, Subject};
use crate::export::{ExportSpec, FileInfo, QuantizedAccuracy};
use crate::import::{ImportFinding, ImportSpec};
use crate::infer::ReadingReport;
use crate::ink::{Image, Ink};
use crate::problem::{EngineLoss, Problem};
use crate::run_config::{DataSpec, DeviceChoice, ModelKind, Precision, ReadingChoice, RunConfig};

/// Digit classes.
pub const CLASSES: usize = 10;

/// Names one training run of this session, so that stale events can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub u64);

/// What the engine can be asked to do. Each is acted on within 100 ms, also in the middle of a training step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Prepare the data and train. Refused with `Failed` while another run is under way.
    Start {
        /// The name its events will carry.
        run: RunId,
        /// What to compute.
        config: RunConfig,
        /// The folder of the checkpoint to go on from, for a run that was interrupted.
        #[serde(default)]
        from: Option<PathBuf>,
    },
    /// Hold the run where it is.
    Pause(RunId),
    /// Go on after a pause.
    Resume(RunId),
    /// End the run now; what it learned so far is kept if an epoch was completed.
    Stop(RunId),
    /// Choose the model that reads drawings.
    ReadWith(ModelRef),
    /// Choose where models read that do not learn any more: the processor, or one of these devices, best first. They are compared with the
    /// processor now and for every model that comes, whenever nothing else is under way; until then the processor reads.
    ReadOn {
        /// Which of them.
        choice: ReadingChoice,
        /// Those that may be used beside the processor.
        usable: Vec<DeviceChoice>,
    },
    /// Read one drawing; when several wait, only the latest is read.
    Classify {
        /// Returned with the reading.
        request: u64,
        /// The drawing.
        ink: Ink,
    },
    /// Measure a model on the test split of a data set.
    Evaluate {
        /// Returned with the outcome.
        request: u64,
        /// The model to measure.
        model: ModelRef,
        /// Whose test split.
        data: DataSpec,
    },
    /// Break off the measurement with this request number.
    CancelEvaluation(u64),
    /// Measure this machine. Refused with `Failed` while a run is under way.
    Benchmark {
        /// Returned with the outcome.
        request: u64,
        /// How much to measure.
        extent: Extent,
    },
    /// Measure the steps of a configuration on several sides. Refused with `Failed` while a run is under way.
    Compare {
        /// Returned with the outcome.
        request: u64,
        /// Whose steps.
        config: RunConfig,
        /// What they are measured with.
        sides: Vec<Side>,
    },
    /// Break off the benchmark or comparison with this request number.
    CancelBenchmark(u64),
    /// Export a model, or only tell what its export would hold. Refused with `Failed` while a run is under way if it takes measuring.
    Export {
        /// Returned with the outcome.
        request: u64,
        /// The model.
        model: ModelRef,
        /// As what.
        spec: ExportSpec,
        /// The file to write; nowhere, to be told what it would hold.
        to: Option<PathBuf>,
    },
    /// Break off the export with this request number.
    CancelExport(u64),
    /// Import a file of weights. Refused with `Failed` while a run is under way.
    Import {
        /// Returned with the outcome.
        request: u64,
        /// The file, and what is known of it.
        spec: ImportSpec,
    },
    /// Give a sign of life.
    Ping,
    /// Stop whatever runs and end the engine.
    Shutdown,
}

/// Which model is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelRef {
    /// The small model that comes with Inkling.
    Starter,
    /// A model file written by a run.
    File(PathBuf),
    /// The newest weights of the run that is under way or was last.
    Training(RunId),
}

/// What the engine reports. `Preparing`, `Progress`, `Evaluating`, `Benchmarking` and `Exporting` are telemetry: coalesced, at most 20 a second.
/// Everything else is delivered, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Data for the run is being read or written.
    Preparing {
        /// The run.
        run: RunId,
        /// From 0 to 1.
        fraction: f32,
    },
    /// The data is ready and the first step begins.
    Started {
        /// The run.
        run: RunId,
        /// What will be computed.
        plan: RunPlan,
        /// The epochs completed before it was interrupted, where it is one that goes on.
        before: Vec<EpochRecord>,
        /// The folder its checkpoints go to.
        folder: PathBuf,
    },
    /// Training went on.
    Progress {
        /// The run.
        run: RunId,
        /// The steps since the last report, oldest first.
        steps: Vec<StepPoint>,
        /// The state now.
        now: Telemetry,
    },
    /// An epoch was completed and validated.
    Epoch {
        /// The run.
        run: RunId,
        /// Its figures.
        record: EpochRecord,
    },
    /// What the run could go on from after an interruption was written, or not.
    Checkpoint {
        /// The run.
        run: RunId,
        /// The folder it is in.
        folder: PathBuf,
        /// Completed epochs in it.
        epochs: u32,
        /// Why it was not written.
        kept: Result<(), Problem>,
    },
    /// The run did something by itself that was not in its plan.
    Intervened {
        /// The run.
        run: RunId,
        /// What.
        intervention: Intervention,
    },
    /// The run holds.
    Paused(RunId),
    /// The run goes on.
    Resumed(RunId),
    /// The run is over and its folder is written.
    Finished {
        /// The run.
        run: RunId,
        /// What came of it.
        summary: Box<RunSummary>,
    },
    /// The run was stopped before its first epoch was complete; nothing was kept.
    Discarded(RunId),
    /// Something asked for could not be done; a run it names is over.
    Failed {
        /// What failed.
        what: Task,
        /// Why.
        problem: Problem,
    },
    /// From now on this model reads drawings.
    Reader(ModelInfo),
    /// Where the model reads from now on, and what that rests on.
    ReadingOn(ReadingReport),
    /// A drawing was read.
    Read {
        /// From the command.
        request: u64,
        /// What was read.
        reading: Box<Prediction>,
    },
    /// A measurement is under way.
    Evaluating {
        /// From the command.
        request: u64,
        /// From 0 to 1.
        fraction: f32,
    },
    /// A model was measured.
    Evaluated {
        /// From the command.
        request: u64,
        /// The model.
        model: ModelInfo,
        /// Whose test split.
        data: DataSpec,
        /// The figures.
        evaluation: Box<Evaluation>,
    },
    /// The measurement with this request number was broken off.
    EvaluationCancelled(u64),
    /// A benchmark is under way.
    Benchmarking {
        /// From the command.
        request: u64,
        /// What is being measured.
        subject: Subject,
        /// From 0 to 1.
        fraction: f32,
        /// Seconds until it is done.
        remaining_seconds: f32,
    },
    /// A benchmark found a figure.
    BenchmarkRow {
        /// From the command.
        request: u64,
        /// The figure.
        row: Row,
    },
    /// This machine was measured.
    Benchmarked {
        /// From the command.
        request: u64,
        /// All figures.
        report: Box<Report>,
        /// Where they are kept, or why they are not.
        saved: Result<Saved, Problem>,
    },
    /// A comparison is complete: every row was reported.
    Compared {
        /// From the command.
        request: u64,
        /// Sides that could not be measured, and why.
        failed: Vec<(Side, Problem)>,
    },
    /// The benchmark or comparison with this request number was broken off; nothing was kept.
    BenchmarkCancelled(u64),
    /// An export's accuracy is being measured.
    Exporting {
        /// From the command.
        request: u64,
        /// From 0 to 1.
        fraction: f32,
    },
    /// A model was exported, or it was found out what its export would hold.
    Exported {
        /// From the command.
        request: u64,
        /// What it holds.
        export: Box<ExportReport>,
    },
    /// The export with this request number was broken off; nothing was written.
    ExportCancelled(u64),
    /// A model was imported and stands among the runs.
    Imported {
        /// From the command.
        request: u64,
        /// What is known of it.
        summary: Box<RunSummary>,
        /// How that was found out.
        finding: ImportFinding,
    },
    /// A sign of life.
    Pong,
    /// The engine broke and was started afresh; readings and runs work again.
    Restarted,
    /// The process the engine was in is gone, and with it the engine: nothing comes after this.
    Lost(EngineLoss),
}

/// What a failure belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// A training run.
    Run(RunId),
    /// Reading drawing number `n`.
    Reading(u64),
    /// Loading a model to read with.
    Model,
    /// Evaluation number `n`.
    Evaluation(u64),
    /// Benchmark number `n`.
    Benchmark(u64),
    /// Export number `n`.
    Export(u64),
    /// Import number `n`.
    Import(u64),
}

/// What an export holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportReport {
    /// Its files, the one asked for first; those of a zip archive are in it.
    pub files: Vec<FileInfo>,
    /// What was written; nothing where only was asked what it would hold.
    pub paths: Vec<PathBuf>,
    /// What quantising costs, where it was measured.
    pub quantized: Option<QuantizedAccuracy>,
    /// Why that could not be measured, where it should have been.
    pub unmeasured: Option<Problem>,
}

/// What a run is about to compute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// Images the weights learn from.
    pub train_images: u64,
    /// Images held back from training, chosen by seed.
    pub validation_images: u64,
    /// Images of the test split, read once at the end.
    pub test_images: u64,
    /// Trainable numbers.
    pub parameters: u64,
    /// Optimiser steps in one epoch.
    pub steps_per_epoch: u64,
    /// Optimiser steps in all.
    pub total_steps: u64,
    /// Where it trains (never `Auto`).
    pub device: DeviceChoice,
    /// Number format of the products.
    pub precision: Precision,
    /// Worker threads.
    pub threads: u32,
}

/// One optimiser step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepPoint {
    /// Steps done, from 1.
    pub step: u64,
    /// Mean cross-entropy of the batch, in nats, before the update.
    pub loss: f32,
    /// Share of the batch read rightly, before the update.
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
    /// What the loss is multiplied by so that small gradients survive f16; `None` in other precisions.
    #[serde(default)]
    pub loss_scale: Option<f32>,
    /// Steps skipped so far because their gradients overflowed in f16.
    #[serde(default)]
    pub skipped_steps: u64,
}

/// What a run does by itself to come to a good end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Intervention {
    /// Gradients overflowed in f16: their step was skipped and the loss scale halved.
    SkippedStep {
        /// The step, from 1.
        step: u64,
        /// The scale from here on.
        loss_scale: f32,
    },
    /// The loss or its gradients were no longer numbers: the run goes on from an earlier state, at half its learning rate.
    SteppedBack {
        /// The step it happened at, from 1.
        step: u64,
        /// The step whose state the run goes on from; 0 is the start.
        to_step: u64,
        /// What every learning rate is multiplied by from here on.
        rate_factor: f32,
        /// How often the run will step back again before it gives up.
        left: u32,
    },
    /// Memory ran short: batches are computed in smaller parts, whose gradients add up to the same.
    SmallerParts {
        /// The step it happened at, from 1.
        step: u64,
        /// Images of a part from here on.
        images: u32,
    },
    /// Validation did not get better for as long as the configuration allows: the run is over.
    StoppedEarly {
        /// The last epoch trained.
        epoch: u32,
        /// The one whose weights are kept.
        best_epoch: u32,
    },
}

/// One epoch, as it is kept with the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// From 1.
    pub epoch: u32,
    /// Steps done at its end.
    pub step: u64,
    /// Mean of the epoch's batch losses, in nats.
    pub train_loss: f32,
    /// Share of training images read rightly, as they passed.
    pub train_accuracy: f32,
    /// Mean cross-entropy on the validation split, in nats.
    pub validation_loss: f32,
    /// Share of the validation split read rightly.
    pub validation_accuracy: f32,
    /// Seconds of training, without validation and pauses.
    pub seconds: f32,
}

/// What came of a run; also what its folder's `run.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// What was asked.
    pub config: RunConfig,
    /// What was computed.
    pub plan: RunPlan,
    /// The run's folder.
    #[serde(default)]
    pub folder: PathBuf,
    /// The model file in it.
    #[serde(default)]
    pub model_path: PathBuf,
    /// When it ended, RFC 3339 in UTC.
    pub finished_at: String,
    /// True when it was stopped before its last epoch by whoever watched it.
    pub stopped: bool,
    /// True when it ended before its last epoch because validation did not get better any more.
    #[serde(default)]
    pub stopped_early: bool,
    /// The epoch whose weights are kept, from 1; `None` in runs of older versions, which kept the last.
    #[serde(default)]
    pub kept_epoch: Option<u32>,
    /// Every completed epoch.
    pub epochs: Vec<EpochRecord>,
    /// Seconds of training alone.
    pub train_seconds: f64,
    /// Training images per second over the whole run.
    pub images_per_second: f64,
    /// The test split, read once; `None` when the run was stopped.
    pub test: Option<Evaluation>,
    /// The machine it was computed on, in words; empty in runs of older versions.
    #[serde(default)]
    pub machine: String,
    /// The file it came from, where it was not trained here.
    #[serde(default)]
    pub imported: Option<String>,
}

impl RunSummary {
    /// The same without the pictures that were read wrongly, which take most of its room, nor where it lies.
    #[must_use]
    pub fn without_pictures(&self) -> Self {
        let mut summary = Self { folder: PathBuf::new(), model_path: PathBuf::new(), ..self.clone() };
        if let Some(test) = &mut summary.test {
            test.mistakes.clear();
        }
        summary
    }

    /// The record of the epoch whose weights are kept.
    pub fn kept(&self) -> Option<&EpochRecord> {
        match self.kept_epoch {
            Some(kept) => self.epochs.iter().find(|record| record.epoch == kept),
            None => self.epochs.last(),
        }
    }
}

/// A model measured on a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Images read.
    pub images: u64,
    /// Share read rightly.
    pub accuracy: f64,
    /// Mean cross-entropy, in nats.
    pub loss: f64,
    /// `confusion[truth][answer]`, in images.
    pub confusion: [[u32; CLASSES]; CLASSES],
    /// The most confident wrong answers, worst first, at most 60.
    pub mistakes: Vec<Mistake>,
}

/// An image read wrongly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// Position in the split.
    pub index: u64,
    /// What the model saw.
    pub picture: Image,
    /// The right digit.
    pub label: u8,
    /// The model's answer.
    pub answer: u8,
    /// The probability it gave its answer.
    pub confidence: f32,
    /// The probability it gave the right digit.
    pub label_probability: f32,
}

/// A drawing, read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// What the model saw.
    pub picture: Image,
    /// A probability per digit; they sum to 1.
    pub probabilities: [f32; CLASSES],
    /// The likeliest digit.
    pub digit: u8,
    /// Its probability.
    pub confidence: f32,
    /// Higher: more like a digit (the log of the summed exponentials of the logits; Liu et al. 2020).
    pub energy_score: f32,
    /// False when the drawing does not look like any digit the model knows.
    pub is_digit: bool,
    /// From ink to probabilities, in microseconds.
    pub micros: u32,
    /// Where it was read (never `Auto`).
    pub device: DeviceChoice,
    /// Who read it.
    pub model: ModelInfo,
}

/// A model in a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Which one.
    pub reference: ModelRef,
    /// Its network.
    pub kind: ModelKind,
    /// Trainable numbers.
    pub parameters: u64,
    /// What it was trained on.
    pub data: DataSpec,
    /// Epochs of training behind it.
    pub epochs: u32,
    /// Its accuracy on the validation split, where known.
    pub validation_accuracy: Option<f32>,
}
