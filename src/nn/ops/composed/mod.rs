//! Owns every op as a composition of candle's own, for devices that have no kernels of ours. Gradients come from candle's graph, so only
//! ops are used whose gradients are right on every device: no `max_pool2d`, no `conv2d`, no `relu` and no `maximum` (half a
//! gradient to each of equal values). Must not know models.

mod loss;
mod norm;
mod slide;

use candle_core::{D, DType, Result, Tensor};

pub use loss::cross_entropy;
pub use norm::{batch_norm, layer_norm, moments};
pub use slide::{average_pool, conv2d, max_pool};

use crate::run_config::{Activation, Precision};

/// `super::activate`.
pub fn activate(x: &Tensor, activation: Activation) -> Result<Tensor> {
    match activation {
        Activation::Relu => x.le(0.0)?.where_cond(&x.zeros_like()?, x),
        Activation::LeakyRelu => x.le(0.0)?.where_cond(&(x * 0.01)?, x),
        Activation::Gelu => x.gelu_erf(),
        Activation::Silu => x.silu(),
        Activation::Tanh => x.tanh(),
    }
}

/// `super::add`.
pub fn add(a: &Tensor, b: &Tensor, activation: Option<Activation>) -> Result<Tensor> {
    perhaps(&(a + b)?, activation)
}

/// The activation, if there is one.
fn perhaps(x: &Tensor, activation: Option<Activation>) -> Result<Tensor> {
    activation.map_or_else(|| Ok(x.clone()), |activation| activate(x, activation))
}

/// A matrix product of operands in this number format; what comes out is f32.
fn product(a: &Tensor, b: &Tensor, precision: Precision) -> Result<Tensor> {
    let format = match precision {
        Precision::F32 | Precision::Tf32 => return a.matmul(b),
        Precision::Bf16 => DType::BF16,
        Precision::F16 => DType::F16,
    };
    a.to_dtype(format)?.matmul(&b.to_dtype(format)?)?.to_dtype(DType::F32)
}

/// `super::linear`.
pub fn linear(x: &Tensor, weight: &Tensor, bias: &Tensor, relu: bool, precision: Precision) -> Result<Tensor> {
    perhaps(&product(x, &weight.t()?, precision)?.broadcast_add(bias)?, relu.then_some(Activation::Relu))
}

/// `super::flatten`.
pub fn flatten(x: &Tensor) -> Result<Tensor> {
    x.permute((0, 3, 1, 2))?.contiguous()?.flatten_from(1)
}

/// `super::global_average_pool`.
pub fn global_average_pool(x: &Tensor) -> Result<Tensor> {
    let last = x.rank().saturating_sub(2);
    if last > 1 { x.flatten(1, last)?.mean(1) } else { x.mean(1) }
}

/// `super::attention`.
pub fn attention(qkv: &Tensor, heads: usize, precision: Precision) -> Result<Tensor> {
    let (batch, tokens, width) = qkv.dims3()?;
    let depth = width / (3 * heads);
    let parts = qkv.reshape((batch, tokens, 3, heads, depth))?.permute((2, 0, 3, 1, 4))?;
    let part = |index: usize| parts.narrow(0, index, 1)?.squeeze(0)?.contiguous();
    let scores = (product(&part(0)?, &part(1)?.t()?.contiguous()?, precision)? * (1.0 / (depth as f64).sqrt()))?;
    let mixed = product(&softmax(&scores)?, &part(2)?, precision)?;
    mixed.transpose(1, 2)?.contiguous()?.reshape((batch, tokens, heads * depth))
}

/// The softmax of every row.
fn softmax(x: &Tensor) -> Result<Tensor> {
    let exponentials = x.broadcast_sub(&x.detach().max_keepdim(D::Minus1)?)?.exp()?;
    exponentials.broadcast_div(&exponentials.sum_keepdim(D::Minus1)?)
}
