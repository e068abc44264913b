//! Owns every op as a composition of candle's own, for devices that have no kernels of ours. Gradients come from candle's graph, so only
//! ops are used whose gradients are right on every device: no `max_pool2d`, no `conv2d`, no `relu` and no `maximum` (half a
//! gradient to each of equal values). Products are f32 whatever the precision. Must not know models.

mod loss;
mod norm;
mod slide;

use candle_core::{D, Result, Tensor};

pub use loss::cross_entropy;
pub use norm::{batch_norm, layer_norm, moments};
pub use slide::{average_pool, conv2d, max_pool};

use crate::run_config::Activation;

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

/// `super::linear`.
pub fn linear(x: &Tensor, weight: &Tensor, bias: &Tensor, relu: bool) -> Result<Tensor> {
    perhaps(&x.matmul(&weight.t()?)?.broadcast_add(bias)?, relu.then_some(Activation::Relu))
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
pub fn attention(qkv: &Tensor, heads: usize) -> Result<Tensor> {
    let (batch, tokens, width) = qkv.dims3()?;
    let depth = width / (3 * heads);
    let parts = qkv.reshape((batch, tokens, 3, heads, depth))?.permute((2, 0, 3, 1, 4))?;
    let part = |index: usize| parts.narrow(0, index, 1)?.squeeze(0)?.contiguous();
    let scores = (part(0)?.matmul(&part(1)?.t()?.contiguous()?)? * (1.0 / (depth as f64).sqrt()))?;
    let mixed = softmax(&scores)?.matmul(&part(2)?)?;
    mixed.transpose(1, 2)?.contiguous()?.reshape((batch, tokens, heads * depth))
}

/// The softmax of every row.
fn softmax(x: &Tensor) -> Result<Tensor> {
    let exponentials = x.broadcast_sub(&x.detach().max_keepdim(D::Minus1)?)?.exp()?;
    exponentials.broadcast_div(&exponentials.sum_keepdim(D::Minus1)?)
}
