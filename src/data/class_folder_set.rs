//! Folders of images, one for each class and named after it: `0/ … 9/`, `cat/` and `dog/`, or the
//! same below `train/` and `test/`.

use std::path::{Path, PathBuf};

use super::class_labels::{ClassLabels, assign};
use super::data_file::{MAX_IMAGES, malformed, too_large, unreadable};
use super::labelled_images::{self, has_images, images_in};
use super::{DataError, DataSet, Split};
use crate::progress::{PartialProgress, Progress};
use crate::run_config::CLASS_COUNTS;
use crate::text::visible;

/// The images of a part of the set, each with the number of its label.
type Files = Vec<(PathBuf, u8)>;

/// Entries of a folder that are looked at: a home folder is not searched through.
const LOOKED_AT: usize = 10_000;
/// The names of folders that divide a set.
const PARTS: [&str; 6] = ["train", "training", "test", "valid", "val", "validation"];

/// The class folders of a data set.
pub struct ClassFolders {
    train: Vec<PathBuf>,
    test: Vec<PathBuf>,
    folder: PathBuf,
}

impl ClassFolders {
    /// Those in this folder, or in `train` and `test` in it; `None` where there are fewer than two
    /// to learn from, unless they are called as digits are.
    pub fn open(folder: &Path) -> Result<Option<Self>, DataError> {
        let set = |train: Vec<PathBuf>, test: Vec<PathBuf>| Self {
            train,
            test,
            folder: folder.to_owned(),
        };
        // Folders that divide a set are not classes.
        let mut here = class_folders(folder)?;
        here.retain(|class| !PARTS.contains(&name(class).to_lowercase().as_str()));
        if are_classes(&here) {
            return Ok(Some(set(here, Vec::new())));
        }
        let [train, test] = ["train", "test"].map(|part| {
            let part = folder.join(part);
            if part.is_dir() {
                class_folders(&part)
            } else {
                Ok(Vec::new())
            }
        });
        let train = train?;
        if are_classes(&train) {
            Ok(Some(set(train, test?)))
        } else {
            Ok(None)
        }
    }

    /// Reads the images; the test split is empty where there is no `test` folder.
    pub fn read(&self, progress: &mut dyn Progress) -> Result<DataSet, DataError> {
        let mut labels = ClassLabels::default();
        let train = self.files(&self.train, &mut labels)?;
        let test = self.files(&self.test, &mut labels)?;
        if train.is_empty() {
            return Err(malformed(
                &self.folder,
                "its class folders contain no images",
            ));
        }
        let (classes, numbers) = labels
            .classes()
            .map_err(|error| malformed(&self.folder, error.to_string()))?;
        let share = train.len() as f32 / (train.len() + test.len()) as f32;
        let read = |files: &Files, progress: &mut dyn Progress| -> Result<Split, DataError> {
            let mut split = labelled_images::read(
                files.len(),
                &classes,
                |index| files[index].clone(),
                progress,
            )?;
            assign(&mut split, &numbers);
            Ok(split)
        };
        let train = read(
            &train,
            &mut PartialProgress {
                whole: progress,
                start: 0.0,
                end: share,
            },
        )?;
        let test = read(
            &test,
            &mut PartialProgress {
                whole: progress,
                start: share,
                end: 1.0,
            },
        )?;
        Ok(DataSet {
            train,
            test,
            classes,
        })
    }

    /// Whether one of them is called as a digit is.
    pub fn have_digits(&self) -> bool {
        self.train.iter().any(|folder| is_digit(folder))
    }

    /// How many images there are for training and for test.
    pub fn counts(&self) -> Result<[usize; 2], DataError> {
        let count = |folders: &[PathBuf]| {
            folders
                .iter()
                .map(|folder| Ok(images_in(folder)?.len()))
                .sum::<Result<usize, DataError>>()
        };
        Ok([count(&self.train)?, count(&self.test)?])
    }

    fn files(&self, folders: &[PathBuf], labels: &mut ClassLabels) -> Result<Files, DataError> {
        let mut files = Files::new();
        for folder in folders {
            let number = labels
                .number(&name(folder))
                .map_err(|error| malformed(&self.folder, error.to_string()))?;
            files.extend(images_in(folder)?.into_iter().map(|path| (path, number)));
            if files.len() > MAX_IMAGES {
                return Err(too_large(
                    &self.folder,
                    format!("it has more than {MAX_IMAGES} images"),
                ));
            }
        }
        // A file system lists files in any order; the same folder should give the same set.
        files.sort_unstable();
        Ok(files)
    }
}

fn name(folder: &Path) -> String {
    visible::one_line(&folder.file_name().unwrap_or_default().to_string_lossy())
}

/// Whether these are the folders of classes: two with any names, or one that is called as a digit
/// is.
fn are_classes(folders: &[PathBuf]) -> bool {
    folders.len() >= *CLASS_COUNTS.start() || folders.iter().any(|folder| is_digit(folder))
}

fn is_digit(folder: &Path) -> bool {
    matches!(name(folder).as_bytes(), [b'0'..=b'9'])
}

/// The folders in a folder that have images and are not hidden, in the order of their names. Nobody
/// has more classes than are looked at.
fn class_folders(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut folders = Vec::new();
    for entry in folder
        .read_dir()
        .map_err(|error| unreadable(folder, &error))?
        .take(LOOKED_AT)
    {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        if !name(&path).starts_with('.') && path.is_dir() && has_images(&path) {
            folders.push(path);
        }
        if folders.len() > *CLASS_COUNTS.end() {
            break;
        }
    }
    folders.sort_unstable();
    Ok(folders)
}
