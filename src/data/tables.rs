//! Tables as data sets: of pixels or of image files, one alone or two for training and test in a folder.

use std::path::{Path, PathBuf};

use super::path_table::PathTable;
use super::{DataError, DataSet, Split, csv_table};
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
        let Some(test) = &self.test else { return Ok(DataSet { train: read(&self.train, progress)?, test: Split::default() }) };
        if is_unlabelled(test)? {
            return Ok(DataSet { train: read(&self.train, progress)?, test: Split::default() });
        }
        let train = read(&self.train, &mut |done: f32| progress.report(done * 6.0 / 7.0))?;
        Ok(DataSet { train, test: read(test, &mut |done: f32| progress.report((6.0 + done) / 7.0))? })
    }
}

/// Whether a file is a table, by its name.
pub fn is_named_like_a_table(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    [".csv", ".csv.gz", ".tsv"].iter().any(|end| name.ends_with(end))
}

/// Reads a table with labels.
pub fn read(path: &Path, progress: &mut dyn Progress) -> Result<Split, DataError> {
    match PathTable::open(path)? {
        Some(table) => table.read(path, progress),
        None => csv_table::read(path, progress),
    }
}

fn is_unlabelled(path: &Path) -> Result<bool, DataError> {
    Ok(PathTable::is_unlabelled(path)? || csv_table::is_unlabelled(path)?)
}
