//! Where a run's data comes from and where its result goes. Its checkpoints remember it for whoever
//! resumes the run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::TrainError;
use crate::data::Fingerprint;
use crate::run_config::WeightFormat;

/// What a run was trained on, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrigin {
    /// What its data set holds.
    pub data: Fingerprint,
    /// The folders and options it was started with.
    pub places: RunPlaces,
}

/// Where a run's data comes from and where its result goes; all folders are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPlaces {
    /// The folder that relative paths in the name of its data start from.
    pub working_folder: PathBuf,
    /// Where data sets are looked for by name, best first.
    pub data_folders: Vec<PathBuf>,
    /// The folder that it is to be saved as; `None` for a new one among the others.
    pub out: Option<PathBuf>,
    /// True if it may replace a run that is there.
    pub replace: bool,
    /// How its model file stores the weights.
    pub weights: WeightFormat,
}

impl RunOrigin {
    /// Whether this is the data set that the run was trained on.
    pub fn check(&self, data: &Fingerprint) -> Result<(), TrainError> {
        self.data
            .difference(data)
            .map_or(Ok(()), |part| Err(TrainError::DataChanged { part }))
    }
}
