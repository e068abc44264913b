//! Owns who computes an op outside the processor: kernels of ours where there are some for the device, else candle's ops put together.
//! Must not know how either does it. The shapes of what is given are known to fit.

use candle_core::{Result, Tensor};

use super::batch_norm::{EPSILON, MOMENTUM};
#[cfg(feature = "cuda")]
use super::cuda;
use super::dropout::Draw;
use super::layer_norm::EPSILON as LAYER_EPSILON;
use super::{BatchNorm, Context, Gradient, Kernel, Kernels, composed};
use crate::nn::Parameter;
use crate::run_config::Activation;

/// Leaves the function with what our kernels for NVIDIA GPUs compute, where they do.
#[cfg(feature = "cuda")]
macro_rules! by_cuda {
    ($kernels:expr, $call:expr) => {
        if $kernels == Kernels::Cuda {
            return $call;
        }
    };
}
/// This program has no such kernels.
#[cfg(not(feature = "cuda"))]
macro_rules! by_cuda {
    ($kernels:expr, $call:expr) => {
        debug_assert_ne!($kernels, Kernels::Cuda);
    };
}

pub fn activate(x: &Tensor, activation: Activation, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::activate(x, None, Some(activation), context));
    composed::activate(x, activation)
}

pub fn add(a: &Tensor, b: &Tensor, activation: Option<Activation>, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::activate(a, Some(b), activation, context));
    composed::add(a, b, activation)
}

pub fn add_positions(x: &Tensor, embedding: &Parameter, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::add_positions(x, embedding, context));
    x.broadcast_add(embedding.tracked())
}

pub fn attention(qkv: &Tensor, heads: usize, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::attention(qkv, heads, context));
    composed::attention(qkv, heads, context.precision)
}

pub fn batch_norm(x: &Tensor, norm: BatchNorm<'_>, activation: Option<Activation>, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::batch_norm(x, norm, activation, context));
    let BatchNorm { weight, bias, running_mean, running_variance } = norm;
    let [mean, variance] = match context.gradient {
        Gradient::None => [running_mean, running_variance].map(Parameter::tensor),
        Gradient::Kept => {
            let [mean, variance] = composed::moments(x)?;
            let count = (x.elem_count() / weight.len()) as f64;
            let unbiased = (variance.detach() * (count / (count - 1.0)))?;
            for (running, batch) in [(running_mean, mean.detach()), (running_variance, unbiased)] {
                running.set(&((running.tensor() * (1.0 - MOMENTUM))? + (batch * MOMENTUM)?)?)?;
            }
            [mean, variance]
        }
    };
    composed::batch_norm(x, [&mean, &variance], weight.tracked(), bias.tracked(), EPSILON, activation)
}

pub fn conv2d(x: &Tensor, weight: &Parameter, bias: Option<&Parameter>, kernel: Kernel, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::convolution(x, weight, bias, kernel, cuda::After::Nothing, context));
    composed::conv2d(x, weight.tracked(), bias.map(Parameter::tracked), kernel.stride, kernel.padding, context.precision)
}

pub fn conv_pool(x: &Tensor, weight: &Parameter, bias: Option<&Parameter>, kernel: Kernel, relu: bool, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::convolution(x, weight, bias, kernel, cuda::After::Pool { relu }, context));
    let sums = composed::conv2d(x, weight.tracked(), bias.map(Parameter::tracked), 1, kernel.padding, context.precision)?;
    let pooled = composed::max_pool(&sums, Kernel { size: 2, stride: 2, padding: 0 })?;
    if relu { composed::activate(&pooled, Activation::Relu) } else { Ok(pooled) }
}

/// `one_hot` has a 1 at each row's label.
pub fn cross_entropy(logits: &Tensor, one_hot: &Tensor, batch: usize, smoothing: f32, kernels: Kernels) -> Result<Tensor> {
    by_cuda!(kernels, cuda::cross_entropy(logits, one_hot, batch, smoothing));
    composed::cross_entropy(logits, one_hot, batch, smoothing)
}

pub fn dropout(x: &Tensor, draw: Draw, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::dropout(x, draw, context));
    x * Tensor::from_vec(draw.factors(x.elem_count()), x.shape(), x.device())?
}

pub fn flatten(x: &Tensor, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::flatten(x, context));
    composed::flatten(x)
}

pub fn global_average_pool(x: &Tensor, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::global_average_pool(x, context));
    composed::global_average_pool(x)
}

pub fn layer_norm(x: &Tensor, weight: &Parameter, bias: &Parameter, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::layer_norm(x, weight, bias, context));
    composed::layer_norm(x, weight.tracked(), bias.tracked(), f64::from(LAYER_EPSILON))
}

pub fn linear(x: &Tensor, weight: &Parameter, bias: &Parameter, relu: bool, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::linear(x, weight, bias, relu, context));
    composed::linear(x, weight.tracked(), bias.tracked(), relu, context.precision)
}

pub fn max_pool(x: &Tensor, kernel: Kernel, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::through(x, context, |x| composed::max_pool(x, kernel)));
    composed::max_pool(x, kernel)
}

pub fn average_pool(x: &Tensor, kernel: Kernel, context: Context) -> Result<Tensor> {
    by_cuda!(context.kernels, cuda::through(x, context, |x| composed::average_pool(x, kernel)));
    composed::average_pool(x, kernel)
}
