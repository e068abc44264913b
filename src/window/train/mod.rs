//! Train: the settings of the next run, the run in progress, and what is learned.

pub mod learning;
pub mod run;
pub mod setup;
mod update;
pub mod view;

use std::collections::BTreeMap;
use std::path::PathBuf;

use setup::Form;

use crate::data::{DataError, Found};
use crate::run_config::RunConfig;
use crate::runs::InterruptedRun;

pub use learning::{ClassCount, Learning};
pub use run::{
    DataImages, Headline, History, LastCheckpoint, Phase, RunView, RunningMean, progress,
};
pub use setup::{
    Block, DownloadState, DownloadView, Samples, Search, SearchAction, SearchKind, SearchResult,
    SearchState, ValidationError, blocks, expected_accuracy,
};
pub use update::TrainAction;

/// The next run, the one in progress, and those that wait.
#[derive(Default)]
pub struct Train {
    pub run: Option<RunView>,
    /// True while the next run is shown in its place: its data, its network, and what it will do.
    pub next_run_shown: bool,
    /// The settings of the runs that wait for its end, the next one first.
    pub queue: Vec<RunConfig>,
    pub learning: Option<Learning>,
    /// Interrupted runs that can be resumed, newest first.
    pub interrupted: Vec<InterruptedRun>,
    /// Data sets found by name, once the search has finished.
    pub found: Option<Vec<Found>>,
    /// The data set that is being downloaded, or could not be.
    pub download: Option<DownloadView>,
    /// True if data sets can be downloaded, as far as is known.
    pub has_network: bool,
    /// A short training that finds something out about the next run, while its dialog is open.
    pub search: Option<Search>,
    pub form: Form,
    /// What is wrong with folders and files that were chosen as data.
    pub data_problems: BTreeMap<PathBuf, DataError>,
    pub samples: Option<Samples>,
    /// True once the person has chosen a setting.
    pub chosen: bool,
}
