//! Convolution and pooling, from strided slices of the image.

use candle_core::{Result, Tensor};

use super::product;
use crate::nn::ops::Window;
use crate::run_config::Precision;

/// `ops::conv2d`: for each pixel of the kernel a slice of the image; all slices side by side are
/// the rows of a matrix product (im2col).
pub fn conv2d(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    window: Window,
    precision: Precision,
) -> Result<Tensor> {
    let (outputs, inputs, size, _) = weight.dims4()?;
    let slices = slices(x, window, 0.0)?;
    let (batch, height, width, _) = slices.first().map_or_else(|| x.dims4(), Tensor::dims4)?;
    let rows = Tensor::cat(&slices, 3)?.reshape((batch * height * width, size * size * inputs))?;
    let weight = weight
        .permute((2, 3, 1, 0))?
        .contiguous()?
        .reshape((size * size * inputs, outputs))?;
    let output = product(&rows, &weight, precision)?.reshape((batch, height, width, outputs))?;
    bias.map_or_else(|| Ok(output.clone()), |bias| output.broadcast_add(bias))
}

/// `ops::max_pool`: of equal values the first keeps the whole gradient.
pub fn max_pool(x: &Tensor, window: Window) -> Result<Tensor> {
    let slices = slices(x, window, f64::NEG_INFINITY)?;
    let Some((first, rest)) = slices.split_first() else {
        candle_core::bail!("{window:?} covers nothing")
    };
    rest.iter().try_fold(first.clone(), |best, slice| {
        // NaN is unequal to itself and larger than everything else here.
        let better = (slice.gt(&best)? + slice.ne(slice)?)?;
        better.where_cond(slice, &best)
    })
}

/// `ops::average_pool`.
pub fn average_pool(x: &Tensor, window: Window) -> Result<Tensor> {
    let slices = slices(x, window, 0.0)?;
    let Some((first, rest)) = slices.split_first() else {
        candle_core::bail!("{window:?} covers nothing")
    };
    let sum = rest
        .iter()
        .try_fold(first.clone(), |sum, slice| sum + slice)?;
    sum * (1.0 / (window.size * window.size) as f64)
}

/// For each pixel of the window, in reading order, the image's pixels under it at every position.
fn slices(x: &Tensor, window: Window, outside: f64) -> Result<Vec<Tensor>> {
    let (_, height, width, _) = x.dims4()?;
    let (rows, cols) = (window.output_size(height)?, window.output_size(width)?);
    let padded = pad(&pad(x, 1, window, outside)?, 2, window, outside)?;
    let pixels =
        (0..window.size * window.size).map(|index| (index / window.size, index % window.size));
    pixels
        .map(|(y, x)| {
            every(
                &every(&padded, 1, y, rows, window.stride)?,
                2,
                x,
                cols,
                window.stride,
            )
        })
        .collect()
}

/// The window's padding, and at the end enough more for `every` to take whole strides.
fn pad(x: &Tensor, dim: usize, window: Window, outside: f64) -> Result<Tensor> {
    let border = |pixels: usize| {
        let mut shape = x.dims().to_vec();
        shape[dim] = pixels;
        Tensor::full(outside as f32, shape, x.device())
    };
    match (window.padding, window.padding + window.stride - 1) {
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
