//! Which IDX files make a set: their names, and the folders they are searched for in.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::idx::{self, Kind, Pair};
use super::{
    Loaded, Recognized, SetFiles, boxed, damaged, entries, file_name, is_hidden, malformed,
    no_data, open, unreadable,
};
use crate::data::{DataError, DataSet, Split};
use crate::download::MNIST_SHA256;
use crate::progress::{PartialProgress, Progress};
use crate::run_config::{Classes, NamedSet};
use crate::system::files::{folder_of, read_limited};
use crate::system::sha256::sha256_of;

/// EMNIST's prefixes to MNIST's file names, and the sets they belong to.
const EMNIST: [(&str, NamedSet); 2] = [
    ("emnist-digits-", NamedSet::EmnistDigits),
    ("emnist-letters-", NamedSet::EmnistLetters),
];
/// A file beside the others that names the classes, one on each line, in the order of their
/// numbers.
pub const CLASSES_FILE: &str = "classes.txt";
/// The longest such file, in bytes.
const MAX_CLASSES_FILE_BYTES: u64 = 64 << 10;

/// What the names of files for test have in them.
const TEST: [&str; 3] = ["test", "t10k", "valid"];

/// A set's files in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdxSet {
    /// The folder.
    pub folder: PathBuf,
    train: Pair,
    test: Option<Pair>,
    /// True when rows and columns are exchanged, as EMNIST publishes its images (Cohen et al.
    /// 2017).
    transposed: bool,
    /// The set that it is, where that is known.
    set: Option<NamedSet>,
}

/// The files of a set that has MNIST's names, or EMNIST's.
pub fn in_folder(folder: &Path) -> Recognized {
    Ok(IdxSet::open(folder)?.map(boxed))
}

/// The files of a set that has names of its own.
pub fn with_any_names(folder: &Path) -> Recognized {
    Ok(IdxSet::of_any_names(folder)?.map(boxed))
}

/// A file of images, with the labels beside it.
pub fn of_file(path: &Path, start: &[u8]) -> Recognized {
    if start == Kind::Labels.magic().to_be_bytes() {
        return Err(no_data(
            path,
            "it holds labels; choose the file of images that they belong to, or the folder of both",
        ));
    }
    if start != Kind::Images.magic().to_be_bytes() {
        return Ok(None);
    }
    let set = IdxSet::of_images(path)?.ok_or_else(|| {
        no_data(
            path,
            "it is a file of images whose name does not tell that of its labels; choose the folder they are in",
        )
    })?;
    Ok(Some(boxed(set)))
}

impl IdxSet {
    /// The set in this folder; `None` where it has none of the files, an error where it has only
    /// some.
    pub fn open(folder: &Path) -> Result<Option<Self>, DataError> {
        let prefixes =
            std::iter::once(("", None)).chain(EMNIST.map(|(prefix, set)| (prefix, Some(set))));
        Self::open_prefixed(folder, prefixes)
    }

    /// The same for files whose names begin with one of these prefixes, each of which may say which
    /// set they are.
    fn open_prefixed<'a>(
        folder: &Path,
        prefixes: impl Iterator<Item = (&'a str, Option<NamedSet>)>,
    ) -> Result<Option<Self>, DataError> {
        for (prefix, set) in prefixes {
            let pair = |name: &str| Pair::find(folder, &format!("{prefix}{name}"));
            let test = if let Some(test) = pair("t10k")? {
                Some(test)
            } else {
                pair("test")?
            };
            match (pair("train")?, test) {
                (None, None) => {}
                (None, Some(_)) => {
                    return Err(DataError::Missing {
                        path: folder.join(format!("{prefix}train-images-idx3-ubyte")),
                    });
                }
                (Some(train), test) => {
                    return Ok(Some(Self {
                        folder: folder.to_owned(),
                        train,
                        test,
                        transposed: set.is_some(),
                        set,
                    }));
                }
            }
        }
        Ok(None)
    }

    /// A file of images, with the labels beside it; `None` where its name or content is something
    /// else.
    fn of_images(images: &Path) -> Result<Option<Self>, DataError> {
        let set = |train: Pair| {
            let (transposed, set) = emnists(&train);
            Self {
                folder: folder_of(images).to_owned(),
                train,
                test: None,
                transposed,
                set,
            }
        };
        Ok(Pair::of_images(images)?.map(set))
    }

