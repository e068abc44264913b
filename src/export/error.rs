use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// Why a model cannot be exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ExportError {
    /// An accompanying file would overwrite a different file of the same name.
    #[error("{path} already exists and is not part of this export")]
    InTheWay {
        /// The file.
        path: PathBuf,
    },
    /// The network has no weight of a name that its layers use: a bug in Inkling.
    #[error("the network has no weights named {parameter}")]
    Lacks {
        /// The weight.
        parameter: String,
    },
    /// A weight could not be read from the device, or a file could not be encoded.
    #[error("the export failed: {message}")]
    Failed {
        /// The library's error message.
        message: String,
    },
}

impl From<candle_core::Error> for ExportError {
    fn from(error: candle_core::Error) -> Self {
        Self::Failed { message: error.to_string() }
    }
}

impl ExportError {
    /// An error of a library.
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
