//! The images that a model is evaluated on: the split that is asked for, and who wrote them.

use std::path::{Component, Path, PathBuf, absolute};

use super::dataset::{test_split, validation_indices};
use super::formats::Loaded;
use super::load::{BUILTIN_SEED, load_source};
use super::{DataError, Split, builtin};
use crate::progress::Progress;
use crate::run_config::{Classes, DataSource, DataSpec, EvaluationSplit, RunConfig};

/// The images of an evaluation.
#[derive(Clone, Debug)]
pub struct EvaluationSet {
    /// The data set that they belong to: the sources that they come from.
    pub data: DataSpec,
    /// Which they are of their data set.
    pub split: EvaluationSplit,
    /// The images.
    pub images: Split,
    /// What their labels stand for.
    pub classes: Classes,
    /// Who wrote them.
    pub writers: Writers,
}

/// Who wrote each image of a split; `None` if that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writers(Vec<Option<Box<str>>>);

impl Writers {
    /// Adds the next image.
    pub fn add(&mut self, writer: Option<&str>) {
        self.0.push(writer.map(Box::from));
    }

    /// The writer of image `index`, where known.
    pub fn of(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.as_deref()
    }
}

/// Drawings that are not digits.
#[derive(Clone, Debug, Default)]
pub struct NotDigits {
    /// 784 pixels for each of them.
    pub images: Vec<u8>,
    /// What each shows, where known.
    pub labels: Vec<Option<char>>,
}

/// Loads the images of `spec` that a model is evaluated on, which was trained as `trained` says;
/// for the split see [`crate::records::EvaluationSpec::split`]. Training and validation split are
/// those of a run with the same seed. Images are in the order of their sources, training images
/// before test images.
pub fn load_for_evaluation(
    spec: &DataSpec,
    split: Option<EvaluationSplit>,
    trained: &RunConfig,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<EvaluationSet, DataError> {
    let count = spec.sources().len() as f32;
    let (images, writers) = (Split::default(), Writers::default());
    let mut set = EvaluationSet {
        data: spec.clone(),
        split: EvaluationSplit::Test,
        images,
        classes: spec.classes(),
        writers,
    };
    for (index, source) in (0_u16..).zip(spec.sources()) {
        let mut progress = |done: f32| progress.report((f32::from(index) + done) / count);
        let part = if *source == DataSource::Builtin
            && index == 0
            && split.is_none_or(|split| split == EvaluationSplit::Test)
        {
            // The images for training are generated only where they are needed.
            builtin::generate(BUILTIN_SEED, 0, builtin::TEST_IMAGES, &mut progress)?.into()
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
        }
        if index == 0 {
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
        let (in_test, in_train) = test_split(set.train.len());
        let has_test = !set.test.is_empty();
        match self.split {
            EvaluationSplit::All => {
                self.extend(&set.train, writers, 0..set.train.len());
                self.extend(&set.test, &Writers::default(), 0..set.test.len());
            }
            EvaluationSplit::Test if has_test => {
                self.extend(&set.test, &Writers::default(), 0..set.test.len());
            }
            EvaluationSplit::Test => self.extend(
                &set.train,
                writers,
                in_test.iter().map(|&index| index as usize),
            ),
            EvaluationSplit::Train | EvaluationSplit::Validation if has_test => {
                self.extend(&set.train, writers, 0..set.train.len());
            }
            EvaluationSplit::Train | EvaluationSplit::Validation => {
                self.extend(
                    &set.train,
                    writers,
                    in_train.iter().map(|&index| index as usize),
                );
            }
        }
    }

    fn extend(&mut self, images: &Split, writers: &Writers, indices: impl Iterator<Item = usize>) {
        for index in indices {
            self.images.images.extend_from_slice(images.image(index));
            self.images.labels.extend(images.labels.get(index));
            self.writers.add(writers.of(index));
        }
    }

    fn only(&self, indices: &[u32]) -> Self {
        let (images, writers) = (Split::default(), Writers::default());
        let mut kept = Self {
            data: self.data.clone(),
            split: self.split,
            images,
            classes: self.classes.clone(),
            writers,
        };
        kept.extend(
            &self.images,
            &self.writers,
            indices.iter().map(|&index| index as usize),
        );
        kept
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
