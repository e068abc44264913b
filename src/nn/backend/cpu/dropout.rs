//! Inverted dropout.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{CHUNK, tensor, with_slices};
use crate::math::random::Random;
use crate::nn::autograd::Gradients;
use crate::nn::ops::DropoutMask;
use crate::nn::{GradMode, Output};
use crate::profiler::RecordedIterator;

/// See [`crate::nn::ops::dropout`].
pub fn dropout(x: &Tensor, mask: DropoutMask, grad: GradMode) -> Result<Output> {
    let factors = factors(mask, x.elem_count());
    let output = multiply(x, &factors)?;
    Ok(Output::new(output, grad, move |gradient, _| {
        Ok(Gradients::input(Some(multiply(gradient, &factors)?)))
    }))
}

/// What each of this many elements is multiplied by.
pub fn factors(mask: DropoutMask, count: usize) -> Vec<f32> {
    let DropoutMask {
        seed,
        threshold,
        scale,
    } = mask;
    let mut factors = vec![scale; count];
    factors
        .par_chunks_mut(CHUNK)
        .enumerate()
        .for_each_recorded(|(chunk, factors)| {
            for (index, four) in (chunk * CHUNK / 4..).zip(factors.chunks_mut(4)) {
                let bits = Random::at(seed, index as u64);
                for (factor, shift) in four.iter_mut().zip([0, 16, 32, 48]) {
                    *factor = if (bits >> shift & 0xffff) < u64::from(threshold) {
                        0.0
                    } else {
                        scale
                    };
                }
            }
        });
    factors
}

fn multiply(x: &Tensor, factors: &[f32]) -> Result<Tensor> {
    let mut result = vec![0.0; factors.len()];
    with_slices([x], |[x]| {
        let chunks = result
            .par_chunks_mut(CHUNK)
            .zip(x.par_chunks(CHUNK))
            .zip(factors.par_chunks(CHUNK));
        chunks.for_each_recorded(|((result, x), factors)| {
            result
                .iter_mut()
                .zip(x)
                .zip(factors)
                .for_each(|((result, x), factor)| *result = x * factor);
        });
    })?;
    tensor(result, x.shape())
}
