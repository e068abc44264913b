use std::io;
use std::path::{Path, PathBuf};

use crate::nn::ComputeError;
use crate::problem::{Code, Explain, sentence};
use crate::system::WriteError;
use crate::text::format::file_size;

/// Why a run's folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    #[error("The run in {folder} could not be used: {}", sentence(reason))]
    Unreadable { folder: PathBuf, reason: String },
    #[error("{folder} does not contain a complete run: {}", sentence(reason))]
    Malformed { folder: PathBuf, reason: String },
    #[error("The run in {folder} is already in progress, perhaps in another window.")]
    InUse { folder: PathBuf },
    #[error("{folder} contains other files, which would be overwritten.")]
    Occupied { folder: PathBuf },
    #[error(
        "No space left for the run: it needs {}, but only {} are free where {folder} is.",
        file_size(*needed),
        file_size(*available)
    )]
    NoRoom {
        folder: PathBuf,
        /// Bytes that the run needs.
        needed: u64,
        /// Bytes that are free.
        available: u64,
    },
    /// A file of it could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Its weights could not be read from the device.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

impl RunError {
    pub(super) fn unreadable(folder: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |error| Self::Unreadable {
            folder: folder.to_owned(),
            reason: error.to_string(),
        }
    }

    pub(super) fn malformed(folder: &Path, reason: impl Into<String>) -> Self {
        Self::Malformed {
            folder: folder.to_owned(),
            reason: reason.into(),
        }
    }
}

impl Explain for RunError {
    fn remedy(&self) -> String {
        match self {
            Self::Unreadable { .. } => {
                "Check that the folder exists and that you have permission to read and change it."
                    .to_owned()
            }
            Self::Malformed { .. } => "Choose another run, or train again.".to_owned(),
            Self::InUse { .. } => "Wait until it has finished, or stop it there.".to_owned(),
            Self::Occupied { .. } => "Choose a new or empty folder.".to_owned(),
            Self::NoRoom {
                needed, available, ..
            } => format!(
                "Free {} there, or choose another folder.",
                file_size(needed.saturating_sub(*available))
            ),
            Self::Write(error) => error.remedy(),
            Self::Compute(error) => error.remedy(),
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Compute(error) => error.code(),
            _ => Code::Other,
        }
    }
}
