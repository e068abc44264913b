//! The forward pass: which op computes each layer, with which parameters.

use candle_core::{Result, Tensor};

use super::autograd;
use super::net::Mode;
use super::ops::{self, BatchNorm, Context, Window};
use super::{Backend, GradMode, Layer, Parameter, Role};
use crate::math::random::Random;
use crate::profiler;
use crate::records::SpanKind;
use crate::run_config::Activation;

/// A forward pass in progress. Layers take their parameters in the order in which
/// `Layer::parameters` lists them.
pub struct Forward<'a> {
    parameters: std::slice::Iter<'a, Parameter>,
    mode: Mode<'a>,
    context: Context,
}

impl<'a> Forward<'a> {
    /// A pass before its first layer. In training, the tape is cleared.
    pub fn new(parameters: &'a [Parameter], mode: Mode<'a>, backend: &'static dyn Backend) -> Self {
        let context = match mode {
            Mode::Train { precision, .. } => {
                autograd::clear();
                Context {
                    grad: GradMode::Enabled,
                    precision,
                    backend,
                }
            }
            Mode::Eval | Mode::EvalWithDropout(_) => Context {
                backend,
                ..Context::EVAL
            },
        };
        Self {
            parameters: parameters.iter(),
            mode,
            context,
        }
    }

