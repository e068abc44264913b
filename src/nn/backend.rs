//! The seam between networks and devices: everything that is computed differently on different
//! devices.
//!
//! - `cpu`: our own kernels;
//! - `cuda`: our kernels for NVIDIA GPUs, and cuBLAS;
//! - `reference`: compositions of candle's own ops, for every device candle has. It runs on Metal,
//!   and it is what the self-test compares with.
//!
//! Shapes are checked by `ops` before a backend is called. Activations are stored channels last
//! (`[batch, height, width, channels]`); weights have `PyTorch`'s layouts. An output comes with its
//! backward pass, which runs on the same backend.
//!
//! Results do not depend on the number of threads: work is split into chunks of a fixed size, and
//! partial sums are added in their order.

pub mod cpu;
#[cfg_attr(not(feature = "cuda"), path = "backend/cuda/stub.rs")]
pub mod cuda;
pub mod reference;

use std::fmt;

use candle_core::{DType, Device, Result, Tensor};

use super::ops::{BatchNorm, Context, Conv2d, DropoutMask, Window};
use super::{GradMode, Output, Parameter};
use crate::data::augment::{KNOTS, spline};
use crate::ink::SIDE;
use crate::run_config::{Activation, OptimizerKind};

/// Which backend it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// Our kernels for the CPU.
    Cpu,
    /// Our kernels for NVIDIA GPUs.
    Cuda,
    /// Compositions of candle's ops.
    Reference,
}

/// Our kernels for the CPU.
pub const CPU: &dyn Backend = &cpu::Cpu;
/// Compositions of candle's ops, for any device.
pub const REFERENCE: &dyn Backend = &reference::Reference;

/// How the images of a batch are augmented.
#[derive(Clone, Copy, Debug)]
pub struct AugmentBatch<'a> {
    /// The parameters of each image (`data::augment::AugmentParams`),
    /// `[n, 4 + 2 + 1 + 2 · KNOTS²]`: map, shift, thickness, knots.
    pub params: &'a Tensor,
    /// What is the same for all images.
    pub tables: &'a AugmentTables,
}

/// What augmenting takes on a device.
#[derive(Clone, Debug)]
pub struct AugmentTables {
    /// The weight of each knot at each pixel, `[28, KNOTS]`.
    pub spline: Tensor,
    /// Pixels along an axis, from the centre of the image, `[28]`.
    pub offsets: Tensor,
}

impl AugmentTables {
    /// The tables on this device.
    pub fn new(device: &Device) -> Result<Self> {
        let center = (SIDE as f32 - 1.0) / 2.0;
        Ok(Self {
            spline: Tensor::from_slice(spline().as_flattened(), (SIDE, KNOTS), device)?,
            offsets: Tensor::new(
                (0..SIDE)
                    .map(|pixel| pixel as f32 - center)
                    .collect::<Vec<_>>(),
                device,
            )?,
        })
    }
}

/// The constants of one optimiser step; which of them count depends on the rule.
#[derive(Clone, Copy, Debug)]
pub struct OptimizerStep {
    /// The rule.
    pub kind: OptimizerKind,
    /// The learning rate.
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

/// A parameter in an optimiser step.
#[derive(Debug)]
pub struct UpdatedParameter {
    /// The parameter.
    pub parameter: Parameter,
    /// Its gradient.
    pub gradient: Tensor,
    /// Its weight decay.
    pub decay: f32,
}

/// What computes on a device.
pub trait Backend: Send + Sync + fmt::Debug {
    /// Which one it is.
    fn kind(&self) -> BackendKind;

    /// The activation of every element.
    fn activation(&self, x: &Tensor, activation: Activation, grad: GradMode) -> Result<Output>;

    /// `activation(a + b)`, or the sum itself.
    fn add(
        &self,
        a: &Tensor,
        b: &Tensor,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output>;

    /// `x + embedding` for every sequence of the batch.
    fn add_positions(&self, x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output>;

    /// Multi-head self-attention, from `[batch, tokens, 3 · heads · depth]` to
    /// `[batch, tokens, heads · depth]`.
    fn attention(&self, qkv: &Tensor, heads: usize, context: Context) -> Result<Output>;

    /// The mean under the window at each position.
    fn average_pool(&self, x: &Tensor, window: Window, grad: GradMode) -> Result<Output>;

    /// Batch normalisation, then the activation: with the batch's statistics where gradients are
    /// enabled, else with the running ones.
    fn batch_norm(
        &self,
        x: &Tensor,
        norm: BatchNorm<'_>,
        activation: Option<Activation>,
        grad: GradMode,
    ) -> Result<Output>;

    /// A convolution with whatever is fused to it.
    fn conv2d(&self, x: &Tensor, conv: Conv2d<'_>, context: Context) -> Result<Output>;

    /// `[loss, correct]` of logits `[n, classes]` for labels `[n]` (u8).
    fn cross_entropy(
        &self,
        logits: &Tensor,
        labels: &Tensor,
        batch: usize,
        smoothing: f32,
        grad: GradMode,
    ) -> Result<Output>;

    /// Elements set to 0, or scaled up, as the mask says.
    fn dropout(&self, x: &Tensor, mask: DropoutMask, grad: GradMode) -> Result<Output>;

    /// `[batch, height, width, channels]` to `[batch, channels · height · width]`.
    fn flatten(&self, x: &Tensor, grad: GradMode) -> Result<Output>;

    /// `[batch, …, channels]` to the mean of each channel, `[batch, channels]`.
    fn global_average_pool(&self, x: &Tensor, grad: GradMode) -> Result<Output>;

    /// Layer normalisation over the last dimension.
    fn layer_norm(
        &self,
        x: &Tensor,
        weight: &Parameter,
        bias: &Parameter,
        grad: GradMode,
    ) -> Result<Output>;

    /// `x weightᵀ + bias`, or `ReLU` of that.
    fn linear(
        &self,
        x: &Tensor,
        weight: &Parameter,
        bias: &Parameter,
        relu: bool,
        context: Context,
    ) -> Result<Output>;

    /// The maximum under the window at each position.
    fn max_pool(&self, x: &Tensor, window: Window, grad: GradMode) -> Result<Output>;

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

    /// Updates all parameters in one fused step, where there is a kernel for the rule; `None` where
    /// there is not. `slots` are the optimiser's state (Adam's moments, SGD's velocity), a row each
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
    /// of a data set `[N, 784]` and `[N]` of bytes, augmented where asked.
    fn gather_batch(
        &self,
        images: &Tensor,
        labels: &Tensor,
        positions: &Tensor,
        augment: Option<AugmentBatch<'_>>,
    ) -> Result<(Tensor, Tensor)> {
        reference::gather_batch(images, labels, positions, augment)
    }
}
