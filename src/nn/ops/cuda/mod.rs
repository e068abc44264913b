//! Owns ops and their gradients on NVIDIA GPUs: a few kernels (`kernels.cu`) and matrix products (cuBLAS) each, without a copy from or to the
//! processor. Must not know models.

mod advance;
mod batch_norm;
mod convolution;
mod gpu;
mod linear;
mod loss;
mod pictures;
mod pointwise;
mod products;
mod through;

pub use advance::{Moved, Rule, advance, follow, gradient_norm};
pub use batch_norm::batch_norm;
pub use convolution::{After, convolution};
pub use linear::linear;
pub use loss::cross_entropy;
pub use pictures::gather_batch;
pub use pointwise::{activate, dropout, flatten, global_average_pool};
pub use through::through;
