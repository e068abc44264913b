use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::data::DataError;
use crate::infer::InferError;
use crate::nn::{ComputeError, ModelError};
use crate::progress::Cancelled;
use crate::records::{Doubt, MeasuredReading, Reading};
use crate::run_config::{DataSpec, ModelKind};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ImportError {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {reason}")]
    Unreadable { path: PathBuf, reason: String },
    /// The file holds no weights that Inkling can read, or is damaged.
    #[error("{path} contains no usable weights: {reason}")]
    Malformed { path: PathBuf, reason: String },
    /// Its weights are those of no network known here.
    #[error("{path} matches none of the supported networks; {} is closest", mismatch.closest)]
    Mismatch {
        path: PathBuf,
        /// What does not fit.
        mismatch: Box<Mismatch>,
    },
    /// It is an ONNX file whose network is not one of those known here, and cannot be computed as
    /// it is.
    #[error("{path} has a network that cannot be used: {reason}")]
    Graph { path: PathBuf, reason: String },
    /// They fit a network, but how it was built cannot be told, or not as Inkling builds it.
    #[error("it is not clear how the weights in {path} are meant")]
    Undecided { path: PathBuf, trials: Box<Trials> },
    /// What it is said to have been trained on has another number of classes than a network that
    /// can be imported.
    #[error("{data} has {given} classes")]
    Classes { data: String, given: usize },
    /// Inkling wrote it, but its model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What was recognised could not be tried out.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// A network could not be built of its weights.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// The digits to try it out on could not be written.
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What was measured of weights, and why it decides nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    pub model: ModelKind,
    pub doubt: Doubt,
    /// How many images each reading was tried on.
    pub images: u64,
    pub tried_on: DataSpec,
    /// The readings that matter, the best first.
    pub readings: Vec<MeasuredReading>,
    /// The best of those that Inkling can build.
    pub supported: MeasuredReading,
}

impl Eq for Trials {}

impl Trials {
    /// A reading in words; only its normalisation where the network is imported as it is.
    pub fn describe(&self, reading: &Reading) -> String {
        if self.model.is_trainable() {
            reading.sentence()
        } else {
            reading.normalization_sentence()
        }
    }
}

/// What stands between a file's weights and the network they resemble most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    pub closest: ModelKind,
    /// Weights with its names but not its shapes.
    pub wrong: Vec<WrongShape>,
    /// Weights it has and the file has not, with their shapes.
    pub missing: Vec<(String, Vec<u64>)>,
    /// Weights the file has and it has not, with their shapes.
    pub unexpected: Vec<(String, Vec<u64>)>,
    /// The first weight with numbers that are not finite, where that is all that is wrong.
    pub not_finite: Option<String>,
}

impl Mismatch {
    /// The network is recognised, but its weight of this name has numbers that are not finite.
    pub const fn not_finite(model: ModelKind, name: String) -> Self {
        Self {
            closest: model,
            wrong: Vec::new(),
            missing: Vec::new(),
            unexpected: Vec::new(),
            not_finite: Some(name),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongShape {
    pub name: String,
    /// The shape it has in the file.
    pub found: Vec<u64>,
    pub expected: Vec<u64>,
}
