//! Owns the language between engine and window: closed enums of plain data that could cross a pipe.
//! Must not know egui, candle, channels or threads.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::infer::DeviceComparison;
use crate::ink::Ink;
use crate::problem::{EngineExit, Problem};
use crate::records::benchmark::{Extent, Report, Row, Saved, Side, Subject};
use crate::records::{
    EpochRecord, Evaluation, ExportSpec, FileInfo, ImportFinding, ImportSpec, Intervention, ModelInfo, ModelRef, Prediction,
    QuantizedAccuracy, RunId, RunPlan, RunSummary, StepPoint, Telemetry,
};
use crate::run_config::{DataSpec, DeviceChoice, ReadingChoice, RunConfig};

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
    UseModel(ModelRef),
    /// Choose where models read that do not learn any more: the processor, or one of these devices, best first. They are compared with the
    /// processor now and for every model that comes, whenever nothing else is under way; until then the processor reads.
    ChooseInferenceDevice {
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
    ModelInUse(ModelInfo),
    /// Where the model reads from now on, and what that rests on.
    InferenceDevice(DeviceComparison),
    /// A drawing was read.
    Classified {
        /// From the command.
        request: u64,
        /// What was read.
        prediction: Box<Prediction>,
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
    EngineExited(EngineExit),
}

/// What a failure belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// A training run.
    Run(RunId),
    /// Reading drawing number `n`.
    Classify(u64),
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
