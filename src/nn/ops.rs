//! The ops that networks are made of: each checks its shapes, is computed by a backend, and is
//! recorded for the backward pass.
//!
//! Activations are channels last (`[batch, height, width, channels]`): bias, `ReLU` and pooling run
//! along channels, and the pixels under a row of a kernel are contiguous. Weights have `PyTorch`'s
//! layouts.
//!
//! candle's own `max_pool2d` and the gradient of its `conv2d` are not used: the first gives a
//! unique maximum a quarter of its gradient and misaligns odd sizes (candle 0.11.1, `backprop.rs`),
//! the second is slow.
//!
//! ```
//! use candle_core::{Device, Tensor};
//! use inkling::nn::Parameter;
//! use inkling::nn::ops::{Context, linear};
//!
//! let weight = Parameter::new("fc.weight", vec![1.0, 0.0, 0.0, 2.0], &[2, 2])?;
//! let bias = Parameter::new("fc.bias", vec![0.5, 0.5], &[2])?;
//! let x = Tensor::new(&[[1.0_f32, 3.0]], &Device::Cpu)?;
//! let y = linear(&x, &weight, &bias, false, Context::EVAL)?;
//! assert_eq!(y.to_vec2::<f32>()?, [[1.5, 6.5]]);
//! # candle_core::Result::Ok(())
//! ```

use candle_core::{Result, Shape, Tensor};

use super::autograd::{Gradients, record};
use super::backend::{Backend, CPU};
pub use super::shape::ConvGeometry;
use super::{GradMode, Output, Parameter};
use crate::math::random::Random;
use crate::run_config::{Activation, Precision};

/// How an op is computed.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Whether it is recorded for a backward pass.
    pub grad: GradMode,
    /// The precision of the operands of matrix multiplications; sums, weights and everything else
    /// are f32.
    pub precision: Precision,
    pub backend: &'static dyn Backend,
}

impl Context {
    /// Inference on the CPU in f32.
    pub const EVAL: Self = Self {
        grad: GradMode::Disabled,
        precision: Precision::F32,
        backend: CPU,
    };
    /// Training on the CPU in f32.
    pub const TRAIN: Self = Self {
        grad: GradMode::Enabled,
        ..Self::EVAL
    };
}

/// The parameters of a batch normalization, each with one element per channel.
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm<'a> {
    /// Scale.
    pub weight: &'a Parameter,
    /// Shift.
    pub bias: &'a Parameter,
    /// The moving average of the batches' means, with a momentum of 0.1.
    pub running_mean: &'a Parameter,
    /// Likewise of their variances (with Bessel's correction).
    pub running_variance: &'a Parameter,
}

impl BatchNorm<'_> {
    /// Added to the variance: `torch.nn.BatchNorm2d`'s.
    pub const EPSILON: f64 = 1e-5;
    /// The fraction of a batch in the running statistics: `torch.nn.BatchNorm2d`'s.
    pub const MOMENTUM: f64 = 0.1;
}

/// Added to the variance in layer normalization: `torch.nn.LayerNorm`'s.
pub const LAYER_NORM_EPSILON: f32 = 1e-5;

/// A convolution and what is fused to it.
#[derive(Clone, Copy, Debug)]
pub struct Conv2d<'a> {
    /// `[out, in, size, size]`.
    pub weight: &'a Parameter,
    /// `[out]`.
    pub bias: Option<&'a Parameter>,
    /// Size, stride and padding of the kernel.
    pub window: ConvGeometry,
    /// Whether 2x2 max pooling with stride 2 follows.
    pub pool: bool,
    /// Whether `ReLU` follows the pooling.
    pub relu: bool,
}

/// Which elements a dropout sets to 0, the same on every device: 16 random bits decide for each, so
/// that one draw of 64 serves four.
#[derive(Clone, Copy, Debug)]
pub struct DropoutMask {
    /// The seed of [`Random::at`].
    pub seed: u64,
    /// Elements whose bits are below this are dropped.
    pub threshold: u32,
    /// The others are multiplied by this.
    pub scale: f32,
}

impl DropoutMask {
    fn sample(probability: f32, random: &mut Random) -> Self {
        Self {
            seed: random.next_u64(),
            threshold: (probability * 65536.0).round() as u32,
            scale: 1.0 / (1.0 - probability),
        }
    }
}

/// The activation of every element of `x`.
pub fn activate(x: &Tensor, activation: Activation, context: Context) -> Result<Tensor> {
    Ok(record(
        &[x],
        false,
        context.backend.activation(x, activation, context.grad)?,
    ))
}

/// `activation(a + b)`, or the sum itself; the shapes are the same.
pub fn add(
    a: &Tensor,
    b: &Tensor,
    activation: Option<Activation>,
    context: Context,
) -> Result<Tensor> {
    if a.dims() != b.dims() {
        candle_core::bail!(
            "tensors of shapes {:?} and {:?} cannot be added",
            a.shape(),
            b.shape()
        );
    }
    Ok(record(
        &[a, b],
        false,
        context.backend.add(a, b, activation, context.grad)?,
    ))
}

