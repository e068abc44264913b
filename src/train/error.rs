use serde::{Deserialize, Serialize};

use crate::data::{DataError, DataPart};
use crate::infer::InferError;
use crate::nn::{ComputeError, ModelError};
use crate::records::Divergence;
use crate::run_config::ConfigProblem;

/// Why a run could not be trained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TrainError {
    /// Settings that cannot be used, or not here.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// Its data could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model file could not be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A computation failed.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// Recognition failed.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// The loss became NaN or exploded, and rolling back did not help.
    #[error("training diverged at step {step} ({cause:?})")]
    Diverged {
        /// The step, from 1.
        step: u64,
        /// How.
        cause: Divergence,
    },
    /// The data set of an interrupted run is not the one it was trained on.
    #[error("the run cannot be resumed: its data set has changed ({part:?})")]
    DataChanged {
        /// What differs.
        part: DataPart,
    },
    /// An interrupted run cannot be resumed.
    #[error("the run cannot be resumed: {reason}")]
    NotResumable {
        /// What stands against it.
        reason: String,
    },
}
