use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::nn::ComputeError;
use crate::system::WriteError;

/// Why a run's folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RunError {
    /// It could not be read or removed.
    #[error("cannot use the run in {folder}: {reason}")]
    Unreadable { folder: PathBuf, reason: String },
    /// What it holds is not an Inkling run, or is damaged.
    #[error("{folder} does not contain an Inkling run: {reason}")]
    Malformed { folder: PathBuf, reason: String },
    /// The run is in progress there, in this or another Inkling.
    #[error("the run in {folder} is in progress")]
    InUse { folder: PathBuf },
    /// A run was to be written there, but something else is.
    #[error("{folder} contains something other than an Inkling run")]
    Occupied { folder: PathBuf },
    /// There is not enough room for it.
    #[error("{folder} has room for {available} bytes, but the run needs {needed}")]
    NoRoom {
        /// Where.
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
