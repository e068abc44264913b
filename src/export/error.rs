use crate::nn::ComputeError;
use crate::problem::{Code, Explain, sentence};
use crate::system::{TargetError, WriteError};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The format consists of layers, and an imported ONNX network's layers are not known.
    #[error("An imported ONNX network cannot be exported in this format.")]
    UnsupportedNetwork,
    #[error("The model could not be exported: {}", sentence(message))]
    Failed { message: String },
    /// Its files cannot go where they were to go.
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Explain for ExportError {
    fn remedy(&self) -> String {
        match self {
            Self::UnsupportedNetwork => "Export it as ONNX without 8-bit weights, which gives the original file, or as safetensors for use in Inkling.".to_owned(),
            Self::Failed { .. } => "Try again, and please report this as a bug.".to_owned(),
            Self::Target(error) => error.remedy(),
            Self::Write(error) => error.remedy(),
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Target(error) => error.code(),
            _ => Code::Other,
        }
    }
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
