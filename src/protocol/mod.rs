//! The language between the engine and its callers: closed enums of plain data that can cross a
//! pipe.

mod error;
mod job;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::infer::DeviceComparison;
use crate::ink::{CandidateImage, Image, Ink, Steps};
use crate::problem::Problem;
use crate::records::benchmark::Measurement;
use crate::records::{
    BundleId, BundleUse, DataUpload, DigitMap, DigitPrediction, DrawingAnswer, EpochRecord,
    FilePart, HeldOutImage, HeldOutSnapshot, InitializationReport, Intervention, JobId,
    LearningRateChange, MapSpec, ModelInfo, ModelRef, PredictionDetails, Recognition, Rescue,
    RunPlan, RunPosition, SingleStep, StepPoint, Telemetry, TimeToAccuracy, UnitName, WhySpec,
};
use crate::run_config::{DeviceChoice, InferenceChoice};

pub use self::error::{EngineError, EngineExit};
pub use crate::records::benchmark::JobProgress;
pub use job::{ExportReport, Job, JobEvent, JobResult, Needs};

/// What the engine can be asked to do. Each is acted on within 100 ms, also in the middle of a
/// training step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Start a job. One runs at a time: a new one cancels whatever runs, unless that is a training
    /// run, which refuses it with [`EngineError::Busy`]. A job that is done immediately
    /// ([`Job::is_immediate`]) disturbs nothing.
    Submit {
        /// The name its events will carry.
        id: JobId,
        /// The work.
        job: Box<Job>,
        /// The folder with its data, if a caller on another machine has sent it; `None` if it
        /// is looked for here.
        data: Option<PathBuf>,
    },
    /// End a job. A training run that has completed an epoch is saved and done; anything else ends
    /// with [`JobEvent::Cancelled`]. A run that has taken no more than steps completes the one it
    /// is in and leaves a checkpoint, from which it can be resumed.
    Cancel(JobId),
    /// Hold the training run where it is.
    Pause(JobId),
    /// Continue a paused training run.
    Resume(JobId),
    /// Take one step of the training run, look at it closely, and hold the run there. If it is held
    /// or trains in the middle of a step, that one is completed first.
    TakeStep {
        run: JobId,
        /// The unit whose weights are of interest.
        unit: Option<UnitName>,
    },
    /// Multiply the learning rate of the training run by this from its next step on.
    ScaleLearningRate {
        run: JobId,
        /// The factor, of the settings' learning rate; see [`LearningRateChange::FACTORS`].
        factor: f32,
    },
    /// Try again to save a run after [`Event::NotSaved`].
    Save {
        run: JobId,
        /// A new folder in this one instead of where it was to go.
        folder: Option<PathBuf>,
    },
    /// Choose the model that recognizes drawings.
    UseModel(ModelRef),
    /// Choose where models recognize drawings once they have finished learning: the CPU, or one of
    /// these devices, best first. They are compared with the CPU now and for every further model,
    /// whenever no job runs; until then the CPU is used.
    ChooseInferenceDevice {
        /// Which of them.
        choice: InferenceChoice,
        /// Those that may be used besides the CPU.
        usable: Vec<DeviceChoice>,
    },
    /// Read this with the model in use. Of those that wait, only the latest is looked at;
    /// [`Question::Drawings`] and [`Question::Map`] never wait.
    Read {
        /// Returned with the answer.
        request: u64,
        what: Question,
    },
    /// From a caller on another machine: whether this bundle is here; answered with
    /// [`Event::Bundle`].
    FindBundle(BundleId),
    /// From there: the next part of a file of a bundle.
    SendFile { bundle: BundleId, part: FilePart },
    /// From there: the bundle was sent whole; answered with [`Event::Bundle`].
    KeepBundle {
        bundle: BundleId,
        purpose: BundleUse,
        /// Its description in the list of bundles on that machine.
        what: String,
    },
    /// Answer with [`Event::Pong`].
    Ping,
    /// Cancel whatever runs and end the engine. A training run that has completed an epoch is
    /// saved, as after [`Command::Cancel`].
    Shutdown,
    /// Interrupt whatever runs and end the engine. A training run is not saved: it ends with
    /// [`EngineError::Interrupted`] and can be resumed from its checkpoint. A caller that vanishes
    /// without a word means the same.
    Interrupt,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// A drawing of one digit; answered with [`Answer::Drawing`].
    Drawing {
        /// The drawing.
        ink: Ink,
        /// The steps that make an image of it.
        steps: Steps,
        /// Optional parts of the answer.
        details: PredictionDetails,
    },
    /// Writing with several digits; answered with [`Answer::Number`].
    Number {
        /// The writing.
        ink: Ink,
        /// The steps that make images of it.
        steps: Steps,
        /// The explanations to compute for its digits.
        why: Option<WhySpec>,
    },
    /// The candidates for digits in an image file; answered with [`Answer::Number`].
    Candidates {
        /// With their images.
        candidates: Vec<CandidateImage>,
        /// The explanations to compute for the digits among them.
        why: Option<WhySpec>,
    },
    /// Several drawings, a few dozen at a time, so that nothing else waits; answered with
    /// [`Answer::Drawings`].
    Drawings(Vec<Ink>),
    /// The map of digits; answered with [`Answer::Map`].
    Map(MapSpec),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The prediction for a drawing.
    Drawing(Box<Recognition>),
    /// The digits, from left to right.
    Number(Vec<DigitPrediction>),
    /// An answer for each drawing, in their order.
    Drawings(Vec<DrawingAnswer>),
    /// The map; `None` while its images are still read, so that it is to be asked for again soon.
    Map(Option<Box<DigitMap>>),
}

