//! Batch normalization (Ioffe & Szegedy 2015), with the activation that follows.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::pointwise::{apply, times_derivative};
use super::{CHUNK, Zeros, add_to, tensor, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::ops::BatchNorm;
use crate::nn::{GradMode, Output, Parameter};
use crate::profiler::RecordedIterator;
use crate::run_config::Activation;

pub fn batch_norm(
    x: &Tensor,
    norm: BatchNorm<'_>,
    activation: Option<Activation>,
    grad: GradMode,
) -> Result<Output> {
    let channels = norm.weight.len();
    let (mean, variance) = match grad {
        GradMode::Enabled => {
            let (mean, variance) = with_slices([x], |[x]| moments(x, channels))?;
            update_running(norm, &mean, &variance, x.elem_count() / channels)?;
            (mean, variance)
        }
        GradMode::Disabled => {
            let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
            let (mean, variance) = (norm.running_mean.values()?, norm.running_variance.values()?);
            (wide(mean), wide(variance))
        }
    };
    let inverse = variance
        .iter()
        .map(|variance| (1.0 / (variance + BatchNorm::EPSILON).sqrt()) as f32);
    let op = Normalize {
        channels,
        inverse: inverse.collect(),
        mean: mean.iter().map(|&mean| mean as f32).collect(),
        activation,
        weight: norm.weight.clone(),
        bias: norm.bias.clone(),
    };
    let (weight, bias) = (norm.weight.tensor(), norm.bias.tensor());
    let output = with_slices([x, &weight, &bias], |[x, weight, bias]| {
        op.forward(x, weight, bias)
    })?;
    let (x, output) = (x.clone(), tensor(output, x.shape())?);
    Ok(Output::new(output, grad, move |gradient, needed| {
        let values = with_slices(
            [&x, &weight, &bias, gradient],
            |[x, weight, bias, gradient]| op.backward(x, weight, bias, gradient),
        )??;
        let values = needed[0].then(|| tensor(values, x.shape()));
        Ok(Gradients::input(values.transpose()?))
    }))
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

struct Normalize {
    channels: usize,
    /// Mean and inverse standard deviation of each channel.
    mean: Vec<f32>,
    inverse: Vec<f32>,
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
    #[inline(always)]
    fn apply(&self, x: &[f32], result: &mut [f32]) {
        let Self { mean, scale, shift } = self;
        let terms = x.iter().zip(mean).zip(scale).zip(shift);
        result
            .iter_mut()
            .zip(terms)
            .for_each(|(y, (((x, mean), scale), shift))| *y = (x - mean) * scale + shift);
    }
}

impl Normalize {
    fn affine(&self, weight: &[f32], bias: &[f32]) -> Affine {
        let scale = weight.iter().zip(&self.inverse);
        let scale = scale.map(|(weight, inverse)| weight * inverse);
        Affine {
            mean: tile(self.mean.iter().copied()),
            scale: tile(scale),
            shift: tile(bias.iter().copied()),
        }
    }

    fn forward(&self, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
        let affine = self.affine(weight, bias);
        let mut output = Zeros::new(x.len());
        let (chunk, tile_len) = (chunk_len(self.channels), tile_len(self.channels));
        x.par_chunks(chunk)
            .zip(output.par_chunks_mut(chunk))
            .for_each_recorded(|(x, output)| {
                vectorized!(
                    for (x, output) in x.chunks(tile_len).zip(output.chunks_mut(tile_len)) {
                        affine.apply(x, output);
                        if let Some(activation) = self.activation {
                            apply(activation, output);
                        }
                    }
                );
            });
        output.into_vec()
    }

    /// The gradient of `x` from that of the output; those of the parameters are added to `.grad`.
    fn backward(
        &self,
        x: &[f32],
        weight: &[f32],
        bias: &[f32],
        gradient: &[f32],
    ) -> Result<Vec<f32>> {
        let channels = self.channels;
        let chunk = chunk_len(self.channels);
        let tile_len = tile_len(self.channels);
        let affine = self.affine(weight, bias);
        let mut result = Zeros::new(x.len());
        // First before the activation, with each channel's sums of g and of g (x - mean).
        let sums: Vec<[Vec<f32>; 2]> = x
            .par_chunks(chunk)
            .zip(gradient.par_chunks(chunk))
            .zip(result.par_chunks_mut(chunk))
            .map_recorded(|((x, gradient), g)| {
                vectorized!({
                    let [mut plain, mut weighted, mut before] =
                        std::array::from_fn(|_| vec![0.0; tile_len]);
                    // One pass over the tiles, so that one is read from memory while another is computed.
                    let tiles = x.chunks(tile_len).zip(gradient.chunks(tile_len));
                    for ((x, gradient), g) in tiles.zip(g.chunks_mut(tile_len)) {
                        match self.activation {
                            None => g.copy_from_slice(gradient),
                            Some(activation) => {
                                let before = &mut before[..x.len()];
                                affine.apply(x, before);
                                times_derivative(activation, before, gradient, g);
                            }
                        }
                        let sums = plain.iter_mut().zip(&mut weighted);
                        for (((plain, weighted), (x, g)), mean) in
                            sums.zip(x.iter().zip(&*g)).zip(&affine.mean)
                        {
                            *plain += g;
                            *weighted += g * (x - mean);
                        }
                    }
                    [fold(&plain, channels), fold(&weighted, channels)]
                })
            })
            .collect();
        let mut result = result.into_vec();
        let total = |which: usize| -> Vec<f64> {
            let of = |channel: usize| {
                sums.iter()
                    .map(move |chunk| f64::from(chunk[which][channel]))
            };
            (0..channels).map(|channel| of(channel).sum()).collect()
        };
        let (plain, weighted) = (total(0), total(1));
        let inverse = || self.inverse.iter().map(|&inverse| f64::from(inverse));
        let of_bias: Vec<f32> = plain.iter().map(|g| *g as f32).collect();
        self.bias.add_to_grad(|bias| add_to(bias, &of_bias))?;
        let of_weight = weighted.iter().zip(inverse());
        let of_weight: Vec<f32> = of_weight.map(|(g, inverse)| (g * inverse) as f32).collect();
        self.weight
            .add_to_grad(|weight| add_to(weight, &of_weight))?;

        // dx = scale (g - mean(g) - x̂ mean(g x̂)), with x̂ = (x - mean) · inverse.
        let count = (x.len() / channels) as f64;
        let offset = tile(plain.iter().map(|sum| (sum / count) as f32));
        let slope = weighted.iter().zip(inverse());
        let slope = slope.map(|(sum, inverse)| (sum * inverse * inverse / count) as f32);
        let slope = tile(slope.collect::<Vec<_>>().into_iter());
        x.par_chunks(chunk)
            .zip(result.par_chunks_mut(chunk))
            .for_each_recorded(|(x, g)| {
                vectorized!({
                    for (x, g) in x.chunks(tile_len).zip(g.chunks_mut(tile_len)) {
                        let terms = x.iter().zip(&affine.mean).zip(&affine.scale);
                        let terms = terms.zip(offset.iter().zip(&slope));
                        for (g, (((x, mean), scale), (offset, slope))) in g.iter_mut().zip(terms) {
                            *g = scale * (*g - offset - (x - mean) * slope);
                        }
                    }
                });
            });
        Ok(result)
    }
}

/// Mean and biased variance of each channel. Each chunk is centered on its own mean, and chunks are
/// combined as in Chan et al. (1979), so that a mean far from zero loses no precision.
pub fn moments(x: &[f32], channels: usize) -> (Vec<f64>, Vec<f64>) {
    let chunks: Vec<(usize, Vec<f32>, Vec<f32>)> = x
        .par_chunks(chunk_len(channels))
        .map_recorded(|chunk| {
            vectorized!({
                let count = chunk.len() / channels;
                let mut sums = vec![0.0; tile_len(channels)];
                for values in chunk.chunks(tile_len(channels)) {
                    add_to(&mut sums, values);
                }
                let mean: Vec<f32> = fold(&sums, channels)
                    .iter()
                    .map(|sum| sum / count as f32)
                    .collect();
                let center = tile(mean.iter().copied());
                sums.fill(0.0);
                for values in chunk.chunks(tile_len(channels)) {
                    sums.iter_mut()
                        .zip(values)
                        .zip(&center)
                        .for_each(|((sum, x), mean)| *sum += (x - mean) * (x - mean));
                }
                (count, mean, fold(&sums, channels))
            })
        })
        .collect();
    let (mut seen, mut mean, mut squares) = (0, vec![0.0_f64; channels], vec![0.0_f64; channels]);
    for (count, piece_mean, piece_squares) in &chunks {
        let together = (seen + count) as f64;
        for (channel, (mean, squares)) in mean.iter_mut().zip(&mut squares).enumerate() {
            let distance = f64::from(piece_mean[channel]) - *mean;
            *mean += distance * *count as f64 / together;
            *squares += f64::from(piece_squares[channel])
                + distance * distance * seen as f64 * *count as f64 / together;
        }
        seen += count;
    }
    for sum in &mut squares {
        *sum /= seen as f64;
    }
    (mean, squares)
}

/// Updates the running statistics with those of a batch of `count` elements per channel.
pub fn update_running(
    norm: BatchNorm<'_>,
    mean: &[f64],
    variance: &[f64],
    count: usize,
) -> Result<()> {
    let unbiased: Vec<f64> = variance
        .iter()
        .map(|variance| variance * count as f64 / (count - 1) as f64)
        .collect();
    ema_update(norm.running_mean, mean)?;
    ema_update(norm.running_variance, &unbiased)
}

fn ema_update(running: &Parameter, batch: &[f64]) -> Result<()> {
    running.update_values(|values| {
        for (value, batch) in values.iter_mut().zip(batch) {
            *value = (f64::from(*value) + BatchNorm::MOMENTUM * (batch - f64::from(*value))) as f32;
        }
    })
}

/// Numbers that the inner loops run over at once. Few channels are taken several pixels at a time,
/// so that a loop is long enough for vector instructions.
const TILE: usize = 64;

/// Channels of whole pixels, about `TILE` of them.
pub const fn tile_len(channels: usize) -> usize {
    if channels < TILE {
        TILE / channels * channels
    } else {
        channels
    }
}

/// The numbers of one pixel, repeated for a tile.
pub fn tile(of_channels: impl Iterator<Item = f32> + Clone) -> Vec<f32> {
    let channels = of_channels.clone().count();
    of_channels.cycle().take(tile_len(channels)).collect()
}

/// Adds up the tiles of `sums` to one number per channel.
pub fn fold(sums: &[f32], channels: usize) -> Vec<f32> {
    let mut folded = vec![0.0; channels];
    for pixel in sums.chunks_exact(channels) {
        add_to(&mut folded, pixel);
    }
    folded
}
