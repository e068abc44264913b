//! The one error that crosses modules: the union of each module's own errors, as plain data. It is
//! formed where the engine hands results to those who asked; modules below the engine return their
//! own. `app::messages` words each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bench::BenchError;
use crate::data::{DataError, DataPart, KeepError, SetExportError};
use crate::download::DownloadError;
use crate::export::ExportError;
use crate::import::ImportError;
use crate::infer::{ComparisonError, EnsembleProblem, InferError};
use crate::ink::InkError;
use crate::nn::{ComputeError, ModelError};
use crate::progress::Cancelled;
use crate::records::Divergence;
use crate::run_config::{Classes, ConfigProblem};
use crate::runs::RunError;
use crate::self_test::SelfTestError;
use crate::system::{TargetError, WriteError};
use crate::train::TrainError;

/// Anything that can go wrong below the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Problem {
    /// Settings that cannot be used, or not here.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// Training or test data could not be read.
    #[error(transparent)]
    Data(DataError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// An image or an ink file could not be read.
    #[error(transparent)]
    Ink(#[from] InkError),
    /// A model file could not be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Compute(#[from] ComputeError),
    #[error(transparent)]
    Run(RunError),
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
    #[error(transparent)]
    Ensemble(#[from] EnsembleProblem),
    /// A model was to classify images of something else than it knows.
    #[error("the model knows {}, and the images are of {}", .model.plural(), .data.plural())]
    DifferentClasses {
        model: Classes,
        /// What those of the data set stand for.
        data: Classes,
    },
    /// What takes the weights of one model was asked of an ensemble.
    #[error("an ensemble has no weights of its own")]
    NotOneModel,
    /// A model could not be exported.
    #[error(transparent)]
    Export(ExportError),
    /// A file could not be imported.
    #[error(transparent)]
    Import(ImportError),
    /// A data set could not be downloaded.
    #[error(transparent)]
    Download(DownloadError),
    /// A file or folder could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Files could not be written because of what is there.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A folder could not be shown in the file manager.
    #[error("cannot open {path}: {reason}")]
    Show { path: PathBuf, reason: String },
    /// Files could not be sent to another machine.
    #[error("the files could not be sent: {reason}")]
    NotSent { reason: String },
    /// My digits were to be sent to another machine, and the person has not agreed to that.
    #[error("{drawings} drawings of My digits may not be sent to {machine}")]
    NoConsent { drawings: u64, machine: String },
    /// A run is in progress already.
    #[error("another run is already in progress")]
    Busy,
    /// No run or model answers to that reference any more.
    #[error("that run has ended")]
    NoSuchRun,
    /// The loss became NaN or exploded, and rolling back did not help.
    #[error("training diverged at step {step} ({cause:?})")]
    Diverged {
        /// The step, from 1.
        step: u64,
        cause: Divergence,
    },
    /// The data set of an interrupted run is not the one it was trained on.
    #[error("the run cannot be resumed: its data set has changed ({part:?})")]
    DataChanged { part: DataPart },
    #[error("the run cannot be resumed: {reason}")]
    NotResumable { reason: String },
    /// The run was interrupted before its end.
    #[error("the run was interrupted")]
    Interrupted {
        /// The folder of the checkpoint it can be resumed from, if it has one.
        checkpoint: Option<PathBuf>,
    },
    #[error("the engine crashed: {message}")]
    Panicked { message: String },
    /// A device could not be tested.
    #[error("the self-test could not be completed: {reason}")]
    SelfTest { reason: String },
    /// The process the engine was in is gone.
    #[error(transparent)]
    EngineExited(#[from] EngineExit),
    /// The engine is gone and did not come back.
    #[error("the engine has stopped")]
    EngineGone,
}

/// Why an engine in a process of its own is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum EngineExit {
    /// Its process could not be started.
    #[error("the engine could not be started: {reason}")]
    NotStarted { reason: String },
    /// Its process ended without being asked to.
    #[error("the engine crashed ({status}): {words}")]
    Ended {
        /// "signal: 9 (SIGKILL)", "exit status: 1".
        status: String,
        /// The last lines it wrote on its standard error; may be empty.
        words: String,
    },
    #[error("the engine did not respond for {seconds} s")]
    Hung { seconds: u32 },
    #[error("the engine is version {theirs}, but this program is {ours}")]
    Version { ours: String, theirs: String },
    /// It is on another machine, which cannot be reached, or not any more.
    #[error("the connection to {machine} was lost: {reason}")]
    Disconnected {
        machine: String,
        /// What ssh or Slurm said, or what is wrong with the engine there.
        reason: String,
    },
    /// A command of Slurm failed, or the job array has left the queue.
    #[error("Slurm failed: {reason}")]
    Slurm {
        /// What the command said, or what is wrong.
        reason: String,
    },
    /// What it says makes no sense.
    #[error("the engine sent an invalid message: {reason}")]
    Garbled { reason: String },
}

/// A problem that reached a module through another keeps that other's variant: callers find each in
/// one place, however far it came.
impl Problem {
    /// The names of its variants, from the outermost in: "Run(Write(WriteError". Nothing that
    /// varies is in it.
    pub fn name(&self) -> String {
        format!("{self:?}")
            .chars()
            .take_while(|&letter| letter.is_ascii_alphanumeric() || letter == '(')
            .collect()
    }
}

impl From<TrainError> for Problem {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Config(error) => error.into(),
            TrainError::Data(error) => error.into(),
            TrainError::Model(error) => error.into(),
            TrainError::Compute(error) => error.into(),
            TrainError::Infer(error) => error.into(),
            TrainError::Diverged { step, cause } => Self::Diverged { step, cause },
            TrainError::DataChanged { part } => Self::DataChanged { part },
            TrainError::NotResumable { reason } => Self::NotResumable { reason },
        }
    }
}

