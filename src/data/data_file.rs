//! Opening a data file, gzipped or not, and the errors all formats share.

use std::io;
use std::path::Path;

use super::DataError;
use crate::system::input_file::InputFile;

/// The most images that a data set may have: what claims more is damaged, as EMNIST's largest set
/// has 814,255.
pub const MAX_IMAGES: usize = 2_000_000;

/// Opens a data file. Pipes, which might block forever, and other things that are not regular files
/// are refused.
pub fn open(path: &Path) -> Result<InputFile, DataError> {
    // That it is not a regular file is the system's message, and nothing gzip says.
    InputFile::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => DataError::Missing {
            path: path.to_owned(),
        },
        _ => DataError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    })
}

/// A file or folder that could not be read.
pub fn unreadable(path: &Path, error: &io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::NotFound => DataError::Missing {
            path: path.to_owned(),
        },
        // gzip reports damage as one of these.
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            malformed(path, format!("gzip: {error}"))
        }
        io::ErrorKind::FileTooLarge => too_large(path, error.to_string()),
        _ => DataError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    }
}

/// A file that is not what it should be.
pub fn malformed(path: &Path, reason: impl Into<String>) -> DataError {
    DataError::Malformed {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// A file that claims more than Inkling accepts.
pub fn too_large(path: &Path, reason: impl Into<String>) -> DataError {
    DataError::TooLarge {
        path: path.to_owned(),
        reason: reason.into(),
    }
}
