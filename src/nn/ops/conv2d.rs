//! Owns convolution with any stride and padding, with or without a bias, and the op that every convolution is. Must not know models.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp3, Layout, Result, Shape, Tensor};

use super::convolution::Convolution;
use super::convolve::{Convolve, ParameterGradients, Saved};
use super::{Context, Kernel, elsewhere, floats, input_gradient, tape, with_slices};
use crate::nn::Parameter;

/// The convolution (cross-correlation, as `torch.nn.Conv2d`) of `x` `[batch, height, width, channels]` with `weight`
/// `[out, in, size, size]`, plus `bias` where there is one. The gradient of `x` is computed only where `x` depends on a parameter.
pub fn conv2d(x: &Tensor, weight: &Parameter, bias: Option<&Parameter>, stride: usize, padding: usize, context: Context) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    let (outputs, inputs, kernel, kernel_width) = weight.tracked().dims4()?;
    let convolution = Convolution { height, width, channels, outputs, kernel, stride, padding };
    if channels != inputs || kernel != kernel_width || bias.is_some_and(|bias| bias.len() != outputs) || !convolution.fits() {
        candle_core::bail!("a {kernel}x{kernel_width} convolution of {inputs} channels does not fit {:?}", x.shape());
    }
    if context.is_elsewhere() {
        return elsewhere::conv2d(x, weight, bias, Kernel { size: kernel, stride, padding }, context);
    }
    let convolve = Convolve { convolution, pool: false, relu: false, precision: context.precision };
    apply(x, convolve, weight, bias, context)
}

/// `convolve`, with what is fused into it, as an op; the caller has checked that the shapes fit.
pub fn apply(x: &Tensor, convolve: Convolve, weight: &Parameter, bias: Option<&Parameter>, context: Context) -> Result<Tensor> {
    let op = Conv { convolve, weight: weight.clone(), bias: bias.cloned(), places: Mutex::default() };
    // Without a bias the weight stands in its place, unused.
    tape::apply3(x, weight.tracked(), bias.unwrap_or(weight).tracked(), op, context.gradient)
}

struct Conv {
    convolve: Convolve,
    weight: Parameter,
    bias: Option<Parameter>,
    /// With pooling, which of its four pixels each maximum was; else empty.
    places: Mutex<Vec<u8>>,
}

impl CustomOp3 for Conv {
    fn name(&self) -> &'static str {
        "conv"
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
        let images = x_layout.dims().first().copied().unwrap_or_default();
        let mut result = vec![0.0; images * self.convolve.result_len()];
        let mut places = vec![0; if self.convolve.pool { result.len() } else { 0 }];
        self.convolve.forward(floats(x, x_layout)?, floats(weight, weight_layout)?, bias, &mut result, &mut places);
        *self.places.lock().unwrap_or_else(PoisonError::into_inner) = places;
        let (height, width) = self.convolve.result_size();
        Ok((CpuStorage::F32(result), (images, height, width, self.convolve.convolution.outputs).into()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let of_x = input_gradient(x, |x_gradient| {
            with_slices([x, weight, result, gradient], |[x, weight, result, gradient]| {
                let saved = Saved { x, weight, result, gradient, places: &places };
                let mut of_bias = self.bias.as_ref().map(Parameter::gradient);
                let bias = of_bias.as_deref_mut().map(Vec::as_mut_slice);
                self.convolve.backward(saved, ParameterGradients { weight: &mut self.weight.gradient(), bias }, x_gradient);
            })
        })?;
        // The parameters' gradients went where `Parameter` gathers them.
        Ok((of_x, None, None))
    }
}
