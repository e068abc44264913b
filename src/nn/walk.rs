//! Owns the way through a network's layers: which op computes each, with the next of its parameters.
//! Must not know which network it is nor where its input comes from.

use candle_core::{Result, Tensor};

use super::net::Pass;
use super::ops::{self, BatchNorm, Context, Gradient, Kernel};
use super::{Layer, Parameter};
use crate::device::Kernels;
use crate::run_config::Activation;

/// A forward pass under way. Layers take their parameters in the order in which `Layer::parameters` lists them.
pub struct Walk<'a> {
    parameters: std::slice::Iter<'a, Parameter>,
    pass: Pass<'a>,
    context: Context,
}

impl<'a> Walk<'a> {
    /// A pass that has not taken a step.
    pub fn new(parameters: &'a [Parameter], pass: Pass<'a>, kernels: Kernels) -> Self {
        let context = match pass {
            Pass::Train { precision, .. } => {
                ops::forget();
                Context { gradient: Gradient::Kept, precision, kernels }
            }
            Pass::Read => Context { kernels, ..Context::READ },
        };
        Self { parameters: parameters.iter(), pass, context }
    }

    /// What these layers make of `x`, one after the other.
    pub fn through(&mut self, layers: &[Layer], x: Tensor) -> Result<Tensor> {
        layers.iter().try_fold(x, |x, layer| self.step(layer, x))
    }

    fn step(&mut self, layer: &Layer, x: Tensor) -> Result<Tensor> {
        let context = self.context;
        match *layer {
            Layer::ConvPool { padding, bias, activation, .. } => {
                let (weight, bias) = self.weight_and_bias(bias)?;
                let pooled = ops::conv_pool(&x, weight, bias, padding, is_relu(activation), context)?;
                self.activate(pooled, activation)
            }
            Layer::Conv { kernel: Kernel { stride, padding, .. }, bias, .. } => {
                let (weight, bias) = self.weight_and_bias(bias)?;
                ops::conv2d(&x, weight, bias, stride, padding, context)
            }
            Layer::BatchNorm { activation, .. } => {
                let [weight, bias, running_mean, running_variance] = [self.next()?, self.next()?, self.next()?, self.next()?];
                ops::batch_norm(&x, BatchNorm { weight, bias, running_mean, running_variance }, activation, context)
            }
            Layer::GlobalAveragePool => ops::global_average_pool(&x, context),
            Layer::Residual { ref body, ref shortcut, activation } => {
                let learned = self.through(body, x.clone())?;
                ops::add(&learned, &self.through(shortcut, x)?, activation, context)
            }
            Layer::Tokens => {
                let (batch, height, width, channels) = x.dims4()?;
                ops::reshape(&x, (batch, height * width, channels), context)
            }
            Layer::Positions { .. } => ops::add_positions(&x, self.next()?, context),
            Layer::LayerNorm { .. } => ops::layer_norm(&x, self.next()?, self.next()?, context),
            Layer::Attention { heads, .. } => ops::attention(&x, heads, context),
            Layer::Flatten => ops::flatten(&x, context),
            Layer::Linear { activation, outputs, .. } => {
                let (weight, bias) = (self.next()?, self.next()?);
                let of_rows = |rows: &Tensor| ops::linear(rows, weight, bias, is_relu(activation), context);
                let sums = match *x.dims() {
                    [batch, tokens, features] => {
                        let sums = of_rows(&ops::reshape(&x, (batch * tokens, features), context)?)?;
                        ops::reshape(&sums, (batch, tokens, outputs), context)?
                    }
                    _ => of_rows(&x)?,
                };
                self.activate(sums, activation)
            }
            Layer::Dropout(probability) => match &mut self.pass {
                Pass::Train { dropout, .. } => ops::dropout(&x, probability, dropout, context),
                Pass::Read => Ok(x),
            },
        }
    }

    /// The activation of what an op computed that has only `ReLU` built in.
    fn activate(&self, x: Tensor, activation: Option<Activation>) -> Result<Tensor> {
        match activation {
            None | Some(Activation::Relu) => Ok(x),
            Some(activation) => ops::activate(&x, activation, self.context),
        }
    }

    fn weight_and_bias(&mut self, has_bias: bool) -> Result<(&'a Parameter, Option<&'a Parameter>)> {
        Ok((self.next()?, if has_bias { Some(self.next()?) } else { None }))
    }

    fn next(&mut self) -> Result<&'a Parameter> {
        match self.parameters.next() {
            Some(parameter) => Ok(parameter),
            None => candle_core::bail!("a network lacks a weight"),
        }
    }
}

/// `ReLU` is part of a convolution with pooling and of a linear layer; other activations follow them.
fn is_relu(activation: Option<Activation>) -> bool {
    activation == Some(Activation::Relu)
}
