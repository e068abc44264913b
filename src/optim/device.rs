//! An optimiser's step on a GPU: all weights at once as tensors, or a fused kernel where there is one.
//!
//! Weights, gradients, slots and average are one long row each, so that a step takes as many operations for a network of forty parameters
//! as for one of four, and nothing is read back.

use candle_core::{DType, Result, Tensor};

use super::chunks::{CHUNK, count};
use super::config::OptimizerConfig;
use super::langevin;
use super::lazy_scalar::LazyScalar;
use super::optimizer::{Buffers, Snapshot, Update};
use super::row::{FirstError, Row};
use super::rule::{Rule, Visitor, dispatch, slots};
use super::state::slot_len;
#[cfg(feature = "cuda")]
use crate::device::Kernels;
use crate::device::Place;
use crate::nn::Parameter;

/// An optimiser's numbers on a device.
pub(super) struct DeviceBuffers {
    place: Place,
    parameters: Vec<Parameter>,
    /// The weight decay of each number that is updated.
    decays: Tensor,
    slots: Vec<Tensor>,
    ema: Option<Tensor>,
}

impl DeviceBuffers {
    pub fn new(config: &OptimizerConfig, parameters: &[Parameter], ema: Option<Vec<Vec<f32>>>, place: &Place) -> Result<Self> {
        let decays: Vec<f32> = trainable(parameters)
            .flat_map(|parameter| std::iter::repeat_n(parameter.decay(config.weight_decay), parameter.len()))
            .collect();
        let decays = Tensor::new(decays, &place.device)?;
        let slots = (0..slots(config)).map(|_| decays.zeros_like()).collect::<Result<_>>()?;
        let ema = ema.map(|values| Tensor::new(values.concat(), &place.device)).transpose()?;
        Ok(Self { place: place.clone(), parameters: parameters.to_vec(), decays, slots, ema })
    }

    /// The noise of a step: the same numbers as on the CPU.
    fn noise(&self, seed: u64, step: u64) -> Result<Tensor> {
        let mut noise = Vec::with_capacity(self.decays.elem_count());
        let mut index = 0;
        for parameter in &self.parameters {
            let chunks = count(parameter.len());
            if parameter.role().is_trainable() {
                for (chunk, start) in (index..).zip((0..parameter.len()).step_by(CHUNK)) {
                    let mut random = langevin::noise(seed, step, chunk);
                    noise.extend((start..parameter.len().min(start + CHUNK)).map(|_| random.normal()));
                }
            }
            index += chunks;
        }
        Tensor::new(noise, &self.place.device)
    }

    /// The step with tensors, by whatever rule.
    fn step_with_tensors(&mut self, config: &OptimizerConfig, update: &Update) -> Result<Tensor> {
        let grads = trainable(&self.parameters).map(|parameter| take_grad(parameter)?.flatten_all());
        let grad = (Tensor::cat(&grads.collect::<Result<Vec<_>>>()?, 0)? * f64::from(update.grad_scale))?;
        let norm = grad.sqr()?.sum_all()?.sqrt()?;
        let grad = match update.clip {
            None => grad,
            Some(most) => grad.broadcast_mul(&(norm.maximum(most)?.recip()? * most)?)?,
        };
        let (weights, slots) = dispatch(config, update.step, Pass { buffers: self, config, update, grad })?;
        self.slots = slots;
        set_row(&weights, trainable(&self.parameters))?;
        if let Some((ema, weight)) = self.ema.as_mut().zip(update.ema_weight) {
            let (weight, weights) = (f64::from(weight), row(self.parameters.iter())?);
            *ema = ((&*ema * (1.0 - weight))? + (weights * weight)?)?.detach();
        }
        Ok(norm)
    }
}

impl Buffers for DeviceBuffers {
    fn gradient_norm(&self) -> Result<LazyScalar> {
        #[cfg(feature = "cuda")]
        if self.place.kernels == Kernels::Cuda {
            return fused::gradient_norm(self).map(LazyScalar::OnDevice);
        }
        let mut sum = Tensor::zeros((), DType::F32, &self.place.device)?;
        for grad in trainable(&self.parameters).filter_map(Parameter::device_gradient) {
            sum = (sum + grad.sqr()?.sum_all()?)?;
        }
        sum.sqrt().map(LazyScalar::OnDevice)
    }

    fn step(&mut self, config: &OptimizerConfig, update: &Update) -> Result<LazyScalar> {
        #[cfg(feature = "cuda")]
        if self.place.kernels == Kernels::Cuda
            && let Some(rule) = fused::rule(config, update)
        {
            return fused::step(self, config, rule, update).map(LazyScalar::OnDevice);
        }
        self.step_with_tensors(config, update).map(LazyScalar::OnDevice)
    }

    fn zero_grad(&self) {
        for parameter in &self.parameters {
            parameter.take_device_gradient();
        }
    }

    fn swap_ema(&mut self) -> Result<()> {
        let Some(ema) = &mut self.ema else { return Ok(()) };
        let weights = row(self.parameters.iter())?;
        set_row(ema, self.parameters.iter())?;
        *ema = weights;
        Ok(())
    }

    fn read(&self) -> Result<Snapshot> {
        let mut snapshot = Snapshot { slots: std::array::from_fn(|_| vec![Vec::new(); self.parameters.len()]), ema: None };
        for (to, slot) in snapshot.slots.iter_mut().zip(&self.slots) {
            *to = split(slot, self.parameters.iter().map(slot_len))?;
        }
        snapshot.ema = self.ema.as_ref().map(|ema| split(ema, self.parameters.iter().map(Parameter::len))).transpose()?;
        Ok(snapshot)
    }

