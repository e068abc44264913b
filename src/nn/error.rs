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
    /// The file has weights that another program saved, which have to be imported first.
    #[error("{path} was not saved by Inkling and must be imported first")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is not an Inkling model, or is damaged.
    #[error("{path} is not an Inkling model: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// Why a computation came to no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ComputeError {
    /// A tensor operation failed.
    #[error("computation failed: {message}")]
    Failed {
        /// What the library says.
        message: String,
    },
    /// A thread could not be started.
    #[error("no thread could be started: {reason}")]
    NoThread {
        /// What the system says.
        reason: String,
    },
    /// A network's weights give no probabilities: they are NaN, or so large that sums overflow.
    #[error("the network gives no valid probabilities")]
    NotFinite,
    /// A tensor took more memory than there is.
    #[error("out of memory: {message}")]
    OutOfMemory {
        /// What was short, in the device's words or ours.
        message: String,
    },
}

impl ComputeError {
    /// A thread could not be started, or a pool of them.
    pub fn no_thread(reason: &impl std::fmt::Display) -> Self {
        Self::NoThread {
            reason: reason.to_string(),
        }
    }

    /// What a library says went wrong.
    pub fn failed(reason: &impl std::fmt::Display) -> Self {
        Self::Failed {
            message: reason.to_string(),
        }
    }
}
