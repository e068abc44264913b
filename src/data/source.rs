//! Owns opening a data file, gzipped or not, and the words for what is wrong with one.
//! Must not know formats.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::DataError;

/// Opens a file; one that begins like gzip is unpacked as it is read.
pub fn open(path: &Path) -> Result<Box<dyn Read>, DataError> {
    let open = || -> io::Result<Box<dyn Read>> {
        let mut file = File::open(path)?;
        let mut begin = Vec::new();
        file.by_ref().take(2).read_to_end(&mut begin)?;
        let file = io::Cursor::new(begin.clone()).chain(file);
        Ok(match begin.as_slice() {
            [0x1F, 0x8B] => Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file)))),
            _ => Box::new(BufReader::new(file)),
        })
    };
    if !path.exists() {
        return Err(DataError::Missing { path: path.to_owned() });
    }
    open().map_err(|error| unreadable(path, &error))
}

/// A file the system would not give.
pub fn unreadable(path: &Path, error: &io::Error) -> DataError {
    match error.kind() {
        // What gzip finds wrong arrives as one of these.
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            malformed(path, format!("gzip: {error}"))
        }
        _ => DataError::Unreadable { path: path.to_owned(), reason: error.to_string() },
    }
}

/// A file that is not what it should be.
pub fn malformed(path: &Path, reason: impl Into<String>) -> DataError {
    DataError::Malformed { path: path.to_owned(), reason: reason.into() }
}

/// A file that claims too much.
pub fn too_large(path: &Path, reason: impl Into<String>) -> DataError {
    DataError::TooLarge { path: path.to_owned(), reason: reason.into() }
}
