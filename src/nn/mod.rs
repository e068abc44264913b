//! Networks: ops and their gradients, the backends that compute them, layers, models and model
//! files. Does not depend on training loops or windows, and of data sets only on how their images
//! are augmented.

pub mod autograd;
pub mod autotuning;
pub mod backend;
mod cost;
mod device_context;
mod digit_detector;
mod error;
mod file;
mod forward;
mod initialization;
mod inspection;
mod layer;
mod models;
mod net;
pub mod onnx;
pub mod ops;
mod parameter;
mod safetensors_file;
mod shape;

pub use autograd::{GradMode, Output};
pub use backend::{Backend, BackendKind};
pub use cost::{
    BlockCost, Flops, activations, block_costs, checkpointed_activations, flops,
    gpu_values_in_recognition, gpu_values_in_training, layer_flops,
};
pub use device_context::{DeviceContext, MemoryExhausted};
pub use digit_detector::{DigitDetector, HIDDEN as DETECTOR_UNITS};
pub use error::{ComputeError, ModelError};
pub use file::{CARD_KEY, FORMAT_VERSION, MAX_FILE_BYTES, ModelCard, ModelFile, is_onnx};
pub use initialization::initialize;
pub use layer::{Layer, ParameterSpec, Step, walk};
pub use models::{layers, parameter_count, parameter_specs, residual_block};
pub use net::{Images, Mode, Net};
pub use parameter::{Parameter, Role};
pub use safetensors_file::{MAX_HEADER_BYTES, SafetensorsFile, floats};
pub use shape::Shape;

/// A tensor operation fails only because of a bug or a lack of memory; candle's message is all
/// there is to distinguish them.
impl From<candle_core::Error> for ComputeError {
    fn from(error: candle_core::Error) -> Self {
        let message = crate::device::first_line(&error);
        // CUDA says CUDA_ERROR_OUT_OF_MEMORY or "out of memory", cuBLAS CUBLAS_STATUS_ALLOC_FAILED,
        // Metal "Insufficient Memory"; candle hands on what they say.
        let said = message.to_lowercase().replace('_', " ");
        let is_short = ["out of memory", "alloc failed", "insufficient memory"]
            .iter()
            .any(|of| said.contains(of));
        if is_short {
            Self::OutOfMemory { message }
        } else {
            Self::Failed { message }
        }
    }
}

impl From<candle_core::Error> for crate::problem::Problem {
    fn from(error: candle_core::Error) -> Self {
        ComputeError::from(error).into()
    }
}
