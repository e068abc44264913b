//! Owns turning the words that name data into data: where to look, what is there, what a mix is made of.
//! Must not know formats: each has a file of its own.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::idx_folder::IdxFolder;
use super::source::{DataFile, unreadable};
use super::{DataError, DataSet, Found, Split, builtin, class_folders, ink_set, table};
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::run_config::{DataSource, DataSpec, NamedSet};

/// The built-in digits are the same for everybody.
const BUILTIN_SEED: u64 = 1;
/// Where a source has no test split, one in this many pictures becomes it.
const ONE_IN: usize = 7;

/// Reads or writes the data `spec` names; sets known by name are looked for in `folders`, the first first. Training
/// pictures of several sources follow one another; the test split is the first source's. `progress` gets the share done.
pub fn load(spec: &DataSpec, folders: &[PathBuf], progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<DataSet, DataError> {
    let mut set = DataSet::default();
    let count = spec.sources().len() as f32;
    for (index, source) in spec.sources().iter().enumerate() {
        let part = load_source(source, folders, &mut |done| progress((index as f32 + done) / count))?;
        if index == 0 {
            set = part;
        } else {
            set.train.images.extend_from_slice(&part.train.images);
            set.train.labels.extend_from_slice(&part.train.labels);
        }
    }
    Ok(set)
}

/// The sets known by name that are in these folders; damaged ones are left out. MNIST's files are read through once, to tell
/// whether they are the originals: not for a thread that draws.
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
    let Some(files) = IdxFolder::find(set, folders)? else { return Ok(None) };
    let [train_images, test_images] = files.counts()?;
    let original = if set == NamedSet::Mnist { Some(files.is_original_mnist()?) } else { None };
    Ok(Some(Found { set, folder: files.folder, train_images, test_images, original }))
}

fn load_source(source: &DataSource, folders: &[PathBuf], progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<DataSet, DataError> {
    if progress(0.0).is_break() {
        return Err(DataError::Cancelled);
    }
    let set = match source {
        DataSource::Builtin => builtin::generate(BUILTIN_SEED, builtin::TRAIN_IMAGES, builtin::TEST_IMAGES, progress)?,
        DataSource::Named(named) => {
            let not_found = || DataError::NotFound { set: named.name().to_owned(), searched: folders.to_vec() };
            IdxFolder::find(*named, folders)?.ok_or_else(not_found)?.read(progress)?
        }
        DataSource::Path(path) => load_path(path, progress)?,
        DataSource::Unknown => return Err(DataError::Unknown),
    };
    Ok(with_test_split(set))
}

fn load_path(path: &Path, progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<DataSet, DataError> {
    let alone = |train: Split| DataSet { train, test: Split::default() };
    if !path.metadata().map_err(|error| unreadable(path, &error))?.is_dir() {
        return read_file(path, progress).map(alone);
    }
    // A folder that may not be listed looks empty to all that follows.
    path.read_dir().map_err(|error| unreadable(path, &error))?;
    if let Some(files) = IdxFolder::open(path)? {
        return files.read(progress);
    }
    if class_folders::is_one(path) {
        return class_folders::read(path, progress);
    }
    let table_file =
        |name: &str| [format!("{name}.csv"), format!("{name}.csv.gz")].map(|name| path.join(name)).into_iter().find(|path| path.is_file());
    if let Some(train) = table_file("train").or_else(|| table_file("mnist_train")) {
        let test = match table_file("test").or_else(|| table_file("mnist_test")) {
            // Kaggle's own test.csv has no labels: then a part of the training pictures is the test split.
            Some(test) if !table::is_unlabelled(&test)? => test,
            _ => return table::read(&train, progress).map(alone),
        };
        let train = table::read(&train, &mut |done| progress(done * 6.0 / 7.0))?;
        return Ok(DataSet { train, test: table::read(&test, &mut |done| progress((6.0 + done) / 7.0))? });
    }
    let reason = "it has neither the four IDX files (train-images-idx3-ubyte …) nor folders 0 to 9 with images nor train.csv";
    Err(DataError::NoData { path: path.to_owned(), reason: reason.to_owned() })
}

/// A file that holds pictures and labels together.
fn read_file(path: &Path, progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<Split, DataError> {
    let mut start = Vec::new();
    DataFile::open(path)?.take(4).read_to_end(&mut start).map_err(|error| unreadable(path, &error))?;
    let no_data = |reason: &str| Err(DataError::NoData { path: path.to_owned(), reason: reason.to_owned() });
    match start.as_slice() {
        [0, 0, 8, 1 | 3] => no_data("it is one of the four IDX files of a data set; choose the folder they are in"),
        [b'P', b'K', 3, 4] => no_data("it is a zip archive; unpack it and choose the folder"),
        _ if named_like_a_table(path) => table::read(path, progress),
        _ => ink_set::read(path, progress),
    }
}

fn named_like_a_table(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    [".csv", ".csv.gz", ".tsv"].iter().any(|end| name.ends_with(end))
}

/// Takes one picture in seven out of training where there is no test split; always the same ones.
fn with_test_split(mut set: DataSet) -> DataSet {
    if set.test.is_empty() {
        let whole = std::mem::take(&mut set.train);
        let mut order: Vec<usize> = (0..whole.len()).collect();
        Random::stream(0, "test split", whole.len() as u64).shuffle(&mut order);
        let (test, train) = order.split_at(whole.len() / ONE_IN);
        for (positions, split) in [(test, &mut set.test), (train, &mut set.train)] {
            split.images.reserve(positions.len() * PIXELS);
            for &position in positions {
                split.images.extend_from_slice(whole.image(position));
                split.labels.push(whole.labels[position]);
            }
        }
    }
    set
}
