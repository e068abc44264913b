//! The statistics of batch normalisation.

use candle_core::Result;
use rayon::prelude::*;

use super::batch_norm::chunk_len;
use super::channels::{fold, tile, tile_len};
use super::vectorized;
use crate::nn::Parameter;
use crate::nn::ops::BatchNorm;
use crate::profiler::RecordedIterator;

/// Mean and biased variance of each channel. Each chunk is centred on its own mean, and chunks are
/// combined as in Chan et al. (1979), so that a mean far from zero loses no precision.
pub fn moments(x: &[f32], channels: usize) -> (Vec<f64>, Vec<f64>) {
    let chunks: Vec<(usize, Vec<f32>, Vec<f32>)> = x
        .par_chunks(chunk_len(channels))
        .map_recorded(|chunk| {
            vectorized!({
                let count = chunk.len() / channels;
                let mut sums = vec![0.0; tile_len(channels)];
                for values in chunk.chunks(tile_len(channels)) {
                    sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += x);
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
