use std::path::PathBuf;

use crate::problem::{Code, Explain, sentence};
use crate::system::NotRegular;

/// Why a model file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("The model {path} could not be read: {}", sentence(reason))]
    Unreadable {
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// The file has weights that another program saved, which have to be imported first.
    #[error("{path} contains weights that were not saved by Inkling.")]
    Foreign { path: PathBuf },
    #[error("{path} is not an Inkling model, or is damaged: {}", sentence(reason))]
    Malformed { path: PathBuf, reason: String },
}

impl Explain for ModelError {
    fn remedy(&self) -> String {
        match self {
            Self::Unreadable { reason, .. } => NotRegular::remedy(reason),
            Self::Foreign { .. } => "Import them first, with “inkling import FILE” or under Models in the window, and then use the model of the new run.",
            Self::Malformed { .. } => "Choose the file model.safetensors in a run's folder, or train a new model.",
        }
        .to_owned()
    }

    fn code(&self) -> Code {
        match self {
            Self::Foreign { path } => Code::ForeignWeights { path: path.clone() },
            _ => Code::Model,
        }
    }
}

/// Why a computation came to no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComputeError {
    #[error("A computation failed: {}", sentence(message))]
    Failed { message: String },
    #[error("No further thread could be started: {}", sentence(reason))]
    NoThread {
        /// The system's message.
        reason: String,
    },
    /// A network's weights give no probabilities: they are NaN, or so large that sums overflow.
    #[error("The model gives no valid probabilities: its weights are too large, or damaged.")]
    NotFinite,
    /// A tensor took more memory than there is.
    #[error("There is not enough memory for this run: {}", sentence(message))]
    OutOfMemory {
        /// The device's message, or ours.
        message: String,
    },
}

impl Explain for ComputeError {
    fn remedy(&self) -> String {
        match self {
            Self::Failed { .. } => "If memory is low, choose a smaller batch size or model. Otherwise please report this as a bug.",
            Self::NoThread { .. } => "Close other programs, raise the limit on processes (`ulimit -u`), or train with fewer threads.",
            Self::NotFinite => "Choose another model, or train this one again with a lower learning rate.",
            Self::OutOfMemory { .. } => "Close other programs, raise the memory limit if you set one, or choose a smaller model.",
        }
        .to_owned()
    }

    fn code(&self) -> Code {
        match self {
            Self::OutOfMemory { .. } => Code::OutOfMemory,
            _ => Code::Compute,
        }
    }
}

impl ComputeError {
    /// A thread could not be started, or a pool of them.
    pub fn no_thread(reason: &impl std::fmt::Display) -> Self {
        Self::NoThread {
            reason: reason.to_string(),
        }
    }

    /// The library's message.
    pub fn failed(reason: &impl std::fmt::Display) -> Self {
        Self::Failed {
            message: reason.to_string(),
        }
    }
}
