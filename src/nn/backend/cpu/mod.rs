//! Our kernels for the CPU: f32, channels last, vectorized for the widest instructions the CPU has.
//!
//! Work is split into chunks of a fixed size and partial sums are added in their order, so results
//! do not depend on the number of threads. Gradients of parameters are added to `.grad` in place.

mod attention;
mod batch_norm;
mod conv;
mod lanes;
mod linear;
mod matrix;
mod microkernels;
mod pointwise;
mod pooling;
mod row_products;
mod transformer;
mod zeros;

use candle_core::{CpuStorage, Device, Layout, Result, Shape, Storage, Tensor, WithDType};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

pub use matrix::{LargeProduct, rounded};
pub use pointwise::dropout_factors;

use self::zeros::Zeros;
use super::{Backend, BackendKind};
use crate::nn::ops::{BatchNorm, Context, Conv2d, ConvGeometry, DropoutMask};
use crate::nn::{GradMode, Output, Parameter};
use crate::profiler::RecordedIterator;
use crate::run_config::Activation;

/// Our kernels for the CPU.
#[derive(Debug)]
pub struct Cpu;

impl Backend for Cpu {
    fn kind(&self) -> BackendKind {
        BackendKind::Cpu
    }

    fn activation(&self, x: &Tensor, activation: Activation, grad: GradMode) -> Result<Output> {
        pointwise::activate(x, activation, grad)
    }

    fn add(
        &self,
        a: &Tensor,
        b: &Tensor,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output> {
        pointwise::add(a, b, activation, grad)
    }

    fn add_positions(&self, x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
        transformer::add_positions(x, embedding, grad)
    }

    fn attention(&self, qkv: &Tensor, heads: usize, context: Context) -> Result<Output> {
        attention::attention(qkv, heads, context)
    }

    fn average_pool(&self, x: &Tensor, window: ConvGeometry, grad: GradMode) -> Result<Output> {
        pooling::average_pool(x, window, grad)
    }

    fn batch_norm(
        &self,
        x: &Tensor,
        norm: BatchNorm<'_>,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output> {
        batch_norm::batch_norm(x, norm, activation, grad)
    }

    fn conv2d(&self, x: &Tensor, conv: Conv2d<'_>, context: Context) -> Result<Output> {
        conv::conv2d(x, conv, context)
    }

    fn cross_entropy(
        &self,
        logits: &Tensor,
        labels: &Tensor,
        batch: usize,
        smoothing: f32,
        grad: GradMode,
    ) -> Result<Output> {
        pointwise::cross_entropy(logits, labels, batch, smoothing, grad)
    }

    fn dropout(&self, x: &Tensor, mask: DropoutMask, grad: GradMode) -> Result<Output> {
        pointwise::dropout(x, mask, grad)
    }

    fn flatten(&self, x: &Tensor, grad: GradMode) -> Result<Output> {
        pointwise::flatten(x, grad)
    }

    fn global_average_pool(&self, x: &Tensor, grad: GradMode) -> Result<Output> {
        pooling::global_average_pool(x, grad)
    }

    fn layer_norm(
        &self,
        x: &Tensor,
        weight: &Parameter,
        bias: &Parameter,
        grad: GradMode,
    ) -> Result<Output> {
        transformer::layer_norm(x, weight, bias, grad)
    }

    fn linear(
        &self,
        x: &Tensor,
        weight: &Parameter,
        bias: &Parameter,
        relu: bool,
        context: Context,
    ) -> Result<Output> {
        linear::linear(x, weight, bias, relu, context)
    }

    fn max_pool(&self, x: &Tensor, window: ConvGeometry, grad: GradMode) -> Result<Output> {
        pooling::max_pool(x, window, grad)
    }
}

/// Elements that one task of an elementwise op computes: fixed, as every chunk is, and a good part
/// of the first-level cache.
const CHUNK: usize = 1 << 12;

/// Runs loops compiled for the widest vector instructions this CPU has. A macro, since what they
/// are called through has to be inlined to be compiled so, and pulp does not make sure that it is.
macro_rules! vectorized {
    ($loops:expr) => {
        pulp::Arch::new().dispatch($crate::nn::backend::cpu::Loops(
            #[inline(always)]
            || $loops,
        ))
    };
}
use vectorized;

/// Loops without a choice of instructions. Called by reference: a closure that is called by value
/// is called through a function of the compiler's, which is not always inlined.
struct Loops<F>(F);

impl<R, F: FnMut() -> R> WithSimd for Loops<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) -> R {
        (self.0)()
    }
}

