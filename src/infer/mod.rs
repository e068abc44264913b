//! Owns reading: a drawing's digit, a model's figures on a split, and how a model reads on each device. Must not know training, runs or windows.

mod classifier;
mod compare;
mod error;
mod findings;
mod measure;
mod scores;

pub use classifier::{Classifier, Classify, starter_file};
pub use compare::{Candidate, PICTURES, Tried, compare, guarded};
pub use error::InferError;
pub use findings::{APART, Agreement, DeviceReading, ReadingFigures, ReadingFlaw, ReadingReport, candidates, choose};
pub use measure::{DEVICE_CHUNK, Measurement, measure};
pub use scores::Scores;

impl From<candle_core::Error> for InferError {
    fn from(error: candle_core::Error) -> Self {
        crate::nn::ComputeError::from(error).into()
    }
}
