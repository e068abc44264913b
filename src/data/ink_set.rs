//! Data sets of drawings: labelled strokes, one drawing per line, which `ink` rasterises.

use std::path::Path;

use super::class_folder_set::as_data_error;
use super::data_file::{malformed, too_large};
use super::{DataError, Split};
use crate::ink::{self, read_ink_file};
use crate::progress::Progress;

/// The most drawings a set may have.
const MOST: usize = 2_000_000;
/// Drawings between two reports of progress.
const CHUNK: usize = 500;

/// Reads drawings; each must be labelled with a digit.
pub fn read(path: &Path, progress: &mut dyn Progress) -> Result<Split, DataError> {
    let mut split = Split::default();
    let file = read_ink_file(path).map_err(as_data_error)?;
    let budget = file.budget();
    for entry in file {
        let entry = entry.map_err(as_data_error)?;
        let line = entry.line.unwrap_or(1);
        let label = entry.label.ok_or_else(|| malformed(path, format!("line {line} has no label")))?;
        let digit = label.to_digit(10).ok_or_else(|| malformed(path, format!("line {line}: \"{label}\" is not a digit")))?;
        split.images.extend_from_slice(ink::rasterize(&entry.ink).pixels());
        split.labels.push(digit as u8);
        if split.len() > MOST {
            return Err(too_large(path, format!("it has more than {MOST} drawings")));
        }
        // A drawing of nothing has 14 bytes, and compressed not even one.
        if split.images.len() as u64 > budget {
            return Err(too_large(path, format!("the images of its drawings take more than {budget} bytes, too much for its size")));
        }
        // How many there are is not known before all are read.
        if split.len() % CHUNK == 0 {
            progress.report(1.0 - 1.0 / (1.0 + split.len() as f32 / 10_000.0))?;
        }
    }
    if split.is_empty() {
        return Err(malformed(path, "it contains no drawings"));
    }
    Ok(split)
}
