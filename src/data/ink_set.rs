//! Owns data sets written as ink: labelled drawings, one a line. Must not know how ink becomes a picture.

use std::ops::ControlFlow;
use std::path::Path;

use super::class_folders::as_data_error;
use super::source::malformed;
use super::{DataError, Split};
use crate::ink::{self, read_ink_file};

/// Drawings taken at most.
const MOST: usize = 2_000_000;
/// Drawings between two looks at whoever waits.
const CHUNK: usize = 500;

/// Reads labelled drawings; each must have a digit for a label.
pub fn read(path: &Path, progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<Split, DataError> {
    let mut split = Split::default();
    for entry in read_ink_file(path).map_err(as_data_error)? {
        let entry = entry.map_err(as_data_error)?;
        let line = entry.line.unwrap_or(1);
        let label = entry.label.ok_or_else(|| malformed(path, format!("line {line} has no label")))?;
        let digit = label.to_digit(10).ok_or_else(|| malformed(path, format!("line {line}: \"{label}\" is not a digit")))?;
        split.images.extend_from_slice(ink::rasterize(&entry.ink).pixels());
        split.labels.push(digit as u8);
        if split.len() > MOST {
            return Err(super::source::too_large(path, format!("it has more than {MOST} drawings")));
        }
        // How much is still to come is not known before it is read.
        if split.len() % CHUNK == 0 && progress(1.0 - 1.0 / (1.0 + split.len() as f32 / 10_000.0)).is_break() {
            return Err(DataError::Cancelled);
        }
    }
    if split.is_empty() {
        return Err(malformed(path, "it contains no drawings"));
    }
    Ok(split)
}
