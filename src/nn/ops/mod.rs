//! Owns our ops and their gradients, plugged into candle's graph on the CPU; `elsewhere` they are kernels for `cuda`, or
//! `composed` of candle's.
//! Must not know models.
//!
//! Activations are channels last (`[batch, height, width, channels]`): bias, `ReLU` and pooling run along channels, and the
//! numbers under a row of a kernel stand one after the other. Weights keep `PyTorch`'s layouts.
//!
//! candle's own `max_pool2d` and its convolution's gradient are not used: the first hands a unique maximum a quarter of its gradient
//! and misaligns odd sizes (candle 0.11.1, `backprop.rs`), the second is slow.
//!
//! Results do not depend on the number of threads: work is cut into pieces of a fixed size, and sums over pieces are
//! taken in their order.

mod activation;
mod add;
mod attention;
mod batch_norm;
mod channels;
pub mod composed;
mod conv2d;
mod conv_pool;
mod convolution;
mod convolve;
mod cross_entropy;
#[cfg(feature = "cuda")]
pub mod cuda;
mod dropout;
mod elementary;
mod elsewhere;
mod flatten;
mod global_pool;
mod kernels;
mod large_product;
mod layer_norm;
mod linear;
mod matrix;
mod pool;
mod pooling;
mod positions;
pub mod precision;
mod product;
mod sliding;
mod tape;

pub use activation::activate;
pub use add::add;
pub use attention::attention;
pub use batch_norm::{BatchNorm, batch_norm};
pub use conv_pool::conv_pool;
pub use conv2d::conv2d;
pub use cross_entropy::{Labels, cross_entropy, one_hot};
pub use dropout::dropout;
pub use flatten::flatten;
pub use global_pool::global_average_pool;
pub use large_product::LargeProduct;
pub use layer_norm::layer_norm;
pub use linear::linear;
pub use pooling::{average_pool, max_pool};
pub use positions::add_positions;
pub use sliding::Kernel;
pub use tape::{backward, forget, reshape};

use candle_core::{CpuStorage, Layout, Result, Tensor, WithDType};

use crate::device::Kernels;
use crate::run_config::Precision;

/// Whether an op keeps what its gradient needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// Yes: `backward` will be called.
    Kept,
    /// No: nothing but the result is wanted.
    None,
}

/// What an op is computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Whether `backward` will be called.
    pub gradient: Gradient,
    /// The number format of products' operands; sums, weights and everything else are f32.
    pub precision: Precision,
    /// Whose ops compute.
    pub kernels: Kernels,
}

impl Context {
    /// Reading on the processor: nothing is kept, products are f32.
    pub const READ: Self = Self { gradient: Gradient::None, precision: Precision::F32, kernels: Kernels::Ours };

    /// True where what computes is not the processor, or computes as a device does.
    fn is_elsewhere(self) -> bool {
        self.kernels != Kernels::Ours
    }
}

/// Numbers one task of an elementwise op computes: fixed, as every piece is, and a good part of the first-level cache.
const PIECE: usize = 1 << 12;

/// Runs loops compiled for the widest vector instructions this processor has. A macro, since what they are called through has to be inlined
/// to be compiled so, and pulp does not make sure that it is.
macro_rules! vectorized {
    ($loops:expr) => {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || $loops,
        )
    };
}
use vectorized;

/// The numbers of a contiguous f32 tensor inside an op.
fn floats<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let values = f32::cpu_storage_as_slice(storage)?;
    match layout.contiguous_offsets().and_then(|(start, end)| values.get(start..end)) {
        Some(values) => Ok(values),
        None => candle_core::bail!("an op was given a tensor that is not contiguous"),
    }
}

/// Runs `use_values` on the numbers of a contiguous f32 tensor, without a copy.
fn with_floats<T>(tensor: &Tensor, use_values: impl FnOnce(&[f32]) -> Result<T>) -> Result<T> {
    with_slices([tensor], |[values]| use_values(values))?
}

/// Runs `use_values` on the numbers of contiguous f32 tensors, without copies.
fn with_slices<T, const N: usize>(tensors: [&Tensor; N], use_values: impl FnOnce([&[f32]; N]) -> T) -> Result<T> {
    let tensors = tensors.into_iter().map(Tensor::contiguous).collect::<Result<Vec<_>>>()?;
    let guards: Vec<_> = tensors.iter().map(Tensor::storage_and_layout).collect();
    let slices = guards.iter().map(|(storage, layout)| match &**storage {
        candle_core::Storage::Cpu(storage) => floats(storage, layout),
        _ => candle_core::bail!("an op of ours was given a tensor outside the CPU"),
    });
    match <[&[f32]; N]>::try_from(slices.collect::<Result<Vec<_>>>()?) {
        Ok(slices) => Ok(use_values(slices)),
        Err(_) => candle_core::bail!("an op lost a tensor"),
    }
}

/// Runs `backward` with room for the gradient of `x`, where `x` depends on a parameter, and gives that gradient.
fn input_gradient(x: &Tensor, backward: impl FnOnce(Option<&mut [f32]>) -> Result<()>) -> Result<Option<Tensor>> {
    let mut gradient = x.track_op().then(|| vec![0.0; x.elem_count()]);
    backward(gradient.as_deref_mut())?;
    gradient.map(|values| Tensor::from_vec(values, x.shape(), x.device())).transpose()
}
