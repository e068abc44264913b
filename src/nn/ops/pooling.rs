//! Owns general max- and average-pooling. Must not know models.
//! (2x2 max-pooling right after a convolution is fused with it: `conv_pool`.)

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::sliding::Kernel;
use super::{Context, elsewhere, floats, tape, vectorized, with_floats};

/// The largest number under the kernel at each place and channel of `[batch, height, width, channels]`. What the kernel reaches
/// beyond the picture counts as -∞; of equal values the first in reading order is the maximum, and NaN is larger than all.
pub fn max_pool(x: &Tensor, kernel: Kernel, context: Context) -> Result<Tensor> {
    pool(x, kernel, Kind::Maximum, context)
}

/// The mean under the kernel at each place and channel. What the kernel reaches beyond the picture counts as zeros, so that
/// every mean is over `size x size` numbers (`torch.nn.AvgPool2d` with its `count_include_pad`, which is its default).
pub fn average_pool(x: &Tensor, kernel: Kernel, context: Context) -> Result<Tensor> {
    pool(x, kernel, Kind::Mean, context)
}

fn pool(x: &Tensor, kernel: Kernel, kind: Kind, context: Context) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    // Every place covers a pixel, and a place in the kernel fits a byte.
    if 2 * kernel.padding > kernel.size || kernel.size > 16 {
        candle_core::bail!("{kernel:?} is no kernel to pool with");
    }
    let (out_height, out_width) = (kernel.places(height)?, kernel.places(width)?);
    if context.is_elsewhere() {
        return match kind {
            Kind::Maximum => elsewhere::max_pool(x, kernel, context),
            Kind::Mean => elsewhere::average_pool(x, kernel, context),
        };
    }
    let op = Pool { kernel, kind, height, width, channels, out_height, out_width, winners: Mutex::default() };
    tape::apply1(x, op, context.gradient)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Maximum,
    Mean,
}

struct Pool {
    kernel: Kernel,
    kind: Kind,
    height: usize,
    width: usize,
    channels: usize,
    out_height: usize,
    out_width: usize,
    /// For each maximum which of the kernel's places it came from, in reading order; empty for means.
    winners: Mutex<Vec<u8>>,
}

impl Pool {
    const fn picture_len(&self) -> usize {
        self.height * self.width * self.channels
    }

    const fn result_len(&self) -> usize {
        self.out_height * self.out_width * self.channels
    }

    /// The pixels under the kernel at one place: which of the kernel's places each meets, and where its channels start in the picture.
    fn pixels(&self, place: usize) -> impl Iterator<Item = (u8, usize)> {
        let Self { kernel, width, channels, .. } = *self;
        let (ys, first_row) = kernel.cover(place / self.out_width, self.height);
        let (xs, first_col) = kernel.cover(place % self.out_width, width);
        ys.enumerate().flat_map(move |(row, y)| {
            let columns = xs.clone().enumerate();
            columns.map(move |(col, x)| (((first_row + row) * kernel.size + first_col + col) as u8, (y * width + x) * channels))
        })
    }

    fn maxima(&self, picture: &[f32], result: &mut [f32], winners: &mut [u8]) {
        let pixels = result.chunks_exact_mut(self.channels).zip(winners.chunks_exact_mut(self.channels));
        for (place, (best, winners)) in pixels.enumerate() {
            best.fill(f32::NEG_INFINITY);
            for (candidate, start) in self.pixels(place) {
                let values = &picture[start..start + self.channels];
                for ((best, winner), &value) in best.iter_mut().zip(&mut *winners).zip(values) {
                    let better = value > *best || value.is_nan();
                    *best = if better { value } else { *best };
                    *winner = if better { candidate } else { *winner };
                }
            }
        }
    }

    fn means(&self, picture: &[f32], result: &mut [f32]) {
        let share = self.share();
        for (place, mean) in result.chunks_exact_mut(self.channels).enumerate() {
            for (_, start) in self.pixels(place) {
                mean.iter_mut().zip(&picture[start..]).for_each(|(sum, value)| *sum += value);
            }
            for sum in mean {
                *sum *= share;
            }
        }
    }

    /// What each pixel counts for in a mean.
    fn share(&self) -> f32 {
        1.0 / (self.kernel.size * self.kernel.size) as f32
    }

    /// Adds to a picture's gradient, which starts at zero.
    fn backward(&self, gradient: &[f32], winners: &[u8], picture: &mut [f32]) {
        let share = self.share();
        for (place, gradient) in gradient.chunks_exact(self.channels).enumerate() {
            let winners = winners.get(place * self.channels..).unwrap_or_default();
            for (candidate, start) in self.pixels(place) {
                let sums = picture[start..].iter_mut().zip(gradient);
                match self.kind {
                    Kind::Maximum => sums.zip(winners).for_each(|((sum, g), &winner)| *sum += if winner == candidate { *g } else { 0.0 }),
                    Kind::Mean => sums.for_each(|(sum, g)| *sum += share * g),
                }
            }
        }
    }
}

impl CustomOp1 for Pool {
    fn name(&self) -> &'static str {
        "pool"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let x = floats(x, layout)?;
        let images = layout.dims().first().copied().unwrap_or_default();
        let mut result = vec![0.0; images * self.result_len()];
        let pictures = x.par_chunks(self.picture_len()).zip(result.par_chunks_mut(self.result_len()));
        match self.kind {
            Kind::Mean => pictures.for_each(|(picture, result)| vectorized!(self.means(picture, result))),
            Kind::Maximum => {
                let mut winners = vec![0; images * self.result_len()];
                pictures
                    .zip(winners.par_chunks_mut(self.result_len()))
                    .for_each(|((picture, result), winners)| vectorized!(self.maxima(picture, result, winners)));
                *self.winners.lock().unwrap_or_else(PoisonError::into_inner) = winners;
            }
        }
        Ok((CpuStorage::F32(result), (images, self.out_height, self.out_width, self.channels).into()))
    }

    fn bwd(&self, x: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let mut x_gradient = vec![0.0; x.elem_count()];
        let winners = self.winners.lock().unwrap_or_else(PoisonError::into_inner);
        with_floats(gradient, |gradient| {
            let pictures = x_gradient.par_chunks_mut(self.picture_len()).zip(gradient.par_chunks(self.result_len()));
            pictures.enumerate().for_each(|(image, (picture, gradient))| {
                let winners = winners.get(image * self.result_len()..).unwrap_or_default();
                vectorized!(self.backward(gradient, winners, picture));
            });
            Ok(())
        })?;
        Tensor::from_vec(x_gradient, x.shape(), &Device::Cpu).map(Some)
    }
}
