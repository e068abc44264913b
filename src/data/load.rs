//! From the name of a data set to its images: where to look, which format it is in, and what a mix
//! consists of.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::class_folder_set::ClassFolders;
use super::data_file::{open, unreadable};
use super::evaluation_set::Writers;
use super::idx_set::IdxSet;
use super::named_image_set::NamedImages;
use super::npz_set::NpzSet;
use super::parquet_set::ParquetSet;
use super::tables::{self, Tables, is_named_like_a_table};
use super::{DataError, DataSet, Found, MyDigits, builtin, gather_batch, ink_set};
use crate::math::random::Random;
use crate::progress::{PartialProgress, Progress, Unwatched};
use crate::run_config::{Classes, DataSource, DataSpec, NamedSet};

/// The built-in digits are the same on every machine.
pub const BUILTIN_SEED: u64 = 1;
/// Where a source has no test split, one in this many images is used as one.
const ONE_IN: usize = 7;

/// Loads or generates the data `spec` names; named sets are searched for in `folders`, in their
/// order. The training images of several sources are concatenated, with as many built-in digits as
/// [`builtin::training_images`] says; the test split is the first source's. `progress` is told the
/// fraction done, and shown images as they come.
pub fn load(
    spec: &DataSpec,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<DataSet, DataError> {
    let sources = spec.sources();
    // The built-in digits are generated last: how many depends on the others.
    let (generated, read): (Vec<usize>, Vec<usize>) =
        (0..sources.len()).partition(|&index| sources[index] == DataSource::Builtin);
    let mut parts = vec![DataSet::default(); sources.len()];
    let mut others = 0;
    for (done, index) in read.into_iter().chain(generated).enumerate() {
        let [start, end] = [done, done + 1].map(|done| done as f32 / sources.len() as f32);
        let mut progress = PartialProgress {
            whole: progress,
            start,
            end,
        };
        parts[index] = if sources[index] == DataSource::Builtin {
            let test_images = if index == 0 { builtin::TEST_IMAGES } else { 0 };
            builtin::generate(
                BUILTIN_SEED,
                builtin::training_images(others),
                test_images,
                &mut progress,
            )?
        } else {
            let part = with_test_split(load_source(&sources[index], folders, &mut progress)?.set);
            others += part.train.len();
            part
        };
    }
    let classes = common_classes(spec, &parts)?;
    let mut parts = parts.into_iter();
    let mut set = parts.next().unwrap_or_default();
    for part in parts {
        set.train.append(&part.train);
    }
    Ok(DataSet { classes, ..set })
}

/// The classes of the whole, from those of each source: what the name of a source says, or what one
/// of them says in words, or the most numbers.
fn common_classes(spec: &DataSpec, parts: &[DataSet]) -> Result<Classes, DataError> {
    let known = spec.known_classes().or_else(|| {
        parts
            .iter()
            .map(|part| &part.classes)
            .find(|classes| !classes.are_numbers())
            .cloned()
    });
    let classes = known
        .or_else(|| {
            parts
                .iter()
                .map(|part| &part.classes)
                .max_by_key(|classes| classes.len())
                .cloned()
        })
        .unwrap_or_default();
    match spec
        .sources()
        .iter()
        .zip(parts)
        .find(|(_, part)| !classes.accept(&part.classes))
    {
        Some((source, part)) => Err(DataError::DifferentClasses {
            other: source.label(),
            found: part.classes.clone(),
            wanted: classes,
        }),
        None => Ok(classes),
    }
}

/// An error where a model could not learn from the training images of `set`, which `data` names:
/// where all are of one class, or where all are the person's own and a digit is missing among them.
pub fn check_labels(data: &DataSpec, set: &DataSet) -> Result<(), DataError> {
    let DataSet { train, classes, .. } = set;
    if let Some(&only) = train.labels.first()
        && train.labels.iter().all(|label| *label == only)
    {
        return Err(DataError::SingleClass {
            class: classes.name(usize::from(only)).to_owned(),
        });
    }
    if *data != DataSpec::single(DataSource::Mine) {
        return Ok(());
    }
    let digits: Vec<u8> = (0..10)
        .filter(|digit| !train.labels.contains(digit))
        .collect();
    if digits.is_empty() {
        Ok(())
    } else {
        Err(DataError::MissingDigits { digits })
    }
}

/// The named sets that are in these folders; damaged ones are left out. MNIST's files are read
/// whole to tell whether they are the originals, so this is not for the user interface's thread.
pub fn find(folders: &[PathBuf]) -> Vec<Found> {
    let usable = |set: NamedSet| {
        find_set(set, folders).unwrap_or_else(|error| {
            tracing::warn!(%error, set = set.name(), "a data set cannot be used");
            None
        })
    };
    NamedSet::ALL.into_iter().filter_map(usable).collect()
}

fn find_set(set: NamedSet, folders: &[PathBuf]) -> Result<Option<Found>, DataError> {
    let Some(files) = IdxSet::find(set, folders)? else {
        return Ok(None);
    };
    let [train_images, test_images] = files.counts()?;
    let original = if set == NamedSet::Mnist {
        Some(files.is_original_mnist()?)
    } else {
        None
    };
    Ok(Some(Found {
        set,
        folder: files.folder,
        train_images,
        test_images,
        original,
    }))
}

/// A source as it is: with the test split that it has, which may be none.
pub struct Loaded {
    /// The images.
    pub set: DataSet,
    /// Who wrote those of the training split.
    pub writers: Writers,
}

impl From<DataSet> for Loaded {
    fn from(set: DataSet) -> Self {
        Self {
            set,
            writers: Writers::default(),
        }
    }
}

/// Loads or generates one source.
pub fn load_source(
    source: &DataSource,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<Loaded, DataError> {
    progress.report(0.0)?;
    let loaded = match source {
        DataSource::Builtin => builtin::generate(
            BUILTIN_SEED,
            builtin::TRAIN_IMAGES,
            builtin::TEST_IMAGES,
            progress,
        )?
        .into(),
        DataSource::Named(named) => {
            let not_found = || DataError::NotFound {
                set: named.name().to_owned(),
                searched: folders.to_vec(),
            };
            IdxSet::find(*named, folders)?
                .ok_or_else(not_found)?
                .read(progress)?
                .into()
        }
        DataSource::Mine => DataSet::of_digits(MyDigits::in_folders(folders).split()?).into(),
        DataSource::Path(path) => load_path(path, progress)?,
        DataSource::Unknown => return Err(DataError::Unknown),
    };
    Ok(loaded)
}

/// Whether something that could be a data set is at this path. Reads no images, but looks at the
/// disk.
pub fn check(path: &Path) -> Result<(), DataError> {
    Layout::of(path).map(drop)
}

/// How a data set is laid out on disk.
enum Layout {
    Idx(IdxSet),
    ClassFolders(ClassFolders),
    NamedImages(NamedImages),
    Npz(Box<NpzSet<BufReader<File>>>),
    Tables(Tables),
    Parquet(ParquetSet),
    /// One file with images and labels, or with the names of image files and labels.
    Table,
    Ink,
}

impl Layout {
    fn of(path: &Path) -> Result<Self, DataError> {
        if !path
            .metadata()
            .map_err(|error| unreadable(path, &error))?
            .is_dir()
        {
            return Self::of_file(path);
        }
        // A folder without permission to list it would look empty below.
        path.read_dir().map_err(|error| unreadable(path, &error))?;
        if let Some(files) = IdxSet::open(path)? {
            return Ok(Self::Idx(files));
        }
        // Folders that are called like digits cannot be meant otherwise; any others may lie beside
        // a table or files.
        let others = match ClassFolders::open(path)? {
            Some(folders) if folders.have_digits() => return Ok(Self::ClassFolders(folders)),
            others => others,
        };
        if let Some(tables) = Tables::open(path) {
            return Ok(Self::Tables(tables));
        }
        if let Some(files) = ParquetSet::open(path) {
            return Ok(Self::Parquet(files));
        }
        if let Some(files) = IdxSet::of_any_names(path)? {
            return Ok(Self::Idx(files));
        }
        if let Some(folders) = others {
            return Ok(Self::ClassFolders(folders));
        }
        if let Some(images) = NamedImages::open(path)? {
            return Ok(Self::NamedImages(images));
        }
        let reason = "it has neither the four IDX files (train-images-idx3-ubyte …) nor a folder with images for each class nor train.csv nor Parquet files nor images";
        Err(DataError::NoData {
            path: path.to_owned(),
            reason: reason.to_owned(),
        })
    }

    fn of_file(path: &Path) -> Result<Self, DataError> {
        let mut start = Vec::new();
        open(path)?
            .take(4)
            .read_to_end(&mut start)
            .map_err(|error| unreadable(path, &error))?;
        let no_data = |reason: &str| {
            Err(DataError::NoData {
                path: path.to_owned(),
                reason: reason.to_owned(),
            })
        };
        match start.as_slice() {
            [0, 0, 8, 3] => match IdxSet::of_images(path)? {
                Some(files) => Ok(Self::Idx(files)),
                None => no_data(
                    "it is a file of images whose name does not tell that of its labels; choose the folder they are in",
                ),
            },
            [0, 0, 8, 1] => no_data(
                "it holds labels; choose the file of images that they belong to, or the folder of both",
            ),
            [b'P', b'K', 3, 4] => match NpzSet::open(path) {
                Ok(Some(arrays)) => Ok(Self::Npz(Box::new(arrays))),
                Err(error)
                    if path
                        .extension()
                        .is_some_and(|extension| extension.eq_ignore_ascii_case("npz")) =>
                {
                    Err(error)
                }
                Ok(None) | Err(_) => no_data(
                    "it is a zip archive without the arrays x_train and y_train of NumPy; unpack it and choose the folder",
                ),
            },
            [b'P', b'A', b'R', b'1'] => Ok(Self::Parquet(ParquetSet::of_file(path))),
            _ if is_named_like_a_table(path) => Ok(Self::Table),
            _ => Ok(Self::Ink),
        }
    }
}

fn load_path(path: &Path, progress: &mut dyn Progress) -> Result<Loaded, DataError> {
    match Layout::of(path)? {
        Layout::Idx(files) => files.read(progress).map(Loaded::from),
        Layout::ClassFolders(folders) => folders.read(progress).map(Loaded::from),
        Layout::Npz(mut arrays) => arrays.read(progress).map(Loaded::from),
        Layout::NamedImages(images) => images.read(progress).map(Loaded::from),
        Layout::Parquet(files) => files.read(progress).map(Loaded::from),
        Layout::Tables(tables) => tables.read(progress).map(Loaded::from),
        Layout::Table => tables::read(&[path], progress).map(Loaded::from),
        Layout::Ink => {
            let (train, writers) = ink_set::read(path, progress)?;
            Ok(Loaded {
                writers,
                ..DataSet::of_digits(train).into()
            })
        }
    }
}

/// How many training images a source has, less those that are set apart for test where it has none.
/// Images are only read where nothing else tells.
pub fn count_training_images(source: &DataSource, folders: &[PathBuf]) -> Result<usize, DataError> {
    let counts = match source {
        DataSource::Path(path) => match Layout::of(path)? {
            Layout::ClassFolders(folders) => Some(folders.counts()?),
            Layout::NamedImages(images) => Some(images.counts()),
            _ => None,
        },
        _ => None,
    };
    Ok(match counts {
        Some([train, 0]) => train - train / ONE_IN,
        Some([train, _]) => train,
        None => with_test_split(load_source(source, folders, &mut Unwatched)?.set)
            .train
            .len(),
    })
}

/// Moves one training image in seven to the test split where there is none; always the same ones.
fn with_test_split(mut set: DataSet) -> DataSet {
    if set.test.is_empty() {
        let whole = std::mem::take(&mut set.train);
        let (test, train) = test_split(whole.len());
        for (positions, split) in [(test, &mut set.test), (train, &mut set.train)] {
            gather_batch(&whole, &positions, split);
        }
    }
    set
}

/// The indices of the images that are set apart for the test split where there is none, and of the
/// others.
pub fn test_split(images: usize) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> = (0..images as u32).collect();
    Random::stream(0, "test split", images as u64).shuffle(&mut order);
    let train = order.split_off(images / ONE_IN);
    (order, train)
}
