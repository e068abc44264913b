//! The nonlinearities between layers, and their derivatives.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::elementary::{logistic, normal, tanh};
use super::{CHUNK, tensor, to_vec, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output};
use crate::profiler::RecordedIterator;
use crate::run_config::Activation;

/// The slope of leaky `ReLU` below zero: `torch.nn.LeakyReLU`'s.
const LEAK: f32 = 0.01;

/// See [`crate::nn::ops::activate`].
pub fn activate(x: &Tensor, activation: Activation, grad: GradMode) -> Result<Output> {
    let mut values = to_vec(x)?;
    values
        .par_chunks_mut(CHUNK)
        .for_each_recorded(|values| apply(activation, values));
    let x = x.clone();
    Ok(Output::new(
        tensor(values, x.shape())?,
        grad,
        move |gradient, _| {
            let mut values = to_vec(gradient)?;
            with_slices([&x], |[x]| {
                x.par_chunks(CHUNK)
                    .zip(values.par_chunks_mut(CHUNK))
                    .for_each_recorded(|(x, values)| apply_derivative(activation, x, values));
            })?;
            Ok(Gradients::input(Some(tensor(values, x.shape())?)))
        },
    ))
}

/// Replaces every element by its activation.
pub fn apply(activation: Activation, values: &mut [f32]) {
    vectorized!(match activation {
        Activation::Relu => values
            .iter_mut()
            .for_each(|x| *x = if *x <= 0.0 { 0.0 } else { *x }),
        Activation::LeakyRelu => values
            .iter_mut()
            .for_each(|x| *x = if *x <= 0.0 { LEAK * *x } else { *x }),
        Activation::Gelu => values.iter_mut().for_each(|x| *x *= normal(*x).0),
        Activation::Silu => values.iter_mut().for_each(|x| *x *= logistic(*x)),
        Activation::Tanh => values.iter_mut().for_each(|x| *x = tanh(*x)),
    });
}

/// Multiplies each gradient of an output by the activation's derivative at its input `x`. At 0,
/// `ReLU` and its leaky form have the derivative from below.
pub fn apply_derivative(activation: Activation, x: &[f32], gradient: &mut [f32]) {
    let pairs = x.iter().zip(gradient);
    vectorized!(match activation {
        Activation::Relu => pairs.for_each(|(&x, g)| *g = if x <= 0.0 { 0.0 } else { *g }),
        Activation::LeakyRelu =>
            pairs.for_each(|(&x, g)| *g = if x <= 0.0 { LEAK * *g } else { *g }),
        Activation::Gelu => pairs.for_each(|(&x, g)| {
            let (share, density) = normal(x);
            *g *= share + x * density;
        }),
        Activation::Silu => pairs.for_each(|(&x, g)| {
            let share = logistic(x);
            *g *= share * (1.0 + x * (1.0 - share));
        }),
        Activation::Tanh => pairs.for_each(|(&x, g)| {
            let y = tanh(x);
            *g *= 1.0 - y * y;
        }),
    });
}
