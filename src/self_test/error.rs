use serde::{Deserialize, Serialize};

use crate::data::DataError;
use crate::nn::{ComputeError, ModelError};
use crate::run_config::ConfigProblem;
use crate::train::TrainError;

/// Why a device could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SelfTestError {
    /// Settings that cannot be used, or not here.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// Its data could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model file could not be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Compute(#[from] ComputeError),
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The process that was to check it came to no result.
    #[error("the self-test could not be completed: {reason}")]
    NoResult { reason: String },
}
