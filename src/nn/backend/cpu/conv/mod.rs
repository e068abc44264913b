//! Convolution with whatever is fused to it, forward and backward, over a batch of images: the
//! full-size output of a convolution with pooling never leaves the CPU's cache.
//!
//! `geometry` knows sizes, padding and the layouts of weights; `kernels` computes an image forward, and
//! its pooling both ways; `backward` chooses between dense and sparse gradients (from the lists of
//! `terms`).

mod backward;
mod geometry;
mod kernels;
mod terms;

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use self::backward::{ParameterGradients, Saved};
use self::geometry::Convolution;
use self::kernels::{MaxPool, Operands};
use super::microkernels::{Buffer, Scratch, bf16};
use super::{Zeros, input_gradient, tensor, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::ops::{Context, Conv2d};
use crate::nn::{Output, Parameter};
use crate::profiler::RecordedIterator;
use crate::run_config::Precision;

/// A convolution and what is fused with it, over a batch of images.
#[derive(Clone, Copy, Debug)]
pub struct FusedConvolution {
    pub convolution: Convolution,
    /// Whether 2x2 max pooling with stride 2 follows.
    pub pool: bool,
    pub relu: bool,
    /// The precision of the operands of its products.
    pub precision: Precision,
}

impl FusedConvolution {
    /// Rows and columns of one image's result.
    const fn output_size(&self) -> (usize, usize) {
        let (height, width) = (self.convolution.out_height(), self.convolution.out_width());
        if self.pool {
            (height / 2, width / 2)
        } else {
            (height, width)
        }
    }

    const fn output_len(&self) -> usize {
        let (height, width) = self.output_size();
        height * width * self.convolution.outputs
    }
}

/// See [`crate::nn::ops::conv2d`] and [`crate::nn::ops::conv2d_max_pool`].
pub fn conv2d(x: &Tensor, conv: Conv2d<'_>, context: Context) -> Result<Output> {
    let (images, height, width, channels) = x.dims4()?;
    let Conv2d {
        weight,
        bias,
        window,
        pool,
        relu,
    } = conv;
    let outputs = weight.dims().first().copied().unwrap_or_default();
    let convolution = Convolution {
        height,
        width,
        channels,
        outputs,
        kernel: window.size,
        stride: window.stride,
        padding: window.padding,
    };
    let op = FusedConvolution {
        convolution,
        pool,
        relu,
        precision: context.precision,
    };
    let mut output = Zeros::new(images * op.output_len());
    let mut argmax = vec![0; if pool { output.len() } else { 0 }];
    let bias_values = bias.map(Parameter::values).transpose()?;
    with_slices([x, &weight.tensor()], |[x, weight]| {
        op.forward(x, weight, bias_values.as_deref(), &mut output, &mut argmax);
    })?;
    let (out_height, out_width) = op.output_size();
    let output = tensor(output.into_vec(), (images, out_height, out_width, outputs))?;
    let (x, weight, bias, saved_output) =
        (x.clone(), weight.clone(), bias.cloned(), output.clone());
    Ok(Output::new(
        output,
        context.grad,
        move |gradient, needed| {
            let x_gradient = input_gradient(&x, needed[0], |x_gradient| {
                with_slices(
                    [&x, &weight.tensor(), &saved_output, gradient],
                    |[x, weight_values, output, gradient]| {
                        let saved = Saved {
                            x,
                            weight: weight_values,
                            output,
                            gradient,
                            argmax: &argmax,
                        };
                        let add = |bias: Option<&mut [f32]>| {
                            weight.add_to_grad(|weight| {
                                op.backward(saved, ParameterGradients { weight, bias }, x_gradient);
                            })
                        };
                        match &bias {
                            None => add(None),
                            Some(bias) => bias.add_to_grad(|bias| add(Some(bias)))?,
                        }
                    },
                )?
            })?;
            Ok(Gradients::input(x_gradient))
        },
    ))
}

/// Images a task takes at most: rayon would split so that each thread has two tasks, and one that
/// is held up would keep the others waiting.
const TASK: usize = 4;

/// The inputs of the forward pass that all images share.
struct Packed {
    panels: Buffer,
    /// The panels as pairs, where the products are the CPU's own bf16 ones.
    pairs: Option<Vec<u32>>,
    bias: Vec<f32>,
}

impl FusedConvolution {
    fn packed(&self, weight: &[f32], bias: Option<&[f32]>) -> Packed {
        let convolution = self.convolution;
        let panels = convolution.pack_panels(weight, self.precision);
        let pairs = convolution
            .takes_pairs(self.precision)
            .then(|| convolution.pair_panels(&panels));
        let mut padded_bias = vec![0.0; convolution.padded_outputs()];
        if let Some(bias) = bias {
            padded_bias[..bias.len()].copy_from_slice(bias);
        }
        Packed {
            panels,
            pairs,
            bias: padded_bias,
        }
    }

    /// Writes the result of every image and, with pooling, where each maximum was.
    pub fn forward(
        &self,
        x: &[f32],
        weight: &[f32],
        bias: Option<&[f32]>,
        result: &mut Zeros,
        argmax: &mut [u8],
    ) {
        let convolution = self.convolution;
        let packed = self.packed(weight, bias);
        let image = |x: &[f32], result: &mut [f32], argmax: &mut [u8]| {
            self.forward_image(x, &packed, result, argmax);
        };
        if result.len() == self.output_len() {
            // One drawing is read sooner than another thread is woken.
            image(x, result.as_mut_slice(), argmax);
        } else if self.pool {
            x.par_chunks(convolution.image_len())
                .with_max_len(TASK)
                .zip(result.par_chunks_mut(self.output_len()))
                .zip(argmax.par_chunks_mut(self.output_len()))
                .for_each_recorded(|((x, result), argmax)| image(x, result, argmax));
        } else {
            x.par_chunks(convolution.image_len())
                .with_max_len(TASK)
                .zip(result.par_chunks_mut(self.output_len()))
                .for_each_recorded(|(x, result)| image(x, result, &mut []));
        }
    }

    fn forward_image(&self, x: &[f32], packed: &Packed, result: &mut [f32], argmax: &mut [u8]) {
        let Packed {
            panels,
            pairs,
            bias,
        } = packed;
        let Self {
            convolution,
            pool,
            relu,
            precision,
        } = *self;
        let step = if pool { 2 } else { 1 };
        let channels = convolution.outputs;
        let width = convolution.out_width();
        let (_, result_width) = self.output_size();
        let height = convolution.out_height() / step * step;
        let strip = convolution.strip(step).min(height);
        let mut padded = Scratch::new(convolution.padded_len());
        convolution.pad(x, &mut padded, precision);
        let mut halves = Scratch::new(if pairs.is_some() { padded.len() } else { 0 });
        vectorized!(
            halves
                .iter_mut()
                .zip(&*padded)
                .for_each(|(half, &value)| *half = bf16::bits_of(value))
        );
        let operands = match pairs {
            Some(panels) => Operands::Pairs {
                padded: &halves,
                panels,
            },
            None => Operands::Single {
                padded: &padded,
                panels,
            },
        };
        if !pool && !relu && channels == bias.len() {
            return convolution.forward(operands, bias, 0..height, result);
        }
        let mut rows = Scratch::new(strip * width * bias.len());
        for start in (0..height).step_by(strip.max(1)) {
            let strip = start..(start + strip).min(height);
            let part =
                start / step * result_width * channels..strip.end / step * result_width * channels;
            let rows = &mut rows[..strip.len() * width * bias.len()];
            convolution.forward(operands, bias, strip, rows);
            let output = &mut result[part.clone()];
            if pool {
                MaxPool {
                    rows,
                    width,
                    stride: bias.len(),
                    channels,
                    relu,
                    output,
                    argmax: &mut argmax[part],
                }
                .run();
            } else {
                vectorized!(for (output, pixel) in output
                    .chunks_exact_mut(channels)
                    .zip(rows.chunks_exact(bias.len()))
                {
                    for (output, &value) in output.iter_mut().zip(pixel) {
                        *output = if relu && value <= 0.0 { 0.0 } else { value };
                    }
                });
            }
        }
    }
}
