//! Owns data sets: finding, reading, checking, writing the built-in one, splitting and batching.
//! Must not know models, tensors or windows.

mod error;
mod split;

pub use error::DataError;
pub use split::{DataSet, Split};
