//! Our kernels for NVIDIA GPUs (`kernels.cu`), and cuBLAS for matrix multiplications: each op takes
//! a few launches and copies nothing from or to the CPU.

mod autotune;
mod batch_norm;
mod convolution;
mod launch;
mod matmul;
mod optimizer;
mod pointwise;
mod transformer;

use candle_core::{Result, Tensor};

use self::matmul::Products;
use super::{AugmentBatch, Backend, BackendKind, OptimizerStep, UpdatedParameter};
use crate::nn::ops::{BatchNorm, Context, Conv2d, DropoutMask};
use crate::nn::{GradMode, Output, Parameter};
use crate::run_config::Activation;

/// Our kernels for NVIDIA GPUs.
pub const CUDA: &dyn Backend = &Cuda { autotune: false };
/// The same, with the fastest algorithms for matrix multiplications, which are found by trying.
pub const AUTOTUNED: &dyn Backend = &Cuda { autotune: true };

#[derive(Debug)]
struct Cuda {
    autotune: bool,
}

impl Cuda {
    const fn products(&self, context: Context) -> Products {
        Products {
            precision: context.precision,
            autotune: self.autotune,
        }
    }
}

impl Backend for Cuda {
    fn kind(&self) -> BackendKind {
        BackendKind::Cuda
    }

    fn activation(&self, x: &Tensor, activation: Activation, grad: GradMode) -> Result<Output> {
        pointwise::activate(x, None, Some(activation), grad)
    }

    fn add(
        &self,
        a: &Tensor,
        b: &Tensor,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output> {
        pointwise::activate(a, Some(b), activation, grad)
    }

    fn add_positions(&self, x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
        transformer::add_positions(x, embedding, grad)
    }

    fn attention(&self, qkv: &Tensor, heads: usize, context: Context) -> Result<Output> {
        transformer::attention(qkv, heads, context.grad, self.products(context))
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
        convolution::conv2d(x, conv, context.grad, self.products(context))
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
        pointwise::global_average_pool(x, grad)
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
        matmul::linear(x, weight, bias, relu, context.grad, self.products(context))
    }

    fn gradient_norm(&self, parameters: &[&Parameter]) -> Result<Tensor> {
        optimizer::gradient_norm(parameters)
    }

    fn optimizer_step(
        &self,
        parameters: &[UpdatedParameter],
        step: OptimizerStep,
        slots: &[Tensor],
    ) -> Result<Option<Tensor>> {
        optimizer::optimizer_step(parameters, step, slots)
    }

    fn ema_update(&self, parameters: &[Parameter], ema: &Tensor, weight: f32) -> Result<Tensor> {
        optimizer::ema_update(parameters, ema, weight)?;
        Ok(ema.clone())
    }

    fn gather_batch(
        &self,
        images: &Tensor,
        labels: &Tensor,
        positions: &Tensor,
        augment: Option<AugmentBatch<'_>>,
    ) -> Result<(Tensor, Tensor)> {
        pointwise::gather_batch(images, labels, positions, augment)
    }
}
