//! The formats of data sets on disk. Each has a file here, and a line in [`FOLDERS`] or [`FILES`]
//! that recognizes it; [`export`] writes some of them.

pub mod export;
mod foreign;
pub mod idx;
pub mod idx_set;
mod images;
pub mod ink;
mod numpy;
mod parquet;
pub mod pixel_table;
mod pixels;
mod rows;
pub mod table;

pub use numpy::ArraySet;
pub use table::{count_named_images, is_named_like_a_table};

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::load::Writers;
use super::{DataError, Dataset};
use crate::ink::InkError;
use crate::progress::Progress;
use crate::run_config::MAX_LABEL;
use crate::system::files::open_regular;
use crate::system::input_file::InputFile;

/// The most images that a data set may have: what claims more is damaged, as EMNIST's largest set
/// has 814,255.
pub const MAX_IMAGES: usize = 2_000_000;

/// The parts of a set, for training, validation and test, and what folders and files with them are
/// called, in lower case.
const PARTS: [&[&str]; 3] = [
    &["train", "training"],
    &["val", "valid", "validation"],
    &["test", "testing"],
];

/// A source as it is: with the test split that it has, which may be none.
pub struct Loaded {
    pub set: Dataset,
    /// Who wrote the training images.
    pub writers: Writers,
}

impl From<Dataset> for Loaded {
    fn from(set: Dataset) -> Self {
        Self {
            set,
            writers: Writers::default(),
        }
    }
}

/// The files of a data set that was found on disk and is not read yet.
pub trait DatasetFiles {
    /// Reads it; the test split is empty if there is none.
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError>;

    /// How many images there are for training and for test, if that is known without reading
    /// them.
    fn counts(&self) -> Result<Option<[usize; 2]>, DataError> {
        Ok(None)
    }
}

/// A set in one format, or `None` if it is in another.
type Recognized = Result<Option<Box<dyn DatasetFiles>>, DataError>;

/// The formats of folders, in the order in which they are looked for.
const FOLDERS: [fn(&Path) -> Recognized; 9] = [
    idx_set::in_folder,
    // Folders that are called like digits cannot be meant otherwise; any others may lie beside a
    // table or files.
    images::digit_folders,
    table::in_folder,
    numpy::in_folder,
    |folder| Ok(parquet::in_folder(folder)),
    idx_set::with_any_names,
    images::class_folders,
    images::named,
    idx_set::in_data_folder,
];

/// The formats of single files, which are recognized by their first bytes or their name. What is
/// none of them, and not known, is ink.
const FILES: [fn(&Path, &[u8]) -> Recognized; 4] = [
    idx_set::of_file,
    numpy::of_file,
    |path, start| Ok(parquet::of_file(path, start)),
    |path, start| Ok(table::of_file(path, start)),
];

/// The data set at this path. Reads no images, but looks at the disk.
pub fn open_set(path: &Path) -> Result<Box<dyn DatasetFiles>, DataError> {
    let about = path.metadata().map_err(unreadable(path))?;
    if !about.is_dir() {
        let start = first_bytes(path)?;
        for format in FILES {
            if let Some(set) = format(path, &start)? {
                return Ok(set);
            }
        }
        return match foreign::file(path, &start) {
            Some(refused) => Err(refused),
            None => Ok(ink::of_file(path)),
        };
    }
    // A folder without permission to list it would look empty below.
    path.read_dir().map_err(unreadable(path))?;
    for format in FOLDERS {
        if let Some(set) = format(path)? {
            return Ok(set);
        }
    }
    if let Some(refused) = foreign::folder(path)? {
        return Err(refused);
    }
    Err(DataError::NoData {
        path: path.to_owned(),
    })
}

/// Adds what is for validation to what is for test if there is none, or else to what is for
/// training, of which Inkling sets images apart for validation itself. Adds a note.
fn divided<T>(train: &mut Vec<T>, validation: Vec<T>, test: &mut Vec<T>) -> Option<String> {
    if validation.is_empty() || train.is_empty() {
        return None;
    }
    let (part, note) = if test.is_empty() {
        (
            test,
            "There are no test images, so the validation images are used for testing.",
        )
    } else {
        (
            train,
            "The validation images are also training images, so Inkling makes its own validation split.",
        )
    };
    part.extend(validation);
    Some(note.to_owned())
}

fn boxed(set: impl DatasetFiles + 'static) -> Box<dyn DatasetFiles> {
    Box::new(set)
}

/// Opens a data file, gzipped or not. Pipes, which might block forever, and other things that are
/// not regular files are refused.
pub fn open(path: &Path) -> Result<InputFile, DataError> {
    // That it is not a regular file is the system's message, and nothing gzip says.
    InputFile::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => DataError::Missing {
            path: path.to_owned(),
        },
        _ => DataError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    })
}

/// The first bytes of a file, as many as identify it.
fn first_bytes(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut start = Vec::new();
    let read = open(path)?.take(512).read_to_end(&mut start);
    read.map(|_| start).map_err(unreadable(path))
}

/// A file that is not gzipped, and its size in bytes.
fn open_plain(path: &Path) -> Result<(File, u64), DataError> {
    let file = open_regular(path).map_err(unreadable(path))?;
    let about = file.metadata().map_err(unreadable(path))?;
    Ok((file, about.len()))
}

/// The entries of a folder, in any order.
fn entries(
    folder: &Path,
) -> Result<impl Iterator<Item = Result<PathBuf, DataError>> + '_, DataError> {
    let failed = unreadable(folder);
    let entries = folder.read_dir().map_err(failed)?;
    Ok(entries.map(move |entry| Ok(entry.map_err(failed)?.path())))
}

/// The last part of a path, for comparisons and messages.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn is_hidden(path: &Path) -> bool {
    let name = file_name(path);
    name.is_empty() || name.starts_with('.')
}

/// The error about the first label that is too large.
fn too_large_label(labels: &[u8]) -> Option<String> {
    let (image, label) = (1..).zip(labels).find(|(_, label)| **label > MAX_LABEL)?;
    let image: usize = image;
    Some(format!(
        "label {label} of image {image} is larger than {MAX_LABEL}"
    ))
}

/// Makes an error of a file or folder that could not be read.
pub fn unreadable(path: &Path) -> impl Fn(io::Error) -> DataError + Copy + '_ {
    |error| match error.kind() {
        io::ErrorKind::NotFound => DataError::Missing {
            path: path.to_owned(),
        },
        // gzip reports damage as one of these.
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            malformed(path, format!("gzip: {error}"))
        }
        io::ErrorKind::FileTooLarge => too_large(path, error.to_string()),
        _ => DataError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    }
}

/// Makes an error of what is wrong with a file.
fn damaged<E: ToString>(path: &Path) -> impl Fn(E) -> DataError + '_ {
    |error| malformed(path, error.to_string())
}

/// A file that is not what it should be.
pub fn malformed(path: &Path, reason: impl Into<String>) -> DataError {
    DataError::Malformed {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// A file that claims more than Inkling accepts.
pub fn too_large(path: &Path, reason: impl Into<String>) -> DataError {
    DataError::TooLarge {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// A file or folder that is not a data set by itself.
fn not_a_set(path: &Path, reason: impl Into<String>) -> DataError {
    DataError::NotASet {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// The same error as one of this module.
pub fn as_data_error(error: InkError) -> DataError {
    match error {
        InkError::Unreadable { path, reason } => DataError::Unreadable { path, reason },
        InkError::Malformed { path, reason } => DataError::Malformed { path, reason },
        InkError::TooLarge { path, reason } => DataError::TooLarge { path, reason },
    }
}
