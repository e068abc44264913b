//! Owns moving a network's weights by their gradients and averaging them, wherever they lie. Must not know where gradients come from nor when
//! a step is due.

use candle_core::{Result, Tensor};

use super::average::Average;
use super::device::DeviceOptimizer;
use super::optimizer::{Memory, Optimizer, Settings};
use crate::device::Kernels;
use crate::nn::Net;

/// A number that may still be on a device.
#[derive(Clone, Debug)]
pub enum Figure {
    /// At hand.
    Known(f64),
    /// A scalar that a device has yet to come to.
    There(Tensor),
}

impl Figure {
    /// The number. Waits for the device.
    pub fn read(&self) -> Result<f64> {
        match self {
            Self::Known(value) => Ok(*value),
            Self::There(tensor) => Ok(f64::from(tensor.to_scalar::<f32>()?)),
        }
    }
}

/// An optimiser with the running average of the weights it moves.
pub struct Descent(Where);

enum Where {
    Here { optimizer: Optimizer, average: Option<Average> },
    There(DeviceOptimizer),
}

impl Descent {
    /// For the parameters of this network, where they lie; averaged with this decay, if any.
    pub fn new(settings: Settings, net: &Net, averaging: Option<f64>) -> Result<Self> {
        let average = match averaging {
            Some(decay) => Some(Average::new(decay, net.weights()?)),
            None => None,
        };
        Ok(Self(match net.place().kernels {
            Kernels::Ours => Where::Here { optimizer: Optimizer::new(settings, net.parameters()), average },
            Kernels::Cuda | Kernels::Candle => Where::There(DeviceOptimizer::new(settings, net.parameters(), average, net.place())?),
        }))
    }

    /// The L2 norm of all gathered gradients together; not finite if one of them is not.
    pub fn gradient_norm(&self) -> Result<f64> {
        match &self.0 {
            Where::Here { optimizer, .. } => Ok(optimizer.gradient_norm()),
            Where::There(optimizer) => Figure::There(optimizer.gradient_norm()?).read(),
        }
    }

    /// Moves every parameter once, its gradient multiplied by `scale` and brought down to the norm `clip` where it is above it, leaves
    /// gradients at zero, and takes the moved weights into the average. Gives the norm the gradients had: if it is not finite, neither
    /// are the weights any more.
    pub fn step(&mut self, rate: f32, scale: f32, clip: Option<f64>) -> Result<Figure> {
        match &mut self.0 {
            Where::There(optimizer) => Ok(Figure::There(optimizer.step(rate, scale, clip)?)),
            Where::Here { optimizer, average } => {
                let factor = match clip {
                    None => 1.0,
                    Some(most) => (most / (optimizer.gradient_norm() * f64::from(scale)).max(most)) as f32,
                };
                Ok(Figure::Known(optimizer.step(rate, scale * factor, average.as_mut())?))
            }
        }
    }

    /// Leaves gradients at zero without using them.
    pub fn forget_gradients(&self) {
        match &self.0 {
            Where::Here { optimizer, .. } => optimizer.forget_gradients(),
            Where::There(optimizer) => optimizer.forget_gradients(),
        }
    }

    /// Puts the averaged weights in the place of the last ones, if an average is kept; the next call puts them back.
    pub fn exchange_average(&mut self) -> Result<()> {
        match &mut self.0 {
            Where::Here { optimizer, average } => average.as_mut().map_or(Ok(()), |average| average.exchange(optimizer.parameters())),
            Where::There(optimizer) => optimizer.exchange_average(),
        }
    }

    /// What the optimiser remembers, and the average.
    pub fn state(&self) -> Result<(Memory, Option<Average>)> {
        match &self.0 {
            Where::Here { optimizer, average } => Ok((optimizer.memory().clone(), average.clone())),
            Where::There(optimizer) => Ok((optimizer.memory()?, optimizer.average()?)),
        }
    }

    /// Puts back what `state` gave.
    pub fn take_back(&mut self, memory: &Memory, saved: &Option<Average>) -> Result<()> {
        self.forget_gradients();
        match &mut self.0 {
            Where::Here { optimizer, average } => {
                optimizer.remember(memory);
                average.clone_from(saved);
                Ok(())
            }
            Where::There(optimizer) => {
                optimizer.remember(memory)?;
                optimizer.set_average(saved.clone())
            }
        }
    }
}
