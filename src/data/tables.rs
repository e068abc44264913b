//! Tables as data sets: of pixels or of image files, one alone or two for training and test in a
//! folder.

use std::path::{Path, PathBuf};

use super::class_labels::{ClassLabels, assign};
use super::data_file::malformed;
use super::path_table::{NamedFile, PathTable};
use super::{DataError, DataSet, Split, csv_table};
use crate::progress::Progress;

/// How a table for training is called, and one for test.
const NAMES: [[&str; 2]; 3] = [
    ["train", "test"],
    ["mnist_train", "mnist_test"],
    ["labels", "test_labels"],
];

/// The tables in a folder.
pub struct Tables {
    train: PathBuf,
    test: Option<PathBuf>,
}

impl Tables {
    /// Those in this folder, if there is one for training.
    pub fn open(folder: &Path) -> Option<Self> {
        let table = |name: &str| {
            [format!("{name}.csv"), format!("{name}.csv.gz")]
                .map(|name| folder.join(name))
                .into_iter()
                .find(|path| path.is_file())
        };
        let train = NAMES.iter().find_map(|[train, _]| table(train))?;
        Some(Self {
            train,
            test: NAMES.iter().find_map(|[_, test]| table(test)),
        })
    }

    /// Reads them. Kaggle's own test.csv has no labels: then part of the training images is the
    /// test split.
    pub fn read(&self, progress: &mut dyn Progress) -> Result<DataSet, DataError> {
        let mut tables = vec![self.train.as_path()];
        if let Some(test) = &self.test
            && !is_unlabelled(test)?
        {
            tables.push(test);
        }
        read(&tables, progress)
    }
}

/// Whether a file is a table, by its name.
pub fn is_named_like_a_table(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    [".csv", ".csv.gz", ".tsv"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// What a table holds.
enum Rows {
    Images(Split),
    Files(Vec<NamedFile>),
}

/// Reads tables with labels: one for training, and perhaps one for test.
pub fn read(tables: &[&Path], progress: &mut dyn Progress) -> Result<DataSet, DataError> {
    let mut labels = ClassLabels::default();
    let mut parts = Vec::new();
    for (number, path) in tables.iter().enumerate() {
        let mut progress = |done: f32| progress.report(within(tables, number, done));
        let table = PathTable::open(path)?;
        parts.push(match table {
            Some(table) => Rows::Files(table.files(path, &mut labels)?),
            None => Rows::Images(images(path, &mut labels, &mut progress)?),
        });
    }
    let first = tables.first().copied().unwrap_or_else(|| Path::new(""));
    let (classes, numbers) = labels
        .classes()
        .map_err(|error| malformed(first, error.to_string()))?;
    let mut splits = Vec::new();
    for (number, (path, rows)) in tables.iter().zip(parts).enumerate() {
        let mut split = match rows {
            Rows::Images(images) => images,
            Rows::Files(files) => PathTable::read(&files, path, &classes, &mut |done: f32| {
                progress.report(within(tables, number, done))
            })?,
        };
        assign(&mut split, &numbers);
        splits.push(split);
    }
    let mut splits = splits.into_iter();
    let [train, test] = [(); 2].map(|()| splits.next().unwrap_or_default());
    Ok(DataSet {
        train,
        test,
        classes,
    })
}

/// A table of pixels, whose labels become numbers of `labels`.
fn images(
    path: &Path,
    labels: &mut ClassLabels,
    progress: &mut dyn Progress,
) -> Result<Split, DataError> {
    let mut images = csv_table::read(path, progress)?;
    for label in &mut images.labels {
        *label = labels
            .number(&label.to_string())
            .map_err(|error| malformed(path, error.to_string()))?;
    }
    Ok(images)
}

/// How much of all tables is done with this share of one. Right for MNIST, whose test split is a
/// seventh of the whole.
fn within(tables: &[&Path], number: usize, done: f32) -> f32 {
    let share = if tables.len() > 1 { 6.0 / 7.0 } else { 1.0 };
    if number == 0 {
        done * share
    } else {
        share + done * (1.0 - share)
    }
}

fn is_unlabelled(path: &Path) -> Result<bool, DataError> {
    Ok(PathTable::is_unlabelled(path)? || csv_table::is_unlabelled(path)?)
}
