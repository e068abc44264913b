//! Owns convolution (stride 1), bias, 2x2 max-pooling and optionally `ReLU` as one op: the full-size result of the
//! convolution never leaves the processor's cache. Must not know models.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp3, Layout, Result, Shape, Tensor};

use super::convolution::Convolution;
use super::convolve::{Convolve, ParameterGradients, Saved};
use super::{Context, Gradient, Kernel, composed, floats, input_gradient, tape, with_slices};
use crate::nn::Parameter;
use crate::run_config::Activation;

/// `relu(max_pool(conv(x, weight) + bias))`, or without the `ReLU`, from `[batch, height, width, channels]`; `weight` is
/// `[out, in, height, width]`. The gradient of `x` is computed only where `x` depends on a parameter.
pub fn conv_pool(x: &Tensor, weight: &Parameter, bias: &Parameter, padding: usize, relu: bool, context: Context) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    let (outputs, inputs, kernel, kernel_width) = weight.tracked().dims4()?;
    let convolution = Convolution { height, width, channels, outputs, kernel, stride: 1, padding };
    // A result without room for a single 2x2 window is refused as well.
    if channels != inputs || kernel != kernel_width || !convolution.fits() || convolution.out_height().min(convolution.out_width()) < 2 {
        candle_core::bail!("a {kernel}x{kernel_width} convolution of {inputs} channels does not fit {:?}", x.shape());
    }
    if !x.device().is_cpu() {
        let sums = composed::conv2d(x, weight.tracked(), Some(bias.tracked()), 1, padding)?;
        let pooled = composed::max_pool(&sums, Kernel { size: 2, stride: 2, padding: 0 })?;
        return if relu { composed::activate(&pooled, Activation::Relu) } else { Ok(pooled) };
    }
    let convolve = Convolve { convolution, pool: true, relu, precision: context.precision };
    let op = ConvPool { convolve, weight: weight.clone(), bias: bias.clone(), places: Mutex::default() };
    match context.gradient {
        Gradient::Kept => tape::apply3(x, weight.tracked(), bias.tracked(), op),
        Gradient::None => x.apply_op3_no_bwd(weight.tracked(), bias.tracked(), &op),
    }
}

struct ConvPool {
    convolve: Convolve,
    weight: Parameter,
    bias: Parameter,
    /// Which of its four pixels each pooled maximum was.
    places: Mutex<Vec<u8>>,
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
        let mut output = vec![0.0; images * self.convolve.result_len()];
        let mut places = vec![0; output.len()];
        let (x, weight, bias) = (floats(x, x_layout)?, floats(weight, weight_layout)?, floats(bias, bias_layout)?);
        self.convolve.forward(x, weight, Some(bias), &mut output, &mut places);
        *self.places.lock().unwrap_or_else(PoisonError::into_inner) = places;
        let (height, width) = self.convolve.result_size();
        Ok((CpuStorage::F32(output), (images, height, width, self.convolve.convolution.outputs).into()))
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
                let (mut of_weight, mut of_bias) = (self.weight.gradient(), self.bias.gradient());
                self.convolve.backward(saved, ParameterGradients { weight: &mut of_weight, bias: Some(&mut of_bias) }, x_gradient);
            })
        })?;
        // The parameters' gradients went where `Parameter` gathers them.
        Ok((of_x, None, None))
    }
}
