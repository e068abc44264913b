//! Owns what can be wrong with a run's folder, as data. Must not hold prose for people: `app::messages` does.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Why a run's folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RunError {
    /// It could not be read or removed.
    #[error("cannot use the run in {folder}: {reason}")]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// What it holds is no run of Inkling's, or is damaged.
    #[error("{folder} does not contain an Inkling run: {reason}")]
    Malformed {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The run goes on there already, in this or another Inkling.
    #[error("the run in {folder} is in progress")]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A run was to be written there, but something else is.
    #[error("{folder} contains something other than an Inkling run")]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
}
