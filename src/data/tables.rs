//! Tables as data sets: of pixels or of image files, one alone or two for training and test in a folder.

use std::path::{Path, PathBuf};

use super::class_labels::{ClassLabels, assign};
use super::data_file::malformed;
use super::path_table::PathTable;
use super::{DataError, DataSet, csv_table};
use crate::progress::Progress;

/// How a table for training is called, and one for test.
const NAMES: [[&str; 2]; 3] = [["train", "test"], ["mnist_train", "mnist_test"], ["labels", "test_labels"]];

/// The tables in a folder.
pub struct Tables {
    train: PathBuf,
    test: Option<PathBuf>,
}

impl Tables {
    /// Those in this folder, if there is one for training.
    pub fn open(folder: &Path) -> Option<Self> {
        let table = |name: &str| {
            [format!("{name}.csv"), format!("{name}.csv.gz")].map(|name| folder.join(name)).into_iter().find(|path| path.is_file())
        };
        let train = NAMES.iter().find_map(|[train, _]| table(train))?;
        Some(Self { train, test: NAMES.iter().find_map(|[_, test]| table(test)) })
    }

    /// Reads them. Kaggle's own test.csv has no labels: then part of the training images is the test split.
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
    [".csv", ".csv.gz", ".tsv"].iter().any(|end| name.ends_with(end))
}

/// Reads tables with labels: one for training, and perhaps one for test.
pub fn read(tables: &[&Path], progress: &mut dyn Progress) -> Result<DataSet, DataError> {
    // Right for MNIST, whose test split is a seventh of the whole.
    let share = if tables.len() > 1 { 6.0 / 7.0 } else { 1.0 };
    let mut labels = ClassLabels::default();
    let mut set = DataSet::default();
    let parts = [(&mut set.train, 0.0, share), (&mut set.test, share, 1.0 - share)];
    for (path, (split, from, share)) in tables.iter().zip(parts) {
        let mut progress = |done: f32| progress.report(from + done * share);
        if let Some(table) = PathTable::open(path)? {
            *split = table.read(path, &mut labels, &mut progress)?;
            continue;
        }
        *split = csv_table::read(path, &mut progress)?;
        for label in &mut split.labels {
            *label = labels.number(&label.to_string()).map_err(|error| malformed(path, error.to_string()))?;
        }
    }
    let (classes, numbers) = match tables.first() {
        Some(path) => labels.classes().map_err(|error| malformed(path, error.to_string()))?,
        None => return Ok(set),
    };
    [&mut set.train, &mut set.test].into_iter().for_each(|split| assign(split, &numbers));
    Ok(DataSet { classes, ..set })
}

fn is_unlabelled(path: &Path) -> Result<bool, DataError> {
    Ok(PathTable::is_unlabelled(path)? || csv_table::is_unlabelled(path)?)
}
