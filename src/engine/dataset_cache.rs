//! The data set used last, so that the next run or measurement on the built-in digits begins at
//! once.

use std::cell::OnceCell;
use std::ops::Deref;
use std::path::PathBuf;

use crate::data::{self, DataError, Dataset, Fingerprint};
use crate::progress::Progress;
use crate::run_config::{DataSource, DataSpec};

/// The built-in data set once it was written, and one other.
#[derive(Default)]
pub(super) struct DatasetCache {
    builtin: Option<LoadedSet>,
    other: Option<LoadedSet>,
    /// The folder with the data of the current job, if its caller has sent it.
    pub sent: Option<PathBuf>,
}

pub(super) struct LoadedSet {
    set: Dataset,
    fingerprint: OnceCell<Fingerprint>,
}

impl LoadedSet {
    /// Its content, computed once.
    pub fn fingerprint(&self) -> &Fingerprint {
        self.fingerprint.get_or_init(|| Fingerprint::of(&self.set))
    }
}

impl Deref for LoadedSet {
    type Target = Dataset;

    fn deref(&self) -> &Dataset {
        &self.set
    }
}

impl DatasetCache {
    /// The data set, from the cache or from disk; without test images if the test is `sealed`.
    pub fn get(
        &mut self,
        folders: &[PathBuf],
        spec: &DataSpec,
        sealed: bool,
        progress: &mut dyn Progress,
    ) -> Result<&LoadedSet, DataError> {
        let sent = self
            .sent
            .as_ref()
            .map(|folder| DataSpec::single(DataSource::Path(folder.clone())));
        let spec = sent.as_ref().unwrap_or(spec);
        // A folder's files may have changed since they were read; only the built-in set cannot.
        self.other = None;
        let slot = if *spec == DataSpec::builtin() && !sealed {
            &mut self.builtin
        } else {
            &mut self.other
        };
        match slot {
            Some(set) => Ok(set),
            None => Ok(slot.insert(LoadedSet {
                set: if sealed {
                    data::load_sealed(spec, folders, progress)?
                } else {
                    data::load(spec, folders, progress)?
                },
                fingerprint: OnceCell::new(),
            })),
        }
    }
}
