//! From the name of a data set to its images: where to look, what a mix consists of, which images a
//! model is evaluated on, and whether there are few, found out before a run without reading many.

use std::path::{Component, Path, PathBuf, absolute};

use super::dataset::{test_split, validation_indices};
use super::formats::idx_set::IdxSet;
use super::formats::{DatasetFiles, Loaded, count_named_images, is_named_like_a_table, open_set};
use super::{
    DataError, Dataset, FoundDataset, MyDigits, Split, builtin, gather_batch, validation_size,
};
use crate::progress::{PartialProgress, Progress, Unwatched};
use crate::run_config::{Classes, DataSource, DataSpec, EvaluationSplit, PublicDataset, RunConfig};

/// The built-in digits are the same on every machine.
pub const BUILTIN_SEED: u64 = 1;
/// A set with more images than this is not small.
const FEW_IMAGES: u64 = 4_000;
/// A file, or the files of a folder, with more bytes than this hold more images than that, or take
/// long to read.
const FEW_BYTES: u64 = 8 << 20;

/// Loads or generates the data `spec` names; named sets are searched for in `folders`, in their
/// order. The training images of several sources are concatenated, with as many built-in digits as
/// [`builtin::training_images`] returns; the test split is the first source's. `progress` gets the
/// fraction done, and shown images as they come.
pub fn load(
    spec: &DataSpec,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<Dataset, DataError> {
    load_sources(spec, folders, false, progress)
}

/// The same without test images: the test files of a named set are not opened.
pub fn load_sealed(
    spec: &DataSpec,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<Dataset, DataError> {
    load_sources(spec, folders, true, progress)
}

fn load_sources(
    spec: &DataSpec,
    folders: &[PathBuf],
    sealed: bool,
    progress: &mut dyn Progress,
) -> Result<Dataset, DataError> {
    let sources = spec.sources();
    // The built-in digits are generated last: how many depends on the others.
    let (generated, read): (Vec<usize>, Vec<usize>) =
        (0..sources.len()).partition(|&index| sources[index] == DataSource::Builtin);
    let mut parts = vec![Dataset::default(); sources.len()];
    let mut others = 0;
    for (done, index) in read.into_iter().chain(generated).enumerate() {
        let [start, end] = [done, done + 1].map(|done| done as f32 / sources.len() as f32);
        let mut progress = PartialProgress::of(progress, start, end);
        parts[index] = if sources[index] == DataSource::Builtin {
            let test_images = if index == 0 && !sealed {
                builtin::TEST_IMAGES
            } else {
                0
            };
            builtin::generate(
                BUILTIN_SEED,
                builtin::training_images(others),
                test_images,
                &mut progress,
            )?
        } else {
            let part = if sealed {
                without_test(&sources[index], folders, &mut progress)?
            } else {
                with_test_split(load_source(&sources[index], folders, &mut progress)?.set)
            };
            others += part.train.len();
            part
        };
    }
    let classes = common_classes(spec, &parts)?;
    let mut notes = Vec::new();
    for (source, part) in sources.iter().zip(&parts) {
        notes.extend(notes_of(part, source, sources));
    }
    let mut parts = parts.into_iter();
    let mut set = parts.next().unwrap_or_default();
    for part in parts {
        set.train.append(&part.train);
    }
    Ok(Dataset {
        classes,
        notes,
        ..set
    })
}

/// The changes of the images of one of these sources, which is named if there are others.
fn notes_of<'s>(
    part: &'s Dataset,
    source: &'s DataSource,
    sources: &'s [DataSource],
) -> impl Iterator<Item = String> + 's {
    part.notes.iter().map(|note| match sources {
        [_] => note.clone(),
        _ => format!("{}: {note}", source.label()),
    })
}

