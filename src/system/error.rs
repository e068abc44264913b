use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file or folder that could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("cannot write {path}: {reason}")]
pub struct WriteError {
    pub path: PathBuf,
    /// What kind of failure it is, as far as that can be acted on.
    pub kind: WriteErrorKind,
    pub reason: String,
}

/// What is at a path instead of a regular file: "it is a named pipe, not a file".
#[derive(Debug, thiserror::Error)]
#[error("it is {0}, not a file")]
pub struct NotRegular(pub &'static str);

/// What can be done about it differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteErrorKind {
    /// The disk is full, or the user's share of it.
    NoSpace,
    /// The file is larger than a limit of the user or of the file system.
    TooLarge,
    /// The user may not write there, or nobody may.
    NotPermitted,
    /// What is there is not a regular file: a folder, a device, a pipe, a symbolic link.
    NotRegular,
    /// Anything else.
    Other,
}

impl WriteError {
    /// Why `path` could not be written.
    pub fn new(path: &Path, error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => WriteErrorKind::NoSpace,
            io::ErrorKind::FileTooLarge => WriteErrorKind::TooLarge,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                WriteErrorKind::NotPermitted
            }
            _ if error
                .get_ref()
                .and_then(|inner| inner.downcast_ref::<NotRegular>())
                .is_some() =>
            {
                WriteErrorKind::NotRegular
            }
            _ => WriteErrorKind::Other,
        };
        // What comes from a temporary file names that file as well, which says nothing to anybody
        // and differs each time.
        let cause = error
            .get_ref()
            .and_then(Error::source)
            .and_then(|cause| cause.downcast_ref::<io::Error>());
        Self {
            path: path.to_owned(),
            kind,
            reason: cause.unwrap_or(error).to_string(),
        }
    }
}

/// Why files cannot be written where they were to go. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TargetError {
    /// Files are there already, and nobody said that they may be replaced.
    #[error("these files exist already: {}", paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    Exist { paths: Vec<PathBuf> },
    /// The file that it is made from would be replaced.
    #[error("{path} is the file that is read")]
    Source { path: PathBuf },
    /// Two of the files would have the same name.
    #[error("two files would be written to {path}")]
    Clash { path: PathBuf },
    /// What is there is not a file.
    #[error(transparent)]
    Write(#[from] WriteError),
}