/// What the engine reports. [`JobEvent::Progress`] and [`Event::Steps`] are telemetry: coalesced,
/// at most ten a second. Everything else is delivered, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// How far a job is, or how it ended.
    Job { id: JobId, event: JobEvent },
    /// Training: some images of its data, as they are read or generated. Only to be shown; sent
    /// if somebody watches.
    DataImages {
        run: JobId,
        /// At most some dozens.
        images: Vec<Image>,
    },
    /// Something was done to the images of a job's data besides reading them.
    DataNotes {
        job: JobId,
        /// A sentence or two for each thing.
        notes: Vec<String>,
    },
    /// Training: the data is ready and the first step begins.
    Started {
        run: JobId,
        plan: RunPlan,
        /// The epochs completed before it was interrupted, if it is resumed.
        before: Vec<EpochRecord>,
        /// Its steps until then, thinned; see [`crate::records::StepCurve`].
        curve: Vec<StepPoint>,
        /// Where it continues from.
        position: RunPosition,
        /// The folder its checkpoints go to.
        folder: PathBuf,
    },
    /// Training, or the search for a learning rate: steps were taken.
    Steps {
        /// The run, or the job that searches.
        run: JobId,
        /// The steps since the last report, oldest first.
        steps: Vec<StepPoint>,
        /// The state now.
        now: Telemetry,
    },
    /// Training: an epoch was completed and validated.
    Epoch {
        run: JobId,
        /// Its figures.
        record: EpochRecord,
    },
    /// Training: a checkpoint, from which the run can be resumed after an interruption, was written
    /// or could not be.
    Checkpoint {
        run: JobId,
        /// The folder it is in.
        folder: PathBuf,
        /// How far the run is in it.
        position: RunPosition,
        /// Why it was not written.
        kept: Result<(), Problem>,
    },
    /// Training: the run has ended, but could not be saved. It waits, and tries again every few
    /// seconds. [`Command::Cancel`] ends it with [`EngineError::Interrupted`] if it has a
    /// checkpoint. If it has none, what can be saved is saved before it ends ([`Event::Rescued`]);
    /// if nothing can be, this event follows again.
    NotSaved {
        run: JobId,
        /// Why.
        problem: Problem,
        /// How far the run is in its checkpoint; `None` if there is none.
        checkpoint: Option<RunPosition>,
    },
    /// Training: the run could not be saved as a whole where it was to be, and was saved another
    /// way. Its end follows.
    Rescued {
        run: JobId,
        /// Why it could not be saved as it was to be.
        problem: Problem,
        /// The saved run.
        rescue: Rescue,
    },
    /// Training: the run did something by itself that was not in its plan.
    Intervened {
        run: JobId,
        /// What.
        intervention: Intervention,
    },
    /// Training: what the weights were initialized from, if those are statistics of the training
    /// images. Sent before the first step.
    Initialized {
        run: JobId,
        report: InitializationReport,
    },
    /// Training: validation images that the run classifies again and again while it trains. Sent
    /// once, before its first step.
    HeldOut {
        run: JobId,
        /// At most ten of each digit, the zeros first.
        images: Vec<HeldOutImage>,
    },
    /// Training: what the network makes of those images now.
    HeldOutSnapshot {
        run: JobId,
        /// Its answers and its first layer.
        snapshot: HeldOutSnapshot,
    },
    /// Training: the learning rate was changed.
    RateChanged {
        run: JobId,
        /// When, and by what.
        change: LearningRateChange,
    },
    /// Training: the step that was asked for was taken; the run is held.
    StepTaken { run: JobId, step: Box<SingleStep> },
    /// Training is paused.
    Paused(JobId),
    /// Training continues after a pause.
    Resumed(JobId),
    /// A benchmark or comparison measured a figure.
    BenchmarkRow {
        id: JobId,
        /// The figure.
        row: Measurement,
    },
    /// A search for a batch size has timed one.
    TimedToAccuracy {
        id: JobId,
        /// The batch size and its time.
        row: TimeToAccuracy,
    },
    /// From now on this model recognizes drawings.
    ModelInUse(ModelInfo),
    /// Where the model recognizes drawings from now on, and what that rests on.
    InferenceDevice(DeviceComparison),
    /// The answer to a question, or the reason why there is none.
    Read {
        /// From the command.
        request: u64,
        /// The answer, of the kind that the question names.
        answer: Result<Answer, Problem>,
    },
    /// Training data that is missing on the other machine is about to be sent there.
    Sending(DataUpload),
    /// To a caller on another machine: where a bundle is, or why it could not be kept; `None` if
    /// it is missing.
    Bundle {
        bundle: BundleId,
        folder: Result<Option<PathBuf>, String>,
    },
    /// To a caller on another machine: the next part of a file in a folder that the next event
    /// names.
    File {
        /// The folder, which is not there on the caller's machine.
        folder: PathBuf,
        part: FilePart,
    },
    /// Something failed that belongs to no job: a model that was to be used could not be loaded, or
    /// the engine panicked while idle.
    Failed(Problem),
    /// The answer to [`Command::Ping`].
    Pong,
    /// The engine panicked and was restarted: whatever ran is gone.
    Restarted,
    /// The engine's process exited without being asked to; nothing comes after this.
    EngineExited(EngineExit),
}

/// How soon somebody who watches wants to see an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// At once.
    Now,
    /// Together with what comes next: it only reports progress.
    Soon,
}

impl Event {
    /// How soon it is worth a new frame.
    pub const fn urgency(&self) -> Urgency {
        match self {
            Self::Job {
                event: JobEvent::Progress(_),
                ..
            }
            | Self::DataImages { .. }
            | Self::Steps { .. }
            | Self::HeldOutSnapshot { .. } => Urgency::Soon,
            _ => Urgency::Now,
        }
    }
}
