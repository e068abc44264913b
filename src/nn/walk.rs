//! Owns the way through a network's layers: which op computes each, with the next of its parameters.
//! Must not know which network it is nor where its input comes from.

use candle_core::{Result, Tensor};

use super::net::Pass;
use super::ops::{self, Context, Gradient};
use super::{Layer, Parameter};
use crate::run_config::Activation;

/// A forward pass under way. Layers take their parameters in the order in which `Layer::parameters` lists them.
pub struct Walk<'a> {
    parameters: std::slice::Iter<'a, Parameter>,
    pass: Pass<'a>,
    context: Context,
}

impl<'a> Walk<'a> {
    /// A pass that has not taken a step.
    pub fn new(parameters: &'a [Parameter], pass: Pass<'a>) -> Self {
        let context = match pass {
            Pass::Train { precision, .. } => {
                ops::forget();
                Context { gradient: Gradient::Kept, precision }
            }
            Pass::Read => Context::READ,
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
            Layer::ConvPool { padding, activation, .. } => {
                let relu = activation == Some(Activation::Relu);
                let pooled = ops::conv_pool(&x, self.next()?, self.next()?, padding, relu, context)?;
                self.activate(pooled, activation)
            }
            Layer::Flatten => ops::flatten(&x),
            Layer::Linear { activation, .. } => {
                let relu = activation == Some(Activation::Relu);
                let sums = ops::linear(&x, self.next()?, self.next()?, relu, context)?;
                self.activate(sums, activation)
            }
            Layer::Dropout(probability) => match &mut self.pass {
                Pass::Train { dropout, .. } => ops::dropout(&x, probability, dropout),
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

    fn next(&mut self) -> Result<&'a Parameter> {
        match self.parameters.next() {
            Some(parameter) => Ok(parameter),
            None => candle_core::bail!("a network lacks a weight"),
        }
    }
}
