//! The data set used last, so that the next run or measurement on the built-in digits begins at once.

use std::path::PathBuf;

use crate::data::{self, DataError, DataSet};
use crate::progress::Progress;
use crate::run_config::DataSpec;

/// The built-in data set once it was written, and one other.
#[derive(Default)]
pub(super) struct DatasetCache {
    builtin: Option<DataSet>,
    other: Option<DataSet>,
}

impl DatasetCache {
    /// The data set, from the cache or from disk.
    pub fn get(&mut self, folders: &[PathBuf], spec: &DataSpec, progress: &mut dyn Progress) -> Result<&DataSet, DataError> {
        // A folder's files may have changed since they were read; only the built-in set cannot.
        self.other = None;
        let slot = if *spec == DataSpec::builtin() { &mut self.builtin } else { &mut self.other };
        match slot {
            Some(set) => Ok(set),
            None => Ok(slot.insert(data::load(spec, folders, progress)?)),
        }
    }
}
