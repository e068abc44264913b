//! Owns the fully connected layer, `x Wᵀ + b`, optionally with `ReLU`. Must not know models.

use candle_core::{CpuStorage, CustomOp3, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::activation::{apply, apply_slope};
use super::matrix::{Matrix, Mode, product};
use super::precision::{round, rounded};
use super::product::{Sparse, rows_times_rows};
use super::{Context, PIECE, elsewhere, floats, input_gradient, kernels::Scratch, tape, vectorized, with_slices};
#[cfg(target_arch = "x86_64")]
use super::{kernels::bf16, product::rows_times_rows_bf16};
use crate::nn::Parameter;
use crate::run_config::{Activation, Precision};

/// Features below which inner products are too short to be summed a vector at a time.
const SHORT: usize = 128;
/// Rows of a batch, or of tokens, that one task takes.
const ROWS: usize = 64;
/// Outputs whose gradients one task takes.
const OUTPUTS: usize = 16;

/// `x weightᵀ + bias`, or `relu` of that, from `[batch, in]`; `weight` is `[out, in]`. The gradient of `x` is computed only
/// where `x` depends on a parameter.
pub fn linear(x: &Tensor, weight: &Parameter, bias: &Parameter, relu: bool, context: Context) -> Result<Tensor> {
    let (_, features) = x.dims2()?;
    let (outputs, inputs) = weight.tracked().dims2()?;
    if features != inputs {
        candle_core::bail!("a layer of {inputs} inputs does not fit {:?}", x.shape());
    }
    if context.is_elsewhere() {
        return elsewhere::linear(x, weight, bias, relu, context);
    }
    let op = Linear { inputs, outputs, relu, precision: context.precision, weight: weight.clone(), bias: bias.clone() };
    tape::apply3(x, weight.tracked(), bias.tracked(), op, context.gradient)
}

struct Linear {
    inputs: usize,
    outputs: usize,
    relu: bool,
    precision: Precision,
    weight: Parameter,
    bias: Parameter,
}

impl Linear {
    fn forward(&self, output: &mut [f32], x: &[f32], weight: &[f32], bias: &[f32]) {
        #[cfg(target_arch = "x86_64")]
        if self.precision == Precision::Bf16 && bf16::is_native() {
            return rows_times_rows_bf16(output, x, weight, Some(bias), self.inputs, self.relu);
        }
        let (x, weight) = (rounded(x, self.precision), rounded(weight, self.precision));
        if self.inputs > SHORT || x.len() / self.inputs < ROWS {
            return rows_times_rows(output, &x, &weight, Some(bias), self.inputs, self.relu);
        }
        let weight = Matrix::new(&weight, self.outputs, self.inputs).transposed();
        output.par_chunks_mut(ROWS * self.outputs).zip(x.par_chunks(ROWS * self.inputs)).for_each(|(output, x)| {
            product(output, Matrix::new(x, x.len() / self.inputs, self.inputs), weight, Mode::Overwrite);
            vectorized!(for output in output.chunks_exact_mut(self.outputs) {
                output.iter_mut().zip(bias).for_each(|(sum, bias)| *sum += bias);
            });
            if self.relu {
                apply(Activation::Relu, output);
            }
        });
    }

    fn backward(&self, x: &[f32], weight: &[f32], result: &[f32], gradient: &[f32], x_gradient: Option<&mut [f32]>) {
        // ReLU passes a gradient only where its result is above 0.
        let mut live = Scratch::new(gradient.len());
        let pieces = live.par_chunks_mut(PIECE).zip(gradient.par_chunks(PIECE)).zip(result.par_chunks(PIECE));
        pieces.for_each(|((live, gradient), result)| {
            live.copy_from_slice(gradient);
            if self.relu {
                apply_slope(Activation::Relu, result, live);
            }
            round(live, self.precision);
        });
        let mut bias_gradient = self.bias.gradient();
        vectorized!(for live in live.chunks_exact(self.outputs) {
            bias_gradient.iter_mut().zip(live).for_each(|(sum, value)| *sum += value);
        });
        let x = rounded(x, self.precision);
        if self.relu || self.outputs < SHORT / 4 {
            self.backward_from_lists(&x, weight, &live, x_gradient);
        } else {
            self.backward_of_all(&x, weight, &live, x_gradient);
        }
    }

    /// The products of a gradient that is mostly zeros, or too narrow for anything else.
    fn backward_from_lists(&self, x: &[f32], weight: &[f32], gradient: &[f32], x_gradient: Option<&mut [f32]>) {
        let Self { inputs, outputs, .. } = *self;
        Sparse::transposed(gradient, outputs, inputs).times(x, inputs, &mut self.weight.gradient(), true);
        if let Some(x_gradient) = x_gradient {
            Sparse::new(gradient, outputs, inputs).times(&rounded(weight, self.precision), inputs, x_gradient, false);
        }
    }

    /// The products of a gradient without zeros.
    fn backward_of_all(&self, x: &[f32], weight: &[f32], gradient: &[f32], x_gradient: Option<&mut [f32]>) {
        let Self { inputs, outputs, .. } = *self;
        let rows = |values: &[f32], cols: usize| values.len() / cols;
        let (all, pictures) = (Matrix::new(gradient, rows(gradient, outputs), outputs), Matrix::new(x, rows(x, inputs), inputs));
        self.weight.gradient().par_chunks_mut(OUTPUTS * inputs).enumerate().for_each(|(task, sum)| {
            let first = task * OUTPUTS;
            product(sum, all.columns(first..first + rows(sum, inputs)).transposed(), pictures, Mode::Add);
        });
        if let Some(x_gradient) = x_gradient {
            let weight = rounded(weight, self.precision);
            let weight = Matrix::new(&weight, outputs, inputs);
            x_gradient.par_chunks_mut(ROWS * inputs).zip(gradient.par_chunks(ROWS * outputs)).for_each(|(x_gradient, gradient)| {
                product(x_gradient, Matrix::new(gradient, rows(gradient, outputs), outputs), weight, Mode::Overwrite);
            });
        }
    }
}

impl CustomOp3 for Linear {
    fn name(&self) -> &'static str {
        "linear"
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
        let (x, weight, bias) = (floats(x, x_layout)?, floats(weight, weight_layout)?, floats(bias, bias_layout)?);
        let batch = x.len() / self.inputs;
        let mut output = vec![0.0; batch * self.outputs];
        self.forward(&mut output, x, weight, bias);
        Ok((CpuStorage::F32(output), (batch, self.outputs).into()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let of_x = input_gradient(x, |x_gradient| {
            with_slices([x, weight, result, gradient], |[x, weight, result, gradient]| {
                self.backward(x, weight, result, gradient, x_gradient);
            })
        })?;
        // The parameters' gradients went where `Parameter` gathers them.
        Ok((of_x, None, None))
    }
}
