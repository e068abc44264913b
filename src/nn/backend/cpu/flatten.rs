//! From images to features: channels last to `PyTorch`'s order channel, row, column.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{tensor, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output};
use crate::profiler::RecordedIterator;

/// See [`crate::nn::ops::flatten`].
pub fn flatten(x: &Tensor, grad: GradMode) -> Result<Output> {
    let (batch, height, width, channels) = x.dims4()?;
    let (pixels, shape) = (height * width, x.shape().clone());
    let features = with_slices([x], |[x]| transpose_each(x, pixels, channels))?;
    Ok(Output::new(
        tensor(features, (batch, pixels * channels))?,
        grad,
        move |gradient, _| {
            let values = with_slices([gradient], |[gradient]| {
                transpose_each(gradient, channels, pixels)
            })?;
            Ok(Gradients::input(Some(tensor(values, shape)?)))
        },
    ))
}

/// Each of the matrices `[rows, cols]` in `values`, one after the other, transposed.
fn transpose_each(values: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    let mut out = vec![0.0; values.len()];
    let len = (rows * cols).max(1);
    out.par_chunks_mut(len)
        .with_min_len(8)
        .zip(values.par_chunks(len))
        .for_each_recorded(|(out, matrix)| {
            for (col, out) in out.chunks_exact_mut(rows).enumerate() {
                out.iter_mut()
                    .zip(matrix[col..].iter().step_by(cols))
                    .for_each(|(out, &value)| *out = value);
            }
        });
    out
}
