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
    Data(DataError),
    #[error(transparent)]
    Compute(#[from] ComputeError),
    #[error(transparent)]
    Infer(InferError),
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

// Being cancelled is one thing, wherever it happens.
impl From<DataError> for BenchError {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            error => Self::Data(error),
        }
    }
}

impl From<InferError> for BenchError {
    fn from(error: InferError) -> Self {
        match error {
            InferError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            error => Self::Infer(error),
        }
    }
}
