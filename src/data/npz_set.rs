//! Archives of arrays as `NumPy` writes them (`.npz`), in the form of Keras: `x_train`, `y_train`,
//! `x_test`, `y_test`.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;

use super::data_file::{MAX_IMAGES, malformed, too_large, unreadable};
use super::npy::{NpyError, NpyHeader};
use super::{DataError, DataSet, Split};
use crate::ink::{PIXELS, SIDE};
use crate::progress::Progress;
use crate::run_config::MAX_LABEL;
use crate::system::files::open_regular;
use crate::system::input_file::budget;

/// The names of the arrays: images and labels for training, then for test.
const NAMES: [[&str; 4]; 4] = [
    ["x_train", "y_train", "x_test", "y_test"],
    ["train_images", "train_labels", "test_images", "test_labels"],
    ["images", "labels", "", ""],
    ["x", "y", "", ""],
];

/// An archive with such arrays.
pub struct NpzSet<R> {
    archive: ZipArchive<R>,
    path: PathBuf,
    /// The most bytes that its images may take.
    budget: u64,
    train: [&'static str; 2],
    test: Option<[&'static str; 2]>,
}

impl NpzSet<BufReader<File>> {
    /// The arrays in the zip archive at this path; `None` where it has none of these names.
    pub fn open(path: &Path) -> Result<Option<Self>, DataError> {
        let file = open_regular(path).map_err(|error| unreadable(path, &error))?;
        let size = file
            .metadata()
            .map_err(|error| unreadable(path, &error))?
            .len();
        Self::of(BufReader::new(file), size, path)
    }
}

impl<R: Read + Seek> NpzSet<R> {
    /// The same for an archive of `size` bytes that is open already; errors name `path`.
    pub fn of(file: R, size: u64, path: &Path) -> Result<Option<Self>, DataError> {
        let archive = ZipArchive::new(file)
            .map_err(|error| malformed(path, format!("it is a damaged zip archive ({error})")))?;
        let has = |name: &&str| archive.index_for_name(&file_name(name)).is_some();
        let Some([images, labels, test_images, test_labels]) = NAMES
            .into_iter()
            .find(|[images, labels, ..]| [images, labels].into_iter().all(has))
        else {
            return Ok(None);
        };
        let test = [test_images, test_labels];
        let test = test.iter().all(has).then_some(test);
        Ok(Some(Self {
            archive,
            path: path.to_owned(),
            budget: budget(size),
            train: [images, labels],
            test,
        }))
    }

    /// Reads the set; the test split is empty where it has no arrays.
    pub fn read(&mut self, progress: &mut dyn Progress) -> Result<DataSet, DataError> {
        let train_images = self.count(self.train)?;
        let test_images = self.test.map_or(Ok(0), |test| self.count(test))?;
        let bytes = (train_images + test_images) * PIXELS as u64;
        if bytes > self.budget {
            return Err(too_large(
                &self.path,
                format!("its images take {bytes} bytes, too much for its size"),
            ));
        }
        let share = train_images as f32 / (train_images + test_images).max(1) as f32;
        let train = self.split(self.train, &mut |done: f32| progress.report(done * share))?;
        let test = match self.test {
            Some(test) => self.split(test, &mut |done: f32| {
                progress.report(share + done * (1.0 - share))
            })?,
            None => Split::default(),
        };
        DataSet::of_numbers(train, test).map_err(|error| malformed(&self.path, error.to_string()))
    }

    /// How many images these arrays claim to hold, which is as many as there are labels.
    fn count(&mut self, [images, labels]: [&str; 2]) -> Result<u64, DataError> {
        let (images_shape, labels_shape) = (self.shape(images)?, self.shape(labels)?);
        let side = SIDE as u64;
        let count = match *images_shape.as_slice() {
            [count, rows, columns] | [count, rows, columns, 1]
                if rows == side && columns == side =>
            {
                count
            }
            [count, pixels] if pixels == PIXELS as u64 => count,
            _ => {
                return Err(wrong(
                    &self.path,
                    images,
                    format!("its shape is {images_shape:?}; it should be images, {SIDE}, {SIDE}"),
                ));
            }
        };
        match *labels_shape.as_slice() {
            [labels] | [labels, 1] if labels == count => {}
            _ => {
                return Err(wrong(
                    &self.path,
                    labels,
                    format!("its shape is {labels_shape:?}, but there are {count} images"),
                ));
            }
        }
        if count == 0 {
            return Err(wrong(&self.path, images, "it contains no images"));
        }
        if count > MAX_IMAGES as u64 {
            return Err(too_large(
                &self.path,
                format!("{images} should hold {count} images, but the limit is {MAX_IMAGES}"),
            ));
        }
        Ok(count)
    }

    fn split(
        &mut self,
        [images, labels]: [&str; 2],
        progress: &mut dyn Progress,
    ) -> Result<Split, DataError> {
        let digits = self.numbers(labels, &mut |_: f32| progress.report(0.0))?;
        if let Some((position, label)) = digits
            .iter()
            .enumerate()
            .find(|(_, label)| **label > MAX_LABEL)
        {
            return Err(wrong(
                &self.path,
                labels,
                format!(
                    "label {label} of image {} is larger than {MAX_LABEL}",
                    position + 1
                ),
            ));
        }
        let pixels = self.numbers(images, progress)?;
        // They were counted, but two files of an archive may have the same name.
        if pixels.len() != digits.len() * PIXELS {
            return Err(malformed(
                &self.path,
                "it has several arrays of the same name",
            ));
        }
        Ok(Split {
            images: pixels,
            labels: digits,
        })
    }

    fn numbers(&mut self, name: &str, progress: &mut dyn Progress) -> Result<Vec<u8>, DataError> {
        let (path, mut file) = self.file(name)?;
        let header = NpyHeader::read(&mut file).map_err(|error| npy(path, name, error))?;
        let read = header.numbers(&mut file, &mut |done: f32| {
            progress
                .report(done)
                .map_err(|cancelled| Stopped::Data(cancelled.into()))
        });
        read.map_err(|stopped| match stopped {
            Stopped::Data(error) => error,
            Stopped::Npy(error) => npy(path, name, error),
        })
    }

    fn shape(&mut self, name: &str) -> Result<Vec<u64>, DataError> {
        let (path, mut file) = self.file(name)?;
        Ok(NpyHeader::read(&mut file)
            .map_err(|error| npy(path, name, error))?
            .shape)
    }

    /// The path of the archive, for errors, and the array's file in it.
    fn file(&mut self, name: &str) -> Result<(&Path, ZipFile<'_, R>), DataError> {
        let path = self.path.as_path();
        let file = self
            .archive
            .by_name(&file_name(name))
            .map_err(|error| wrong(path, name, error))?;
        Ok((path, file))
    }
}

fn npy(path: &Path, name: &str, error: NpyError) -> DataError {
    match error {
        NpyError::Wrong(reason) => wrong(path, name, reason),
        NpyError::Io(error) => wrong(path, name, error),
    }
}

fn wrong(path: &Path, name: &str, reason: impl std::fmt::Display) -> DataError {
    malformed(path, format!("{name}: {reason}"))
}

/// Why reading numbers ended early.
enum Stopped {
    Data(DataError),
    Npy(NpyError),
}

impl From<NpyError> for Stopped {
    fn from(error: NpyError) -> Self {
        Self::Npy(error)
    }
}

fn file_name(array: &str) -> String {
    format!("{array}.npy")
}
