//! Owns what can be wrong with an export, as data. Must not hold prose for people: `app::messages` does.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// Why a model cannot be exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ExportError {
    /// A file that has to stand beside the exported one would overwrite another.
    #[error("{path} already exists and is not part of this export")]
    InTheWay {
        /// The file.
        path: PathBuf,
    },
    /// The network lacks a weight its layers name: a mistake of ours.
    #[error("the network has no weights named {parameter}")]
    Lacks {
        /// The weight.
        parameter: String,
    },
    /// A weight could not be read from the device, or a file not be put together.
    #[error("the export failed: {message}")]
    Failed {
        /// The library's words.
        message: String,
    },
}

impl From<candle_core::Error> for ExportError {
    fn from(error: candle_core::Error) -> Self {
        Self::Failed { message: error.to_string() }
    }
}

impl ExportError {
    /// What a library said.
    pub(super) fn of(error: &dyn std::fmt::Display) -> Self {
        Self::Failed { message: error.to_string() }
    }
}

/// A problem of the export's own parts is one of the export.
impl From<Problem> for ExportError {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Export(error) => error,
            other => Self::of(&other),
        }
    }
}
