//! The end of a residual block: the sum of two branches, then an activation.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::activation::{apply, apply_derivative};
use super::microkernels::Scratch;
use super::{CHUNK, tensor, to_vec, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output};
use crate::profiler::RecordedIterator;
use crate::run_config::Activation;

/// See [`crate::nn::ops::add`].
pub fn add(
    a: &Tensor,
    b: &Tensor,
    activation: Option<Activation>,
    grad: GradMode,
) -> Result<Output> {
    let mut sums = vec![0.0; a.elem_count()];
    with_slices([a, b], |[a, b]| {
        let chunks = sums
            .par_chunks_mut(CHUNK)
            .zip(a.par_chunks(CHUNK))
            .zip(b.par_chunks(CHUNK));
        chunks.for_each_recorded(|((sums, a), b)| {
            sum_into(sums, a, b);
            if let Some(activation) = activation {
                apply(activation, sums);
            }
        });
    })?;
    let (a, b) = (a.clone(), b.clone());
    Ok(Output::new(
        tensor(sums, a.shape())?,
        grad,
        move |gradient, needed| {
            let gradient = match activation {
                None => gradient.clone(),
                Some(activation) => before_activation(&a, &b, activation, gradient)?,
            };
            Ok(Gradients {
                inputs: needed
                    .iter()
                    .map(|needed| needed.then(|| gradient.clone()))
                    .collect(),
                parameters: Vec::new(),
            })
        },
    ))
}

/// The gradient of `a + b` from that of its activation.
fn before_activation(
    a: &Tensor,
    b: &Tensor,
    activation: Activation,
    gradient: &Tensor,
) -> Result<Tensor> {
    let mut values = to_vec(gradient)?;
    with_slices([a, b], |[a, b]| {
        let chunks = values
            .par_chunks_mut(CHUNK)
            .zip(a.par_chunks(CHUNK))
            .zip(b.par_chunks(CHUNK));
        chunks.for_each_recorded(|((values, a), b)| {
            let mut sums = Scratch::new(values.len());
            sum_into(&mut sums, a, b);
            apply_derivative(activation, &sums, values);
        });
    })?;
    tensor(values, a.shape())
}

/// `sums = a + b`.
fn sum_into(sums: &mut [f32], a: &[f32], b: &[f32]) {
    vectorized!(
        sums.iter_mut()
            .zip(a)
            .zip(b)
            .for_each(|((sum, a), b)| *sum = a + b)
    );
}
