//! Owns what slides over pictures, put together from slices: convolution and pooling.

use candle_core::{Result, Tensor};

use super::product;
use crate::nn::ops::Kernel;
use crate::run_config::Precision;

/// The convolution of `super::super::conv2d`: every place of the kernel is a slice of the picture, all slices side by side are the rows
/// of a matrix product.
pub fn conv2d(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, stride: usize, padding: usize, precision: Precision) -> Result<Tensor> {
    let (outputs, inputs, size, _) = weight.dims4()?;
    let kernel = Kernel { size, stride, padding };
    let slices = slices(x, kernel, 0.0)?;
    let (batch, height, width, _) = slices.first().map_or_else(|| x.dims4(), Tensor::dims4)?;
    let rows = Tensor::cat(&slices, 3)?.reshape((batch * height * width, size * size * inputs))?;
    let weight = weight.permute((2, 3, 1, 0))?.contiguous()?.reshape((size * size * inputs, outputs))?;
    let result = product(&rows, &weight, precision)?.reshape((batch, height, width, outputs))?;
    bias.map_or_else(|| Ok(result.clone()), |bias| result.broadcast_add(bias))
}

/// `super::super::max_pool`: of equal values the first keeps the whole gradient.
pub fn max_pool(x: &Tensor, kernel: Kernel) -> Result<Tensor> {
    let slices = slices(x, kernel, f64::NEG_INFINITY)?;
    let Some((first, rest)) = slices.split_first() else { candle_core::bail!("{kernel:?} covers nothing") };
    rest.iter().try_fold(first.clone(), |best, slice| {
        // NaN is unequal to itself and larger than everything else here.
        let better = (slice.gt(&best)? + slice.ne(slice)?)?;
        better.where_cond(slice, &best)
    })
}

/// `super::super::average_pool`.
pub fn average_pool(x: &Tensor, kernel: Kernel) -> Result<Tensor> {
    let slices = slices(x, kernel, 0.0)?;
    let Some((first, rest)) = slices.split_first() else { candle_core::bail!("{kernel:?} covers nothing") };
    let sum = rest.iter().try_fold(first.clone(), |sum, slice| sum + slice)?;
    sum * (1.0 / (kernel.size * kernel.size) as f64)
}

/// For each place of the kernel, in reading order, the pixels under it at every position.
fn slices(x: &Tensor, kernel: Kernel, outside: f64) -> Result<Vec<Tensor>> {
    let (_, height, width, _) = x.dims4()?;
    let (rows, cols) = (kernel.places(height)?, kernel.places(width)?);
    let padded = pad(&pad(x, 1, kernel, outside)?, 2, kernel, outside)?;
    let places = (0..kernel.size * kernel.size).map(|place| (place / kernel.size, place % kernel.size));
    places.map(|(y, x)| every(&every(&padded, 1, y, rows, kernel.stride)?, 2, x, cols, kernel.stride)).collect()
}

/// The kernel's padding, and at the end enough more for `every` to take whole strides.
fn pad(x: &Tensor, dim: usize, kernel: Kernel, outside: f64) -> Result<Tensor> {
    let border = |pixels: usize| {
        let mut shape = x.dims().to_vec();
        shape[dim] = pixels;
        Tensor::full(outside as f32, shape, x.device())
    };
    match (kernel.padding, kernel.padding + kernel.stride - 1) {
        (0, 0) => Ok(x.clone()),
        (0, after) => Tensor::cat(&[x, &border(after)?], dim),
        (before, after) => Tensor::cat(&[&border(before)?, x, &border(after)?], dim),
    }
}

/// `count` slices of `dim` from `start` on, a stride apart.
fn every(x: &Tensor, dim: usize, start: usize, count: usize, stride: usize) -> Result<Tensor> {
    let run = x.narrow(dim, start, count * stride)?;
    if stride == 1 {
        return Ok(run);
    }
    let mut shape = run.dims().to_vec();
    shape[dim] = count;
    shape.insert(dim + 1, stride);
    run.reshape(shape)?.narrow(dim + 1, 0, 1)?.squeeze(dim + 1)
}
