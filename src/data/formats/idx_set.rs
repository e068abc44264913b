//! Which IDX files make a set: their names, and the folders they are searched for in.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::foreign::refused;
use super::idx::{self, IdxFiles, Kind};
use super::pixels::Pixels;
use super::{
    DatasetFiles, Loaded, Recognized, boxed, damaged, entries, file_name, is_hidden, malformed,
    not_a_set, open, unreadable,
};
use crate::data::{DataError, Dataset, Split};
use crate::download::MNIST_SHA256;
use crate::ink::Framing;
use crate::progress::{PartialProgress, Progress};
use crate::run_config::{Classes, PublicDataset};
use crate::system::files::{folder_of, read_limited};
use crate::system::sha256::sha256_of;
use crate::text::format::joined;
use crate::text::visible;

/// EMNIST's prefixes to MNIST's file names, and the sets they belong to.
const EMNIST: [(&str, PublicDataset); 2] = [
    ("emnist-digits-", PublicDataset::EmnistDigits),
    ("emnist-letters-", PublicDataset::EmnistLetters),
];
/// A file beside the others that names the classes, one on each line, in the order of their
/// numbers.
pub const CLASSES_FILE: &str = "classes.txt";
/// The longest such file, in bytes.
const MAX_CLASSES_FILE_BYTES: u64 = 64 << 10;

/// Parts of the names of test files.
const TEST: [&str; 3] = ["test", "t10k", "valid"];

/// A set's files in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdxSet {
    pub folder: PathBuf,
    train: IdxFiles,
    test: Option<IdxFiles>,
    /// True when rows and columns are exchanged, as EMNIST publishes its images (Cohen et al.
    /// 2017).
    transposed: bool,
    /// The set that it is, if that is known.
    set: Option<PublicDataset>,
}

/// The files of a set that has MNIST's names, or EMNIST's.
pub fn in_folder(folder: &Path) -> Recognized {
    // Torchvision's folders are named after their sets.
    let parent = folder.parent().filter(|_| file_name(folder) == "raw");
    let says = parent.and_then(|parent| {
        [
            PublicDataset::Mnist,
            PublicDataset::FashionMnist,
            PublicDataset::Kmnist,
        ]
        .into_iter()
        .find(|set| file_name(parent) == torchvision(*set))
    });
    let named = |files: IdxSet| {
        let set = files.set.or(says);
        boxed(IdxSet { set, ..files })
    };
    Ok(IdxSet::open(folder)?.map(named))
}

/// The files of a set with its own file names.
pub fn with_any_names(folder: &Path) -> Recognized {
    Ok(IdxSet::of_any_names(folder)?.map(boxed))
}

/// A file of images, with the labels beside it.
pub fn of_file(path: &Path, start: &[u8]) -> Recognized {
    if start.starts_with(&Kind::Labels.magic().to_be_bytes()) {
        return Err(not_a_set(
            path,
            "it holds labels; choose the file of images that they belong to, or the folder of both",
        ));
    }
    if !start.starts_with(&Kind::Images.magic().to_be_bytes()) {
        return Ok(None);
    }
    let set = IdxSet::of_images(path)?.ok_or_else(|| {
        not_a_set(
            path,
            "it is a file of images, and its name does not tell which file has its labels; choose the folder they are in",
        )
    })?;
    Ok(Some(boxed(set)))
}

impl IdxSet {
    /// The set in this folder; `None` if it has none of the files, an error if it has only
    /// some.
    pub fn open(folder: &Path) -> Result<Option<Self>, DataError> {
        let prefixes =
            std::iter::once(("", None)).chain(EMNIST.map(|(prefix, set)| (prefix, Some(set))));
        Self::open_prefixed(folder, prefixes)
    }

