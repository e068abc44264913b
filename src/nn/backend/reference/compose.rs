//! The ops themselves, on tensors of candle's graph; shapes, layouts and meaning as in
//! [`crate::nn::ops`].

use candle_core::{D, Result, Tensor};

pub use super::loss::cross_entropy;
pub use super::norm::{batch_norm, layer_norm, moments};
use super::product;
pub use super::sliding_window::{average_pool, conv2d, max_pool};
use crate::run_config::{Activation, Precision};

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
    perhaps(&(a + b)?, activation)
}

/// The activation, if there is one.
pub(super) fn perhaps(x: &Tensor, activation: Option<Activation>) -> Result<Tensor> {
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
    perhaps(
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
