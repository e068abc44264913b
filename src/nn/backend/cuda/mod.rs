//! Owns ops and their gradients on NVIDIA GPUs: a few kernels (`kernels.cu`) and matrix products (cuBLAS) each, without a copy from or to the
//! processor. Must not know models.

mod advance;
mod attention;
mod batch_norm;
mod convolution;
mod gpu;
mod layer_norm;
mod linear;
mod loss;
mod pictures;
mod pointwise;
mod products;
mod stripes;
mod through;

pub use advance::{Moved, Rule, advance, follow, gradient_norm};
pub use attention::attention;
pub use batch_norm::batch_norm;
pub use convolution::{After, convolution};
pub use layer_norm::{add_positions, layer_norm};
pub use linear::linear;
pub use loss::cross_entropy;
pub use pictures::gather_batch;
pub use pointwise::{activate, dropout, flatten, global_average_pool};
pub use through::through;
