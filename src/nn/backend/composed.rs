//! Every op as a composition of candle's own ops, with candle's gradients: what every backend
//! inherits, and what the self-test compares with. Only candle ops are used whose gradients are
//! right on every device: no `max_pool2d`, no `conv2d`, no `relu` and no `maximum` (half a gradient
//! to each of two equal values).
//!
//! Shapes, layouts and meaning are as in [`crate::nn::ops`]. Without gradients, softmax and
//! layer normalization are candle-nn's fused kernels. Its fused attention (`sdpa`, on Metal alone)
//! needs heads of at least 32 features; those of `ModelKind::Attention` have 16. Before a device is
//! used for inference, its results are compared with the CPU's.

use candle_core::{D, DType, Result, Tensor, Var};

use super::{Backend, BackendKind};
use crate::nn::autograd::{Gradients, requires_grad};
use crate::nn::ops::{BatchNorm, ConvGeometry, LAYER_NORM_EPSILON};
use crate::nn::{GradMode, Output, Parameter};
use crate::run_config::{Activation, Precision};

/// A device without kernels of ours: Metal.
#[derive(Debug)]
pub struct Composed;

impl Backend for Composed {
    fn kind(&self) -> BackendKind {
        BackendKind::Composed
    }
}

/// `op` of inputs and parameters, with the backward pass that candle derives: candle's graph covers
/// this op alone.
pub(super) fn differentiate(
    inputs: &[&Tensor],
    parameters: &[&Parameter],
    grad: GradMode,
    op: impl FnOnce(&[Tensor], &[Tensor]) -> Result<Tensor>,
) -> Result<Output> {
    if grad == GradMode::Disabled {
        let inputs: Vec<Tensor> = inputs.iter().map(|&input| input.clone()).collect();
        let parameters: Vec<Tensor> = parameters
            .iter()
            .map(|parameter| parameter.tensor())
            .collect();
        return Ok(Output::constant(op(&inputs, &parameters)?));
    }
    // Inputs that need no gradient stay outside candle's graph.
    let leaves = inputs.iter().map(|input| {
        if requires_grad(input) {
            Ok(Var::from_tensor(input)?.into_inner())
        } else {
            Ok((*input).clone())
        }
    });
    let leaves = leaves.collect::<Result<Vec<_>>>()?;
    let parameters: Vec<Parameter> = parameters
        .iter()
        .map(|&parameter| parameter.clone())
        .collect();
    let variables: Vec<Tensor> = parameters
        .iter()
        .map(|parameter| parameter.var().clone())
        .collect();
    let computed = op(&leaves, &variables)?;
    Ok(Output::new(computed.detach(), grad, move |gradient, _| {
        let gradients = (computed * gradient)?.sum_all()?.backward()?;
        let of_parameters = parameters.into_iter().zip(&variables);
        Ok(Gradients {
            inputs: leaves
                .iter()
                .map(|leaf| gradients.get(leaf).map(Tensor::detach))
                .collect(),
            parameters: of_parameters
                .filter_map(|(parameter, var)| Some((parameter, gradients.get(var)?.detach())))
                .collect(),
        })
    }))
}

/// `ops::activate`.
pub fn activate(x: &Tensor, activation: Activation) -> Result<Tensor> {
    match activation {
        Activation::Relu => x.le(0.0)?.where_cond(&x.zeros_like()?, x),
        Activation::LeakyRelu => x.le(0.0)?.where_cond(&(x * 0.01)?, x),
        Activation::Gelu => x.gelu_erf(),
        Activation::Silu => x.silu(),
        Activation::Tanh => x.tanh(),
    }
}

/// `ops::add`.
pub fn add(a: &Tensor, b: &Tensor, activation: Option<Activation>) -> Result<Tensor> {
    activate_if_some(&(a + b)?, activation)
}

/// The activation, if there is one.
pub fn activate_if_some(x: &Tensor, activation: Option<Activation>) -> Result<Tensor> {
    activation.map_or_else(|| Ok(x.clone()), |activation| activate(x, activation))
}

/// `ops::linear`.
pub fn linear(
    x: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    relu: bool,
    precision: Precision,
) -> Result<Tensor> {
    activate_if_some(
        &product(x, &weight.t()?, precision)?.broadcast_add(bias)?,
        relu.then_some(Activation::Relu),
    )
}

/// `ops::flatten`.
pub fn flatten(x: &Tensor) -> Result<Tensor> {
    x.permute((0, 3, 1, 2))?.contiguous()?.flatten_from(1)
}

/// `ops::global_average_pool`.
pub fn global_average_pool(x: &Tensor) -> Result<Tensor> {
    let last = x.rank().saturating_sub(2);
    if last > 1 {
        x.flatten(1, last)?.mean(1)
    } else {
        x.mean(1)
    }
}

