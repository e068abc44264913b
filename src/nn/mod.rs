//! Owns networks: ops with their gradients, models, model files.
//! Must not know data sets, training loops or windows.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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
