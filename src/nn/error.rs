//! Owns what can be wrong with a model file or a computation, as data.
//! Must not hold prose for people: `app::messages` does.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::device;
use crate::problem::Problem;

/// Why a model file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ModelError {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The file is no model of Inkling's, or is damaged.
    #[error("{path} is not an Inkling model: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// A tensor operation can fail only through a mistake of ours or a lack of memory; either way candle's words are all there is.
impl From<candle_core::Error> for Problem {
    fn from(error: candle_core::Error) -> Self {
        let message = device::words(&error);
        // CUDA says CUDA_ERROR_OUT_OF_MEMORY or "out of memory", cuBLAS CUBLAS_STATUS_ALLOC_FAILED, Metal "Insufficient Memory"; candle hands
        // on what they say.
        let said = message.to_lowercase().replace('_', " ");
        let is_short = ["out of memory", "alloc failed", "insufficient memory"].iter().any(|of| said.contains(of));
        if is_short { Self::OutOfMemory { message } } else { Self::Compute { message } }
    }
}