    /// The rest of the pass, in another mode of inference.
    pub fn with_mode<'b>(&self, mode: Mode<'b>) -> Forward<'b>
    where
        'a: 'b,
    {
        Forward {
            parameters: self.parameters.clone(),
            mode,
            context: self.context,
        }
    }

    /// The output of these layers, one after the other.
    pub fn run(&mut self, layers: &[Layer], x: Tensor) -> Result<Tensor> {
        layers.iter().try_fold(x, |x, layer| self.layer(layer, x))
    }

    /// The same for training, but of every `size` layers only what goes into them is kept for the
    /// backward pass, which computes the rest again.
    pub fn run_checkpointed(&mut self, layers: &[Layer], size: usize, x: Tensor) -> Result<Tensor> {
        let mut segments = layers.chunks(size.max(1)).peekable();
        let mut x = x;
        while let Some(segment) = segments.next() {
            // The backward pass begins with the last one, so nothing is gained by dropping what it
            // saved.
            x = if segments.peek().is_some() {
                self.checkpoint(segment, x)?
            } else {
                self.run(segment, x)?
            };
        }
        Ok(x)
    }

    fn checkpoint(&mut self, layers: &[Layer], x: Tensor) -> Result<Tensor> {
        let (random, precision) = match &self.mode {
            Mode::Train { dropout, precision } => (Random::clone(dropout), *precision),
            Mode::Eval | Mode::EvalWithDropout(_) => return self.run(layers, x),
        };
        let count = layers.iter().map(|layer| layer.parameters().len()).sum();
        let parameters: Vec<Parameter> = self
            .parameters
            .as_slice()
            .iter()
            .take(count)
            .cloned()
            .collect();
        let (context, segment) = (self.context, layers.to_vec());
        let recompute = move |x: &Tensor| {
            // A second look at the same batch must not count twice in the running statistics.
            let buffers = parameters
                .iter()
                .filter(|parameter| parameter.role() == Role::Buffer);
            let before = buffers
                .clone()
                .map(|buffer| buffer.tensor().copy())
                .collect::<Result<Vec<_>>>()?;
            let mut dropout = random;
            let mode = Mode::Train {
                dropout: &mut dropout,
                precision,
            };
            let output = Forward {
                parameters: parameters.iter(),
                mode,
                context,
            }
            .run(&segment, x.clone())?;
            buffers
                .zip(before)
                .try_for_each(|(buffer, before)| buffer.set(&before))?;
            Ok(output)
        };
        let backend = context.backend;
        autograd::checkpoint(&x, |x| self.run(layers, x.clone()), recompute, backend)
    }

    fn layer(&mut self, layer: &Layer, x: Tensor) -> Result<Tensor> {
        // Evaluation in between is not part of a step.
        if self.context.grad == GradMode::Disabled || !profiler::is_recording() {
            return self.compute(layer, x);
        }
        let parameters: usize = layer
            .parameters()
            .iter()
            .map(|spec| spec.shape.iter().product::<usize>())
            .sum();
        let values = parameters + x.elem_count();
        if let Layer::Residual {
            body,
            shortcut,
            activation,
        } = layer
        {
            // The layers in it have spans of their own.
            let (residual, context) = (self.run(body, x.clone())?, self.context);
            let shortcut = self.run(shortcut, x)?;
            return profiled(layer.name(), 2 * shortcut.elem_count(), || {
                ops::add(&residual, &shortcut, *activation, context)
            });
        }
        profiled(layer.name(), values, || self.compute(layer, x))
    }

    fn compute(&mut self, layer: &Layer, x: Tensor) -> Result<Tensor> {
        let context = self.context;
        match *layer {
            Layer::ConvPool {
                padding,
                bias,
                activation,
                ..
            } => {
                let (weight, bias) = self.weight_and_bias(bias)?;
                let pooled =
                    ops::conv2d_max_pool(&x, weight, bias, padding, is_relu(activation), context)?;
                self.activate(pooled, activation)
            }
            Layer::Conv {
                kernel: Window {
                    stride, padding, ..
                },
                bias,
                ..
            } => {
                let (weight, bias) = self.weight_and_bias(bias)?;
                ops::conv2d(&x, weight, bias, stride, padding, context)
            }
            Layer::BatchNorm { activation, .. } => {
                let [weight, bias, running_mean, running_variance] =
                    [self.next()?, self.next()?, self.next()?, self.next()?];
                ops::batch_norm(
                    &x,
                    BatchNorm {
                        weight,
                        bias,
                        running_mean,
                        running_variance,
                    },
                    activation,
                    context,
                )
            }
            Layer::Activation(activation) => ops::activate(&x, activation, context),
            Layer::GlobalAveragePool => ops::global_average_pool(&x, context),
            Layer::Residual {
                ref body,
                ref shortcut,
                activation,
            } => {
                let residual = self.run(body, x.clone())?;
                ops::add(&residual, &self.run(shortcut, x)?, activation, context)
            }
            Layer::Tokens => {
                let (batch, height, width, channels) = x.dims4()?;
                ops::reshape(&x, (batch, height * width, channels), context)
            }
            Layer::Positions { .. } => ops::add_positions(&x, self.next()?, context),
            Layer::LayerNorm { .. } => ops::layer_norm(&x, self.next()?, self.next()?, context),
            Layer::Attention { heads, .. } => ops::attention(&x, heads, context),
            Layer::Flatten => ops::flatten(&x, context),
            Layer::Linear {
                activation,
                outputs,
                ..
            } => {
                let (weight, bias) = (self.next()?, self.next()?);
                let linear =
                    |rows: &Tensor| ops::linear(rows, weight, bias, is_relu(activation), context);
                let sums = match *x.dims() {
                    [batch, tokens, features] => {
                        let sums = linear(&ops::reshape(&x, (batch * tokens, features), context)?)?;
                        ops::reshape(&sums, (batch, tokens, outputs), context)?
                    }
                    _ => linear(&x)?,
                };
                self.activate(sums, activation)
            }
            Layer::Dropout(probability) => match &mut self.mode {
                Mode::Train { dropout, .. } | Mode::EvalWithDropout(dropout) => {
                    ops::dropout(&x, probability, dropout, context)
                }
                Mode::Eval => Ok(x),
            },
        }
    }

    /// The activation after an op that has only `ReLU` fused.
    fn activate(&self, x: Tensor, activation: Option<Activation>) -> Result<Tensor> {
        match activation {
            None | Some(Activation::Relu) => Ok(x),
            Some(activation) => ops::activate(&x, activation, self.context),
        }
    }

    fn weight_and_bias(
        &mut self,
        has_bias: bool,
    ) -> Result<(&'a Parameter, Option<&'a Parameter>)> {
        Ok((
            self.next()?,
            if has_bias { Some(self.next()?) } else { None },
        ))
    }

    fn next(&mut self) -> Result<&'a Parameter> {
        match self.parameters.next() {
            Some(parameter) => Ok(parameter),
            None => candle_core::bail!("the network lacks a weight"),
        }
    }
}

/// `ReLU` is fused with a convolution with pooling and with a linear layer; other activations
/// follow them.
fn is_relu(activation: Option<Activation>) -> bool {
    activation == Some(Activation::Relu)
}

/// Records the computation of a layer's output from this many values. Waits for a device without
/// events, so that the time is that of this layer.
fn profiled(name: &str, values: usize, compute: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
    let whole = || {
        let output = compute()?;
        if !profiler::has_device_events() {
            output.device().synchronize()?;
        }
        Ok(output)
    };
    let bytes = |output: &Result<Tensor>| {
        ((values + output.as_ref().map_or(0, Tensor::elem_count)) * size_of::<f32>()) as u64
    };
    profiler::span(SpanKind::Forward, || name.into(), whole, bytes)
}
