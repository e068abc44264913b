//! Whether a file is the one that was published.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use super::sources::{Digest, SourceFile};
use crate::system::files::open_regular;
use crate::system::sha256::sha256_of;

/// Whether the file at this path is there and has the digest of the published one.
pub fn is_published(path: &Path, file: &SourceFile) -> bool {
    let Ok(opened) = open_regular(path) else {
        return false;
    };
    match file.digest {
        Digest::File(expected) => {
            sha256_of(opened.take(file.size + 1)).is_ok_and(|found| found == expected)
        }
        // One byte more than there should be changes the digest.
        Digest::Content(expected, length) => {
            sha256_of(GzDecoder::new(opened).take(length + 1)).is_ok_and(|found| found == expected)
        }
    }
}