    /// The same for files whose names begin with one of these prefixes, each of which may name the
    /// set.
    fn open_prefixed<'a>(
        folder: &Path,
        prefixes: impl Iterator<Item = (&'a str, Option<PublicDataset>)>,
    ) -> Result<Option<Self>, DataError> {
        for (prefix, set) in prefixes {
            let pair = |name: &str| IdxFiles::find(folder, &format!("{prefix}{name}"));
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

    /// A file of images, with the labels beside it; `None` if its name or content is something
    /// else.
    fn of_images(images: &Path) -> Result<Option<Self>, DataError> {
        let set = |train: IdxFiles| {
            let (transposed, set) = emnists(&train.images);
            Self {
                folder: folder_of(images).to_owned(),
                train,
                test: None,
                transposed,
                set,
            }
        };
        Ok(IdxFiles::of_images(images)?.map(set))
    }

    /// The set in a folder whose files have other names: one pair, or one for training and
    /// one for test, as their names show; `None` if there is not a pair.
    fn of_any_names(folder: &Path) -> Result<Option<Self>, DataError> {
        let mut pairs = Vec::new();
        for path in entries(folder)? {
            let path = path?;
            if !is_hidden(&path) && path.is_file() {
                pairs.extend(IdxFiles::of_images(&path)?);
            }
        }
        pairs.sort_by(|a, b| a.images.cmp(&b.images));
        let is_named = |pair: &IdxFiles, words: &[&str]| {
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
                return Err(not_a_set(folder, reason));
            }
        };
        let (transposed, set) = emnists(&train.images);
        Ok(Some(Self {
            folder: folder.to_owned(),
            train: train.clone(),
            test: test.cloned(),
            transposed,
            set,
        }))
    }

    /// The set of this name in one of the data folders, the first that has it.
    pub fn find(set: PublicDataset, folders: &[PathBuf]) -> Result<Option<Self>, DataError> {
        for folder in folders.iter().flat_map(|folder| places(set, folder)) {
            let prefixes = EMNIST
                .into_iter()
                .filter(|(_, emnist)| *emnist == set)
                .map(|(prefix, set)| (prefix, Some(set)));
            let found =
                Self::open_prefixed(&folder, std::iter::once(("", Some(set))).chain(prefixes))?;
            if let Some(found) = found {
                let transposed = matches!(
                    set,
                    PublicDataset::EmnistDigits | PublicDataset::EmnistLetters
                );
                return Ok(Some(Self {
                    transposed,
                    ..found
                }));
            }
        }
        Ok(None)
    }

    /// Its training images alone, if it has test images beside them.
    pub fn training(mut self) -> Option<Self> {
        self.test.take().map(|_| self)
    }

    /// Its test images alone, as if they were for training, if it has any.
    pub fn test(self) -> Option<Self> {
        let train = self.test?;
        Some(Self {
            train,
            test: None,
            ..self
        })
    }

    /// How many training and test images the headers claim.
    pub fn counts(&self) -> Result<[u64; 2], DataError> {
        let count = |pair: &IdxFiles| idx::count(&pair.images, Kind::Images);
        Ok([
            count(&self.train)?,
            self.test.as_ref().map_or(Ok(0), count)?,
        ])
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

impl DatasetFiles for IdxSet {
    fn read(&mut self, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
        // Right for MNIST, whose test split is a seventh of the whole.
        let share = if self.test.is_some() { 6.0 / 7.0 } else { 1.0 };
        let (train, labels) = self.train.read(
            self.transposed,
            &mut PartialProgress::of(progress, 0.0, share),
        )?;
        let test = self.test.as_ref().map(|test| {
            let mut progress = PartialProgress::of(progress, share, 1.0);
            test.read(self.transposed, &mut progress)
        });
        let (test, test_labels) = test.transpose()?.unzip();
        let path = &self.train.labels;
        let part = |labels: Vec<u8>| Split {
            images: Vec::new(),
            labels,
        };
        let (train_split, test_split) = (part(labels), part(test_labels.unwrap_or_default()));
        // What its labels stand for: what its name says, or a file of names, or numbers.
        let mut set = match (self.set, self.names()?) {
            (Some(set), _) => named_classes(set, path, train_split, test_split)?,
            (None, Some(classes)) => of_classes(classes, 0, path, train_split, test_split)?,
            (None, None) => Dataset::of_numbers(train_split, test_split).map_err(damaged(path))?,
        };
        let parts = std::iter::once(train).chain(test).collect();
        let framing = Framing::of(&set.classes);
        let mut framed = Pixels::framed(parts, framing, &mut set.notes, progress)?.into_iter();
        set.train.images = framed.next().unwrap_or_default();
        set.test.images = framed.next().unwrap_or_default();
        Ok(set.into())
    }
}

/// The set of this name with what its labels stand for.
pub fn named_classes(
    set: PublicDataset,
    path: &Path,
    train: Split,
    test: Split,
) -> Result<Dataset, DataError> {
    // A is 1 in EMNIST's letters.
    let first = u8::from(set == PublicDataset::EmnistLetters);
    of_classes(set.classes(), first, path, train, test)
}

/// The set of these classes, which are numbered from `first` on.
pub fn of_classes(
    classes: Classes,
    first: u8,
    path: &Path,
    mut train: Split,
    mut test: Split,
) -> Result<Dataset, DataError> {
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
    Ok(Dataset {
        train,
        test,
        classes,
        notes: Vec::new(),
    })
}

/// Whether files are EMNIST's, which publishes all its sets with rows and columns exchanged, and
/// which of its sets they are, by the name of the first.
pub fn emnists(path: &Path) -> (bool, Option<PublicDataset>) {
    let name = file_name(path).to_lowercase();
    let set = EMNIST
        .into_iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map(|(_, set)| set);
    (name.starts_with("emnist"), set)
}

/// Where a set may be in a data folder: under its name, where torchvision puts it, or in the folder
/// itself. The sets' files have the same names, so a folder that is not named after a set is
/// taken for MNIST.
fn places(set: PublicDataset, folder: &Path) -> Vec<PathBuf> {
    let mut places = vec![
        folder.join(set.name()),
        folder.join(torchvision(set)).join("raw"),
    ];
    let says = folder.file_name().and_then(|name| {
        PublicDataset::ALL
            .into_iter()
            .find(|set| name == set.name())
    });
    if says.unwrap_or(PublicDataset::Mnist) == set {
        places.push(folder.to_owned());
    }
    places
}

/// The name of a set's folder in torchvision.
const fn torchvision(set: PublicDataset) -> &'static str {
    match set {
        PublicDataset::Mnist => "MNIST",
        PublicDataset::FashionMnist => "FashionMNIST",
        PublicDataset::Kmnist => "KMNIST",
        PublicDataset::EmnistDigits | PublicDataset::EmnistLetters => "EMNIST",
    }
}

/// The one set that a folder of data sets has, such as torchvision's, or torchvision's folder of a
/// set.
pub fn in_data_folder(folder: &Path) -> Recognized {
    let mut found = Vec::new();
    for set in PublicDataset::ALL {
        let is_its_own = file_name(folder) == torchvision(set);
        let folders = if is_its_own {
            [folder.parent().unwrap_or(folder).to_owned()]
        } else {
            [folder.to_owned()]
        };
        if let Some(files) = IdxSet::find(set, &folders)? {
            found.push((set, files));
        }
    }
    match found.as_slice() {
        [] => Ok(None),
        [_] => Ok(found.pop().map(|(_, files)| boxed(files))),
        [(first, _), ..] => Err(refused(
            folder,
            format!(
                "it has several data sets: {}",
                joined(found.iter().map(|(set, _)| set.name()), ", ")
            ),
            format!(
                "Choose one of them in it, such as --data {} --data-dir {}.",
                first.name(),
                visible::path(folder)
            ),
        )),
    }
}

fn digest(path: &Path) -> Result<String, DataError> {
    // The longest of the four files is 47 MB; a longer one is not MNIST's.
    sha256_of(open(path)?.take(48_000_000)).map_err(unreadable(path))
}