    fn write(&mut self, Snapshot { slots, ema }: Snapshot) -> Result<()> {
        let to_row = |numbers: &Vec<Vec<f32>>| Tensor::new(numbers.concat(), &self.place.device);
        let slots = slots.iter().take(self.slots.len()).map(to_row).collect::<Result<_>>()?;
        self.ema = ema.as_ref().map(to_row).transpose()?;
        self.slots = slots;
        Ok(())
    }
}

/// The pass over all weights, which gives the new ones and the new slots.
struct Pass<'a> {
    buffers: &'a DeviceBuffers,
    config: &'a OptimizerConfig,
    update: &'a Update,
    grad: Tensor,
}

impl Visitor for Pass<'_> {
    type Output = Result<(Tensor, Vec<Tensor>)>;

    fn visit<const SLOTS: usize>(self, rule: &impl Rule<SLOTS>) -> Self::Output {
        let Self { buffers, config, update, grad } = self;
        let error = FirstError::default();
        let known = |tensor: &Tensor| Row::new(Ok(tensor.clone()), &error);
        let weights = Row::new(row(trainable(&buffers.parameters)), &error);
        let old = std::array::from_fn(|slot| known(&buffers.slots[slot]));
        let noise = || Row::new(buffers.noise(config.seed, update.step.number), &error);
        let (weights, slots) = rule.update(weights, known(&grad), old, known(&buffers.decays), noise);
        Ok((weights.finish()?, slots.into_iter().map(Row::finish).collect::<Result<_>>()?))
    }
}

/// CUDA's fused kernel for Adam, `AdamW` and SGD.
#[cfg(feature = "cuda")]
mod fused {
    use candle_core::{Result, Tensor};

    use super::super::adam;
    use super::{DeviceBuffers, OptimizerConfig, Parameter, Update, take_grad, trainable};
    use crate::nn::ops::cuda::{self, Moved, Rule};
    use crate::run_config::OptimizerKind;

    pub fn gradient_norm(buffers: &DeviceBuffers) -> Result<Tensor> {
        let grads = trainable(&buffers.parameters).filter_map(Parameter::device_gradient);
        cuda::gradient_norm(&grads.map(|grad| grad.contiguous()).collect::<Result<Vec<_>>>()?, &buffers.decays)
    }

    /// The rule as the kernel takes it; `None` where it has no such rule.
    pub fn rule(config: &OptimizerConfig, update: &Update) -> Option<Rule> {
        let kind = match config.kind {
            OptimizerKind::Sgd => 0,
            OptimizerKind::AdamW => 1,
            OptimizerKind::Adam => 2,
            _ => return None,
        };
        let number = i32::try_from(update.step.number).unwrap_or(i32::MAX);
        let correction = |beta: f32| (1.0 - f64::from(beta).powi(number)) as f32;
        Some(Rule {
            kind,
            nesterov: config.nesterov.into(),
            rate: update.step.lr,
            scale: update.grad_scale,
            clip: update.clip.unwrap_or_default() as f32,
            momentum: config.momentum,
            beta1: adam::BETA1,
            beta2: adam::BETA2,
            epsilon: adam::EPSILON,
            correction1: correction(adam::BETA1),
            correction2: correction(adam::BETA2),
        })
    }

    pub fn step(buffers: &mut DeviceBuffers, config: &OptimizerConfig, rule: Rule, update: &Update) -> Result<Tensor> {
        let moved = trainable(&buffers.parameters).map(|parameter| {
            let (gradient, decay) = (take_grad(parameter)?, parameter.decay(config.weight_decay));
            Ok(Moved { parameter: parameter.clone(), gradient, decay })
        });
        // SGD has one slot: the kernel does not touch the second.
        let (first, second) = (buffers.slots.first(), buffers.slots.last());
        let (Some(first), Some(second)) = (first, second) else { candle_core::bail!("the kernel's rules have slots") };
        let norm = cuda::advance(&moved.collect::<Result<Vec<_>>>()?, rule, first, second)?;
        if let Some((ema, weight)) = buffers.ema.as_ref().zip(update.ema_weight) {
            cuda::follow(&buffers.parameters, ema, weight)?;
        }
        Ok(norm)
    }
}

/// A row, split into parts of these lengths, read back.
fn split(row: &Tensor, lens: impl Iterator<Item = usize>) -> Result<Vec<Vec<f32>>> {
    let mut numbers = row.to_vec1::<f32>()?.into_iter();
    Ok(lens.map(|len| numbers.by_ref().take(len).collect()).collect())
}

/// The gradient of a parameter, which has none from here on; zeros where it had none.
fn take_grad(parameter: &Parameter) -> Result<Tensor> {
    parameter.take_device_gradient().map_or_else(|| parameter.tensor().zeros_like(), Ok)
}

fn trainable(parameters: &[Parameter]) -> impl Iterator<Item = &Parameter> {
    parameters.iter().filter(|parameter| parameter.role().is_trainable())
}

/// Gives parameters their values from a row.
fn set_row<'a>(row: &Tensor, parameters: impl Iterator<Item = &'a Parameter>) -> Result<()> {
    let mut start = 0;
    for parameter in parameters {
        parameter.set(&row.narrow(0, start, parameter.len())?.reshape(parameter.tensor().shape())?)?;
        start += parameter.len();
    }
    Ok(())
}

/// The values of parameters in one row, a copy.
fn row<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> Result<Tensor> {
    Tensor::cat(&parameters.map(|parameter| parameter.tensor().flatten_all()).collect::<Result<Vec<_>>>()?, 0)?.copy()
}
