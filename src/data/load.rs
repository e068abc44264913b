//! Owns turning the words that name data into data: where to look, what is there, what a mix is made of.
//! Must not know formats: each has a file of its own.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::idx::IdxFiles;
use super::{DataError, DataSet, Found, Split, builtin, class_folders, ink_set, table};
use crate::ink::PIXELS;
use crate::random::Random;
use crate::run_config::{DataSource, DataSpec, NamedSet};

/// The built-in digits are the same for everybody.
const BUILTIN_SEED: u64 = 1;
/// Pictures of the built-in set, for training and for the test.
const BUILTIN_SIZE: [usize; 2] = [60_000, 10_000];
/// Where a source has no test split, one in this many pictures becomes it.
const ONE_IN: usize = 7;

/// Reads or writes the data `spec` names; sets known by name are looked for in `folders`, the first first. Training
/// pictures of several sources follow one another; the test split is the first source's. `progress` gets the share done.
pub fn load(spec: &DataSpec, folders: &[PathBuf], progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<DataSet, DataError> {
    let mut set = DataSet::default();
    let count = spec.sources().len() as f32;
    for (index, source) in spec.sources().iter().enumerate() {
        let part = load_source(source, folders, &mut |done| progress((index as f32 + done) / count))?;
        set.train.images.extend_from_slice(&part.train.images);
        set.train.labels.extend_from_slice(&part.train.labels);
        if index == 0 {
            set.test = part.test;
        }
    }
    Ok(set)
}

/// The sets known by name that are in these folders; damaged ones are left out. MNIST's files are read through once, to tell
/// whether they are the originals: not for a thread that draws.
pub fn find(folders: &[PathBuf]) -> Vec<Found> {
    NamedSet::ALL.into_iter().filter_map(|set| find_set(set, folders)).collect()
}

fn find_set(set: NamedSet, folders: &[PathBuf]) -> Option<Found> {
    let (folder, files) = locate(set, folders)?;
    let [train_images, test_images] = files.counts().ok()?;
    let original = (set == NamedSet::Mnist).then(|| files.is_original_mnist().unwrap_or(false));
    Some(Found { set, folder, train_images, test_images, original })
}

/// `FOLDER/NAME`, and for MNIST the files in the folder themselves.
fn locate(set: NamedSet, folders: &[PathBuf]) -> Option<(PathBuf, IdxFiles)> {
    folders
        .iter()
        .flat_map(|folder| [Some(folder.join(set.name())), (set == NamedSet::Mnist).then(|| folder.clone())])
        .flatten()
        .find_map(|folder| IdxFiles::find(&folder).map(|files| (folder, files)))
}

fn load_source(source: &DataSource, folders: &[PathBuf], progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<DataSet, DataError> {
    if progress(0.0).is_break() {
        return Err(DataError::Cancelled);
    }
    let set = match source {
        DataSource::Builtin => builtin::write(BUILTIN_SEED, BUILTIN_SIZE[0], BUILTIN_SIZE[1], progress)?,
        DataSource::Named(named) => {
            let not_found = || DataError::NotFound { set: named.name().to_owned(), searched: folders.to_vec() };
            locate(*named, folders).ok_or_else(not_found)?.1.read()?
        }
        DataSource::Path(path) => load_path(path, progress)?,
    };
    Ok(with_test_split(set))
}

fn load_path(path: &Path, progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<DataSet, DataError> {
    let alone = |train: Split| DataSet { train, test: Split::default() };
    if !path.exists() {
        return Err(DataError::Missing { path: path.to_owned() });
    }
    if path.is_file() {
        return if named_like_a_table(path) { table::read(path, progress) } else { ink_set::read(path, progress) }.map(alone);
    }
    if let Some(files) = IdxFiles::find(path) {
        return files.read();
    }
    if class_folders::is_one(path) {
        return class_folders::read(path, progress);
    }
    let table_file =
        |name: &str| [format!("{name}.csv"), format!("{name}.csv.gz")].map(|name| path.join(name)).into_iter().find(|path| path.is_file());
    if let Some(train) = table_file("train").or_else(|| table_file("mnist_train")) {
        let train = table::read(&train, progress)?;
        // Kaggle's own test.csv has no labels: then a part of the training pictures is the test split.
        let labelled = table_file("test").or_else(|| table_file("mnist_test")).and_then(|test| table::read(&test, progress).ok());
        return Ok(DataSet { train, test: labelled.unwrap_or_default() });
    }
    let reason = "looked for train-images-idx3-ubyte and its three companions, for folders 0 to 9 with pictures, and for train.csv";
    Err(DataError::NoData { path: path.to_owned(), reason: reason.to_owned() })
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