fn tensor(values: Vec<f32>, shape: impl Into<Shape>) -> Result<Tensor> {
    Tensor::from_vec(values, shape.into(), &Device::Cpu)
}

fn slice<'a, T: WithDType>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [T]> {
    let values = T::cpu_storage_as_slice(storage)?;
    match layout
        .contiguous_offsets()
        .and_then(|(start, end)| values.get(start..end))
    {
        Some(values) => Ok(values),
        None => candle_core::bail!("an op was given a tensor that is not contiguous"),
    }
}

/// Runs `use_values` on the elements of f32 tensors, without copying those that are contiguous.
fn with_slices<T, const N: usize>(
    tensors: [&Tensor; N],
    use_values: impl FnOnce([&[f32]; N]) -> T,
) -> Result<T> {
    with_slices_of(tensors, use_values)
}

/// The same for tensors of any type.
fn with_slices_of<E: WithDType, T, const N: usize>(
    tensors: [&Tensor; N],
    use_values: impl FnOnce([&[E]; N]) -> T,
) -> Result<T> {
    let tensors = tensors
        .into_iter()
        .map(Tensor::contiguous)
        .collect::<Result<Vec<_>>>()?;
    let guards: Vec<_> = tensors.iter().map(Tensor::storage_and_layout).collect();
    let slices = guards.iter().map(|(storage, layout)| match &**storage {
        Storage::Cpu(storage) => slice(storage, layout),
        _ => candle_core::bail!("an op for the CPU was given a tensor on another device"),
    });
    match <[&[E]; N]>::try_from(slices.collect::<Result<Vec<_>>>()?) {
        Ok(slices) => Ok(use_values(slices)),
        Err(_) => candle_core::bail!("an op lost a tensor"),
    }
}

/// Runs `use_bytes` on the elements of a u8 tensor.
pub fn with_bytes<T>(tensor: &Tensor, use_bytes: impl FnOnce(&[u8]) -> T) -> Result<T> {
    with_slices_of([tensor], |[bytes]| use_bytes(bytes))
}

/// Computes a tensor on all threads, chunk by chunk, from tensors of the same shape.
fn by_chunks<const N: usize>(
    tensors: [&Tensor; N],
    work: impl Fn(&mut [f32], [&[f32]; N]) + Send + Sync,
) -> Result<Tensor> {
    let shape = tensors[0].shape();
    let mut values = Zeros::new(shape.elem_count());
    with_slices(tensors, |tensors| {
        let chunks = values.par_chunks_mut(CHUNK).enumerate();
        chunks.for_each_recorded(|(index, values)| {
            work(
                values,
                tensors.map(|tensor| &tensor[index * CHUNK..][..values.len()]),
            );
        });
    })?;
    tensor(values.into_vec(), shape)
}

/// Adds a number to each sum.
#[inline(always)]
fn add_to(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut()
        .zip(values)
        .for_each(|(sum, value)| *sum += value);
}

/// Runs `backward` on zeros for the gradient of `x`, where it is `needed`, and gives that gradient.
fn input_gradient(
    x: &Tensor,
    needed: bool,
    backward: impl FnOnce(Option<&mut Zeros>) -> Result<()>,
) -> Result<Option<Tensor>> {
    let mut gradient = needed.then(|| Zeros::new(x.elem_count()));
    backward(gradient.as_mut())?;
    let values = gradient.map(Zeros::into_vec);
    values.map(|values| tensor(values, x.shape())).transpose()
}
