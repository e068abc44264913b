//! Owns networks: ops with their gradients, models, model files.
//! Must not know data sets, training loops or windows.

mod error;
mod file;
mod models;
mod net;
pub mod ops;
mod parameter;

pub use error::ModelError;
pub use file::{FORMAT_VERSION, MAX_FILE_BYTES, ModelCard, ModelFile};
pub use models::{Layer, layers, parameter_count, parameter_shapes};
pub use net::{Net, Normalization, Pass};
pub use parameter::Parameter;
