//! Owns convolution with any stride and padding, with or without a bias. Must not know models.

mod patches;

use candle_core::{CpuStorage, CustomOp3, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use self::patches::Patches;
use super::matrix::{Matrix, Mode, product};
use super::scratch::with_scratch;
use super::sliding::Kernel;
use super::{Context, Gradient, floats, with_floats};
use crate::nn::Parameter;

/// Places of the kernel per task and matrix product: enough to fill `gemm`'s blocks, few enough to stay in the second-level cache.
const GROUP_PLACES: usize = 512;

/// The convolution (cross-correlation, as `torch.nn.Conv2d`) of `x` `[batch, height, width, channels]` with `weight`
/// `[out, in, size, size]`, plus `bias` where there is one. The gradient of `x` is computed only where `x` depends on a parameter.
pub fn conv2d(x: &Tensor, weight: &Parameter, bias: Option<&Parameter>, stride: usize, padding: usize, context: Context) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    let (outputs, inputs, size, kernel_width) = weight.tracked().dims4()?;
    if channels != inputs || size != kernel_width || bias.is_some_and(|bias| bias.len() != outputs) {
        candle_core::bail!("a {size}x{kernel_width} convolution of {inputs} channels does not fit {:?}", x.shape());
    }
    let patches = Patches::new(Kernel { size, stride, padding }, height, width, channels)?;
    let op = Conv2d { patches, outputs, weight: weight.clone(), bias: bias.cloned() };
    // Without a bias the weight stands in its place, unused.
    let third = bias.unwrap_or(weight).tracked();
    match context.gradient {
        Gradient::Kept => x.apply_op3(weight.tracked(), third, op),
        Gradient::None => x.apply_op3_no_bwd(weight.tracked(), third, &op),
    }
}

struct Conv2d {
    patches: Patches,
    outputs: usize,
    weight: Parameter,
    bias: Option<Parameter>,
}

impl Conv2d {
    /// Images per task.
    fn group(&self) -> usize {
        (GROUP_PLACES / self.patches.places()).max(1)
    }

    /// Numbers in one image's result.
    const fn result_len(&self) -> usize {
        self.patches.places() * self.outputs
    }

    /// The weights as `[in x size x size, out]` with rows ordered as patches are: y, x, in.
    fn kernel_rows(&self, weight: &[f32]) -> Vec<f32> {
        let mut rows = vec![0.0; weight.len()];
        self.for_each_weight(|canonical, row| rows[row] = weight[canonical]);
        rows
    }

    /// Calls `visit` with the place of each weight in `PyTorch`'s layout `[out, in, y, x]` and in `kernel_rows`.
    fn for_each_weight(&self, mut visit: impl FnMut(usize, usize)) {
        let (_, inputs, size, _) = self.weight.tracked().dims4().unwrap_or_default();
        let mut canonical = 0;
        for output in 0..self.outputs {
            for input in 0..inputs {
                for place in 0..size * size {
                    visit(canonical, (place * inputs + input) * self.outputs + output);
                    canonical += 1;
                }
            }
        }
    }

    /// Runs `use_rows` on the patches of a group of pictures.
    fn with_rows<T>(&self, x: &[f32], use_rows: impl FnOnce(&[f32]) -> T) -> T {
        if self.patches.is_identity() {
            return use_rows(x);
        }
        let picture_rows = self.patches.places() * self.patches.row_len();
        with_scratch(x.len() / self.patches.picture_len() * picture_rows, |rows| {
            for (picture, rows) in x.chunks_exact(self.patches.picture_len()).zip(rows.chunks_exact_mut(picture_rows)) {
                self.patches.gather(picture, rows);
            }
            use_rows(rows)
        })
    }

    fn forward(&self, x: &[f32], weight: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
        let Self { patches, outputs, .. } = self;
        let kernel_rows = self.kernel_rows(weight);
        let mut result = vec![0.0; x.len() / patches.picture_len() * self.result_len()];
        let groups = x.par_chunks(self.group() * patches.picture_len()).zip(result.par_chunks_mut(self.group() * self.result_len()));
        groups.for_each(|(x, result)| {
            let (rows, kernel) = (result.len() / outputs, Matrix::new(&kernel_rows, patches.row_len(), *outputs));
            self.with_rows(x, |patch_rows| product(result, Matrix::new(patch_rows, rows, patches.row_len()), kernel, Mode::Overwrite));
            if let Some(bias) = bias {
                for pixel in result.chunks_exact_mut(*outputs) {
                    pixel.iter_mut().zip(bias).for_each(|(value, bias)| *value += bias);
                }
            }
        });
        result
    }

