//! The configuration of the next run: its fields as they are typed, and what this machine
//! recommends.

mod data_check;
mod download;
mod estimates;
mod form;
mod network;
mod recommendation;
mod samples;
mod search;

pub use download::{DownloadState, DownloadView};
pub use estimates::expected_accuracy;
pub use form::{Form, ValidationError};
pub use network::{Block, blocks};
pub use samples::Samples;
pub use search::{Search, SearchAction, SearchKind, SearchResult, SearchState};
