//! From the name of a data set to its images: where to look, what a mix consists of, and whether
//! that is little, found out before a run without reading what is not.

use std::path::{Path, PathBuf};

use super::dataset::test_split;
use super::formats::idx_set::IdxSet;
use super::formats::{Loaded, SetFiles, count_named_images, is_named_like_a_table, open_set};
use super::{DataError, DataSet, Found, MyDigits, builtin, gather_batch, validation_size};
use crate::progress::{PartialProgress, Progress, Unwatched};
use crate::run_config::{Classes, DataSource, DataSpec, NamedSet};

/// The built-in digits are the same on every machine.
pub const BUILTIN_SEED: u64 = 1;
/// A set with more images than this is not small.
const FEW_IMAGES: u64 = 4_000;
/// A file, or the files of a folder, with more bytes than this hold more images than that, or take
/// long to read.
const FEW_BYTES: u64 = 8 << 20;

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
        let mut progress = PartialProgress::of(progress, start, end);
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
        }
        DataSource::Mine => DataSet::of_digits(MyDigits::in_folders(folders).split()?).into(),
        DataSource::Path(path) => open_set(path)?.read(progress)?,
        DataSource::Unknown => return Err(DataError::Unknown),
    };
    Ok(loaded)
}

/// Whether something that could be a data set is at this path. Reads no images, but looks at the
/// disk.
pub fn check(path: &Path) -> Result<(), DataError> {
    open_set(path).map(drop)
}

/// How many training images a source has, less those that are set apart for test where it has none.
/// Images are only read where nothing else tells.
fn count_training_images(source: &DataSource, folders: &[PathBuf]) -> Result<usize, DataError> {
    let counts = match source {
        DataSource::Path(path) => open_set(path)?.counts()?,
        _ => None,
    };
    Ok(match counts {
        Some([train, 0]) => test_split(train).1.len(),
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

/// The images that a run on this data trains on, without those for validation, where they are few;
/// `None` if they are many or cannot be read.
pub fn small_training_set(data: &DataSpec, folders: &[PathBuf]) -> Option<u64> {
    if !data
        .sources()
        .iter()
        .all(|source| may_be_small(source, folders))
    {
        return None;
    }
    let counts = data
        .sources()
        .iter()
        .map(|source| count_training_images(source, folders));
    let images = counts.sum::<Result<usize, DataError>>().ok()? as u64;
    (images <= FEW_IMAGES).then(|| images - validation_size(images))
}

fn may_be_small(source: &DataSource, folders: &[PathBuf]) -> bool {
    let counts = |set: Option<IdxSet>| {
        set.and_then(|set| set.counts().ok())
            .map(|[train, _]| train)
    };
    match source {
        DataSource::Builtin | DataSource::Unknown => false,
        DataSource::Mine => true,
        DataSource::Named(set) => counts(IdxSet::find(*set, folders).ok().flatten())
            .is_some_and(|images| images <= FEW_IMAGES),
        DataSource::Path(path) => match counts(IdxSet::open(path).ok().flatten()) {
            Some(images) => images <= FEW_IMAGES,
            None => has_few_bytes(path) && names_few_images(path),
        },
    }
}

/// False for a table of many images, which may be larger than it is.
fn names_few_images(path: &Path) -> bool {
    let images = if is_named_like_a_table(path) {
        count_named_images(path).unwrap_or(None)
    } else {
        None
    };
    images.is_none_or(|images| images as u64 <= FEW_IMAGES)
}

/// True if everything in there, on a few levels, is at most [`FEW_BYTES`] in at most twice
/// [`FEW_IMAGES`] files.
fn has_few_bytes(path: &Path) -> bool {
    let (mut bytes, mut files) = (0, 0);
    let mut left = vec![(path.to_owned(), 0)];
    while let Some((path, depth)) = left.pop() {
        let Ok(about) = path.metadata() else {
            return false;
        };
        files += 1;
        if about.is_dir() && depth < 4 {
            let Ok(entries) = path.read_dir() else {
                return false;
            };
            left.extend(
                entries
                    .take(3 * FEW_IMAGES as usize)
                    .flatten()
                    .map(|entry| (entry.path(), depth + 1)),
            );
        } else if about.is_file() {
            bytes += about.len();
        }
        if bytes > FEW_BYTES || files > 2 * FEW_IMAGES {
            return false;
        }
    }
    true
}
