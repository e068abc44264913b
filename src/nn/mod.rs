//! Owns networks: ops with their gradients, models, model files.
//! Must not know data sets, training loops or windows.

mod candle_error;
mod cost;
mod error;
mod file;
mod layer;
mod models;
mod net;
pub mod ops;
mod parameter;
mod walk;

pub use cost::{Flops, activations, flops, numbers_on_a_gpu, numbers_read_on_a_gpu};
pub use error::{ComputeError, ModelError};
pub use file::{FORMAT_VERSION, MAX_FILE_BYTES, ModelCard, ModelFile};
pub use layer::{Layer, ParameterSpec};
pub use models::{layers, parameter_count, parameter_specs};
pub use net::{Net, Pass, Pixels, backward};
pub use parameter::{Parameter, Role};
