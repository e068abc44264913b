use serde::{Deserialize, Serialize};

use crate::nn::ComputeError;
use crate::system::{TargetError, WriteError};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ExportError {
    /// The format consists of layers, and those of an imported ONNX network are not known.
    #[error("an imported ONNX network cannot be exported in this format")]
    UnsupportedNetwork,
    /// A weight could not be read from the device, or a file could not be encoded.
    #[error("the export failed: {message}")]
    Failed { message: String },
    /// Its files cannot go where they were to go.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl From<ComputeError> for ExportError {
    fn from(error: ComputeError) -> Self {
        Self::of(&error)
    }
}

impl ExportError {
    pub(super) fn of(error: &dyn std::fmt::Display) -> Self {
        Self::Failed {
            message: error.to_string(),
        }
    }
}
