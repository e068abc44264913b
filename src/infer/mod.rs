//! Owns reading: a drawing's digit, and a model's figures on a split. Must not know training, runs or windows.

mod measure;
mod reader;
mod scores;

pub use measure::{Measurement, measure};
pub use reader::{Reader, starter_file};
pub use scores::Scores;
