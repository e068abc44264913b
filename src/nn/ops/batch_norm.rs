//! Owns batch normalisation (Ioffe & Szegedy 2015), optionally with the activation that follows. Must not know models.

use candle_core::{CpuStorage, CustomOp3, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::activation::{apply, apply_slope};
use super::channels::{fold, tile, tile_len};
use super::kernels::Scratch;
use super::{Context, Gradient, PIECE, elsewhere, floats, tape, vectorized, with_floats, with_slices};
use crate::nn::Parameter;
use crate::run_config::Activation;

/// Added to the variance: `torch.nn.BatchNorm2d`'s.
pub(super) const EPSILON: f64 = 1e-5;
/// What a batch counts for in the running statistics: `torch.nn.BatchNorm2d`'s.
pub(super) const MOMENTUM: f64 = 0.1;

/// The parameters of a batch normalisation, each with one number per channel.
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm<'a> {
    /// Scale.
    pub weight: &'a Parameter,
    /// Shift.
    pub bias: &'a Parameter,
    /// The mean of all batches seen, moved a tenth of the way to each.
    pub running_mean: &'a Parameter,
    /// Likewise the variance (with Bessel's correction).
    pub running_variance: &'a Parameter,
}

/// `activation((x - mean) / √(variance + 1e-5) · weight + bias)` for each channel of `[…, channels]`, as `torch.nn.BatchNorm2d`. Where a
/// gradient is kept, mean and variance (biased) are the batch's, which also move the running ones; elsewhere they are the running ones.
pub fn batch_norm(x: &Tensor, norm: BatchNorm<'_>, activation: Option<Activation>, context: Context) -> Result<Tensor> {
    let BatchNorm { weight, bias, running_mean, running_variance } = norm;
    let channels = x.dims().last().copied().unwrap_or_default();
    if channels == 0 || [weight, bias, running_mean, running_variance].iter().any(|parameter| parameter.len() != channels) {
        candle_core::bail!("a batch normalisation of {} channels does not fit {:?}", weight.len(), x.shape());
    }
    let apply = |statistics| Normalize { channels, statistics, activation, weight: weight.clone(), bias: bias.clone() };
    match context.gradient {
        Gradient::Kept => {
            let count = x.elem_count() / channels;
            if count < 2 {
                candle_core::bail!("a batch of one number per channel has no variance");
            }
            if context.is_elsewhere() {
                return elsewhere::batch_norm(x, norm, activation, context);
            }
            let (mean, variance) = with_floats(x, |x| Ok(moments(x, channels)))?;
            follow(norm, &mean, &variance, count)?;
            tape::apply3(x, weight.tracked(), bias.tracked(), apply(Statistics::new(&mean, &variance)), Gradient::Kept)
        }
        Gradient::None if context.is_elsewhere() => elsewhere::batch_norm(x, norm, activation, context),
        Gradient::None => {
            let [mean, variance] = [running_mean, running_variance].map(Parameter::values);
            let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<_>>();
            tape::apply3(x, weight.tracked(), bias.tracked(), apply(Statistics::new(&wide(mean?), &wide(variance?))), Gradient::None)
        }
    }
}

/// Moves the running statistics a step towards those of a batch of `count` numbers per channel.
fn follow(norm: BatchNorm<'_>, mean: &[f64], variance: &[f64], count: usize) -> Result<()> {
    let unbiased: Vec<f64> = variance.iter().map(|variance| variance * count as f64 / (count - 1) as f64).collect();
    step_towards(norm.running_mean, mean)?;
    step_towards(norm.running_variance, &unbiased)
}

fn step_towards(running: &Parameter, batch: &[f64]) -> Result<()> {
    running.update(|values, _| {
        for (value, batch) in values.iter_mut().zip(batch) {
            *value = (f64::from(*value) + MOMENTUM * (batch - f64::from(*value))) as f32;
        }
    })
}

/// Numbers of whole tiles that one task takes.
const fn piece_len(channels: usize) -> usize {
    let tile = tile_len(channels);
    if tile < PIECE { PIECE / tile * tile } else { tile }
}

/// Mean and biased variance of each channel. Each piece is centred on its own mean, and pieces are put together as Chan et al. (1979) do,
/// so that a mean far from zero costs no digits.
fn moments(x: &[f32], channels: usize) -> (Vec<f64>, Vec<f64>) {
    let pieces: Vec<(usize, Vec<f32>, Vec<f32>)> = x
        .par_chunks(piece_len(channels))
        .map(|piece| {
            vectorized!({
                let count = piece.len() / channels;
                let mut sums = vec![0.0; tile_len(channels)];
                for values in piece.chunks(tile_len(channels)) {
                    sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += x);
                }
                let mean: Vec<f32> = fold(&sums, channels).iter().map(|sum| sum / count as f32).collect();
                let center = tile(mean.iter().copied());
                sums.fill(0.0);
                for values in piece.chunks(tile_len(channels)) {
                    sums.iter_mut().zip(values).zip(&center).for_each(|((sum, x), mean)| *sum += (x - mean) * (x - mean));
                }
                (count, mean, fold(&sums, channels))
            })
        })
        .collect();
    let (mut seen, mut mean, mut squares) = (0, vec![0.0_f64; channels], vec![0.0_f64; channels]);
    for (count, piece_mean, piece_squares) in &pieces {
        let together = (seen + count) as f64;
        for (channel, (mean, squares)) in mean.iter_mut().zip(&mut squares).enumerate() {
            let distance = f64::from(piece_mean[channel]) - *mean;
            *mean += distance * *count as f64 / together;
            *squares += f64::from(piece_squares[channel]) + distance * distance * seen as f64 * *count as f64 / together;
        }
        seen += count;
    }
    for sum in &mut squares {
        *sum /= seen as f64;
    }
    (mean, squares)
}

