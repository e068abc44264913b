use serde::{Deserialize, Serialize};

use crate::data::DataError;
use crate::nn::ComputeError;
use crate::progress::Cancelled;
use crate::run_config::ConfigProblem;

/// Why digits could not be recognised, or a model not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum InferError {
    /// Settings that cannot be used, or not here.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// Its data could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A computation failed.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
