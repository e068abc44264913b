//! Train: the settings of the next run, the run in progress, and what is learned.

pub mod learning;
#[cfg(feature = "gui")]
pub mod panel;
pub mod run;
pub mod setup;

pub use learning::{ClassCount, Learning};
pub use run::{
    DataImages, Headline, History, LastCheckpoint, Phase, RunView, RunningMean, progress,
};
pub use setup::{
    BatchSizeSearchState, BatchSizeSearchView, Block, DownloadState, DownloadView, Field,
    ProfileState, ProfileView, RateSearchState, RateSearchView, Samples, ValidationError, blocks,
    expected_accuracy, harder_data_note,
};