/// `x + embedding` for every sequence of `x` `[batch, tokens, features]`; `embedding` is
/// `[1, tokens, features]`.
pub fn add_positions(x: &Tensor, embedding: &Parameter, context: Context) -> Result<Tensor> {
    let (_, tokens, features) = x.dims3()?;
    if embedding.dims() != [1, tokens, features] {
        candle_core::bail!(
            "positional embeddings of shape {:?} do not fit {:?}",
            embedding.dims(),
            x.shape()
        );
    }
    Ok(record(
        &[x],
        true,
        context.backend.add_positions(x, embedding, context.grad)?,
    ))
}

/// Multi-head self-attention (Vaswani et al. 2017), `softmax(Q Kᵀ / √d) V` for each head, from
/// `[batch, tokens, 3 · features]` (queries, keys, values, each with its heads one after the other)
/// to `[batch, tokens, features]`, where `features` is `heads · d`.
pub fn attention(qkv: &Tensor, heads: usize, context: Context) -> Result<Tensor> {
    let (_, _, width) = qkv.dims3()?;
    if heads == 0 || width == 0 || width % (3 * heads) != 0 {
        candle_core::bail!(
            "attention with {heads} heads does not fit {:?}",
            qkv.shape()
        );
    }
    Ok(record(
        &[qkv],
        false,
        context.backend.attention(qkv, heads, context)?,
    ))
}

/// The mean under the window at each position and channel. Padding counts as zeros, so that every
/// mean is over `size · size` pixels (`torch.nn.AvgPool2d` with `count_include_pad`, its default).
pub fn average_pool(x: &Tensor, window: ConvGeometry, context: Context) -> Result<Tensor> {
    check_pool(x, window)?;
    Ok(record(
        &[x],
        false,
        context.backend.average_pool(x, window, context.grad)?,
    ))
}

/// The maximum under the window at each position and channel of `[batch, height, width, channels]`.
/// Padding counts as -∞; of equal values the first in reading order is the maximum, and NaN is
/// larger than all.
pub fn max_pool(x: &Tensor, window: ConvGeometry, context: Context) -> Result<Tensor> {
    check_pool(x, window)?;
    Ok(record(
        &[x],
        false,
        context.backend.max_pool(x, window, context.grad)?,
    ))
}

/// Every position covers a pixel, and an index into the window fits a byte.
fn check_pool(x: &Tensor, window: ConvGeometry) -> Result<()> {
    let (_, height, width, _) = x.dims4()?;
    if 2 * window.padding > window.size || window.size > 16 {
        candle_core::bail!("{window:?} cannot be used for pooling");
    }
    window
        .output_size(height)
        .and(window.output_size(width))
        .map(drop)
}

/// `activation((x - mean) / √(variance + 1e-5) · weight + bias)` for each channel of
/// `[…, channels]`, as `torch.nn.BatchNorm2d`. If gradients are enabled, mean and variance
/// (biased) are the batch's, which also update the running ones; otherwise they are the running
/// ones.
pub fn batch_norm(
    x: &Tensor,
    norm: BatchNorm<'_>,
    activation: Option<Activation>,
    context: Context,
) -> Result<Tensor> {
    let BatchNorm {
        weight,
        bias,
        running_mean,
        running_variance,
    } = norm;
    let channels = x.dims().last().copied().unwrap_or_default();
    if channels == 0
        || [weight, bias, running_mean, running_variance]
            .iter()
            .any(|parameter| parameter.len() != channels)
    {
        candle_core::bail!(
            "a batch normalization of {} channels does not fit {:?}",
            weight.len(),
            x.shape()
        );
    }
    if context.grad == GradMode::Enabled && x.elem_count() / channels < 2 {
        candle_core::bail!("a batch of one element per channel has no variance");
    }
    Ok(record(
        &[x],
        true,
        context
            .backend
            .batch_norm(x, norm, activation, context.grad)?,
    ))
}

/// The convolution (cross-correlation, as `torch.nn.Conv2d`) of `x`
/// `[batch, height, width, channels]` with `weight` `[out, in, size, size]`, plus `bias` if
/// there is one.
pub fn conv2d(
    x: &Tensor,
    weight: &Parameter,
    bias: Option<&Parameter>,
    stride: usize,
    padding: usize,
    context: Context,
) -> Result<Tensor> {
    convolve(x, weight, bias, (stride, padding), (false, false), context)
}

/// `relu(max_pool(conv2d(x, weight, bias)))`, with stride 1 and 2x2 pooling, or the same without
/// `ReLU`: the full-size output of the convolution is never stored.
pub fn conv2d_max_pool(
    x: &Tensor,
    weight: &Parameter,
    bias: Option<&Parameter>,
    padding: usize,
    relu: bool,
    context: Context,
) -> Result<Tensor> {
    convolve(x, weight, bias, (1, padding), (true, relu), context)
}

