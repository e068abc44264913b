//! An optimizer's step on a GPU: all weights at once as tensors, or a fused kernel if there is
//! one.
//!
//! Weights, gradients, slots and average are one long row each, so that a step takes as many
//! operations for a network of forty parameters as for one of four, and nothing is read back.

use std::cell::Cell;
use std::ops::{Add, Div, Mul, Sub};

use candle_core::{DType, Error, Result, Tensor};

use super::adafactor::Adafactor;
use super::cpu::{CHUNK, count};
use super::optimizer::{Buffers, LazyScalar, OptimizerConfig, Snapshot, Update, slot_lens};
use super::rule::{Adam, Element, Rule, Visitor, dispatch, langevin_noise, slots};
use crate::nn::backend::{OptimizerStep, UpdatedParameter};
use crate::nn::{DeviceContext, Parameter};

pub(super) struct DeviceBuffers {
    config: OptimizerConfig,
    context: DeviceContext,
    parameters: Vec<Parameter>,
    /// The weight decay of each number that is updated.
    decays: Tensor,
    slots: Vec<Tensor>,
    ema: Option<Tensor>,
}

impl DeviceBuffers {
    pub fn new(
        config: &OptimizerConfig,
        parameters: &[Parameter],
        ema: Option<Vec<Vec<f32>>>,
        context: &DeviceContext,
    ) -> Result<Self> {
        let decays: Vec<f32> = trainable(parameters)
            .flat_map(|parameter| {
                std::iter::repeat_n(parameter.decay(config.weight_decay), parameter.len())
            })
            .collect();
        let decays = Tensor::new(decays, &context.device)?;
        let len = |slot: usize| {
            parameters
                .iter()
                .map(|parameter| slot_lens(config, parameter)[slot])
                .sum::<usize>()
        };
        let slots = (0..slots(config))
            .map(|slot| Tensor::zeros(len(slot), DType::F32, &context.device))
            .collect::<Result<_>>()?;
        let ema = ema
            .map(|values| Tensor::new(values.concat(), &context.device))
            .transpose()?;
        Ok(Self {
            config: *config,
            context: context.clone(),
            parameters: parameters.to_vec(),
            decays,
            slots,
            ema,
        })
    }

    /// The noise of a step: the same numbers as on the CPU.
    fn noise(&self, seed: u64, step: u64) -> Result<Tensor> {
        let mut noise = Vec::with_capacity(self.decays.elem_count());
        let mut index = 0;
        for parameter in &self.parameters {
            let chunks = count(parameter.len());
            if parameter.role().is_trainable() {
                for (chunk, start) in (index..).zip((0..parameter.len()).step_by(CHUNK)) {
                    let mut random = langevin_noise(seed, step, chunk);
                    noise.extend(
                        (start..parameter.len().min(start + CHUNK)).map(|_| random.normal()),
                    );
                }
            }
            index += chunks;
        }
        Tensor::new(noise, &self.context.device)
    }

    /// The step with tensors, by any rule.
    fn step_with_tensors(
        &mut self,
        config: &OptimizerConfig,
        update: &Update,
        updated: &[UpdatedParameter],
    ) -> Result<Tensor> {
        let grads = updated.iter().map(|updated| updated.gradient.flatten_all());
        let grad =
            (Tensor::cat(&grads.collect::<Result<Vec<_>>>()?, 0)? * f64::from(update.grad_scale))?;
        let norm = grad.sqr()?.sum_all()?.sqrt()?;
        let grad = match update.clip {
            None => grad,
            Some(most) => grad.broadcast_mul(&(norm.maximum(most)?.recip()? * most)?)?,
        };
        let (weights, slots) = dispatch(
            config,
            update.step,
            Pass {
                buffers: self,
                config,
                update,
                grad,
            },
        )?;
        self.slots = slots;
        set_row(&weights, trainable(&self.parameters))?;
        Ok(norm)
    }
}

impl Buffers for DeviceBuffers {
    fn gradient_norm(&self) -> Result<LazyScalar> {
        let parameters: Vec<&Parameter> = trainable(&self.parameters).collect();
        self.context
            .backend
            .gradient_norm(&parameters)
            .map(LazyScalar::OnDevice)
    }

    fn step(&mut self, config: &OptimizerConfig, update: &Update) -> Result<LazyScalar> {
        let updated = trainable(&self.parameters).map(|parameter| {
            let (gradient, decay) = (take_grad(parameter)?, parameter.decay(config.weight_decay));
            Ok(UpdatedParameter {
                parameter: parameter.clone(),
                gradient,
                decay,
            })
        });
        let updated = updated.collect::<Result<Vec<_>>>()?;
        let norm = match self.context.backend.optimizer_step(
            &updated,
            fused_step(config, update),
            &self.slots,
        )? {
            Some(norm) => norm,
            None => self.step_with_tensors(config, update, &updated)?,
        };
        if let Some((ema, weight)) = self.ema.as_mut().zip(update.ema_weight) {
            *ema = self
                .context
                .backend
                .ema_update(&self.parameters, ema, weight)?
                .detach();
        }
        Ok(LazyScalar::OnDevice(norm))
    }