/// The classes of the whole, from those of each source: what the name of a source says, or what one
/// of them says in words, or the most numbers.
fn common_classes(spec: &DataSpec, parts: &[Dataset]) -> Result<Classes, DataError> {
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

/// An error if a model could not learn from the training images of `set`, which `data` names:
/// if all are of one class, or if all are the person's own and a digit is missing among them.
pub fn check_labels(data: &DataSpec, set: &Dataset) -> Result<(), DataError> {
    let Dataset { train, classes, .. } = set;
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
/// whole to check whether they are the originals, so this is not for the user interface's thread.
pub fn find(folders: &[PathBuf]) -> Vec<FoundDataset> {
    let usable = |set: PublicDataset| {
        find_set(set, folders).unwrap_or_else(|error| {
            tracing::warn!(%error, set = set.name(), "a data set cannot be used");
            None
        })
    };
    PublicDataset::ALL.into_iter().filter_map(usable).collect()
}

fn find_set(set: PublicDataset, folders: &[PathBuf]) -> Result<Option<FoundDataset>, DataError> {
    let Some(files) = IdxSet::find(set, folders)? else {
        return Ok(None);
    };
    let [train_images, test_images] = files.counts()?;
    let original = if set == PublicDataset::Mnist {
        Some(files.is_original_mnist()?)
    } else {
        None
    };
    Ok(Some(FoundDataset {
        set,
        folder: files.folder,
        train_images,
        test_images,
        original,
    }))
}

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
        DataSource::Named(named) => named_files(*named, folders)?.read(progress)?,
        DataSource::Mine => Dataset::of_digits(MyDigits::in_folders(folders).split()?).into(),
        DataSource::Path(path) => open_set(path)?.read(progress)?,
        DataSource::Unknown => return Err(DataError::Unknown),
    };
    Ok(loaded)
}