fn convolve(
    x: &Tensor,
    weight: &Parameter,
    bias: Option<&Parameter>,
    (stride, padding): (usize, usize),
    (pool, relu): (bool, bool),
    context: Context,
) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    let (outputs, inputs, size, kernel_width) = weight.tensor().dims4()?;
    let window = ConvGeometry {
        size,
        stride,
        padding,
    };
    let output_side = window.output_size(height.min(width)).unwrap_or_default();
    // An output too small for a single 2x2 window is refused as well.
    let fits =
        channels == inputs && size == kernel_width && output_side >= if pool { 2 } else { 1 };
    if !fits || bias.is_some_and(|bias| bias.len() != outputs) {
        candle_core::bail!(
            "a {size}x{kernel_width} convolution of {inputs} channels does not fit {:?}",
            x.shape()
        );
    }
    Ok(record(
        &[x],
        true,
        context.backend.conv2d(
            x,
            Conv2d {
                weight,
                bias,
                window,
                pool,
                relu,
            },
            context,
        )?,
    ))
}

/// Two numbers: the cross-entropy (nats) of `logits` `[n, classes]` against the classes in `labels`
/// (`[n]`, u8), summed and divided by `batch`, and the count of rows whose largest logit is at the
/// label. `batch` is `n` for a whole batch and the batch's size for a micro-batch of it, so that
/// the losses and gradients of its micro-batches add up to the batch's mean.
///
/// With `smoothing` above 0 the target of a row is `1 - smoothing` at its label plus
/// `smoothing / classes` everywhere (Szegedy et al. 2016;
/// `torch.nn.CrossEntropyLoss(label_smoothing=…)`).
///
/// `backward` may be called on the output as it is: the count is a constant.
pub fn cross_entropy(
    logits: &Tensor,
    labels: &Tensor,
    batch: usize,
    smoothing: f32,
    context: Context,
) -> Result<Tensor> {
    let (rows, _) = logits.dims2()?;
    if labels.dims() != [rows] {
        candle_core::bail!(
            "labels of shape {:?} do not fit logits {:?}",
            labels.shape(),
            logits.shape()
        );
    }
    Ok(record(
        &[logits],
        false,
        context
            .backend
            .cross_entropy(logits, labels, batch, smoothing, context.grad)?,
    ))
}

/// Inverted dropout (Srivastava et al. 2014): sets each element to 0 with this probability (0 ≤ p <
/// 1) and multiplies the others by `1 / (1 - p)`.
pub fn dropout(
    x: &Tensor,
    probability: f32,
    random: &mut Random,
    context: Context,
) -> Result<Tensor> {
    Ok(record(
        &[x],
        false,
        context
            .backend
            .dropout(x, DropoutMask::sample(probability, random), context.grad)?,
    ))
}

/// `[batch, height, width, channels]` to `[batch, channels · height · width]`, the order `PyTorch`
/// flattens in.
pub fn flatten(x: &Tensor, context: Context) -> Result<Tensor> {
    x.dims4()?;
    Ok(record(
        &[x],
        false,
        context.backend.flatten(x, context.grad)?,
    ))
}

/// The mean over everything between batch and channels: `[batch, …, channels]` to
/// `[batch, channels]`.
pub fn global_average_pool(x: &Tensor, context: Context) -> Result<Tensor> {
    if x.rank() < 2 {
        candle_core::bail!("there are no positions to average over in {:?}", x.shape());
    }
    Ok(record(
        &[x],
        false,
        context.backend.global_average_pool(x, context.grad)?,
    ))
}

/// `(x - mean) / √(variance + 1e-5) · weight + bias`, with mean and biased variance over the last
/// dimension of `x`, as `torch.nn.LayerNorm` (Ba et al. 2016).
pub fn layer_norm(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    context: Context,
) -> Result<Tensor> {
    let features = x.dims().last().copied().unwrap_or_default();
    if features == 0 || weight.len() != features || bias.len() != features {
        candle_core::bail!(
            "a layer normalization of {} features does not fit {:?}",
            weight.len(),
            x.shape()
        );
    }
    Ok(record(
        &[x],
        true,
        context.backend.layer_norm(x, weight, bias, context.grad)?,
    ))
}

/// `x weightᵀ + bias`, or `ReLU` of that, from `[batch, in]`; `weight` is `[out, in]`.
pub fn linear(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    relu: bool,
    context: Context,
) -> Result<Tensor> {
    let (_, features) = x.dims2()?;
    let (outputs, inputs) = weight.tensor().dims2()?;
    if features != inputs || bias.len() != outputs {
        candle_core::bail!(
            "a linear layer of {inputs} inputs does not fit {:?}",
            x.shape()
        );
    }
    Ok(record(
        &[x],
        true,
        context.backend.linear(x, weight, bias, relu, context)?,
    ))
}

/// `x` in another shape with as many elements; both share their memory.
pub fn reshape(x: &Tensor, shape: impl Into<Shape>, context: Context) -> Result<Tensor> {
    let before = x.shape().clone();
    let output = x.reshape(shape.into())?;
    let backward =
        move |gradient: &Tensor, _: &[bool]| Ok(Gradients::input(Some(gradient.reshape(before)?)));
    Ok(record(
        &[x],
        false,
        Output::new(output, context.grad, backward),
    ))
}