/// Mean and inverse standard deviation of each channel.
struct Statistics {
    mean: Vec<f32>,
    inverse: Vec<f32>,
}

impl Statistics {
    fn new(mean: &[f64], variance: &[f64]) -> Self {
        let inverse = variance.iter().map(|variance| (1.0 / (variance + EPSILON).sqrt()) as f32).collect();
        Self { mean: mean.iter().map(|&mean| mean as f32).collect(), inverse }
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
                result.iter_mut().zip(terms).for_each(|(y, (((x, mean), scale), shift))| *y = (x - mean) * scale + shift);
            }
        });
    }
}

impl Normalize {
    fn affine(&self, weight: &[f32], bias: &[f32]) -> Affine {
        let Statistics { mean, inverse } = &self.statistics;
        let scale = weight.iter().zip(inverse).map(|(weight, inverse)| weight * inverse);
        Affine { mean: tile(mean.iter().copied()), scale: tile(scale), shift: tile(bias.iter().copied()) }
    }

    /// The gradient of `x` from that of the result.
    fn backward(&self, x: &[f32], weight: &[f32], bias: &[f32], gradient: &[f32]) -> Vec<f32> {
        let (channels, piece, tile_len) = (self.channels, piece_len(self.channels), tile_len(self.channels));
        let affine = self.affine(weight, bias);
        let mut result = gradient.to_vec();
        // First before the activation, with each channel's sums of g and of g (x - mean).
        let sums: Vec<[Vec<f32>; 2]> = x
            .par_chunks(piece)
            .zip(result.par_chunks_mut(piece))
            .map(|(x, g)| {
                if let Some(activation) = self.activation {
                    let mut before = Scratch::new(x.len());
                    affine.apply(x, &mut before);
                    apply_slope(activation, &before, g);
                }
                vectorized!({
                    let [mut plain, mut weighted] = [vec![0.0; tile_len], vec![0.0; tile_len]];
                    for (x, g) in x.chunks(tile_len).zip(g.chunks(tile_len)) {
                        let sums = plain.iter_mut().zip(&mut weighted);
                        for (((plain, weighted), (x, g)), mean) in sums.zip(x.iter().zip(g)).zip(&affine.mean) {
                            *plain += g;
                            *weighted += g * (x - mean);
                        }
                    }
                    [fold(&plain, channels), fold(&weighted, channels)]
                })
            })
            .collect();
        let total = |which: usize| -> Vec<f64> {
            (0..channels).map(|channel| sums.iter().map(|piece| f64::from(piece[which][channel])).sum()).collect()
        };
        let (plain, weighted) = (total(0), total(1));
        let inverse = || self.statistics.inverse.iter().map(|&inverse| f64::from(inverse));
        self.bias.gradient().iter_mut().zip(&plain).for_each(|(sum, g)| *sum += *g as f32);
        let normalized = weighted.iter().zip(inverse()).map(|(g, inverse)| g * inverse);
        self.weight.gradient().iter_mut().zip(normalized).for_each(|(sum, g)| *sum += g as f32);

        // dx = scale (g - mean(g) - x̂ mean(g x̂)), with x̂ = (x - mean) · inverse.
        let count = (x.len() / channels) as f64;
        let offset = tile(plain.iter().map(|sum| (sum / count) as f32));
        let slope = tile(
            weighted.iter().zip(inverse()).map(|(sum, inverse)| (sum * inverse * inverse / count) as f32).collect::<Vec<_>>().into_iter(),
        );
        x.par_chunks(piece).zip(result.par_chunks_mut(piece)).for_each(|(x, g)| {
            vectorized!({
                for (x, g) in x.chunks(tile_len).zip(g.chunks_mut(tile_len)) {
                    let terms = x.iter().zip(&affine.mean).zip(&affine.scale).zip(offset.iter().zip(&slope));
                    for (g, (((x, mean), scale), (offset, slope))) in g.iter_mut().zip(terms) {
                        *g = scale * (*g - offset - (x - mean) * slope);
                    }
                }
            });
        });
        result
    }
}

impl CustomOp3 for Normalize {
    fn name(&self) -> &'static str {
        "batch-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let x = floats(x, x_layout)?;
        let affine = self.affine(floats(weight, weight_layout)?, floats(bias, bias_layout)?);
        let mut result = vec![0.0; x.len()];
        let piece = piece_len(self.channels);
        x.par_chunks(piece).zip(result.par_chunks_mut(piece)).for_each(|(x, result)| {
            affine.apply(x, result);
            if let Some(activation) = self.activation {
                apply(activation, result);
            }
        });
        Ok((CpuStorage::F32(result), x_layout.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let values = with_slices([x, weight, bias, gradient], |[x, weight, bias, gradient]| self.backward(x, weight, bias, gradient))?;
        // The parameters' gradients went where `Parameter` gathers them.
        let x_gradient = x.track_op().then(|| Tensor::from_vec(values, x.shape(), &Device::Cpu)).transpose()?;
        Ok((x_gradient, None, None))
    }
}