/// The training images of a source that is not generated.
fn without_test(
    source: &DataSource,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<Dataset, DataError> {
    if let DataSource::Named(named) = source
        && let Some(mut training) = named_files(*named, folders)?.training()
    {
        return Ok(training.read(progress)?.set);
    }
    let set = with_test_split(load_source(source, folders, progress)?.set);
    Ok(Dataset {
        test: Split::default(),
        ..set
    })
}

/// A source without its training images, if it has test images beside them.
fn load_test(
    source: &DataSource,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<Loaded, DataError> {
    match source {
        DataSource::Builtin => {
            Ok(builtin::generate(BUILTIN_SEED, 0, builtin::TEST_IMAGES, progress)?.into())
        }
        DataSource::Named(named) if let Some(mut test) = named_files(*named, folders)?.test() => {
            let set = test.read(progress)?.set;
            Ok(Dataset {
                train: Split::default(),
                test: set.train,
                ..set
            }
            .into())
        }
        _ => load_source(source, folders, progress),
    }
}

fn named_files(set: PublicDataset, folders: &[PathBuf]) -> Result<IdxSet, DataError> {
    IdxSet::find(set, folders)?.ok_or_else(|| DataError::NotFound {
        set: set.name().to_owned(),
        searched: folders.to_vec(),
    })
}

/// Whether something that could be a data set is at this path. Reads no images, but looks at the
/// disk.
pub fn check(path: &Path) -> Result<(), DataError> {
    open_set(path).map(drop)
}

/// How many training images a source has, less those that are set apart for test if it has none.
/// Images are only read if nothing else tells.
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

/// Moves one training image in seven to the test split if there is none; always the same ones.
fn with_test_split(mut set: Dataset) -> Dataset {
    if set.test.is_empty() {
        let whole = std::mem::take(&mut set.train);
        let (test, train) = test_split(whole.len());
        for (positions, split) in [(test, &mut set.test), (train, &mut set.train)] {
            gather_batch(&whole, &positions, split);
        }
    }
    set
}

/// The images that a run on this data trains on, without those for validation, if they are few;
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

#[derive(Clone, Debug)]
pub struct EvaluationSet {
    /// The data set that they belong to: the sources that they come from.
    pub data: DataSpec,
    pub split: EvaluationSplit,
    pub images: Split,
    /// The meaning of their labels.
    pub classes: Classes,
    pub writers: Writers,
    /// Changes besides reading them, a sentence or two for each.
    pub notes: Vec<String>,
}

/// Who wrote each image of a split; `None` if that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writers(Vec<Option<Box<str>>>);

impl Writers {
    pub fn add(&mut self, writer: Option<&str>) {
        self.0.push(writer.map(Box::from));
    }

    pub fn of(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.as_deref()
    }
}

/// Drawings that are not digits.
#[derive(Clone, Debug, Default)]
pub struct NotDigits {
    /// 784 pixels for each of them.
    pub images: Vec<u8>,
    /// The class of each, if known.
    pub labels: Vec<Option<char>>,
}

/// Loads the images of `spec` that a model is evaluated on, which was trained as `trained` says;
/// for the split see [`crate::records::EvaluationSpec::split`]. Training and validation split
/// are the ones of a run with the same seed. Images are in the order of their sources, training
/// images before test images.
pub fn load_for_evaluation(
    spec: &DataSpec,
    split: Option<EvaluationSplit>,
    trained: &RunConfig,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<EvaluationSet, DataError> {
    let count = spec.sources().len() as f32;
    let mut set = EvaluationSet {
        data: spec.clone(),
        split: EvaluationSplit::Test,
        images: Split::default(),
        classes: spec.classes(),
        writers: Writers::default(),
        notes: Vec::new(),
    };
    for (index, source) in (0_u16..).zip(spec.sources()) {
        let mut progress = |done: f32| progress.report((f32::from(index) + done) / count);
        let is_test = index == 0 && split.is_none_or(|split| split == EvaluationSplit::Test);
        let part = if is_test {
            load_test(source, folders, &mut progress)?
        } else {
            load_source(source, folders, &mut progress)?
        };
        if index == 0 {
            let has_test = !part.set.test.is_empty();
            let default = if has_test || is_among(source, &trained.data) {
                EvaluationSplit::Test
            } else {
                EvaluationSplit::All
            };
            set.split = split.unwrap_or(default);
            set.classes = part.set.classes.clone();
        } else if !set.classes.accept(&part.set.classes) {
            let (found, wanted) = (part.set.classes, set.classes);
            return Err(DataError::DifferentClasses {
                other: source.label(),
                found,
                wanted,
            });
        }
        set.add(&part);
        set.notes
            .extend(notes_of(&part.set, source, spec.sources()));
        if set.split == EvaluationSplit::Test {
            // The test split is the first source's.
            set.data = spec.tested();
            break;
        }
    }
    let (train, validation) = validation_indices(set.images.len(), trained.seed);
    match set.split {
        EvaluationSplit::All | EvaluationSplit::Test => Ok(set),
        EvaluationSplit::Train => Ok(set.only(&train)),
        EvaluationSplit::Validation => Ok(set.only(&validation)),
    }
}

impl EvaluationSet {
    /// Adds what belongs to the split of a source's images; to training and validation split, all
    /// that is divided between the two.
    fn add(&mut self, Loaded { set, writers }: &Loaded) {
        let all = |split: &Split| (0..split.len() as u32).collect::<Vec<_>>();
        let (in_test, in_train) = if set.test.is_empty() {
            test_split(set.train.len())
        } else {
            (Vec::new(), all(&set.train))
        };
        let (train, test) = match self.split {
            EvaluationSplit::All => (all(&set.train), all(&set.test)),
            EvaluationSplit::Test => (in_test, all(&set.test)),
            EvaluationSplit::Train | EvaluationSplit::Validation => (in_train, Vec::new()),
        };
        self.extend(&set.train, writers, &train);
        self.extend(&set.test, &Writers::default(), &test);
    }

    fn extend(&mut self, images: &Split, writers: &Writers, indices: &[u32]) {
        for index in indices.iter().map(|&index| index as usize) {
            self.images.images.extend_from_slice(images.image(index));
            self.images.labels.extend(images.labels.get(index));
            self.writers.add(writers.of(index));
        }
    }

    fn only(mut self, indices: &[u32]) -> Self {
        let images = std::mem::take(&mut self.images);
        let writers = std::mem::take(&mut self.writers);
        self.extend(&images, &writers, indices);
        self
    }
}

/// Whether a model that was trained on `data` has seen images of this source. Paths are compared as
/// they are written, from the working folder and without `..`: those in a model file may name any
/// place, so nothing is looked for.
pub fn is_among(source: &DataSource, data: &DataSpec) -> bool {
    let place = |source: &DataSource| match source {
        DataSource::Path(path) => DataSource::Path(normalize_lexically(
            &absolute(path).unwrap_or_else(|_| path.clone()),
        )),
        other => other.clone(),
    };
    data.sources()
        .iter()
        .any(|trained| place(trained) == place(source))
}

/// `/data/pens` for `/data/other/../pens`: `..` is resolved as it is written, without following
/// links.
fn normalize_lexically(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    plain
}