    /// The set in a folder whose files have names of their own: one pair, or one for training and
    /// one for test, which their names say; `None` where there is not a pair.
    fn of_any_names(folder: &Path) -> Result<Option<Self>, DataError> {
        let mut pairs = Vec::new();
        for path in entries(folder)? {
            let path = path?;
            if !is_hidden(&path) && path.is_file() {
                pairs.extend(Pair::of_images(&path)?);
            }
        }
        pairs.sort_by(|a, b| a.images.cmp(&b.images));
        let is_named = |pair: &Pair, words: &[&str]| {
            let name = file_name(&pair.images).to_lowercase();
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
                return Err(no_data(folder, reason));
            }
        };
        let (transposed, set) = emnists(train);
        Ok(Some(Self {
            folder: folder.to_owned(),
            train: train.clone(),
            test: test.cloned(),
            transposed,
            set,
        }))
    }

    /// The set of this name in one of the data folders, the first that has it.
    pub fn find(set: NamedSet, folders: &[PathBuf]) -> Result<Option<Self>, DataError> {
        for folder in folders.iter().flat_map(|folder| places(set, folder)) {
            let prefixes = EMNIST
                .into_iter()
                .filter(|(_, emnist)| *emnist == set)
                .map(|(prefix, set)| (prefix, Some(set)));
            let found =
                Self::open_prefixed(&folder, std::iter::once(("", Some(set))).chain(prefixes))?;
            if let Some(found) = found {
                let transposed = matches!(set, NamedSet::EmnistDigits | NamedSet::EmnistLetters);
                return Ok(Some(Self {
                    transposed,
                    ..found
                }));
            }
        }
        Ok(None)
    }

    /// How many training and test images the headers claim.
    pub fn counts(&self) -> Result<[u64; 2], DataError> {
        let count = |pair: &Pair| idx::count(&pair.images, Kind::Images);
        Ok([
            count(&self.train)?,
            self.test.as_ref().map_or(Ok(0), count)?,
        ])
    }

    /// The set with what its labels stand for: what its name says, or a file of names, or numbers.
    fn with_classes(&self, mut train: Split, mut test: Split) -> Result<DataSet, DataError> {
        let path = &self.train.labels;
        let named = match self.set {
            Some(set) => Some(set.classes()),
            None => self.names()?,
        };
        let Some(classes) = named else {
            return DataSet::of_numbers(train, test).map_err(damaged(path));
        };
        // A is 1 in EMNIST's letters.
        let first = u8::from(self.set == Some(NamedSet::EmnistLetters));
        let numbers = usize::from(first)..usize::from(first) + classes.len();
        if let Some(label) = train
            .labels
            .iter()
            .chain(&test.labels)
            .find(|label| !numbers.contains(&usize::from(**label)))
        {
            let (count, last) = (classes.len(), numbers.end - 1);
            return Err(malformed(
                path,
                format!(
                    "label {label} is out of range: the {count} classes are numbered from {first} to {last}"
                ),
            ));
        }
        [&mut train, &mut test]
            .into_iter()
            .flat_map(|split| &mut split.labels)
            .for_each(|label| *label -= first);
        Ok(DataSet {
            train,
            test,
            classes,
        })
    }

    /// The classes that a file beside the others names, if there is one.
    fn names(&self) -> Result<Option<Classes>, DataError> {
        let path = self.folder.join(CLASSES_FILE);
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = read_limited(&path, MAX_CLASSES_FILE_BYTES).map_err(unreadable(&path))?;
        let text =
            String::from_utf8(bytes).map_err(|_| malformed(&path, "it is not text in UTF-8"))?;
        let names: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        Classes::of_names(&names).map(Some).map_err(damaged(&path))
    }

    /// True when the decompressed files are MNIST's own, by SHA-256.
    pub fn is_original_mnist(&self) -> Result<bool, DataError> {
        let Some(test) = &self.test else {
            return Ok(false);
        };
        for (path, expected) in [
            &self.train.labels,
            &test.labels,
            &test.images,
            &self.train.images,
        ]
        .into_iter()
        .zip(MNIST_SHA256)
        {
            if digest(path)? != expected {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl SetFiles for IdxSet {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        // Right for MNIST, whose test split is a seventh of the whole.
        let share = if self.test.is_some() { 6.0 / 7.0 } else { 1.0 };
        let train = self.train.read(
            self.transposed,
            &mut PartialProgress::of(progress, 0.0, share),
        )?;
        let test = self.test.as_ref().map(|test| {
            let mut progress = PartialProgress::of(progress, share, 1.0);
            test.read(self.transposed, &mut progress)
        });
        let test = test.transpose()?.unwrap_or_default();
        Ok(self.with_classes(train, test)?.into())
    }
}

/// Whether the files are EMNIST's, which publishes all its sets with rows and columns exchanged,
/// and which of its sets they are, by their names.
fn emnists(pair: &Pair) -> (bool, Option<NamedSet>) {
    let name = file_name(&pair.images).to_lowercase();
    let set = EMNIST
        .into_iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|(_, set)| set);
    (name.starts_with("emnist"), set)
}

/// Where a set may be in a data folder: under its name, where torchvision puts it, or in the folder
/// itself. The sets' files have the same names, so a folder that does not say which set it holds is
/// taken for MNIST.
fn places(set: NamedSet, folder: &Path) -> Vec<PathBuf> {
    let torchvision = match set {
        NamedSet::Mnist => "MNIST/raw",
        NamedSet::FashionMnist => "FashionMNIST/raw",
        NamedSet::Kmnist => "KMNIST/raw",
        NamedSet::EmnistDigits | NamedSet::EmnistLetters => "EMNIST/raw",
    };
    let mut places = vec![folder.join(set.name()), folder.join(torchvision)];
    let says = folder
        .file_name()
        .and_then(|name| NamedSet::ALL.into_iter().find(|set| name == set.name()));
    if says.unwrap_or(NamedSet::Mnist) == set {
        places.push(folder.to_owned());
    }
    places
}

fn digest(path: &Path) -> Result<String, DataError> {
    // The longest of the four files is 47 MB; a longer one is not MNIST's.
    sha256_of(open(path)?.take(48_000_000)).map_err(unreadable(path))
}
