//! Folders of images sorted by class: `0/ … 9/`, or the same below `train/` and `test/`. `ink` turns an image file into 28x28 pixels.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::data_file::{malformed, too_large, unreadable};
use super::{DataError, DataSet, Split};
use crate::ink::{InkError, read_image_file};
use crate::progress::Progress;

/// The most images a set may have.
const MOST: usize = 2_000_000;
/// Images read between two reports of progress.
const CHUNK: usize = 32;

/// True when `folder` has a class folder, or `train` with one in it.
pub fn is_one(folder: &Path) -> bool {
    has_classes(folder) || has_classes(&folder.join("train"))
}

/// Reads the images; the test split is empty where there is no `test` folder.
pub fn read(folder: &Path, progress: &mut dyn Progress) -> Result<DataSet, DataError> {
    if has_classes(folder) {
        return Ok(DataSet { train: read_split(folder, progress)?, test: Split::default() });
    }
    let train = read_split(&folder.join("train"), &mut |done: f32| progress.report(done * 0.8))?;
    let test = folder.join("test");
    let test = if has_classes(&test) { read_split(&test, &mut |done: f32| progress.report(0.8 + done * 0.2))? } else { Split::default() };
    Ok(DataSet { train, test })
}

fn has_classes(folder: &Path) -> bool {
    (0..10).any(|digit| folder.join(digit.to_string()).is_dir())
}

fn read_split(folder: &Path, progress: &mut dyn Progress) -> Result<Split, DataError> {
    let mut files: Vec<(PathBuf, u8)> = Vec::new();
    for digit in 0..10 {
        let class = folder.join(digit.to_string());
        if !class.is_dir() {
            continue;
        }
        for entry in class.read_dir().map_err(|error| unreadable(&class, &error))? {
            let path = entry.map_err(|error| unreadable(&class, &error))?.path();
            if is_image(&path) {
                files.push((path, digit));
            }
            if files.len() > MOST {
                return Err(too_large(folder, format!("it has more than {MOST} images")));
            }
        }
    }
    // A file system lists files in any order; the same folder should give the same set.
    files.sort_unstable();
    let mut split = Split::default();
    for (index, chunk) in files.chunks(CHUNK).enumerate() {
        progress.report((index * CHUNK) as f32 / files.len() as f32)?;
        let images: Vec<_> = chunk.par_iter().map(|(path, label)| read_image_file(path).map(|image| (image, *label))).collect();
        for read in images {
            let (image, label) = read.map_err(as_data_error)?;
            split.images.extend_from_slice(image.pixels());
            split.labels.push(label);
        }
    }
    if split.is_empty() {
        return Err(malformed(folder, "its class folders contain no PNG or JPEG images"));
    }
    Ok(split)
}

/// True for names that end like an image Inkling reads; not for hidden files such as macOS leaves beside images (`._1.png`).
fn is_image(path: &Path) -> bool {
    if path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.')) {
        return false;
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    matches!(extension.as_deref(), Some("png" | "jpg" | "jpeg"))
}

/// The same error as one of this room.
pub fn as_data_error(error: InkError) -> DataError {
    match error {
        InkError::Unreadable { path, reason } => DataError::Unreadable { path, reason },
        InkError::Malformed { path, reason } => DataError::Malformed { path, reason },
        InkError::TooLarge { path, reason } => DataError::TooLarge { path, reason },
    }
}
