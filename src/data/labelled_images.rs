//! Image files whose labels are known, read on all cores. `ink` turns each into 28x28 pixels.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::data_file::{MAX_IMAGES, too_large, unreadable};
use super::{DataError, Split};
use crate::ink::{Framing, InkError, is_named_like_an_image, read_image_file};
use crate::progress::Progress;
use crate::run_config::Classes;

/// Images read between two reports of progress.
const CHUNK: usize = 32;

/// Reads this many images of these classes; `file` gives the path and the label of each.
pub fn read(
    count: usize,
    classes: &Classes,
    file: impl Fn(usize) -> (PathBuf, u8) + Sync,
    progress: &mut dyn Progress,
) -> Result<Split, DataError> {
    let framing = Framing::of(classes);
    let mut split = Split::default();
    let indices: Vec<usize> = (0..count).collect();
    for chunk in indices.chunks(CHUNK) {
        progress.report(chunk[0] as f32 / count as f32)?;
        let read = |&index: &usize| {
            let (path, label) = file(index);
            read_image_file(&path, framing).map(|image| (image, label))
        };
        let images: Vec<_> = chunk.par_iter().map(read).collect();
        let before = split.images.len();
        for read in images {
            let (image, label) = read.map_err(as_data_error)?;
            split.images.extend_from_slice(image.pixels());
            split.labels.push(label);
        }
        progress.images(&split.images[before..]);
    }
    Ok(split)
}

/// The images in a folder that are not hidden, such as those that macOS leaves beside images
/// (`._1.png`), in any order.
pub fn images_in(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut images = Vec::new();
    for entry in folder
        .read_dir()
        .map_err(|error| unreadable(folder, &error))?
    {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden && is_named_like_an_image(&path) {
            images.push(path);
        }
        if images.len() > MAX_IMAGES {
            return Err(too_large(
                folder,
                format!("it has more than {MAX_IMAGES} images"),
            ));
        }
    }
    Ok(images)
}

/// Whether there is at least one such image in a folder.
pub fn has_images(folder: &Path) -> bool {
    let mut entries = folder.read_dir().into_iter().flatten().flatten();
    entries.any(|entry| {
        !entry.file_name().to_string_lossy().starts_with('.')
            && is_named_like_an_image(&entry.path())
    })
}

/// The same error as one of this module.
pub fn as_data_error(error: InkError) -> DataError {
    match error {
        InkError::Unreadable { path, reason } => DataError::Unreadable { path, reason },
        InkError::Malformed { path, reason } => DataError::Malformed { path, reason },
        InkError::TooLarge { path, reason } => DataError::TooLarge { path, reason },
    }
}
