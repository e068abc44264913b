//! Owns a network: a model's layers with their weights, from pixels to logits.
//! Must not know where pictures come from, nor how weights are learned or stored.

use candle_core::{Device, Result, Tensor};
use serde::{Deserialize, Serialize};

use super::ops::{self, Context, Gradient};
use super::{Layer, Parameter, layers, parameter_shapes};
use crate::ink::{PIXELS, SIDE};
use crate::random::Random;
use crate::run_config::{ModelKind, Precision};

/// What turns a pixel into the network's input: `(pixel / 255 - mean) / std`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normalization {
    /// Mean of the pixels, from 0 to 1.
    pub mean: f32,
    /// Their standard deviation.
    pub std: f32,
}

impl Normalization {
    /// Mean and standard deviation of MNIST's training images, as commonly used.
    pub const MNIST: Self = Self { mean: 0.1307, std: 0.3081 };
}

/// What a forward pass is for.
#[derive(Debug)]
pub enum Pass<'a> {
    /// Learning: `backward` on what follows adds to the gradients, and dropout draws from this generator.
    Train {
        /// Decides which features are dropped.
        dropout: &'a mut Random,
        /// The number format of products.
        precision: Precision,
    },
    /// Reading: nothing is kept for gradients, and nothing is dropped.
    Read,
}

/// A network. Clones share their weights: a clone sees every later update.
#[derive(Clone, Debug)]
pub struct Net {
    model: ModelKind,
    normalization: Normalization,
    parameters: Vec<Parameter>,
}

impl Net {
    /// A network that has learned nothing. Weights and biases are uniform in `±1/√fan_in`, as `torch.nn.Conv2d` and
    /// `torch.nn.Linear` start out (He et al. 2015 with a = √5).
    pub fn new(model: ModelKind, seed: u64) -> Result<Self> {
        let mut bound = 0.0;
        let parameters = parameter_shapes(model)
            .into_iter()
            .enumerate()
            .map(|(index, (name, shape))| {
                // A bias has the bound of the weight before it.
                if let [_, fan_in @ ..] = shape.as_slice()
                    && !fan_in.is_empty()
                {
                    bound = 1.0 / (fan_in.iter().product::<usize>() as f32).sqrt();
                }
                let mut random = Random::stream(seed, "initialization", index as u64);
                let values = (0..shape.iter().product()).map(|_| random.range(-bound, bound)).collect();
                Parameter::new(name, values, &shape)
            })
            .collect::<Result<_>>()?;
        Ok(Self { model, normalization: Normalization::MNIST, parameters })
    }

    /// A network of these parameters, which must be those `parameter_shapes` lists, in its order.
    pub(super) fn from_parameters(model: ModelKind, normalization: Normalization, parameters: Vec<Parameter>) -> Self {
        Self { model, normalization, parameters }
    }

    /// Which model it is.
    pub const fn model(&self) -> ModelKind {
        self.model
    }

    /// How it normalises pixels.
    pub const fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// Its weights, in the order of its layers.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// A copy of every weight, in the order of `parameters`.
    pub fn weights(&self) -> Result<Vec<Vec<f32>>> {
        self.parameters.iter().map(Parameter::values).collect()
    }

    /// Puts back what `weights` gave.
    pub fn set_weights(&self, weights: &[Vec<f32>]) -> Result<()> {
        self.parameters.iter().zip(weights).try_for_each(|(parameter, saved)| parameter.update(|values, _| values.copy_from_slice(saved)))
    }

    /// The logits `[batch, 10]` of pictures of 784 pixels, one after the other.
    pub fn forward(&self, pixels: &[u8], mut pass: Pass<'_>) -> Result<Tensor> {
        let mut x = self.input(pixels)?;
        let mut parameters = self.parameters.chunks_exact(2);
        let mut learned = || match parameters.next() {
            Some([weight, bias]) => Ok((weight, bias)),
            _ => candle_core::bail!("{} lacks a weight", self.model),
        };
        let context = match pass {
            Pass::Train { precision, .. } => Context { gradient: Gradient::Kept, precision },
            Pass::Read => Context::READ,
        };
        for layer in layers(self.model) {
            x = match *layer {
                Layer::ConvPool { padding, relu, .. } => {
                    let (weight, bias) = learned()?;
                    ops::conv_pool(&x, weight, bias, padding, relu, context)?
                }
                Layer::Flatten => ops::flatten(&x)?,
                Layer::Linear { relu, .. } => {
                    let (weight, bias) = learned()?;
                    ops::linear(&x, weight, bias, relu, context)?
                }
                Layer::Dropout(probability) => match &mut pass {
                    Pass::Train { dropout, .. } => ops::dropout(&x, probability, dropout)?,
                    Pass::Read => x,
                },
            };
        }
        Ok(x)
    }

    fn input(&self, pixels: &[u8]) -> Result<Tensor> {
        let Normalization { mean, std } = self.normalization;
        // One rounding per grey value instead of two operations per pixel.
        let table: [f32; 256] = std::array::from_fn(|grey| (grey as f32 / 255.0 - mean) / std);
        let values = pixels.iter().map(|&grey| table[usize::from(grey)]).collect();
        Tensor::from_vec(values, (pixels.len() / PIXELS, SIDE, SIDE, 1), &Device::Cpu)
    }
}
