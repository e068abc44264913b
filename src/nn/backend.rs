//! The seam between networks and devices: everything that is computed differently on different
//! devices.
//!
//! - `composed`: compositions of candle's own ops, for every device candle has. It runs on Metal,
//!   and it is what the self-test compares with;
//! - `cpu`: our own kernels;
//! - `cuda`: our kernels for NVIDIA GPUs, and cuBLAS.
//!
//! Every backend inherits the composed ops and overrides those it has kernels for, so that a new op
//! works on every device at once.
//!
//! Shapes are checked by `ops` before a backend is called. Activations are stored channels last
//! (`[batch, height, width, channels]`); weights have `PyTorch`'s layouts. An output comes with its
//! backward pass, which runs on the same backend.
//!
//! Results do not depend on the number of threads: work is split into chunks of a fixed size, and
//! partial sums are added in their order.

mod augmentation;
pub mod composed;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
/// This program has no NVIDIA GPU to compute on, so that any backend does.
#[cfg(not(feature = "cuda"))]
pub mod cuda {
    pub use super::{COMPOSED as AUTOTUNED, COMPOSED as CUDA};
}

use std::fmt;

use candle_core::{DType, Result, Tensor};

pub use self::augmentation::{AugmentBatch, AugmentTables};
use self::composed::differentiate;
use super::ops::{BatchNorm, Context, Conv2d, ConvGeometry, DropoutMask, LAYER_NORM_EPSILON};
use super::{GradMode, Output, Parameter};
use crate::run_config::{Activation, OptimizerKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// Compositions of candle's ops.
    Composed,
    /// Our kernels for the CPU.
    Cpu,
    /// Our kernels for NVIDIA GPUs.
    Cuda,
}

/// Our kernels for the CPU.
pub const CPU: &dyn Backend = &cpu::Cpu;
/// Compositions of candle's ops, for any device.
pub const COMPOSED: &dyn Backend = &composed::Composed;

/// The constants of one optimizer step; which of them count depends on the rule.
#[derive(Clone, Copy, Debug)]
pub struct OptimizerStep {
    pub kind: OptimizerKind,
    pub lr: f32,
    /// Gradients are multiplied by this first: it undoes loss scaling and averages.
    pub scale: f32,
    /// The norm gradients are then clipped to, if any.
    pub clip_norm: Option<f32>,
    /// Whether SGD's momentum is Nesterov's.
    pub nesterov: bool,
    /// μ of SGD.
    pub momentum: f32,
    /// β₁ and β₂ of Adam.
    pub betas: [f32; 2],
    /// ε of Adam.
    pub epsilon: f32,
    /// `1 - β₁ᵗ` and `1 - β₂ᵗ` of Adam at this step.
    pub bias_corrections: [f32; 2],
}

/// A parameter in an optimizer step.
#[derive(Debug)]
pub struct UpdatedParameter {
    pub parameter: Parameter,
    pub gradient: Tensor,
    pub decay: f32,
}

/// The computations of a device.
pub trait Backend: Send + Sync + fmt::Debug {
    fn kind(&self) -> BackendKind;

