//! Owns the step from pictures to features: channels last to `PyTorch`'s order channel, row, column.
//! Must not know what the features are for.

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{Context, elsewhere, floats, tape, with_floats};

/// `[batch, height, width, channels]` to `[batch, channels x height x width]`.
pub fn flatten(x: &Tensor, context: Context) -> Result<Tensor> {
    if context.is_elsewhere() {
        return elsewhere::flatten(x, context);
    }
    let (_, height, width, channels) = x.dims4()?;
    tape::apply1(x, Flatten { pixels: height * width, channels }, context.gradient)
}

struct Flatten {
    pixels: usize,
    channels: usize,
}

/// Each of the matrices `[rows, cols]` in `values`, one after the other, transposed.
fn transpose_each(values: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    let mut out = vec![0.0; values.len()];
    let len = (rows * cols).max(1);
    out.par_chunks_mut(len).with_min_len(8).zip(values.par_chunks(len)).for_each(|(out, matrix)| {
        for (col, out) in out.chunks_exact_mut(rows).enumerate() {
            out.iter_mut().zip(matrix[col..].iter().step_by(cols)).for_each(|(out, &value)| *out = value);
        }
    });
    out
}

impl CustomOp1 for Flatten {
    fn name(&self) -> &'static str {
        "flatten"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let values = floats(x, layout)?;
        let features = self.pixels * self.channels;
        let shape = (values.len() / features.max(1), features);
        Ok((CpuStorage::F32(transpose_each(values, self.pixels, self.channels)), shape.into()))
    }

    fn bwd(&self, x: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let values = with_floats(gradient, |gradient| Ok(transpose_each(gradient, self.channels, self.pixels)))?;
        Tensor::from_vec(values, x.shape(), &Device::Cpu).map(Some)
    }
}
