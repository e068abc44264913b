//! Owns what can be wrong with data, as data.
//! Must not hold prose for people: `app::messages` does.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Why a data set could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum DataError {
    /// A set known by name is in none of the data folders.
    #[error("{set} was not found in {}", searched.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NotFound {
        /// The set's name.
        set: String,
        /// The folders looked into.
        searched: Vec<PathBuf>,
    },
    /// A path holds nothing.
    #[error("{path} does not exist")]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A file could not be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A file is not what it should be.
    #[error("{path} is damaged or not what its name says: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file claims or unpacks to more than Inkling takes.
    #[error("{path} is too large: {reason}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What it claims.
        reason: String,
    },
    /// A folder or file holds no labelled pictures that Inkling understands.
    #[error("{path} holds no data set: {reason}")]
    NoData {
        /// The path.
        path: PathBuf,
        /// What was looked for.
        reason: String,
    },
    /// An imported model's data, which nobody named.
    #[error("the training data of this model is unknown")]
    Unknown,
    /// The person changed their mind.
    #[error("cancelled")]
    Cancelled,
}