    /// The activation of every element.
    fn activation(&self, x: &Tensor, activation: Activation, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| {
            composed::activate(&x[0], activation)
        })
    }

    /// `activation(a + b)`, or the sum itself.
    fn add(
        &self,
        a: &Tensor,
        b: &Tensor,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output> {
        differentiate(&[a, b], &[], grad, |x, _| {
            composed::add(&x[0], &x[1], activation)
        })
    }

    /// `x + embedding` for every sequence of the batch.
    fn add_positions(&self, x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[embedding], grad, |x, p| x[0].broadcast_add(&p[0]))
    }

    /// Multi-head self-attention, from `[batch, tokens, 3 · heads · depth]` to
    /// `[batch, tokens, heads · depth]`.
    fn attention(&self, qkv: &Tensor, heads: usize, context: Context) -> Result<Output> {
        let softmax: fn(&Tensor) -> Result<Tensor> = match context.grad {
            GradMode::Enabled => composed::softmax,
            GradMode::Disabled => composed::fused_softmax,
        };
        differentiate(&[qkv], &[], context.grad, |x, _| {
            composed::attention(&x[0], heads, context.precision, softmax)
        })
    }

    /// The mean under the window at each position.
    fn average_pool(&self, x: &Tensor, window: ConvGeometry, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| {
            composed::average_pool(&x[0], window)
        })
    }

    /// Batch normalization, then the activation: with the batch's statistics if gradients are
    /// enabled, else with the running ones.
    fn batch_norm(
        &self,
        x: &Tensor,
        norm: BatchNorm<'_>,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output> {
        let (weight, bias) = (norm.weight, norm.bias);
        if grad == GradMode::Disabled {
            let [mean, variance] =
                [norm.running_mean, norm.running_variance].map(Parameter::tensor);
            return differentiate(&[x], &[weight, bias], grad, |x, p| {
                composed::batch_norm(&x[0], [&mean, &variance], &p[0], &p[1], activation)
            });
        }
        composed::update_running_statistics(x, norm)?;
        differentiate(&[x], &[weight, bias], grad, |x, p| {
            let [mean, variance] = composed::moments(&x[0])?;
            composed::batch_norm(&x[0], [&mean, &variance], &p[0], &p[1], activation)
        })
    }

    /// A convolution with whatever is fused to it.
    fn conv2d(&self, x: &Tensor, conv: Conv2d<'_>, context: Context) -> Result<Output> {
        let parameters: Vec<&Parameter> = std::iter::once(conv.weight).chain(conv.bias).collect();
        differentiate(&[x], &parameters, context.grad, |x, p| {
            let y = composed::conv2d(&x[0], &p[0], p.get(1), conv.window, context.precision)?;
            let y = if conv.pool {
                composed::max_pool(&y, ConvGeometry::HALVING)?
            } else {
                y
            };
            composed::activate_if_some(&y, conv.relu.then_some(Activation::Relu))
        })
    }

    /// `[loss, correct]` of logits `[n, classes]` for labels `[n]` (u8).
    fn cross_entropy(
        &self,
        logits: &Tensor,
        labels: &Tensor,
        batch: usize,
        smoothing: f32,
        grad: GradMode,
    ) -> Result<Output> {
        differentiate(&[logits], &[], grad, |x, _| {
            composed::cross_entropy(&x[0], labels, batch, smoothing)
        })
    }

    /// Elements set to 0, or scaled up, as the mask says.
    fn dropout(&self, x: &Tensor, mask: DropoutMask, grad: GradMode) -> Result<Output> {
        let factors = cpu::dropout_factors(mask, x.elem_count());
        let factors = Tensor::from_vec(factors, x.shape(), x.device())?;
        differentiate(&[x], &[], grad, |x, _| &x[0] * &factors)
    }

    /// `[batch, height, width, channels]` to `[batch, channels · height · width]`.
    fn flatten(&self, x: &Tensor, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| composed::flatten(&x[0]))
    }

    /// `[batch, …, channels]` to the mean of each channel, `[batch, channels]`.
    fn global_average_pool(&self, x: &Tensor, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| composed::global_average_pool(&x[0]))
    }

    /// Layer normalization over the last dimension.
    fn layer_norm(
        &self,
        x: &Tensor,
        weight: &Parameter,
        bias: &Parameter,
        grad: GradMode,
    ) -> Result<Output> {
        differentiate(&[x], &[weight, bias], grad, |x, p| match grad {
            GradMode::Enabled => composed::layer_norm(&x[0], &p[0], &p[1], LAYER_NORM_EPSILON),
            GradMode::Disabled => composed::fused_layer_norm(&x[0], &p[0], &p[1]),
        })
    }

    /// `x weightᵀ + bias`, or `ReLU` of that.
    fn linear(
        &self,
        x: &Tensor,
        weight: &Parameter,
        bias: &Parameter,
        relu: bool,
        context: Context,
    ) -> Result<Output> {
        differentiate(&[x], &[weight, bias], context.grad, |x, p| {
            composed::linear(&x[0], &p[0], &p[1], relu, context.precision)
        })
    }

    /// The maximum under the window at each position.
    fn max_pool(&self, x: &Tensor, window: ConvGeometry, grad: GradMode) -> Result<Output> {
        differentiate(&[x], &[], grad, |x, _| composed::max_pool(&x[0], window))
    }

    /// The L2 norm of the gradients of all parameters together, a scalar on their device.
    fn gradient_norm(&self, parameters: &[&Parameter]) -> Result<Tensor> {
        let mut sum: Option<Tensor> = None;
        for gradient in parameters.iter().filter_map(|parameter| parameter.grad()) {
            let squares = gradient.sqr()?.sum_all()?;
            sum = Some(match sum {
                None => squares,
                Some(sum) => (sum + squares)?,
            });
        }
        match (sum, parameters.first()) {
            (Some(sum), _) => sum.sqrt(),
            (None, Some(parameter)) => Tensor::zeros((), DType::F32, parameter.tensor().device()),
            (None, None) => candle_core::bail!("there are no parameters"),
        }
    }

    /// Updates all parameters in one fused step, if there is a kernel for the rule; `None` if
    /// there is not. `slots` are the optimizer's state (Adam's moments, SGD's velocity), a row each
    /// with an element for each weight. Returns the norm the gradients had after `scale`, a scalar
    /// on the device.
    fn optimizer_step(
        &self,
        _parameters: &[UpdatedParameter],
        _step: OptimizerStep,
        _slots: &[Tensor],
    ) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// Updates the moving average of all parameters, a row `ema` with an element for each weight:
    /// `ema += weight · (values - ema)`.
    fn ema_update(&self, parameters: &[Parameter], ema: &Tensor, weight: f32) -> Result<Tensor> {
        let values = parameters
            .iter()
            .map(|parameter| parameter.tensor().flatten_all())
            .collect::<Result<Vec<_>>>()?;
        (ema * f64::from(1.0 - weight))? + (Tensor::cat(&values, 0)? * f64::from(weight))?
    }

    /// The images (f32, `[n, 784]`, from 0 to 255) and labels (`[n]`) at `positions` (`[n]`, u32)
    /// of a data set `[N, 784]` and `[N]` of bytes, augmented if asked.
    fn gather_batch(
        &self,
        images: &Tensor,
        labels: &Tensor,
        positions: &Tensor,
        augment: Option<AugmentBatch<'_>>,
    ) -> Result<(Tensor, Tensor)> {
        augmentation::gather_batch(images, labels, positions, augment)
    }
}
