//! Owns a network: a model's layers with their weights, from pixels to logits.
//! Must not know where pictures come from, nor how weights are learned or stored.

use std::sync::Arc;

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::layer::Start;
use super::ops::{self, Labels};
use super::walk::Walk;
use super::{Layer, Parameter, ParameterSpec, layers, parameter_specs};
use crate::device::{Kernels, Place};
use crate::ink::{PIXELS, SIDE};
use crate::math::random::Random;
use crate::records::Normalization;
use crate::run_config::{Activation, ModelKind, Precision};

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
    layers: Arc<[Layer]>,
    normalization: Normalization,
    parameters: Vec<Parameter>,
    place: Place,
}

/// Pictures of 784 pixels, one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Pixels<'a> {
    /// On the host.
    Host(&'a [u8]),
    /// `[n, 784]` f32, from 0 to 255, on the network's device.
    There(&'a Tensor),
}

impl<'a> From<&'a [u8]> for Pixels<'a> {
    fn from(pixels: &'a [u8]) -> Self {
        Self::Host(pixels)
    }
}

impl<'a> From<&'a [u8; PIXELS]> for Pixels<'a> {
    fn from(pixels: &'a [u8; PIXELS]) -> Self {
        Self::Host(pixels)
    }
}

impl<'a> From<&'a Vec<u8>> for Pixels<'a> {
    fn from(pixels: &'a Vec<u8>) -> Self {
        Self::Host(pixels)
    }
}

impl Net {
    /// A network that has learned nothing; its layers say how each parameter starts.
    pub fn new(model: ModelKind, activation: Activation, seed: u64) -> Result<Self> {
        let parameters = parameter_specs(model)
            .into_iter()
            .enumerate()
            .map(|(index, ParameterSpec { name, shape, role, start })| {
                let mut random = Random::stream(seed, "initialization", index as u64);
                let values = (0..shape.iter().product()).map(|_| match start {
                    Start::Uniform(bound) => random.range(-bound, bound),
                    Start::Normal(deviation) => deviation * random.normal(),
                    Start::Constant(value) => value,
                });
                Ok(Parameter::new(name, values.collect(), &shape)?.with_role(role))
            })
            .collect::<Result<_>>()?;
        Ok(Self::from_parameters(model, activation, Normalization::MNIST, parameters))
    }

    /// A network of these parameters, which must be those `parameter_specs` lists, in its order.
    pub(super) fn from_parameters(
        model: ModelKind,
        activation: Activation,
        normalization: Normalization,
        parameters: Vec<Parameter>,
    ) -> Self {
        Self { model, layers: layers(model, activation).into(), normalization, parameters, place: Place::CPU }
    }

    /// Which model it is.
    pub const fn model(&self) -> ModelKind {
        self.model
    }

    /// How it normalises pixels.
    pub const fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// The same that normalises pixels like this.
    #[must_use]
    pub fn with_normalization(self, normalization: Normalization) -> Self {
        Self { normalization, ..self }
    }

    /// Its weights, in the order of its layers.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Those of them that an optimiser moves.
    pub fn trainable(&self) -> Vec<Parameter> {
        self.parameters.iter().filter(|parameter| parameter.role().is_trainable()).cloned().collect()
    }

    /// A copy of every weight, in the order of `parameters`.
    pub fn weights(&self) -> Result<Vec<Vec<f32>>> {
        self.parameters.iter().map(Parameter::values).collect()
    }

    /// Puts back what `weights` gave.
    pub fn set_weights(&self, weights: &[Vec<f32>]) -> Result<()> {
        self.parameters.iter().zip(weights).try_for_each(|(parameter, saved)| match self.place.kernels {
            Kernels::Ours => parameter.update(|values, _| values.copy_from_slice(saved)),
            Kernels::Cuda | Kernels::Candle => parameter.set(&Tensor::from_slice(saved, parameter.tracked().shape(), &self.place.device)?),
        })
    }

    /// The logits `[batch, 10]` of pictures.
    pub fn forward<'a>(&self, pixels: impl Into<Pixels<'a>>, pass: Pass<'_>) -> Result<Tensor> {
        Walk::new(&self.parameters, pass, self.place.kernels).through(&self.layers, self.input(pixels.into())?)
    }

    /// The loss of logits and the count of right answers: see `ops::cross_entropy`.
    pub fn loss<'a>(&self, logits: &Tensor, labels: impl Into<Labels<'a>>, batch: usize, smoothing: f32) -> Result<Tensor> {
        ops::cross_entropy(logits, labels, batch, smoothing, self.place.kernels)
    }

    /// Adds to the parameters' gradients those of `loss`, what was computed from the logits of the last `forward` of a training pass,
    /// times `scale`.
    pub fn backward(&self, loss: &Tensor, scale: f32) -> Result<()> {
        backward(loss, scale, &self.parameters, self.place.kernels)
    }

    /// It, in this place: itself where it is there already.
    pub fn in_place(self, place: &Place) -> Result<Self> {
        if self.place.is(place) { Ok(self) } else { self.to_place(place) }
    }

    /// A copy of it in another place.
    pub fn to_place(&self, place: &Place) -> Result<Self> {
        let parameters = self.parameters.iter().map(|parameter| parameter.to_place(place)).collect::<Result<_>>()?;
        Ok(Self { parameters, place: place.clone(), ..self.clone() })
    }

    /// Where it computes.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    fn input(&self, pixels: Pixels<'_>) -> Result<Tensor> {
        let Normalization { mean, std } = self.normalization;
        let pixels = match pixels {
            Pixels::Host(pixels) => pixels,
            Pixels::There(pixels) => {
                let scaled = pixels.affine(1.0 / (255.0 * f64::from(std)), -f64::from(mean) / f64::from(std))?;
                return scaled.reshape(((), SIDE, SIDE, 1));
            }
        };
        // One rounding per grey value instead of two operations per pixel.
        let table: [f32; 256] = std::array::from_fn(|grey| (grey as f32 / 255.0 - mean) / std);
        let values = pixels.par_iter().with_min_len(PIXELS).map(|&grey| table[usize::from(grey)]).collect();
        Tensor::from_vec(values, (pixels.len() / PIXELS, SIDE, SIDE, 1), &self.place.device)
    }
}

/// Adds to the gradients of `parameters` those of the sum of `result`'s numbers, times `scale`.
pub fn backward(result: &Tensor, scale: f32, parameters: &[Parameter], kernels: Kernels) -> Result<()> {
    if kernels != Kernels::Candle {
        return ops::backward(result, scale);
    }
    // Compositions of candle's ops leave the gradients in its store.
    let gradients = result.affine(f64::from(scale), 0.0)?.backward()?;
    let sums =
        parameters.iter().filter_map(|parameter| Some((parameter, parameter.with_device_gradient(gradients.get(parameter.tracked())?))));
    // All or none: where memory runs out in between, the same part is computed again.
    for (parameter, sum) in sums.map(|(parameter, sum)| Ok((parameter, sum?))).collect::<Result<Vec<_>>>()? {
        parameter.set_device_gradient(sum);
    }
    Ok(())
}
