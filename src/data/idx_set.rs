//! Which IDX files make a set: their names, and the folders they are searched for in.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::data_file::{open, unreadable};
use super::idx::{self, Kind};
use super::idx_pair::Pair;
use super::{DataError, DataSet};
use crate::progress::Progress;
use crate::run_config::NamedSet;
use crate::system::files::folder_of;

/// EMNIST's prefix to MNIST's file names.
const EMNIST: &str = "emnist-digits-";

/// What the names of files for test have in them.
const TEST: [&str; 3] = ["test", "t10k", "valid"];

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

    /// A file of images, with the labels beside it; `None` where its name or content is something else.
    pub fn of_images(images: &Path) -> Result<Option<Self>, DataError> {
        let set = |train: Pair| Self { folder: folder_of(images).to_owned(), transposed: is_emnists(&train), train, test: None };
        Ok(Pair::of_images(images)?.map(set))
    }

    /// The set in a folder whose files have names of their own: one pair, or one for training and one for test, which their names say; `None` where there
    /// is no pair.
    pub fn of_any_names(folder: &Path) -> Result<Option<Self>, DataError> {
        let mut pairs = Vec::new();
        for entry in folder.read_dir().map_err(|error| unreadable(folder, &error))? {
            let path = entry.map_err(|error| unreadable(folder, &error))?.path();
            let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
            if !is_hidden && path.is_file() {
                pairs.extend(Pair::of_images(&path)?);
            }
        }
        pairs.sort_by(|a, b| a.images.cmp(&b.images));
        let is_named = |pair: &Pair, words: &[&str]| {
            let name = pair.images.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            words.iter().any(|word| name.contains(word))
        };
        let (train, test) = match pairs.as_slice() {
            [] => return Ok(None),
            [only] => (only, None),
            [a, b] if is_named(a, &TEST) != is_named(b, &TEST) => {
                if is_named(a, &TEST) {
                    (b, Some(a))
                } else {
                    (a, Some(b))
                }
            }
            [first, ..] => {
                let reason = format!(
                    "it has {} pairs of IDX files, and their names do not say which is for training and which for test; choose one of the files of images, such as {}",
                    pairs.len(),
                    first.images.file_name().unwrap_or_default().display()
                );
                return Err(DataError::NoData { path: folder.to_owned(), reason });
            }
        };
        let transposed = is_emnists(train);
        Ok(Some(Self { folder: folder.to_owned(), train: train.clone(), test: test.cloned(), transposed }))
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

/// EMNIST publishes all its sets that way, whatever they are called.
fn is_emnists(pair: &Pair) -> bool {
    pair.images.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().starts_with("emnist"))
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
