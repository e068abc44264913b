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
    #[error("{folder} does not hold a run of Inkling's: {reason}")]
    Malformed {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The run goes on there already, in this or another Inkling.
    #[error("the run in {folder} is under way")]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A run was to be written there, but something else is.
    #[error("{folder} is not empty and holds something other than a run of Inkling's")]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
}
