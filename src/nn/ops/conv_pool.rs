//! Owns convolution (stride 1), bias, 2x2 max-pooling and optionally `ReLU` as one op: the full-size result of the
//! convolution never leaves the processor's cache. Must not know models.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp3, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::im2col::Window;
use super::matrix::{Matrix, Mode, product};
use super::pool::{max_pool, max_pool_gradient};
use super::scratch::with_scratch;
use super::{Context, Gradient, floats, with_floats};
use crate::nn::Parameter;

/// Images per task and matrix product: large enough to fill `gemm`'s blocks, small enough to stay in the second-level cache.
const GROUP: usize = 4;

/// `relu(max_pool(conv(x, weight) + bias))`, or without the `ReLU`, from `[batch, height, width, channels]`; `weight` is
/// `[out, in, height, width]`. The gradient of `x` is computed only where `x` depends on a parameter.
pub fn conv_pool(x: &Tensor, weight: &Parameter, bias: &Parameter, padding: usize, relu: bool, context: Context) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    let (outputs, inputs, kernel, kernel_width) = weight.tracked().dims4()?;
    if channels != inputs || kernel != kernel_width || height.min(width) + 2 * padding < kernel + 1 {
        candle_core::bail!("a {kernel}x{kernel_width} convolution of {inputs} channels does not fit {:?}", x.shape());
    }
    let window = Window { height, width, channels, kernel, padding };
    let op = ConvPool { window, outputs, relu, weight: weight.clone(), bias: bias.clone(), places: Mutex::default() };
    match context.gradient {
        Gradient::Kept => x.apply_op3(weight.tracked(), bias.tracked(), op),
        Gradient::None => x.apply_op3_no_bwd(weight.tracked(), bias.tracked(), &op),
    }
}

struct ConvPool {
    window: Window,
    outputs: usize,
    relu: bool,
    weight: Parameter,
    bias: Parameter,
    /// Which of its four pixels each pooled maximum was.
    places: Mutex<Vec<u8>>,
}

impl ConvPool {
    const fn pooled_width(&self) -> usize {
        self.window.out_width() / 2
    }

    /// Numbers in one image's result.
    const fn pooled_len(&self) -> usize {
        self.window.out_height() / 2 * self.pooled_width() * self.outputs
    }

    /// Numbers in one image's convolution before pooling.
    const fn full_len(&self) -> usize {
        self.window.out_pixels() * self.outputs
    }

    /// Calls `visit` with the place of each weight in `PyTorch`'s layout `[out, in, y, x]` and in ours `[y, x, in, out]`.
    fn for_each_weight(&self, mut visit: impl FnMut(usize, usize)) {
        let Window { channels, kernel, .. } = self.window;
        let mut canonical = 0;
        for output in 0..self.outputs {
            for channel in 0..channels {
                for place in 0..kernel * kernel {
                    visit(canonical, (place * channels + channel) * self.outputs + output);
                    canonical += 1;
                }
            }
        }
    }

    /// The weights as `[y, x, in, out]`: the right-hand side of the product.
    fn kernel_rows(&self, weight: &[f32]) -> Vec<f32> {
        let mut rows = vec![0.0; weight.len()];
        self.for_each_weight(|canonical, row| rows[row] = weight[canonical]);
        rows
    }

    fn forward(&self, x: &[f32], weight: &[f32], bias: &[f32], output: &mut [f32], places: &mut [u8]) {
        let Self { window, outputs, .. } = *self;
        let kernel_rows = self.kernel_rows(weight);
        let groups = x
            .par_chunks(GROUP * window.picture_len())
            .zip(output.par_chunks_mut(GROUP * self.pooled_len()))
            .zip(places.par_chunks_mut(GROUP * self.pooled_len()));
        groups.for_each(|((x, output), places)| {
            let images = x.len() / window.picture_len();
            let pixels = images * window.out_pixels();
            with_scratch(pixels * window.row_len(), |rows| {
                self.gather(x, rows);
                with_scratch(pixels * outputs, |full| {
                    let kernel = Matrix::new(&kernel_rows, window.row_len(), outputs);
                    product(full, Matrix::new(rows, pixels, window.row_len()), kernel, Mode::Overwrite);
                    for ((full, output), places) in full
                        .chunks_exact(self.full_len())
                        .zip(output.chunks_exact_mut(self.pooled_len()))
                        .zip(places.chunks_exact_mut(self.pooled_len()))
                    {
                        max_pool(full, window.out_width(), outputs, self.pooled_width(), output, places);
                    }
                });
            });
            // The bias is the same for all four pixels of a window, and ReLU keeps their order: both can wait until here.
            for output in output.chunks_exact_mut(outputs) {
                for (value, &bias) in output.iter_mut().zip(bias) {
                    let sum = *value + bias;
                    *value = if self.relu && sum <= 0.0 { 0.0 } else { sum };
                }
            }
        });
    }

    fn gather(&self, x: &[f32], rows: &mut [f32]) {
        let rows = rows.chunks_exact_mut(self.window.out_pixels() * self.window.row_len());
        for (picture, rows) in x.chunks_exact(self.window.picture_len()).zip(rows) {
            self.window.gather(picture, rows);
        }
    }

