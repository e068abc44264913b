//! Owns the data set used last, so that the next run or measurement on the built-in digits begins at once.
//! Must not know what it is used for.

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::data::{self, DataError, DataSet};
use crate::run_config::DataSpec;

/// Room for one data set.
#[derive(Default)]
pub(super) struct DatasetCache {
    builtin: Option<DataSet>,
    other: Option<DataSet>,
}

impl DatasetCache {
    /// The data set, cached or read; `attend` is asked while it is being read.
    pub fn get(
        &mut self,
        folders: &[PathBuf],
        spec: &DataSpec,
        attend: &mut dyn FnMut(f32) -> ControlFlow<()>,
    ) -> Result<&DataSet, DataError> {
        // A folder's files may have changed since they were read; only the built-in set cannot.
        self.other = None;
        let place = if *spec == DataSpec::builtin() { &mut self.builtin } else { &mut self.other };
        match place {
            Some(set) => Ok(set),
            None => Ok(place.insert(data::load(spec, folders, attend)?)),
        }
    }
}
