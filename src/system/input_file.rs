//! Input files, gzipped or not, that are never read beyond a budget in proportion to their size, so
//! that no small file fills the memory.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::files::open_regular;

/// The size that any file may unpack to, in bytes: 85,000 images of 28x28 pixels.
const FLOOR: u64 = 64 << 20;
/// What a file may unpack to beyond that, in bytes for each byte of the file. Handwriting
/// compresses to a fifth, and written out as a table of numbers to a fifteenth; only content
/// without information compresses to a hundredth.
const RATIO: u64 = 100;

/// A file that is being read, decompressed if it begins like gzip.
pub struct InputFile {
    bytes: Box<dyn Read + Send>,
    size: u64,
    gzipped: bool,
    /// Bytes that may still be read.
    left: u64,
}

impl InputFile {
    /// Opens a file. Pipes, which might block forever, and other things that are not regular files
    /// are refused.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        let size = file.metadata()?.len();
        Self::new(file, size)
    }

    /// The same for `size` bytes that are not read from a file.
    pub fn new(bytes: impl Read + Send + 'static, size: u64) -> io::Result<Self> {
        let mut raw = BufReader::new(bytes);
        let gzipped = raw.fill_buf()?.starts_with(&[0x1F, 0x8B]);
        let bytes: Box<dyn Read + Send> = if gzipped {
            Box::new(BufReader::new(MultiGzDecoder::new(raw)))
        } else {
            Box::new(raw)
        };
        Ok(Self {
            bytes,
            size,
            gzipped,
            left: budget(size),
        })
    }

    /// Bytes on disk.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// True when it is compressed.
    pub fn is_gzipped(&self) -> bool {
        self.gzipped
    }

    /// The most bytes that can be read from it; what is made of it should not take more either.
    pub fn budget(&self) -> u64 {
        budget(self.size)
    }
}

/// The most that a file of this size may unpack to, in bytes: 64 MiB, and a hundred for each of its
/// own.
pub const fn budget(size: u64) -> u64 {
    size.saturating_mul(RATIO).saturating_add(FLOOR)
}

/// Beyond the budget, the error's kind is [`ErrorKind::FileTooLarge`].
impl Read for InputFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        if let Some(left) = self.left.checked_sub(count as u64) {
            self.left = left;
            return Ok(count);
        }
        self.left = 0;
        let what = if self.gzipped {
            "compressed bytes unpack to"
        } else {
            "bytes have grown to"
        };
        Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!("{} {what} more than {}", self.size, self.budget()),
        ))
    }
}