impl From<DataError> for Problem {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Cancelled(cancelled) => cancelled.into(),
            error => Self::Data(error),
        }
    }
}

impl From<DownloadError> for Problem {
    fn from(error: DownloadError) -> Self {
        match error {
            DownloadError::Cancelled(cancelled) => cancelled.into(),
            DownloadError::Write(error) => error.into(),
            error => Self::Download(error),
        }
    }
}

impl From<KeepError> for Problem {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Data(error) => error.into(),
            KeepError::Write(error) => error.into(),
        }
    }
}

impl From<SetExportError> for Problem {
    fn from(error: SetExportError) -> Self {
        match error {
            SetExportError::Target(error) => error.into(),
            SetExportError::Cancelled(cancelled) => cancelled.into(),
        }
    }
}

impl From<InferError> for Problem {
    fn from(error: InferError) -> Self {
        match error {
            InferError::Config(error) => error.into(),
            InferError::Data(error) => error.into(),
            InferError::Model(error) => error.into(),
            InferError::Ensemble(problem) => problem.into(),
            InferError::Compute(error) => error.into(),
            InferError::Cancelled(cancelled) => cancelled.into(),
        }
    }
}

impl From<BenchError> for Problem {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Config(error) => error.into(),
            BenchError::Data(error) => error.into(),
            BenchError::Compute(error) => error.into(),
            BenchError::Infer(error) => error.into(),
            BenchError::Train(error) => error.into(),
            BenchError::Write(error) => error.into(),
            BenchError::Cancelled(cancelled) => cancelled.into(),
        }
    }
}

impl From<SelfTestError> for Problem {
    fn from(error: SelfTestError) -> Self {
        match error {
            SelfTestError::Config(error) => error.into(),
            SelfTestError::Data(error) => error.into(),
            SelfTestError::Model(error) => error.into(),
            SelfTestError::Compute(error) => error.into(),
            SelfTestError::Train(error) => error.into(),
            SelfTestError::NoResult { reason } => Self::SelfTest { reason },
        }
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Write(error) => error.into(),
            RunError::Compute(error) => error.into(),
            error => Self::Run(error),
        }
    }
}

impl From<ExportError> for Problem {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Write(error) => error.into(),
            ExportError::Target(error) => error.into(),
            error => Self::Export(error),
        }
    }
}

impl From<ImportError> for Problem {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Model(error) => error.into(),
            ImportError::Infer(error) => error.into(),
            ImportError::Compute(error) => error.into(),
            ImportError::Data(error) => error.into(),
            ImportError::Cancelled(cancelled) => cancelled.into(),
            error => Self::Import(error),
        }
    }
}
