//! Which IDX files make a set: their names, the folders they are searched for in, and that images and labels belong together.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::data_file::{malformed, open, unreadable};
use super::idx::{self, Kind};
use super::{DataError, DataSet, Split};
use crate::ink::{PIXELS, SIDE};
use crate::progress::Progress;
use crate::run_config::NamedSet;

/// EMNIST's prefix to MNIST's file names.
const EMNIST: &str = "emnist-digits-";

/// A set's files in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdxSet {
    /// The folder.
    pub folder: PathBuf,
    train: Pair,
    test: Option<Pair>,
    /// True when rows and columns are exchanged, as EMNIST publishes its images (Cohen et al. 2017).
    transposed: bool,
}

/// The two files of a split.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    images: PathBuf,
    labels: PathBuf,
}

impl IdxSet {
    /// The set in this folder; `None` where it has none of the files, an error where it has only some.
    pub fn open(folder: &Path) -> Result<Option<Self>, DataError> {
        for prefix in ["", EMNIST] {
            let pair = |name: &str| Pair::find(folder, &format!("{prefix}{name}"));
            let test = if let Some(test) = pair("t10k")? { Some(test) } else { pair("test")? };
            match (pair("train")?, test) {
                (None, None) => {}
                (None, Some(_)) => return Err(DataError::Missing { path: folder.join(format!("{prefix}train-images-idx3-ubyte")) }),
                (Some(train), test) => {
                    return Ok(Some(Self { folder: folder.to_owned(), train, test, transposed: prefix == EMNIST }));
                }
            }
        }
        Ok(None)
    }

    /// The set of this name in one of the data folders, the first that has it.
    pub fn find(set: NamedSet, folders: &[PathBuf]) -> Result<Option<Self>, DataError> {
        for folder in folders.iter().flat_map(|folder| places(set, folder)) {
            if let Some(mut found) = Self::open(&folder)? {
                found.transposed |= set == NamedSet::EmnistDigits;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// How many training and test images the headers claim.
    pub fn counts(&self) -> Result<[u64; 2], DataError> {
        let count = |pair: &Pair| idx::count(&pair.images, Kind::Images);
        Ok([count(&self.train)?, self.test.as_ref().map_or(Ok(0), count)?])
    }

    /// Reads the set; the test split is empty where it has no files.
    pub fn read(&self, progress: &mut dyn Progress) -> Result<DataSet, DataError> {
        // Right for MNIST, whose test split is a seventh of the whole.
        let train_share = if self.test.is_some() { 6.0 / 7.0 } else { 1.0 };
        let train = self.train.read(self.transposed, &mut |done: f32| progress.report(done * train_share))?;
        let test = self
            .test
            .as_ref()
            .map(|test| test.read(self.transposed, &mut |done: f32| progress.report(train_share + done * (1.0 - train_share))));
        Ok(DataSet { train, test: test.transpose()?.unwrap_or_default() })
    }

    /// True when the decompressed files are MNIST's own, by SHA-256.
    pub fn is_original_mnist(&self) -> Result<bool, DataError> {
        let Some(test) = &self.test else { return Ok(false) };
        for (path, expected) in [&self.train.labels, &test.labels, &test.images, &self.train.images].into_iter().zip(MNIST_SHA256) {
            if digest(path)? != expected {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Pair {
    /// `NAME-images` and `NAME-labels`.
    fn find(folder: &Path, name: &str) -> Result<Option<Self>, DataError> {
        let missing = |what: &str| Err(DataError::Missing { path: folder.join(format!("{name}-{what}-ubyte")) });
        match (find_file(folder, name, "images", 3), find_file(folder, name, "labels", 1)) {
            (Some(images), Some(labels)) => Ok(Some(Self { images, labels })),
            (Some(_), None) => missing("labels-idx1"),
            (None, Some(_)) => missing("images-idx3"),
            (None, None) => Ok(None),
        }
    }

    fn read(&self, transposed: bool, progress: &mut dyn Progress) -> Result<Split, DataError> {
        let labels = idx::read(&self.labels, Kind::Labels, &mut |_: f32| progress.report(0.0))?;
        // Whether the large file belongs to the small one is checked before it is read.
        let count = idx::count(&self.images, Kind::Images)?;
        if count != labels.len() as u64 {
            let reason = format!("it holds {count} images, but {} holds {} labels", self.labels.display(), labels.len());
            return Err(malformed(&self.images, reason));
        }
        let mut images = idx::read(&self.images, Kind::Images, progress)?;
        if transposed {
            images.chunks_exact_mut(PIXELS).for_each(transpose);
        }
        Ok(Split { images, labels })
    }
}

fn transpose(image: &mut [u8]) {
    for row in 0..SIDE {
        for column in row + 1..SIDE {
            image.swap(row * SIDE + column, column * SIDE + row);
        }
    }
}

fn find_file(folder: &Path, which: &str, what: &str, dimensions: u8) -> Option<PathBuf> {
    // Both spellings are in use, and some tools decompress files without renaming them.
    ["-", "."]
        .into_iter()
        .flat_map(|dot| ["", ".gz"].map(|end| folder.join(format!("{which}-{what}{dot}idx{dimensions}-ubyte{end}"))))
        .find(|path| path.is_file())
}

/// Where a set may be in a data folder: under its name, where torchvision puts it, or in the folder itself. The sets' files
/// have the same names, so a folder that does not say which set it holds is taken for MNIST.
fn places(set: NamedSet, folder: &Path) -> Vec<PathBuf> {
    let torchvision = match set {
        NamedSet::Mnist => "MNIST/raw",
        NamedSet::FashionMnist => "FashionMNIST/raw",
        NamedSet::Kmnist => "KMNIST/raw",
        NamedSet::EmnistDigits => "EMNIST/raw",
    };
    let mut places = vec![folder.join(set.name()), folder.join(torchvision)];
    let says = folder.file_name().and_then(|name| NamedSet::ALL.into_iter().find(|set| name == set.name()));
    if says.unwrap_or(NamedSet::Mnist) == set {
        places.push(folder.to_owned());
    }
    places
}

/// MNIST's decompressed files, the small ones first: labels for training and test, then images for test and training.
const MNIST_SHA256: [&str; 4] = [
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
];

fn digest(path: &Path) -> Result<String, DataError> {
    let mut hasher = Sha256::new();
    // The longest of the four files is 47 MB; a longer one is not MNIST's.
    let mut file = open(path)?.take(48_000_000);
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).map_err(|error| unreadable(path, &error))? {
            0 => break,
            count => hasher.update(&piece[..count]),
        }
    }
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16).unwrap_or_default());
    Ok(hasher.finalize().iter().flat_map(digits).collect())
}
