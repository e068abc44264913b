//! Normalisations, from means.

use candle_core::{D, Result, Tensor};

use super::compose::perhaps;
use crate::nn::ops::BatchNorm;
use crate::run_config::Activation;

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
    perhaps(
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

/// `ops::layer_norm`.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f64) -> Result<Tensor> {
    let centered = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
    let variance = centered.sqr()?.mean_keepdim(D::Minus1)?;
    let normalized = centered.broadcast_div(&(variance + epsilon)?.sqrt()?)?;
    normalized.broadcast_mul(weight)?.broadcast_add(bias)
}
