//! Learned positional embeddings, added to tokens.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{tensor, to_vec, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output, Parameter};
use crate::profiler::RecordedIterator;

/// See [`crate::nn::ops::add_positions`].
pub fn add_positions(x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
    let mut values = to_vec(x)?;
    with_slices([&embedding.tensor()], |[embedding]| {
        values
            .par_chunks_mut(embedding.len().max(1))
            .for_each_recorded(|sequence| {
                vectorized!(
                    sequence
                        .iter_mut()
                        .zip(embedding)
                        .for_each(|(value, position)| *value += position)
                );
            });
    })?;
    let embedding = embedding.clone();
    Ok(Output::new(
        tensor(values, x.shape())?,
        grad,
        move |gradient, needed| {
            with_slices([gradient], |[gradient]| {
                embedding.add_to_grad(|sums| {
                    vectorized!({
                        for sequence in gradient.chunks_exact(sums.len().max(1)) {
                            sums.iter_mut().zip(sequence).for_each(|(sum, g)| *sum += g);
                        }
                    });
                })
            })??;
            Ok(Gradients::input(needed[0].then(|| gradient.clone())))
        },
    ))
}
