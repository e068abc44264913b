//! The forward pass: which op computes each layer, with which parameters.

use std::sync::Arc;

use candle_core::{Result, Tensor};

use super::net::Mode;
use super::ops::{self, BatchNorm, Context, ConvGeometry};
use super::parameter::Parameters;
use super::{Backend, GradMode, Layer, Role, autograd};
use crate::math::random::Random;
use crate::profiler;
use crate::records::SpanKind;
use crate::run_config::Activation;

/// A forward pass in progress.
pub struct Forward<'a> {
    parameters: &'a Arc<Parameters>,
    mode: Mode<'a>,
    context: Context,
    observer: Option<&'a mut Observer<'a>>,
}

/// Called before and after every layer is computed, also inside residual layers.
type Observer<'a> = dyn FnMut(&Layer, Moment<'_>) -> Result<()> + 'a;

/// When an observer is called.
pub enum Moment<'t> {
    /// Before it is computed, with what goes in.
    Before(&'t Tensor),
    /// After that, with what comes out.
    After(&'t Tensor),
}

impl<'a> Forward<'a> {
    /// A pass before its first layer. In training, the tape is cleared.
    pub fn new(
        parameters: &'a Arc<Parameters>,
        mode: Mode<'a>,
        backend: &'static dyn Backend,
    ) -> Self {
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
            parameters,
            mode,
            context,
            observer: None,
        }
    }

    /// The same pass, of which `observer` hears.
    pub fn with_observer(self, observer: &'a mut Observer<'a>) -> Self {
        Self {
            observer: Some(observer),
            ..self
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
        let (parameters, context) = (Arc::clone(self.parameters), self.context);
        let segment = layers.to_vec();
        let recompute = move |x: &Tensor| {
            // A second look at the same batch must not count twice in the running statistics.
            let specs = segment.iter().flat_map(Layer::parameters);
            let buffers = specs
                .filter(|spec| spec.role == Role::Buffer)
                .map(|spec| parameters.get(&spec.name))
                .collect::<Result<Vec<_>>>()?;
            let before = buffers
                .iter()
                .map(|buffer| buffer.tensor().copy())
                .collect::<Result<Vec<_>>>()?;
            let mut dropout = random;
            let mode = Mode::Train {
                dropout: &mut dropout,
                precision,
            };
            let output = Forward {
                parameters: &parameters,
                mode,
                context,
                observer: None,
            }
            .run(&segment, x.clone())?;
            buffers
                .iter()
                .zip(before)
                .try_for_each(|(buffer, before)| buffer.set(&before))?;
            Ok(output)
        };
        let backend = context.backend;
        autograd::checkpoint(&x, |x| self.run(layers, x.clone()), recompute, backend)
    }

    fn layer(&mut self, layer: &Layer, x: Tensor) -> Result<Tensor> {
        self.tell(layer, Moment::Before(&x))?;
        let output = self.profile(layer, x)?;
        self.tell(layer, Moment::After(&output))?;
        Ok(output)
    }

    fn tell(&mut self, layer: &Layer, moment: Moment<'_>) -> Result<()> {
        match &mut self.observer {
            Some(observer) => observer(layer, moment),
            None => Ok(()),
        }
    }

    fn profile(&mut self, layer: &Layer, x: Tensor) -> Result<Tensor> {
        // The layers in a residual one have separate spans, and so has the sum.
        if !self.is_profiled() || matches!(layer, Layer::Residual { .. }) {
            return self.compute(layer, x);
        }
        let parameters: usize = layer
            .parameters()
            .iter()
            .map(|spec| spec.shape.iter().product::<usize>())
            .sum();
        let values = parameters + x.elem_count();
        profiled(layer.name(), values, || self.compute(layer, x))
    }

    /// Evaluation in between is not part of a step.
    fn is_profiled(&self) -> bool {
        self.context.grad == GradMode::Enabled && profiler::is_recording()
    }

    fn compute(&mut self, layer: &Layer, x: Tensor) -> Result<Tensor> {
        let (parameters, context) = (self.parameters, self.context);
        match *layer {
            Layer::Conv {
                ref name,
                kernel: ConvGeometry {
                    stride, padding, ..
                },
                bias,
                pool,
                activation,
                ..
            } => {
                let weight = parameters.of(name, "weight")?;
                let bias = bias.then(|| parameters.of(name, "bias")).transpose()?;
                if pool {
                    let relu = is_relu(activation);
                    let pooled = ops::conv2d_max_pool(&x, weight, bias, padding, relu, context)?;
                    self.activate(pooled, activation)
                } else {
                    let sums = ops::conv2d(&x, weight, bias, stride, padding, context)?;
                    match activation {
                        None => Ok(sums),
                        Some(activation) => ops::activate(&sums, activation, context),
                    }
                }
            }
            Layer::BatchNorm {
                ref name,
                activation,
                ..
            } => {
                let norm = BatchNorm {
                    weight: parameters.of(name, "weight")?,
                    bias: parameters.of(name, "bias")?,
                    running_mean: parameters.of(name, "running_mean")?,
                    running_variance: parameters.of(name, "running_var")?,
                };
                ops::batch_norm(&x, norm, activation, context)
            }
            Layer::Activation(activation) => ops::activate(&x, activation, context),
            Layer::GlobalAveragePool => ops::global_average_pool(&x, context),
            Layer::Residual {
                ref body,
                ref shortcut,
                activation,
            } => {
                let body = self.run(body, x.clone())?;
                let shortcut = self.run(shortcut, x)?;
                let sum = || ops::add(&body, &shortcut, activation, context);
                if self.is_profiled() {
                    profiled(layer.name(), 2 * shortcut.elem_count(), sum)
                } else {
                    sum()
                }
            }
            Layer::Tokens => {
                let (batch, height, width, channels) = x.dims4()?;
                ops::reshape(&x, (batch, height * width, channels), context)
            }
            Layer::Positions { ref name, .. } => {
                ops::add_positions(&x, parameters.get(name)?, context)
            }
            Layer::LayerNorm { ref name, .. } => {
                let weight = parameters.of(name, "weight")?;
                ops::layer_norm(&x, weight, parameters.of(name, "bias")?, context)
            }
            Layer::Attention { heads, .. } => ops::attention(&x, heads, context),
            Layer::Flatten => ops::flatten(&x, context),
            Layer::Linear {
                ref name,
                activation,
                outputs,
                ..
            } => {
                let weight = parameters.of(name, "weight")?;
                let bias = parameters.of(name, "bias")?;
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
}

/// `ReLU` is fused with a convolution with pooling and with a linear layer; other activations
/// follow them.
fn is_relu(activation: Option<Activation>) -> bool {
    activation == Some(Activation::Relu)
}

/// Records the computation of a layer's output from this many values. Waits for a device without
/// events, so that only this layer is timed.
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
