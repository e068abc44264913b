//! Whether a file is the one that was published.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use sha2::Sha256;

use super::sources::{Digest, SourceFile};
use crate::system::files::open_regular;

/// Whether the file at this path is there and has the digest of the published one.
pub fn is_published(path: &Path, file: &SourceFile) -> bool {
    let Ok(opened) = open_regular(path) else { return false };
    match file.digest {
        Digest::File(expected) => of(opened.take(file.size + 1)).is_some_and(|found| found == expected),
        // One byte more than there should be changes the digest.
        Digest::Content(expected, length) => of(GzDecoder::new(opened).take(length + 1)).is_some_and(|found| found == expected),
    }
}

/// The SHA-256 of what can be read, in hexadecimal digits; `None` after an error.
fn of(mut bytes: impl Read) -> Option<String> {
    let mut hasher = <Sha256 as sha2::Digest>::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match bytes.read(&mut piece).ok()? {
            0 => break,
            count => sha2::Digest::update(&mut hasher, &piece[..count]),
        }
    }
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16).unwrap_or_default());
    Some(sha2::Digest::finalize(hasher).iter().flat_map(digits).collect())
}
