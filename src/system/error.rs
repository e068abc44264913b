use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file or folder that could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("cannot write {path}: {reason}")]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// What the system says.
    pub reason: String,
}

impl WriteError {
    /// Why `path` could not be written.
    pub fn new(path: &Path, reason: &impl Display) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}
