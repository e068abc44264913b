use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::data::DataError;
use crate::nn::{ComputeError, ModelError};
use crate::progress::Cancelled;
use crate::run_config::{Classes, ConfigProblem, ModelKind};

/// Why digits could not be recognised, or a model not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum InferError {
    /// Settings that cannot be used, or not here.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// Its data could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model file cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Models cannot classify together.
    #[error(transparent)]
    Ensemble(#[from] EnsembleProblem),
    /// A computation failed.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Why models cannot classify together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum EnsembleProblem {
    /// Fewer or more models than [`crate::records::Ensemble::MODELS`].
    #[error("an ensemble has 1 to 64 models, not {given}")]
    Models {
        /// How many there were.
        given: usize,
    },
    /// Fewer or more passes than [`crate::records::Ensemble::DROPOUT_PASSES`].
    #[error("dropout takes 2 to 1,000 passes, not {given}")]
    DropoutPasses {
        /// How many were asked for.
        given: u32,
    },
    /// The models were trained on images of different things.
    #[error("one model recognises {}, another {}", .first.plural(), .other.plural())]
    DifferentClasses {
        /// What the classes of the first stand for.
        first: Classes,
        /// What those of another stand for.
        other: Classes,
    },
    /// There is no dropout layer to keep on.
    #[error("the network of {path} has no dropout")]
    NoDropout {
        /// The model file.
        path: PathBuf,
        /// Its network.
        model: ModelKind,
    },
}

/// Why models cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ComparisonError {
    /// Fewer or more models than [`crate::records::COMPARED_MODELS`].
    #[error("{given} models cannot be compared")]
    Count {
        /// How many there were.
        given: usize,
    },
    /// One of them is there twice.
    #[error("a model cannot be compared with itself")]
    Repeated,
    /// They were trained on different data, and nobody said which test images count.
    #[error("the models were trained on different data: {}", sets.join(", "))]
    DifferentData {
        /// The data sets, as people read them.
        sets: Vec<String>,
    },
}
