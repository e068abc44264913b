//! Owns convolution (stride 1), bias, 2x2 max-pooling and optionally `ReLU` as one op: the full-size result of the
//! convolution never leaves the processor's cache. Must not know models.

use candle_core::{Result, Tensor};

use super::convolution::Convolution;
use super::convolve::Convolve;
use super::{Context, Kernel, conv2d, elsewhere};
use crate::nn::Parameter;

/// `relu(max_pool(conv(x, weight) + bias))`, or without the bias or the `ReLU`, from `[batch, height, width, channels]`; `weight` is
/// `[out, in, height, width]`. The gradient of `x` is computed only where `x` depends on a parameter.
pub fn conv_pool(x: &Tensor, weight: &Parameter, bias: Option<&Parameter>, padding: usize, relu: bool, context: Context) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    let (outputs, inputs, kernel, kernel_width) = weight.tracked().dims4()?;
    let convolution = Convolution { height, width, channels, outputs, kernel, stride: 1, padding };
    let misfit = channels != inputs || kernel != kernel_width || bias.is_some_and(|bias| bias.len() != outputs) || !convolution.fits();
    // A result without room for a single 2x2 window is refused as well.
    if misfit || convolution.out_height().min(convolution.out_width()) < 2 {
        candle_core::bail!("a {kernel}x{kernel_width} convolution of {inputs} channels does not fit {:?}", x.shape());
    }
    if context.is_elsewhere() {
        return elsewhere::conv_pool(x, weight, bias, Kernel { size: kernel, stride: 1, padding }, relu, context);
    }
    let convolve = Convolve { convolution, pool: true, relu, precision: context.precision };
    conv2d::apply(x, convolve, weight, bias, context)
}
