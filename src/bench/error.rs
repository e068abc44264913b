use serde::{Deserialize, Serialize};

use crate::data::DataError;
use crate::infer::InferError;
use crate::nn::ComputeError;
use crate::progress::Cancelled;
use crate::run_config::ConfigProblem;
use crate::system::WriteError;
use crate::train::TrainError;

/// Why this machine could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum BenchError {
    /// Settings that cannot be used, or not here.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// Its data could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A computation failed.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// Recognition failed.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// A training run failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
