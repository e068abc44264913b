//! A network: a model's layers with their weights, from pixels to logits.

use std::sync::Arc;

use candle_core::{DType, Result, Tensor};
use rayon::prelude::*;

use super::backend::cpu;
use super::cost::checkpointed_layers;
use super::forward::Forward;
use super::layer::Init;
use super::onnx::OnnxGraph;
use super::parameter::Parameters;
use super::{
    DeviceContext, DigitDetector, GradMode, Layer, Parameter, autograd, flops, layers, ops,
    parameter_count, parameter_specs,
};
use crate::ink::{PIXELS, SIDE};
use crate::math::random::Random;
use crate::profiler;
use crate::records::{Normalization, SpanKind};
use crate::run_config::{Activation, ModelKind, Network, Precision};

/// The purpose of a forward pass, as `torch.nn.Module.train()` and `.eval()`.
#[derive(Debug)]
pub enum Mode<'a> {
    /// Training: ops are recorded for `backward`, and dropout is applied.
    Train {
        /// Decides which features are dropped.
        dropout: &'a mut Random,
        /// The precision of matrix multiplications.
        precision: Precision,
    },
    /// Inference: nothing is recorded, and nothing is dropped.
    Eval,
    /// Inference with dropout: one of the passes of Monte Carlo dropout (Gal & Ghahramani 2016).
    EvalWithDropout(&'a mut Random),
}

/// A network. Clones share their weights: a clone sees every later update.
///
/// ```
/// use inkling::nn::{Mode, Net};
/// use inkling::run_config::{Activation, ModelKind};
///
/// let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 1)?;
/// let logits = net.forward(&[0; 784], Mode::Eval)?;
/// assert_eq!(logits.dims(), [1, 10]);
/// # candle_core::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Net {
    network: Network,
    layers: Arc<[Layer]>,
    /// Computed instead of layers, if the network comes from an ONNX file.
    graph: Option<OnnxGraph>,
    classes: usize,
    normalization: Normalization,
    parameters: Arc<Parameters>,
    /// Distinguishes digits from other drawings, once it has been trained for these weights.
    digit_detector: Option<DigitDetector>,
    /// How many layers make a segment of activation checkpointing, if a training pass keeps only
    /// the segments' inputs.
    checkpointed_layers: Option<usize>,
    context: DeviceContext,
}

/// Images of 784 pixels.
#[derive(Clone, Copy, Debug)]
pub enum Images<'a> {
    /// Gray values in memory, one image after the other.
    Bytes(&'a [u8]),
    /// `[n, 784]` from 0 to 255 on the network's device, as f32, or as u8 on the CPU.
    Tensor(&'a Tensor),
}

impl<'a> From<&'a [u8]> for Images<'a> {
    fn from(pixels: &'a [u8]) -> Self {
        Self::Bytes(pixels)
    }
}

impl<'a> From<&'a [u8; PIXELS]> for Images<'a> {
    fn from(pixels: &'a [u8; PIXELS]) -> Self {
        Self::Bytes(pixels)
    }
}

impl<'a> From<&'a Vec<u8>> for Images<'a> {
    fn from(pixels: &'a Vec<u8>) -> Self {
        Self::Bytes(pixels)
    }
}

impl<'a> From<&'a Tensor> for Images<'a> {
    fn from(images: &'a Tensor) -> Self {
        Self::Tensor(images)
    }
}

impl Net {
    /// An untrained network for this many classes; its layers define how each parameter is
    /// initialized.
    pub fn new(
        network: impl Into<Network>,
        activation: Activation,
        classes: usize,
        seed: u64,
    ) -> Result<Self> {
        let network = network.into();
        let parameters = parameter_specs(network, classes)
            .into_iter()
            .enumerate()
            .map(|(index, spec)| {
                let mut random = Random::stream(seed, "initialization", index as u64);
                let values = (0..spec.shape.iter().product()).map(|_| match spec.init {
                    Init::Uniform(bound) => random.range(-bound, bound),
                    Init::Normal(deviation) => deviation * random.normal(),
                    Init::Constant(value) => value,
                });
                let values = values.collect();
                spec.with_values(values)
            })
            .collect::<Result<_>>()?;
        Ok(Self::from_parameters(
            network,
            activation,
            classes,
            Normalization::MNIST,
            parameters,
        ))
    }

    /// A network for this many classes of these parameters, which must be those `parameter_specs`
    /// lists, in its order.
    pub fn from_parameters(
        network: Network,
        activation: Activation,
        classes: usize,
        normalization: Normalization,
        parameters: Vec<Parameter>,
    ) -> Self {
        Self {
            network,
            layers: layers(network, activation, classes).into(),
            graph: None,
            classes,
            normalization,
            parameters: Arc::new(Parameters::new(parameters)),
            digit_detector: None,
            checkpointed_layers: None,
            context: DeviceContext::CPU,
        }
    }

