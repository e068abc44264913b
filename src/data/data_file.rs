//! Opening a data file, gzipped or not, and the errors all formats share.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::DataError;

/// DEFLATE compresses at most 1,032 bytes into one.
const DEFLATE_RATIO: u64 = 1032;

/// A data file, decompressed as it is read when it begins like gzip.
pub struct DataFile {
    bytes: Box<dyn Read>,
    /// Bytes on disk.
    pub size: u64,
    /// True when it is compressed.
    pub gzipped: bool,
}

impl DataFile {
    /// Opens a file. Pipes, which might block forever, and other things that are not regular files are refused.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let refused = |error: io::Error| unreadable(path, &error);
        let metadata = path.metadata().map_err(refused)?;
        if !metadata.is_file() {
            return Err(DataError::Unreadable { path: path.to_owned(), reason: "it is not a file".to_owned() });
        }
        let mut raw = BufReader::new(File::open(path).map_err(refused)?);
        let gzipped = raw.fill_buf().map_err(refused)?.starts_with(&[0x1F, 0x8B]);
        let bytes: Box<dyn Read> = if gzipped { Box::new(BufReader::new(MultiGzDecoder::new(raw))) } else { Box::new(raw) };
        Ok(Self { bytes, size: metadata.len(), gzipped })
    }

    /// The most bytes that reading it can give.
    pub fn most_bytes(&self) -> u64 {
        if self.gzipped { self.size.saturating_mul(DEFLATE_RATIO) } else { self.size }
    }
}

impl Read for DataFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

/// A file or folder that could not be read.
pub fn unreadable(path: &Path, error: &io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::NotFound => DataError::Missing { path: path.to_owned() },
        // gzip reports damage as one of these.
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

/// A file that claims more than Inkling accepts.
pub fn too_large(path: &Path, reason: impl Into<String>) -> DataError {
    DataError::TooLarge { path: path.to_owned(), reason: reason.into() }
}
