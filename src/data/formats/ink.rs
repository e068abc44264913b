//! Data sets of drawings: labeled strokes, one drawing per line, which `ink` rasterizes.

use std::path::{Path, PathBuf};

use super::{
    DataError, DatasetFiles, Loaded, MAX_IMAGES, as_data_error, boxed, malformed, too_large,
};
use crate::data::{Dataset, NotDigits, Split, Writers};
use crate::ink::{self, InkEntry, read_ink_file};
use crate::progress::Progress;

/// Drawings between two reports of progress.
const CHUNK: usize = 500;

/// A file of drawings; each must be labeled with a digit.
pub fn of_file(path: &Path) -> Box<dyn DatasetFiles> {
    boxed(InkDrawings(path.to_owned()))
}

struct InkDrawings(PathBuf);

impl DatasetFiles for InkDrawings {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        let (train, writers) = read(&self.0, progress)?;
        let set = Dataset::of_digits(train);
        Ok(Loaded { set, writers })
    }
}

fn read(path: &Path, progress: &mut dyn Progress) -> Result<(Split, Writers), DataError> {
    let (mut split, mut writers) = (Split::default(), Writers::default());
    for_each(path, progress, |entry, line| {
        let label = entry
            .label
            .ok_or_else(|| malformed(path, format!("line {line} has no label")))?;
        let digit = label
            .to_digit(10)
            .ok_or_else(|| malformed(path, format!("line {line}: \"{label}\" is not a digit")))?;
        split
            .images
            .extend_from_slice(ink::rasterize(&entry.ink).pixels());
        split.labels.push(digit as u8);
        writers.add(entry.writer.as_deref());
        Ok(split.len())
    })?;
    if split.is_empty() {
        return Err(malformed(path, "it contains no drawings"));
    }
    Ok((split, writers))
}

/// Reads the drawings of an ink file that are not labeled as digits, of these labels if they
/// are named.
pub fn read_not_digits(
    path: &Path,
    labels: Option<&str>,
    progress: &mut dyn Progress,
) -> Result<NotDigits, DataError> {
    let mut drawings = NotDigits::default();
    for_each(path, progress, |entry, _| {
        let is_digit = entry.label.is_some_and(|label| label.is_ascii_digit());
        let is_named =
            labels.is_none_or(|labels| entry.label.is_some_and(|label| labels.contains(label)));
        if is_named && !is_digit {
            drawings
                .images
                .extend_from_slice(ink::rasterize(&entry.ink).pixels());
            drawings.labels.push(entry.label);
        }
        Ok(drawings.labels.len())
    })?;
    if drawings.labels.is_empty() {
        let labels = labels.map_or_else(String::new, |labels| {
            format!(" with one of the labels {labels}")
        });
        return Err(malformed(
            path,
            format!("it contains no drawings other than digits{labels}"),
        ));
    }
    Ok(drawings)
}

/// Hands each drawing with its line to `take`, which returns how many it has kept.
fn for_each(
    path: &Path,
    progress: &mut dyn Progress,
    mut take: impl FnMut(InkEntry, u64) -> Result<usize, DataError>,
) -> Result<(), DataError> {
    let file = read_ink_file(path).map_err(as_data_error)?;
    let budget = file.budget();
    for (read, entry) in (1_usize..).zip(file) {
        let entry = entry.map_err(as_data_error)?;
        let line = entry.line.unwrap_or(1);
        let kept = take(entry, line)?;
        if kept > MAX_IMAGES {
            return Err(too_large(
                path,
                format!("it has more than {MAX_IMAGES} drawings"),
            ));
        }
        // A drawing of nothing has 14 bytes, and compressed not even one.
        if (kept * ink::PIXELS) as u64 > budget {
            return Err(too_large(
                path,
                format!(
                    "the images of its drawings take more than {budget} bytes, too much for its size"
                ),
            ));
        }
        // How many there are is not known before all are read.
        if read.is_multiple_of(CHUNK) {
            progress.report(1.0 - 1.0 / (1.0 + read as f32 / 10_000.0))?;
        }
    }
    Ok(())
}
