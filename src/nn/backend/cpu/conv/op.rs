//! Convolution as an op, with the max-pooling and `ReLU` that are fused to it: the full-size output
//! of a convolution with pooling never leaves the CPU's cache.

use candle_core::{Result, Tensor};

use super::super::{input_gradient, tensor, with_slices};
use super::FusedConvolution;
use super::backward::{ParameterGradients, Saved};
use super::geometry::Convolution;
use crate::nn::autograd::Gradients;
use crate::nn::ops::{Context, Conv2d};
use crate::nn::{Output, Parameter};

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
    let mut output = vec![0.0; images * op.output_len()];
    let mut argmax = vec![0; if pool { output.len() } else { 0 }];
    let bias_values = bias.map(Parameter::values).transpose()?;
    with_slices([x, &weight.tensor()], |[x, weight]| {
        op.forward(x, weight, bias_values.as_deref(), &mut output, &mut argmax)
    })?;
    let (out_height, out_width) = op.output_size();
    let output = tensor(output, (images, out_height, out_width, outputs))?;
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
                                op.backward(saved, ParameterGradients { weight, bias }, x_gradient)
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