    fn zero_grad(&self) {
        for parameter in &self.parameters {
            parameter.zero_grad();
        }
    }

    fn swap_ema(&mut self) -> Result<()> {
        let Some(ema) = &mut self.ema else {
            return Ok(());
        };
        let weights = row(self.parameters.iter())?;
        set_row(ema, self.parameters.iter())?;
        *ema = weights;
        Ok(())
    }

    fn read(&self) -> Result<Snapshot> {
        let mut snapshot = Snapshot {
            slots: std::array::from_fn(|_| vec![Vec::new(); self.parameters.len()]),
            ema: None,
        };
        for (number, (to, slot)) in snapshot.slots.iter_mut().zip(&self.slots).enumerate() {
            *to = split(
                slot,
                self.parameters
                    .iter()
                    .map(|parameter| slot_lens(&self.config, parameter)[number]),
            )?;
        }
        snapshot.ema = self
            .ema
            .as_ref()
            .map(|ema| split(ema, self.parameters.iter().map(Parameter::len)))
            .transpose()?;
        Ok(snapshot)
    }

    fn write(&mut self, Snapshot { slots, ema }: Snapshot) -> Result<()> {
        let to_row = |numbers: &Vec<Vec<f32>>| Tensor::new(numbers.concat(), &self.context.device);
        let slots = slots
            .iter()
            .take(self.slots.len())
            .map(to_row)
            .collect::<Result<_>>()?;
        self.ema = ema.as_ref().map(to_row).transpose()?;
        self.slots = slots;
        Ok(())
    }
}

/// The pass over all weights, which returns the new ones and the new slots.
struct Pass<'a> {
    buffers: &'a DeviceBuffers,
    config: &'a OptimizerConfig,
    update: &'a Update,
    grad: Tensor,
}

impl Visitor for Pass<'_> {
    type Output = Result<(Tensor, Vec<Tensor>)>;

    fn visit<const SLOTS: usize>(self, rule: &impl Rule<SLOTS>) -> Self::Output {
        let Self {
            buffers,
            config,
            update,
            grad,
        } = self;
        let error = FirstError::default();
        let known = |tensor: &Tensor| Row::new(Ok(tensor.clone()), &error);
        let weights = Row::new(row(trainable(&buffers.parameters)), &error);
        let old = std::array::from_fn(|slot| known(&buffers.slots[slot]));
        let noise = || Row::new(buffers.noise(config.seed, update.step.number), &error);
        let (weights, slots) =
            rule.update(weights, known(&grad), old, known(&buffers.decays), noise);
        Ok((
            weights.finish()?,
            slots.into_iter().map(Row::finish).collect::<Result<_>>()?,
        ))
    }

    fn visit_adafactor(self, rule: &Adafactor) -> Self::Output {
        let Self {
            buffers,
            config,
            grad,
            ..
        } = self;
        let (mut weights, mut slots) = (Vec::new(), [Vec::new(), Vec::new()]);
        let (mut start, mut slot_starts) = (0, [0; 2]);
        for parameter in trainable(&buffers.parameters) {
            let (len, lens) = (parameter.len(), slot_lens(config, parameter));
            let grad = grad.narrow(0, start, len)?.reshape(parameter.dims())?;
            let old =
                [0, 1].map(|slot| buffers.slots[slot].narrow(0, slot_starts[slot], lens[slot]));
            let [rows, columns] = old;
            let decay = parameter.decay(config.weight_decay);
            let (new, moved) =
                rule.update_tensors(&parameter.tensor(), &grad, [&rows?, &columns?], decay)?;
            weights.push(new.flatten_all()?);
            for ((slot, new), (to, len)) in slots
                .iter_mut()
                .zip(moved)
                .zip(slot_starts.iter_mut().zip(lens))
            {
                // Vectors have no columns.
                slot.extend((len > 0).then_some(new));
                *to += len;
            }
            start += len;
        }
        let joined = |(slot, old): (&Vec<Tensor>, &Tensor)| {
            if slot.is_empty() {
                Ok(old.clone())
            } else {
                Tensor::cat(slot, 0).map(|row| row.detach())
            }
        };
        let slots = slots
            .iter()
            .zip(&buffers.slots)
            .map(joined)
            .collect::<Result<_>>()?;
        Ok((Tensor::cat(&weights, 0)?.detach(), slots))
    }
}

