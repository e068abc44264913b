//! The configuration of the next run: its fields as they are typed, and what this machine
//! recommends.

mod data;
mod estimates;
mod form;
mod network;
mod recommendation;
mod search;

pub use data::{DownloadState, DownloadView, Samples};
pub use estimates::AccuracySource;
pub use form::{Form, ValidationError};
pub use network::{Blocks, in_words, layer_description, layer_details, layer_name, size};
pub use search::{Search, SearchAction, SearchKind, SearchState};