    /// The network of an ONNX file. It has no weights that could be trained.
    pub fn of_graph(graph: OnnxGraph, normalization: Normalization) -> Self {
        let net = Self::from_parameters(
            ModelKind::Onnx.into(),
            Activation::default(),
            graph.classes(),
            normalization,
            Vec::new(),
        );
        Self {
            graph: Some(graph),
            ..net
        }
    }

    /// Its graph, if it is the network of an ONNX file.
    pub const fn graph(&self) -> Option<&OnnxGraph> {
        self.graph.as_ref()
    }

    /// About how many operations it takes for an image.
    pub fn operations(&self) -> u64 {
        self.graph.as_ref().map_or_else(
            || flops(self.network).forward,
            |graph| 2 * graph.multiplications() as u64,
        )
    }

    /// Its trainable numbers; of the network of an ONNX file all numbers of its weights.
    pub fn parameter_count(&self) -> u64 {
        self.graph.as_ref().map_or_else(
            || parameter_count(self.network, self.classes),
            OnnxGraph::parameters,
        )
    }

    pub const fn model(&self) -> ModelKind {
        self.network.model()
    }

    /// The model and the widths of its layers.
    pub const fn network(&self) -> Network {
        self.network
    }

    pub const fn classes(&self) -> usize {
        self.classes
    }

    pub const fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// The same that normalizes pixels like this.
    #[must_use]
    pub fn with_normalization(self, normalization: Normalization) -> Self {
        Self {
            normalization,
            ..self
        }
    }

    /// The out-of-distribution detector on its features, if one was trained.
    pub const fn digit_detector(&self) -> Option<&DigitDetector> {
        self.digit_detector.as_ref()
    }

    /// The same with this detector, which was trained for its weights.
    #[must_use]
    pub fn with_digit_detector(self, digit_detector: Option<DigitDetector>) -> Self {
        Self {
            digit_detector,
            ..self
        }
    }

    /// The same, whose training passes keep only the inputs of some layers if this is true, and
    /// compute the others again in the backward pass: less memory, more time, the same gradients
    /// (Chen et al. 2016).
    #[must_use]
    pub fn with_activation_checkpointing(self, activation_checkpointing: bool) -> Self {
        let checkpointed_layers =
            activation_checkpointing.then(|| checkpointed_layers(self.network));
        Self {
            checkpointed_layers,
            ..self
        }
    }

    /// Its weights, in the order of its layers.
    pub fn parameters(&self) -> &[Parameter] {
        self.parameters.list()
    }

    pub fn parameter(&self, name: &str) -> Result<&Parameter> {
        self.parameters.get(name)
    }

    /// The parameters that an optimizer changes.
    pub fn trainable(&self) -> Vec<Parameter> {
        self.parameters()
            .iter()
            .filter(|parameter| parameter.role().is_trainable())
            .cloned()
            .collect()
    }

    /// A copy of every weight, in the order of `parameters`.
    pub fn weights(&self) -> Result<Vec<Vec<f32>>> {
        self.parameters().iter().map(Parameter::values).collect()
    }

    /// Restores what `weights` gave.
    pub fn set_weights(&self, weights: &[impl AsRef<[f32]>]) -> Result<()> {
        self.parameters()
            .iter()
            .zip(weights)
            .try_for_each(|(parameter, saved)| {
                parameter.set(&Tensor::from_slice(
                    saved.as_ref(),
                    parameter.dims(),
                    &self.context.device,
                )?)
            })
    }