/// The step as a fused kernel takes it.
fn fused_step(config: &OptimizerConfig, update: &Update) -> OptimizerStep {
    let number = i32::try_from(update.step.number).unwrap_or(i32::MAX);
    let betas = [Adam::BETA1, Adam::BETA2];
    OptimizerStep {
        kind: config.kind,
        lr: update.step.lr,
        scale: update.grad_scale,
        clip_norm: update.clip.map(|norm| norm as f32),
        nesterov: config.nesterov,
        momentum: config.momentum,
        betas,
        epsilon: Adam::EPSILON,
        bias_corrections: betas.map(|beta| (1.0 - f64::from(beta).powi(number)) as f32),
    }
}

/// A row, split into parts of these lengths, read back.
fn split(row: &Tensor, lens: impl Iterator<Item = usize>) -> Result<Vec<Vec<f32>>> {
    let mut numbers = row.to_vec1::<f32>()?.into_iter();
    Ok(lens
        .map(|len| numbers.by_ref().take(len).collect())
        .collect())
}

/// The gradient of a parameter, which has none from here on; zeros if it had none.
fn take_grad(parameter: &Parameter) -> Result<Tensor> {
    parameter
        .take_grad()
        .map_or_else(|| parameter.tensor().zeros_like(), Ok)
}

fn trainable(parameters: &[Parameter]) -> impl Iterator<Item = &Parameter> {
    parameters
        .iter()
        .filter(|parameter| parameter.role().is_trainable())
}

/// Gives parameters their values from a row.
fn set_row<'a>(row: &Tensor, parameters: impl Iterator<Item = &'a Parameter>) -> Result<()> {
    let mut start = 0;
    for parameter in parameters {
        parameter.set(
            &row.narrow(0, start, parameter.len())?
                .reshape(parameter.tensor().shape())?,
        )?;
        start += parameter.len();
    }
    Ok(())
}

/// The values of parameters in one row, a copy.
fn row<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> Result<Tensor> {
    Tensor::cat(
        &parameters
            .map(|parameter| parameter.tensor().flatten_all())
            .collect::<Result<Vec<_>>>()?,
        0,
    )?
    .copy()
}

/// The first error of the operations on some rows: formulas have no room for one at each step.
#[derive(Default)]
pub(super) struct FirstError(Cell<Option<Error>>);

impl FirstError {
    fn note(&self, error: Error) {
        self.0.set(Some(self.0.take().unwrap_or(error)));
    }
}

/// A row, or nothing after an error.
#[derive(Clone)]
pub(super) struct Row<'a> {
    tensor: Option<Tensor>,
    error: &'a FirstError,
}

impl<'a> Row<'a> {
    pub fn new(tensor: Result<Tensor>, error: &'a FirstError) -> Self {
        Self {
            tensor: tensor.map_err(|failed| error.note(failed)).ok(),
            error,
        }
    }

    /// The tensor, or the first error.
    pub fn finish(self) -> Result<Tensor> {
        match self.tensor {
            Some(tensor) => Ok(tensor.detach()),
            None => Err(self
                .error
                .0
                .take()
                .unwrap_or_else(|| Error::Msg("an earlier operation failed".to_owned()))),
        }
    }

    fn map(self, operation: impl FnOnce(&Tensor) -> Result<Tensor>) -> Self {
        match &self.tensor {
            Some(tensor) => Self::new(operation(tensor), self.error),
            None => self,
        }
    }

    fn with(self, other: Self, operation: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor>) -> Self {
        match &other.tensor {
            Some(other) => self.map(|tensor| operation(tensor, other)),
            None => other,
        }
    }
}

macro_rules! elementwise {
    ($($operator:ident $method:ident $symbol:tt),*) => {$(
        impl $operator for Row<'_> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.with(other, |a, b| a $symbol b)
            }
        }
    )*};
}

elementwise!(Add add +, Sub sub -, Mul mul *, Div div /);

macro_rules! with_number {
    ($($operator:ident $method:ident $symbol:tt),*) => {$(
        impl $operator<f32> for Row<'_> {
            type Output = Self;

            fn $method(self, number: f32) -> Self {
                self.map(|tensor| tensor $symbol f64::from(number))
            }
        }
    )*};
}

with_number!(Add add +, Mul mul *);

impl Element for Row<'_> {
    fn sqrt(self) -> Self {
        self.map(Tensor::sqrt)
    }

    fn recip(self) -> Self {
        self.map(Tensor::recip)
    }

    fn sign(self) -> Self {
        self.map(Tensor::sign)
    }
}
