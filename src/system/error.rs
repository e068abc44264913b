use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use crate::problem::{Code, Explain, list, sentence};

/// A file or folder that could not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} could not be written: {}", sentence(reason))]
pub struct WriteError {
    pub path: PathBuf,
    /// The kind of failure, as far as that can be acted on.
    pub kind: WriteErrorKind,
    pub reason: String,
}

/// The thing at a path that is not a regular file: "it is a named pipe, not a file".
#[derive(Debug, thiserror::Error)]
#[error("it is {0}, not a file")]
pub struct NotRegular(pub &'static str);

impl NotRegular {
    /// The remedy for a file that could not be read for this reason.
    pub fn remedy(reason: &str) -> &'static str {
        if reason.ends_with(", not a file") {
            "Choose a file."
        } else {
            "Check that the file exists and that you have permission to read it."
        }
    }
}

/// The kinds of failure with different remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteErrorKind {
    /// The disk is full, or the user's share of it.
    NoSpace,
    /// The file is larger than a limit of the user or of the file system.
    TooLarge,
    /// The user may not write there, or nobody may.
    NotPermitted,
    /// Not a regular file: a folder, a device, a pipe, a symbolic link.
    NotRegular,
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

impl Explain for WriteError {
    fn remedy(&self) -> String {
        match self.kind {
            WriteErrorKind::NoSpace => "Free some space on that disk, or choose a folder on another one.",
            WriteErrorKind::TooLarge => "Raise the limit on the size of files (see `ulimit -f`), or choose a disk that takes larger ones.",
            WriteErrorKind::NotPermitted => "Choose a folder that you may write to, or change its permissions.",
            WriteErrorKind::NotRegular => "Choose another path: Inkling only overwrites regular files.",
            WriteErrorKind::Other => "Check that the disk works and that you have permission to write there, or choose another folder.",
        }
        .to_owned()
    }
}

/// Why files cannot be written where they were to go. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("{} exist{} already. Nothing was written.", list(paths), if paths.len() == 1 { "s" } else { "" })]
    Exist { paths: Vec<PathBuf> },
    #[error("{path} is the input file and would be replaced. Nothing was written.")]
    Source { path: PathBuf },
    #[error(
        "Two of the files would have the name {path}: the one that was asked for, and one that is written next to it. Nothing was written."
    )]
    Clash { path: PathBuf },
    /// Not a file.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Explain for TargetError {
    fn remedy(&self) -> String {
        match self {
            Self::Exist { .. } => "Choose another name or an empty folder, or replace what is there (on the command line: --force).".to_owned(),
            Self::Source { .. } => "Choose another name.".to_owned(),
            Self::Clash { .. } => "Choose another name for the one that was asked for; the other is always called that.".to_owned(),
            Self::Write(error) => error.remedy(),
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Exist { paths } => Code::FilesExist {
                paths: paths.clone(),
            },
            _ => Code::Other,
        }
    }
}