/// `ops::attention`, with this softmax of rows.
pub fn attention(
    qkv: &Tensor,
    heads: usize,
    precision: Precision,
    softmax: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let (batch, tokens, width) = qkv.dims3()?;
    let depth = width / (3 * heads);
    let parts = qkv
        .reshape((batch, tokens, 3, heads, depth))?
        .permute((2, 0, 3, 1, 4))?;
    let part = |index: usize| parts.narrow(0, index, 1)?.squeeze(0)?.contiguous();
    let scores = (product(&part(0)?, &part(1)?.t()?.contiguous()?, precision)?
        * (1.0 / (depth as f64).sqrt()))?;
    let mixed = product(&softmax(&scores)?, &part(2)?, precision)?;
    mixed
        .transpose(1, 2)?
        .contiguous()?
        .reshape((batch, tokens, heads * depth))
}

/// The softmax of every row.
pub fn softmax(x: &Tensor) -> Result<Tensor> {
    let exponentials = x
        .broadcast_sub(&x.detach().max_keepdim(D::Minus1)?)?
        .exp()?;
    exponentials.broadcast_div(&exponentials.sum_keepdim(D::Minus1)?)
}

/// The same without a gradient.
pub fn fused_softmax(x: &Tensor) -> Result<Tensor> {
    candle_nn::ops::softmax_last_dim(x)
}

/// `ops::conv2d`: for each pixel of the kernel a slice of the image; all slices side by side are
/// the rows of a matrix multiplication (im2col).
pub fn conv2d(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    window: ConvGeometry,
    precision: Precision,
) -> Result<Tensor> {
    let (outputs, inputs, size, _) = weight.dims4()?;
    let slices = slices(x, window, 0.0)?;
    let (batch, height, width, _) = slices.first().map_or_else(|| x.dims4(), Tensor::dims4)?;
    let rows = Tensor::cat(&slices, 3)?.reshape((batch * height * width, size * size * inputs))?;
    let weight = weight
        .permute((2, 3, 1, 0))?
        .contiguous()?
        .reshape((size * size * inputs, outputs))?;
    let output = product(&rows, &weight, precision)?.reshape((batch, height, width, outputs))?;
    bias.map_or_else(|| Ok(output.clone()), |bias| output.broadcast_add(bias))
}

/// `ops::max_pool`: of equal values the first keeps the whole gradient.
pub fn max_pool(x: &Tensor, window: ConvGeometry) -> Result<Tensor> {
    let slices = slices(x, window, f64::NEG_INFINITY)?;
    let Some((first, rest)) = slices.split_first() else {
        candle_core::bail!("{window:?} covers nothing")
    };
    rest.iter().try_fold(first.clone(), |best, slice| {
        // NaN is unequal to itself and larger than everything else here.
        let better = (slice.gt(&best)? + slice.ne(slice)?)?;
        better.where_cond(slice, &best)
    })
}

/// `ops::average_pool`.
pub fn average_pool(x: &Tensor, window: ConvGeometry) -> Result<Tensor> {
    let slices = slices(x, window, 0.0)?;
    let Some((first, rest)) = slices.split_first() else {
        candle_core::bail!("{window:?} covers nothing")
    };
    let sum = rest
        .iter()
        .try_fold(first.clone(), |sum, slice| sum + slice)?;
    sum * (1.0 / (window.size * window.size) as f64)
}

/// For each pixel of the window, in reading order, the image's pixels under it at every position.
fn slices(x: &Tensor, window: ConvGeometry, outside: f64) -> Result<Vec<Tensor>> {
    let (_, height, width, _) = x.dims4()?;
    let (rows, cols) = (window.output_size(height)?, window.output_size(width)?);
    let padded = pad(&pad(x, 1, window, outside)?, 2, window, outside)?;
    let pixels =
        (0..window.size * window.size).map(|index| (index / window.size, index % window.size));
    pixels
        .map(|(y, x)| {
            every(
                &every(&padded, 1, y, rows, window.stride)?,
                2,
                x,
                cols,
                window.stride,
            )
        })
        .collect()
}

/// The window's padding, and at the end enough more for `every` to take whole strides.
fn pad(x: &Tensor, dim: usize, window: ConvGeometry, outside: f64) -> Result<Tensor> {
    let border = |pixels: usize| {
        let mut shape = x.dims().to_vec();
        shape[dim] = pixels;
        Tensor::full(outside as f32, shape, x.device())
    };
    match (window.padding, window.padding + window.stride - 1) {
        (0, 0) => Ok(x.clone()),
        (0, after) => Tensor::cat(&[x, &border(after)?], dim),
        (before, after) => Tensor::cat(&[&border(before)?, x, &border(after)?], dim),
    }
}