    /// Adds to the parameters' gradients and, where asked, writes the gradient of `x`.
    fn backward(&self, x: &[f32], weight: &[f32], result: &[f32], gradient: &[f32], x_gradient: Option<&mut [f32]>) {
        let window = self.window;
        let kernel_rows = self.kernel_rows(weight);
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let group = GROUP * window.picture_len();
        let x_gradients: Vec<Option<&mut [f32]>> = match x_gradient {
            Some(x_gradient) => x_gradient.chunks_mut(group).map(Some).collect(),
            None => (0..x.len().div_ceil(group)).map(|_| None).collect(),
        };
        let partial: Vec<(Vec<f32>, Vec<f32>)> = x
            .par_chunks(group)
            .zip(result.par_chunks(GROUP * self.pooled_len()))
            .zip(gradient.par_chunks(GROUP * self.pooled_len()))
            .zip(places.par_chunks(GROUP * self.pooled_len()))
            .zip(x_gradients)
            .map(|((((x, result), gradient), places), x_gradient)| {
                self.backward_group(x, &kernel_rows, result, gradient, places, x_gradient)
            })
            .collect();

        let mut weight_gradient = self.weight.gradient();
        let mut bias_gradient = self.bias.gradient();
        let mut sum = vec![0.0; kernel_rows.len()];
        for (weight_part, bias_part) in &partial {
            sum.iter_mut().zip(weight_part).for_each(|(sum, part)| *sum += part);
            bias_gradient.iter_mut().zip(bias_part).for_each(|(sum, part)| *sum += part);
        }
        self.for_each_weight(|canonical, row| weight_gradient[canonical] += sum[row]);
    }

    /// One group's share of the gradients of weight (as `kernel_rows`) and bias.
    fn backward_group(
        &self,
        x: &[f32],
        kernel_rows: &[f32],
        result: &[f32],
        gradient: &[f32],
        places: &[u8],
        x_gradient: Option<&mut [f32]>,
    ) -> (Vec<f32>, Vec<f32>) {
        let Self { window, outputs, .. } = *self;
        let pixels = x.len() / window.picture_len() * window.out_pixels();
        let mut weight_part = vec![0.0; kernel_rows.len()];
        let mut bias_part = vec![0.0; outputs];
        with_scratch(gradient.len(), |live| {
            for ((live, &gradient), &result) in live.iter_mut().zip(gradient).zip(result) {
                *live = if self.relu && result <= 0.0 { 0.0 } else { gradient };
            }
            for live in live.chunks_exact(outputs) {
                bias_part.iter_mut().zip(live).for_each(|(sum, value)| *sum += value);
            }
            with_scratch(pixels * outputs, |full| {
                for ((full, live), places) in full
                    .chunks_exact_mut(self.full_len())
                    .zip(live.chunks_exact(self.pooled_len()))
                    .zip(places.chunks_exact(self.pooled_len()))
                {
                    max_pool_gradient(live, places, window.out_width(), outputs, self.pooled_width(), full);
                }
                let full = Matrix::new(full, pixels, outputs);
                with_scratch(pixels * window.row_len(), |rows| {
                    self.gather(x, rows);
                    product(&mut weight_part, Matrix::new(rows, pixels, window.row_len()).transposed(), full, Mode::Overwrite);
                    if let Some(x_gradient) = x_gradient {
                        let kernel = Matrix::new(kernel_rows, window.row_len(), outputs).transposed();
                        product(rows, full, kernel, Mode::Overwrite);
                        let rows = rows.chunks_exact(window.out_pixels() * window.row_len());
                        for (picture, rows) in x_gradient.chunks_exact_mut(window.picture_len()).zip(rows) {
                            window.scatter_add(rows, picture);
                        }
                    }
                });
            });
        });
        (weight_part, bias_part)
    }
}

impl CustomOp3 for ConvPool {
    fn name(&self) -> &'static str {
        "conv-pool"
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
        let images = x_layout.dims().first().copied().unwrap_or_default();
        let mut output = vec![0.0; images * self.pooled_len()];
        let mut places = vec![0; output.len()];
        self.forward(floats(x, x_layout)?, floats(weight, weight_layout)?, floats(bias, bias_layout)?, &mut output, &mut places);
        *self.places.lock().unwrap_or_else(PoisonError::into_inner) = places;
        let shape = (images, self.window.out_height() / 2, self.pooled_width(), self.outputs);
        Ok((CpuStorage::F32(output), shape.into()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let mut x_gradient = x.track_op().then(|| vec![0.0; x.elem_count()]);
        with_floats(x, |x| {
            with_floats(weight, |weight| {
                with_floats(result, |result| {
                    with_floats(gradient, |gradient| {
                        self.backward(x, weight, result, gradient, x_gradient.as_deref_mut());
                        Ok(())
                    })
                })
            })
        })?;
        // The parameters' gradients went where `Parameter` gathers them.
        Ok((x_gradient.map(|values| Tensor::from_vec(values, x.shape(), &Device::Cpu)).transpose()?, None, None))
    }
}
