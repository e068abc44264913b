//! Folders of images sorted by class: `0/ … 9/`, or the same below `train/` and `test/`.

use std::path::{Path, PathBuf};

use super::data_file::{malformed, too_large};
use super::labelled_images::{self, MOST, images_in};
use super::{DataError, DataSet, Split};
use crate::ink::IMAGE_FORMATS;
use crate::progress::Progress;

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
        if class.is_dir() {
            files.extend(images_in(&class)?.into_iter().map(|path| (path, digit)));
        }
        if files.len() > MOST {
            return Err(too_large(folder, format!("it has more than {MOST} images")));
        }
    }
    if files.is_empty() {
        return Err(malformed(folder, format!("its class folders contain no images ({IMAGE_FORMATS})")));
    }
    // A file system lists files in any order; the same folder should give the same set.
    files.sort_unstable();
    labelled_images::read(files.len(), |index| files[index].clone(), progress)
}