    fn backward(&self, x: &[f32], weight: &[f32], gradient: &[f32], x_gradient: Option<&mut [f32]>) {
        let kernel_rows = self.kernel_rows(weight);
        let group = self.group() * self.patches.picture_len();
        let x_gradients: Vec<Option<&mut [f32]>> = match x_gradient {
            Some(x_gradient) => x_gradient.chunks_mut(group).map(Some).collect(),
            None => (0..x.len().div_ceil(group)).map(|_| None).collect(),
        };
        let parts: Vec<(Vec<f32>, Vec<f32>)> = x
            .par_chunks(group)
            .zip(gradient.par_chunks(self.group() * self.result_len()))
            .zip(x_gradients)
            .map(|((x, gradient), x_gradient)| self.backward_group(x, &kernel_rows, gradient, x_gradient))
            .collect();

        let mut sum = vec![0.0; kernel_rows.len()];
        for (weight_part, _) in &parts {
            sum.iter_mut().zip(weight_part).for_each(|(sum, part)| *sum += part);
        }
        let mut weight_gradient = self.weight.gradient();
        self.for_each_weight(|canonical, row| weight_gradient[canonical] += sum[row]);
        if let Some(bias) = &self.bias {
            let mut bias_gradient = bias.gradient();
            for (_, bias_part) in &parts {
                bias_gradient.iter_mut().zip(bias_part).for_each(|(sum, part)| *sum += part);
            }
        }
    }

    /// One group's share of the gradients of weight (as `kernel_rows`) and bias (empty without one).
    fn backward_group(&self, x: &[f32], kernel_rows: &[f32], gradient: &[f32], x_gradient: Option<&mut [f32]>) -> (Vec<f32>, Vec<f32>) {
        let Self { patches, outputs, .. } = self;
        let (rows, row_len) = (gradient.len() / outputs, patches.row_len());
        let mut weight_part = vec![0.0; kernel_rows.len()];
        let mut bias_part = vec![0.0; self.bias.as_ref().map_or(0, |_| *outputs)];
        for gradient in gradient.chunks_exact(*outputs) {
            bias_part.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value);
        }
        let gradient = Matrix::new(gradient, rows, *outputs);
        self.with_rows(x, |patch_rows| {
            product(&mut weight_part, Matrix::new(patch_rows, rows, row_len).transposed(), gradient, Mode::Overwrite);
        });
        if let Some(x_gradient) = x_gradient {
            let kernel = Matrix::new(kernel_rows, row_len, *outputs).transposed();
            if patches.is_identity() {
                product(x_gradient, gradient, kernel, Mode::Overwrite);
            } else {
                with_scratch(rows * row_len, |patch_rows| {
                    product(patch_rows, gradient, kernel, Mode::Overwrite);
                    let pictures = patch_rows.chunks_exact(patches.places() * row_len);
                    for (picture, rows) in x_gradient.chunks_exact_mut(patches.picture_len()).zip(pictures) {
                        patches.scatter_add(rows, picture);
                    }
                });
            }
        }
        (weight_part, bias_part)
    }
}

impl CustomOp3 for Conv2d {
    fn name(&self) -> &'static str {
        "conv2d"
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
        let bias = self.bias.as_ref().map(|_| floats(bias, bias_layout)).transpose()?;
        let result = self.forward(floats(x, x_layout)?, floats(weight, weight_layout)?, bias);
        let images = x_layout.dims().first().copied().unwrap_or_default();
        Ok((CpuStorage::F32(result), (images, self.patches.out_height, self.patches.out_width, self.outputs).into()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let mut x_gradient = x.track_op().then(|| vec![0.0; x.elem_count()]);
        with_floats(x, |x| {
            with_floats(weight, |weight| {
                with_floats(gradient, |gradient| {
                    self.backward(x, weight, gradient, x_gradient.as_deref_mut());
                    Ok(())
                })
            })
        })?;
        // The parameters' gradients went where `Parameter` gathers them.
        Ok((x_gradient.map(|values| Tensor::from_vec(values, x.shape(), &Device::Cpu)).transpose()?, None, None))
    }
}