/// `count` slices of `dim` from `start` on, a stride apart.
fn every(x: &Tensor, dim: usize, start: usize, count: usize, stride: usize) -> Result<Tensor> {
    let run = x.narrow(dim, start, count * stride)?;
    if stride == 1 {
        return Ok(run);
    }
    let mut shape = run.dims().to_vec();
    shape[dim] = count;
    shape.insert(dim + 1, stride);
    run.reshape(shape)?.narrow(dim + 1, 0, 1)?.squeeze(dim + 1)
}

/// `(x - mean) / √(variance + ε) · weight + bias`, then the activation, with a mean and a variance
/// for each channel of the last dimension.
pub fn batch_norm(
    x: &Tensor,
    [mean, variance]: [&Tensor; 2],
    weight: &Tensor,
    bias: &Tensor,
    activation: Option<Activation>,
) -> Result<Tensor> {
    let normalized = x
        .broadcast_sub(mean)?
        .broadcast_div(&(variance + BatchNorm::EPSILON)?.sqrt()?)?;
    activate_if_some(
        &normalized.broadcast_mul(weight)?.broadcast_add(bias)?,
        activation,
    )
}

/// Mean and biased variance of each channel of the last dimension, as part of the graph.
pub fn moments(x: &Tensor) -> Result<[Tensor; 2]> {
    let channels = x.dim(D::Minus1)?;
    let rows = x.reshape(((), channels))?;
    let mean = rows.mean(0)?;
    let variance = rows.broadcast_sub(&mean)?.sqr()?.mean(0)?;
    Ok([mean, variance])
}

/// Adds the statistics of a batch to the running ones.
pub(super) fn update_running_statistics(x: &Tensor, norm: BatchNorm<'_>) -> Result<()> {
    let [mean, variance] = moments(&x.detach())?;
    let count = (x.elem_count() / norm.weight.len()) as f64;
    let unbiased = (variance * (count / (count - 1.0)))?;
    for (running, batch) in [(norm.running_mean, mean), (norm.running_variance, unbiased)] {
        let kept = (running.tensor() * (1.0 - BatchNorm::MOMENTUM))?;
        running.set(&(kept + (batch * BatchNorm::MOMENTUM)?)?)?;
    }
    Ok(())
}

/// `ops::layer_norm`.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> Result<Tensor> {
    let centered = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
    let variance = centered.sqr()?.mean_keepdim(D::Minus1)?;
    let normalized = centered.broadcast_div(&(variance + f64::from(epsilon))?.sqrt()?)?;
    normalized.broadcast_mul(weight)?.broadcast_add(bias)
}

/// The same without a gradient.
pub fn fused_layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
    candle_nn::ops::layer_norm(&x.contiguous()?, weight, bias, LAYER_NORM_EPSILON)
}

/// `ops::cross_entropy`, from exponentials and a one-hot target. Nothing is read back from the
/// device.
pub fn cross_entropy(
    logits: &Tensor,
    labels: &Tensor,
    batch: usize,
    smoothing: f32,
) -> Result<Tensor> {
    let classes = logits.dim(D::Minus1)?;
    let labels = labels.to_dtype(DType::U32)?.reshape(((), 1))?;
    let every_class =
        Tensor::arange(0_u32, classes as u32, logits.device())?.reshape((1, classes))?;
    let one_hot = labels.broadcast_eq(&every_class)?.to_dtype(DType::F32)?;
    let target = one_hot.affine(
        f64::from(1.0 - smoothing),
        f64::from(smoothing) / classes as f64,
    )?;
    let shifted = logits.broadcast_sub(&logits.detach().max_keepdim(D::Minus1)?)?;
    let log_sum = shifted.exp()?.sum_keepdim(D::Minus1)?.log()?;
    let loss = ((log_sum.broadcast_sub(&shifted)? * target)?.sum_all()? / batch as f64)?;
    let predictions = logits.detach().argmax_keepdim(D::Minus1)?;
    let correct = predictions.eq(&labels)?.to_dtype(DType::F32)?.sum_all()?;
    Tensor::cat(&[loss.reshape(1)?, correct.reshape(1)?], 0)
}

/// A matrix multiplication of operands in this precision; the output is f32.
fn product(a: &Tensor, b: &Tensor, precision: Precision) -> Result<Tensor> {
    let format = match precision {
        Precision::F32 | Precision::Tf32 => return a.matmul(b),
        Precision::Bf16 => DType::BF16,
        Precision::F16 => DType::F16,
    };
    a.to_dtype(format)?
        .matmul(&b.to_dtype(format)?)?
        .to_dtype(DType::F32)
}
