//! The fully connected layer, `x Wᵀ + b`, optionally with `ReLU`.

use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::matrix::{Matrix, Mode, SMALL, multiply, product, round, rounded};
use super::pointwise::{apply, times_derivative, transpose_each};
use super::row_products::{SparseMatrix, rows_times_rows};
use super::{
    CHUNK, Zeros, add_to, input_gradient, microkernels::Scratch, tensor, vectorized, with_slices,
};
#[cfg(target_arch = "x86_64")]
use super::{microkernels::bf16, row_products::rows_times_rows_bf16};
use crate::nn::autograd::Gradients;
use crate::nn::ops::Context;
use crate::nn::{Output, Parameter};
use crate::profiler::RecordedIterator;
use crate::run_config::{Activation, Precision};

/// Features below which inner products are too short to be summed a vector at a time.
const SHORT: usize = 128;
/// Rows of a batch, or of tokens, that one task takes.
const ROWS: usize = 64;
/// Outputs whose gradients one task takes.
const OUTPUTS: usize = 16;
/// Gradients of which a larger share is not zero are multiplied as dense matrices. Networks whose
/// gradients are 10% to 15% nonzero are slower that way; at 25% to 50%, they are faster.
const DENSE_SHARE: f32 = 0.2;

pub fn linear(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    relu: bool,
    context: Context,
) -> Result<Output> {
    let (rows, inputs) = x.dims2()?;
    let op = Linear {
        inputs,
        outputs: bias.len(),
        relu,
        precision: context.precision,
        weight: weight.clone(),
        bias: bias.clone(),
    };
    let mut output = Zeros::new(rows * op.outputs);
    with_slices(
        [x, &weight.tensor(), &bias.tensor()],
        |[x, weight, bias]| op.forward(&mut output, x, weight, bias),
    )?;
    let output = tensor(output.into_vec(), (rows, op.outputs))?;
    let x = x.clone();
    let result = output.clone();
    let backward = move |gradient: &Tensor, needed: &[bool]| {
        let x_gradient = input_gradient(&x, needed[0], |x_gradient| {
            let saved = [&x, &op.weight.tensor(), &output, gradient];
            with_slices(saved, |[x, weight, output, gradient]| {
                op.backward(x, weight, output, gradient, x_gradient)
            })?
        })?;
        Ok(Gradients::input(x_gradient))
    };
    Ok(Output::new(result, context.grad, backward))
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
    fn forward(&self, output: &mut Zeros, x: &[f32], weight: &[f32], bias: &[f32]) {
        #[cfg(target_arch = "x86_64")]
        if self.precision == Precision::Bf16 && bf16::is_native() {
            let output = output.as_mut_slice();
            return rows_times_rows_bf16(output, x, weight, Some(bias), self.inputs, self.relu);
        }
        let (x, weight) = (rounded(x, self.precision), rounded(weight, self.precision));
        if self.inputs > SHORT || x.len() / self.inputs < ROWS {
            let output = output.as_mut_slice();
            return rows_times_rows(output, &x, &weight, Some(bias), self.inputs, self.relu);
        }
        let weight = transpose_each(&weight, self.outputs, self.inputs);
        let weight = Matrix::new(&weight, self.inputs, self.outputs);
        output
            .par_chunks_mut(ROWS * self.outputs)
            .zip(x.par_chunks(ROWS * self.inputs))
            .for_each_recorded(|(output, x)| {
                multiply(
                    output,
                    Matrix::new(x, x.len() / self.inputs, self.inputs),
                    weight,
                );
                vectorized!(for output in output.chunks_exact_mut(self.outputs) {
                    add_to(output, bias);
                });
                if self.relu {
                    vectorized!(apply(Activation::Relu, output));
                }
            });
    }

    fn backward(
        &self,
        x: &[f32],
        weight: &[f32],
        output: &[f32],
        gradient: &[f32],
        x_gradient: Option<&mut Zeros>,
    ) -> Result<()> {
        // ReLU passes a gradient only where its output is above 0.
        let mut live = Scratch::new(gradient.len());
        let count = AtomicUsize::new(0);
        let chunks = live
            .par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks(CHUNK))
            .zip(output.par_chunks(CHUNK));
        chunks.for_each_recorded(|((live, gradient), output)| {
            if self.relu {
                vectorized!(times_derivative(Activation::Relu, output, gradient, live));
            } else {
                live.copy_from_slice(gradient);
            }
            round(live, self.precision);
            let in_chunk = vectorized!(live.iter().filter(|value| **value != 0.0).count());
            count.fetch_add(in_chunk, Ordering::Relaxed);
        });
        let share = count.into_inner() as f32 / live.len() as f32;
        self.bias.add_to_grad(|bias_gradient| {
            vectorized!(for live in live.chunks_exact(self.outputs) {
                add_to(bias_gradient, live);
            });
        })?;
        let x = rounded(x, self.precision);
        if share < DENSE_SHARE || self.outputs < SHORT / 4 {
            self.sparse_backward(&x, weight, &live, x_gradient)
        } else {
            self.dense_backward(&x, weight, &live, x_gradient)
        }
    }

    /// The products of a gradient that is mostly zeros, or too narrow for anything else.
    fn sparse_backward(
        &self,
        x: &[f32],
        weight: &[f32],
        gradient: &[f32],
        x_gradient: Option<&mut Zeros>,
    ) -> Result<()> {
        let (inputs, outputs) = (self.inputs, self.outputs);
        self.weight.add_to_grad(|sum| {
            SparseMatrix::transposed(gradient, outputs, inputs).times(x, inputs, sum, true);
        })?;
        if let Some(x_gradient) = x_gradient {
            SparseMatrix::new(gradient, outputs, inputs).times(
                &rounded(weight, self.precision),
                inputs,
                x_gradient.as_mut_slice(),
                false,
            );
        }
        Ok(())
    }

    /// The products of a gradient without zeros.
    fn dense_backward(
        &self,
        x: &[f32],
        weight: &[f32],
        gradient: &[f32],
        x_gradient: Option<&mut Zeros>,
    ) -> Result<()> {
        let (inputs, outputs) = (self.inputs, self.outputs);
        let matrix = |values, cols| Matrix::new(values, values.len() / cols, cols);
        let block = (SMALL / inputs).max(1);
        self.weight.add_to_grad(|sum| {
            sum.par_chunks_mut(OUTPUTS * inputs)
                .enumerate()
                .for_each_recorded(|(task, sum)| {
                    let first = task * OUTPUTS;
                    let part = first..first + sum.len() / inputs;
                    let blocks = gradient
                        .chunks(block * outputs)
                        .zip(x.chunks(block * inputs));
                    for (gradient, x) in blocks {
                        let gradient = matrix(gradient, outputs).columns(part.clone());
                        product(sum, gradient.transposed(), matrix(x, inputs), Mode::Add);
                    }
                });
        })?;
        if let Some(x_gradient) = x_gradient {
            let weight = rounded(weight, self.precision);
            let weight = matrix(&weight, inputs);
            x_gradient
                .par_chunks_mut(ROWS * inputs)
                .zip(gradient.par_chunks(ROWS * outputs))
                .for_each_recorded(|(x_gradient, gradient)| {
                    multiply(x_gradient, matrix(gradient, outputs), weight);
                });
        }
        Ok(())
    }
}
