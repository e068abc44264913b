//! The average over all positions of an image, or over all tokens of a sequence.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{tensor, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output};
use crate::profiler::RecordedIterator;

/// See [`crate::nn::ops::global_average_pool`].
pub fn global_average_pool(x: &Tensor, grad: GradMode) -> Result<Output> {
    let [batch, between @ .., channels] = x.dims() else {
        candle_core::bail!("{:?} has no channels", x.shape())
    };
    let (batch, positions, channels, shape) = (
        *batch,
        between.iter().product::<usize>(),
        *channels,
        x.shape().clone(),
    );
    let (len, scale) = (positions * channels, 1.0 / positions as f32);
    let mut means = vec![0.0_f32; batch * channels];
    with_slices([x], |[x]| {
        x.par_chunks(len)
            .zip(means.par_chunks_mut(channels))
            .for_each_recorded(|(image, means)| {
                vectorized!({
                    for pixel in image.chunks_exact(channels) {
                        means
                            .iter_mut()
                            .zip(pixel)
                            .for_each(|(sum, value)| *sum += value);
                    }
                    for sum in means {
                        *sum *= scale;
                    }
                });
            });
    })?;
    Ok(Output::new(
        tensor(means, (batch, channels))?,
        grad,
        move |gradient, _| {
            let mut values = vec![0.0; batch * len];
            with_slices([gradient], |[gradient]| {
                values
                    .par_chunks_mut(len)
                    .zip(gradient.par_chunks(channels))
                    .for_each_recorded(|(image, gradient)| {
                        vectorized!({
                            for pixel in image.chunks_exact_mut(channels) {
                                pixel
                                    .iter_mut()
                                    .zip(gradient)
                                    .for_each(|(value, g)| *value = scale * g);
                            }
                        });
                    });
            })?;
            Ok(Gradients::input(Some(tensor(values, shape)?)))
        },
    ))
}
