//! Exports a trained model: safetensors, ONNX, a `PyTorch` module, a candle program, a web page that
//! recognizes drawings, a model card and an HTML report. The same model and options always give the same bytes. And the curves of a
//! run while it trains, for `TensorBoard`. Does not depend on windows, run folders or the training
//! loop.

mod activation;
mod candle;
mod error;
mod exported_model;
mod files;
mod html;
mod model_card;
mod onnx;
mod pytorch;
mod report;
pub mod tensorboard;
mod untrusted;

pub use error::ExportError;
pub use exported_model::{ExportedModel, RUN_KEY};
pub use files::{Export, ExportedFile, export};
pub use onnx::quantized;
pub use pytorch::CALIBRATION;
pub use untrusted::Untrusted;

use half::f16;

use crate::run_config::WeightFormat;

impl From<candle_core::Error> for ExportError {
    fn from(error: candle_core::Error) -> Self {
        crate::nn::ComputeError::from(error).into()
    }
}

fn little_endian(values: &[f32], format: WeightFormat) -> Vec<u8> {
    match format {
        WeightFormat::F32 => values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
        WeightFormat::F16 => {
            let halves = values.iter().map(|&value| f16::from_f32(value));
            halves.flat_map(f16::to_le_bytes).collect()
        }
    }
}
