//! Batch normalisation (Ioffe & Szegedy 2015), with the activation that follows.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::activation::{apply, apply_derivative};
use super::channels::{fold, tile, tile_len};
use super::microkernels::Scratch;
use super::moments::{moments, update_running};
use super::{CHUNK, tensor, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::ops::BatchNorm;
use crate::nn::{GradMode, Output, Parameter};
use crate::profiler::RecordedIterator;
use crate::run_config::Activation;

/// See [`crate::nn::ops::batch_norm`].
pub fn batch_norm(
    x: &Tensor,
    norm: BatchNorm<'_>,
    activation: Option<Activation>,
    grad: GradMode,
) -> Result<Output> {
    let BatchNorm {
        weight,
        bias,
        running_mean,
        running_variance,
    } = norm;
    let channels = weight.len();
    let statistics = match grad {
        GradMode::Enabled => {
            let (mean, variance) = with_slices([x], |[x]| moments(x, channels))?;
            update_running(norm, &mean, &variance, x.elem_count() / channels)?;
            Statistics::new(&mean, &variance)
        }
        GradMode::Disabled => {
            let [mean, variance] = [running_mean, running_variance].map(Parameter::values);
            let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<_>>();
            Statistics::new(&wide(mean?), &wide(variance?))
        }
    };
    let op = Normalize {
        channels,
        statistics,
        activation,
        weight: weight.clone(),
        bias: bias.clone(),
    };
    let output = with_slices(
        [x, &weight.tensor(), &bias.tensor()],
        |[x, weight, bias]| op.forward(x, weight, bias),
    )?;
    let x = x.clone();
    Ok(Output::new(
        tensor(output, x.shape())?,
        grad,
        move |gradient, needed| {
            let values = with_slices(
                [&x, &op.weight.tensor(), &op.bias.tensor(), gradient],
                |[x, weight, bias, gradient]| op.backward(x, weight, bias, gradient),
            )??;
            Ok(Gradients::input(
                needed[0].then(|| tensor(values, x.shape())).transpose()?,
            ))
        },
    ))
}

/// Elements of whole tiles that one task takes.
pub const fn chunk_len(channels: usize) -> usize {
    let tile = tile_len(channels);
    if tile < CHUNK {
        CHUNK / tile * tile
    } else {
        tile
    }
}

/// Mean and inverse standard deviation of each channel.
struct Statistics {
    mean: Vec<f32>,
    inverse: Vec<f32>,
}

impl Statistics {
    fn new(mean: &[f64], variance: &[f64]) -> Self {
        let inverse = variance
            .iter()
            .map(|variance| (1.0 / (variance + BatchNorm::EPSILON).sqrt()) as f32)
            .collect();
        Self {
            mean: mean.iter().map(|&mean| mean as f32).collect(),
            inverse,
        }
    }
}

struct Normalize {
    channels: usize,
    statistics: Statistics,
    activation: Option<Activation>,
    weight: Parameter,
    bias: Parameter,
}

/// `(x - mean) · scale + shift` with tiles of each.
struct Affine {
    mean: Vec<f32>,
    scale: Vec<f32>,
    shift: Vec<f32>,
}

impl Affine {
    fn apply(&self, x: &[f32], result: &mut [f32]) {
        let Self { mean, scale, shift } = self;
        vectorized!({
            for (x, result) in x.chunks(mean.len()).zip(result.chunks_mut(mean.len())) {
                let terms = x.iter().zip(mean).zip(scale).zip(shift);
                result
                    .iter_mut()
                    .zip(terms)
                    .for_each(|(y, (((x, mean), scale), shift))| *y = (x - mean) * scale + shift);
            }
        });
    }
}

impl Normalize {
    fn affine(&self, weight: &[f32], bias: &[f32]) -> Affine {
        let Statistics { mean, inverse } = &self.statistics;
        let scale = weight
            .iter()
            .zip(inverse)
            .map(|(weight, inverse)| weight * inverse);
        Affine {
            mean: tile(mean.iter().copied()),
            scale: tile(scale),
            shift: tile(bias.iter().copied()),
        }
    }

    fn forward(&self, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
        let affine = self.affine(weight, bias);
        let mut output = vec![0.0; x.len()];
        let chunk = chunk_len(self.channels);
        x.par_chunks(chunk)
            .zip(output.par_chunks_mut(chunk))
            .for_each_recorded(|(x, output)| {
                affine.apply(x, output);
                if let Some(activation) = self.activation {
                    apply(activation, output);
                }
            });
        output
    }

    /// The gradient of `x` from that of the output; those of the parameters are added to `.grad`.
    fn backward(
        &self,
        x: &[f32],
        weight: &[f32],
        bias: &[f32],
        gradient: &[f32],
    ) -> Result<Vec<f32>> {
        let (channels, chunk, tile_len) = (
            self.channels,
            chunk_len(self.channels),
            tile_len(self.channels),
        );
        let affine = self.affine(weight, bias);
        let mut result = gradient.to_vec();
        // First before the activation, with each channel's sums of g and of g (x - mean).
        let sums: Vec<[Vec<f32>; 2]> = x
            .par_chunks(chunk)
            .zip(result.par_chunks_mut(chunk))
            .map_recorded(|(x, g)| {
                if let Some(activation) = self.activation {
                    let mut before = Scratch::new(x.len());
                    affine.apply(x, &mut before);
                    apply_derivative(activation, &before, g);
                }
                vectorized!({
                    let [mut plain, mut weighted] = [vec![0.0; tile_len], vec![0.0; tile_len]];
                    for (x, g) in x.chunks(tile_len).zip(g.chunks(tile_len)) {
                        let sums = plain.iter_mut().zip(&mut weighted);
                        for (((plain, weighted), (x, g)), mean) in
                            sums.zip(x.iter().zip(g)).zip(&affine.mean)
                        {
                            *plain += g;
                            *weighted += g * (x - mean);
                        }
                    }
                    [fold(&plain, channels), fold(&weighted, channels)]
                })
            })
            .collect();
        let total = |which: usize| -> Vec<f64> {
            (0..channels)
                .map(|channel| {
                    sums.iter()
                        .map(|chunk| f64::from(chunk[which][channel]))
                        .sum()
                })
                .collect()
        };
        let (plain, weighted) = (total(0), total(1));
        let inverse = || {
            self.statistics
                .inverse
                .iter()
                .map(|&inverse| f64::from(inverse))
        };
        self.bias.add_to_grad(|bias| {
            bias.iter_mut()
                .zip(&plain)
                .for_each(|(sum, g)| *sum += *g as f32)
        })?;
        let normalized = weighted
            .iter()
            .zip(inverse())
            .map(|(g, inverse)| g * inverse);
        self.weight.add_to_grad(|weight| {
            weight
                .iter_mut()
                .zip(normalized)
                .for_each(|(sum, g)| *sum += g as f32)
        })?;

        // dx = scale (g - mean(g) - x̂ mean(g x̂)), with x̂ = (x - mean) · inverse.
        let count = (x.len() / channels) as f64;
        let offset = tile(plain.iter().map(|sum| (sum / count) as f32));
        let slope = tile(
            weighted
                .iter()
                .zip(inverse())
                .map(|(sum, inverse)| (sum * inverse * inverse / count) as f32)
                .collect::<Vec<_>>()
                .into_iter(),
        );
        x.par_chunks(chunk)
            .zip(result.par_chunks_mut(chunk))
            .for_each_recorded(|(x, g)| {
                vectorized!({
                    for (x, g) in x.chunks(tile_len).zip(g.chunks_mut(tile_len)) {
                        let terms = x
                            .iter()
                            .zip(&affine.mean)
                            .zip(&affine.scale)
                            .zip(offset.iter().zip(&slope));
                        for (g, (((x, mean), scale), (offset, slope))) in g.iter_mut().zip(terms) {
                            *g = scale * (*g - offset - (x - mean) * slope);
                        }
                    }
                });
            });
        Ok(result)
    }
}
