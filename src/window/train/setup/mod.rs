//! The configuration of the next run: its fields as they are typed, and what this machine
//! recommends.

mod batch_size_search;
mod data_check;
mod download;
mod estimates;
mod form;
mod network;
mod profile;
mod rate_search;
mod recommendation;
mod samples;

pub use batch_size_search::{BatchSizeSearchState, BatchSizeSearchView};
pub use download::{DownloadState, DownloadView};
pub use estimates::{expected_accuracy, harder_data_note};
pub use form::{Field, Form, ValidationError};
pub use network::{Block, blocks};
pub use profile::{ProfileState, ProfileView};
pub use rate_search::{RateSearchState, RateSearchView};
pub use samples::Samples;
