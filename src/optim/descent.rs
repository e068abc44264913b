//! Owns moving a network's weights by their gradients and averaging them, wherever they lie. Must not know where gradients come from nor when
//! a step is due.

use candle_core::{Result, Tensor};

use super::device::DeviceOptimizer;
use super::ema::WeightEma;
use super::optimizer::{Optimizer, OptimizerConfig, OptimizerState};
use crate::device::Kernels;
use crate::nn::Net;

/// A number that may still be on a device.
#[derive(Clone, Debug)]
pub enum LazyScalar {
    /// At hand.
    Known(f64),
    /// A scalar that a device has yet to come to.
    There(Tensor),
}

impl LazyScalar {
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
    Here { optimizer: Optimizer, average: Option<WeightEma> },
    There(DeviceOptimizer),
}

impl Descent {
    /// For the parameters of this network, where they lie; averaged with this decay, if any.
    pub fn new(settings: OptimizerConfig, net: &Net, averaging: Option<f64>) -> Result<Self> {
        let average = match averaging {
            Some(decay) => Some(WeightEma::new(decay, net.weights()?)),
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
            Where::There(optimizer) => LazyScalar::There(optimizer.gradient_norm()?).read(),
        }
    }

    /// Moves every parameter once, its gradient multiplied by `scale` and brought down to the norm `clip` where it is above it, leaves
    /// gradients at zero, and takes the moved weights into the average. Gives the norm the gradients had: if it is not finite, neither
    /// are the weights any more.
    pub fn step(&mut self, rate: f32, scale: f32, clip: Option<f64>) -> Result<LazyScalar> {
        match &mut self.0 {
            Where::There(optimizer) => Ok(LazyScalar::There(optimizer.step(rate, scale, clip)?)),
            Where::Here { optimizer, average } => {
                let factor = match clip {
                    None => 1.0,
                    Some(most) => (most / (optimizer.gradient_norm() * f64::from(scale)).max(most)) as f32,
                };
                Ok(LazyScalar::Known(optimizer.step(rate, scale * factor, average.as_mut())?))
            }
        }
    }

    /// Leaves gradients at zero without using them.
    pub fn zero_grad(&self) {
        match &self.0 {
            Where::Here { optimizer, .. } => optimizer.zero_grad(),
            Where::There(optimizer) => optimizer.zero_grad(),
        }
    }

    /// Puts the averaged weights in the place of the last ones, if an average is kept; the next call puts them back.
    pub fn swap_ema(&mut self) -> Result<()> {
        match &mut self.0 {
            Where::Here { optimizer, average } => average.as_mut().map_or(Ok(()), |average| average.exchange(optimizer.parameters())),
            Where::There(optimizer) => optimizer.swap_ema(),
        }
    }

    /// What the optimiser remembers, and the average.
    pub fn state(&self) -> Result<(OptimizerState, Option<WeightEma>)> {
        match &self.0 {
            Where::Here { optimizer, average } => Ok((optimizer.memory().clone(), average.clone())),
            Where::There(optimizer) => Ok((optimizer.memory()?, optimizer.average()?)),
        }
    }

    /// Puts back what `state` gave.
    pub fn load_state(&mut self, memory: &OptimizerState, saved: &Option<WeightEma>) -> Result<()> {
        self.zero_grad();
        match &mut self.0 {
            Where::Here { optimizer, average } => {
                optimizer.load_state(memory);
                average.clone_from(saved);
                Ok(())
            }
            Where::There(optimizer) => {
                optimizer.load_state(memory)?;
                optimizer.set_average(saved.clone())
            }
        }
    }
}