    /// The logits `[batch, classes]` of images.
    pub fn forward<'a>(&self, images: impl Into<Images<'a>>, mode: Mode<'_>) -> Result<Tensor> {
        let training = matches!(mode, Mode::Train { .. });
        let mut forward = self.pass(mode);
        let input = self.input(images.into())?;
        if let Some(graph) = &self.graph {
            return graph.logits(&input);
        }
        match self.checkpointed_layers {
            Some(layers) if training => forward.run_checkpointed(&self.layers, layers, input),
            _ => forward.run(&self.layers, input),
        }
    }

    /// The input of the last layer, `[batch, features]`, and the logits, `[batch, classes]`; for
    /// the network of an ONNX file, the logits twice.
    pub fn features_and_logits<'a>(
        &self,
        images: impl Into<Images<'a>>,
    ) -> Result<(Tensor, Tensor)> {
        if let Some(graph) = &self.graph {
            let logits = graph.logits(&self.input(images.into())?)?;
            return Ok((logits.clone(), logits));
        }
        let mut forward = self.pass(Mode::Eval);
        let (body, last) = self.layers.split_at(self.layers.len() - 1);
        let features = forward.run(body, self.input(images.into())?)?;
        let logits = forward.run(last, features.clone())?;
        Ok((features, logits))
    }

    /// The logits `[batch, classes]` of each of these forward passes with dropout, which differ in
    /// the features that are dropped. What comes before the first dropout layer is the same in all
    /// of them, and is computed once.
    pub fn forward_with_dropout<'a>(
        &self,
        images: impl Into<Images<'a>>,
        passes: u32,
        random: &mut Random,
    ) -> Result<Vec<Tensor>> {
        let (body, rest) = self.layers.split_at(
            self.layers
                .iter()
                .position(Layer::is_dropout)
                .unwrap_or(self.layers.len()),
        );
        let features = self
            .pass(Mode::Eval)
            .run(body, self.input(images.into())?)?;
        (0..passes)
            .map(|_| {
                self.pass(Mode::EvalWithDropout(random))
                    .run(rest, features.clone())
            })
            .collect()
    }

    /// A forward pass before its first layer.
    pub(super) fn pass<'a>(&'a self, mode: Mode<'a>) -> Forward<'a> {
        Forward::new(&self.parameters, mode, self.context.backend)
    }

    /// Whether there is a dropout layer in it.
    pub fn has_dropout(&self) -> bool {
        self.layers.iter().any(Layer::is_dropout)
    }

    /// The loss of the logits of a training pass, and the count of correct predictions: see
    /// [`ops::cross_entropy`].
    pub fn loss(
        &self,
        logits: &Tensor,
        labels: &Tensor,
        batch: usize,
        smoothing: f32,
    ) -> Result<Tensor> {
        let context = ops::Context {
            grad: GradMode::Enabled,
            precision: Precision::F32,
            backend: self.context.backend,
        };
        let bytes = |_: &Result<Tensor>| (logits.elem_count() * size_of::<f32>()) as u64;
        profiler::span(
            SpanKind::Loss,
            || "loss".into(),
            || ops::cross_entropy(logits, labels, batch, smoothing, context),
            bytes,
        )
    }

    /// Adds the gradients of `scale` times `loss` to the gradients of the parameters; `loss` was
    /// computed from the logits of the last training pass.
    pub fn backward(&self, loss: &Tensor, scale: f32) -> Result<()> {
        autograd::backward(
            loss,
            Tensor::full(scale, loss.shape(), loss.device())?,
            self.context.backend,
        )
    }

    /// The network on this device; it is moved only if it is on another.
    pub fn into_device(self, context: &DeviceContext) -> Result<Self> {
        if self.context.is(context) {
            Ok(self)
        } else {
            self.to_device(context)
        }
    }

    /// A copy of it on another device.
    pub fn to_device(&self, context: &DeviceContext) -> Result<Self> {
        let parameters = self
            .parameters()
            .iter()
            .map(|parameter| parameter.to_device(context))
            .collect::<Result<_>>()?;
        Ok(Self {
            parameters: Arc::new(Parameters::new(parameters)),
            context: context.clone(),
            ..self.clone()
        })
    }

    pub const fn context(&self) -> &DeviceContext {
        &self.context
    }

    pub(super) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The normalized images, `[batch, height, width, 1]`.
    pub(super) fn input(&self, images: Images<'_>) -> Result<Tensor> {
        let Normalization { mean, std } = self.normalization;
        match images {
            Images::Bytes(pixels) => self.normalize(pixels),
            Images::Tensor(images) if images.dtype() == DType::U8 => {
                cpu::with_bytes(images, |pixels| self.normalize(pixels))?
            }
            Images::Tensor(images) => {
                let scaled = images.affine(
                    1.0 / (255.0 * f64::from(std)),
                    -f64::from(mean) / f64::from(std),
                )?;
                scaled.reshape(((), SIDE, SIDE, 1))
            }
        }
    }

    fn normalize(&self, pixels: &[u8]) -> Result<Tensor> {
        let Normalization { mean, std } = self.normalization;
        // One rounding per gray value instead of two operations per pixel.
        let table: [f32; 256] = std::array::from_fn(|gray| (gray as f32 / 255.0 - mean) / std);
        let values = pixels
            .par_iter()
            .with_min_len(PIXELS)
            .map(|&gray| table[usize::from(gray)])
            .collect();
        Tensor::from_vec(
            values,
            (pixels.len() / PIXELS, SIDE, SIDE, 1),
            &self.context.device,
        )
    }
}
