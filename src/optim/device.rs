//! Owns the optimiser's step outside the processor: every rule over all weights at once, as tensors on their device, or by kernels of ours.
//! Must not know where gradients come from nor when a step is due.
//!
//! Weights, gradients and what is remembered are one long row each, so that a step takes as many operations for a network of forty
//! parameters as for one of four, and nothing is read back.

use candle_core::{Result, Tensor};

use super::adam;
use super::chunks::{CHUNK, count};
use super::ema::WeightEma;
use super::langevin;
use super::optimizer::{OptimizerConfig, OptimizerState};
#[cfg(feature = "cuda")]
use crate::device::Kernels;
use crate::device::Place;
use crate::nn::Parameter;
#[cfg(feature = "cuda")]
use crate::nn::ops::cuda::{self, Moved, Rule};
use crate::run_config::OptimizerKind;

/// Moves parameters by their gradients, on the device they lie on.
pub struct DeviceOptimizer {
    settings: OptimizerConfig,
    place: Place,
    parameters: Vec<Parameter>,
    /// What decays each number of what is learned, in one row.
    decays: Tensor,
    steps: u64,
    first: Tensor,
    second: Tensor,
    average: Option<Kept>,
}

/// The running average, its values in one row.
struct Kept {
    card: WeightEma,
    values: Tensor,
}

impl DeviceOptimizer {
    /// The optimiser of these parameters, at its first step.
    pub fn new(settings: OptimizerConfig, parameters: &[Parameter], average: Option<WeightEma>, place: &Place) -> Result<Self> {
        let decays: Vec<f32> = learned(parameters)
            .flat_map(|parameter| std::iter::repeat_n(parameter.decay(settings.weight_decay), parameter.len()))
            .collect();
        let decays = Tensor::new(decays, &place.device)?;
        let mut optimizer = Self {
            settings,
            place: place.clone(),
            parameters: parameters.to_vec(),
            first: decays.zeros_like()?,
            second: decays.zeros_like()?,
            decays,
            steps: 0,
            average: None,
        };
        optimizer.set_average(average)?;
        Ok(optimizer)
    }

    /// The L2 norm of all gathered gradients together, still on the device; the gradients stay gathered.
    pub fn gradient_norm(&self) -> Result<Tensor> {
        #[cfg(feature = "cuda")]
        if self.place.kernels == Kernels::Cuda {
            let gradients = learned(&self.parameters).filter_map(Parameter::device_gradient);
            return cuda::gradient_norm(&gradients.map(|gradient| gradient.contiguous()).collect::<Result<Vec<_>>>()?, &self.decays);
        }
        let mut sum = Tensor::zeros((), candle_core::DType::F32, &self.place.device)?;
        for parameter in learned(&self.parameters) {
            if let Some(gradient) = parameter.device_gradient() {
                sum = (sum + gradient.sqr()?.sum_all()?)?;
            }
        }
        sum.sqrt()
    }

    /// Moves every parameter once, its gradient multiplied by `scale` and brought down to the norm `clip`, and forgets the gradients.
    /// Gives the norm they had after `scale`, still on the device: if it is not finite, neither are the weights any more.
    pub fn step(&mut self, rate: f32, scale: f32, clip: Option<f64>) -> Result<Tensor> {
        self.steps += 1;
        #[cfg(feature = "cuda")]
        if let Some(rule) = self.rule(rate, scale, clip) {
            return self.advance(rule);
        }
        let gradients = learned(&self.parameters).map(|parameter| take_gradient(parameter)?.flatten_all());
        let gradient = (Tensor::cat(&gradients.collect::<Result<Vec<_>>>()?, 0)? * f64::from(scale))?;
        let norm = gradient.sqr()?.sum_all()?.sqrt()?;
        let gradient = match clip {
            None => gradient,
            Some(most) => gradient.broadcast_mul(&(norm.maximum(most)?.recip()? * most)?)?,
        };
        let weights = row(learned(&self.parameters))?;
        let moved = self.moved(&weights, &gradient, f64::from(rate))?.detach();
        set_row(&moved, learned(&self.parameters))?;
        if let Some(Kept { card, values }) = &mut self.average {
            let share = f64::from(card.next_weight());
            let weights = row(self.parameters.iter())?;
            *values = ((&*values * (1.0 - share))? + (weights * share)?)?.detach();
        }
        Ok(norm)
    }

    /// The rule that kernels of ours go by in this step, where they have it.
    #[cfg(feature = "cuda")]
    fn rule(&self, rate: f32, scale: f32, clip: Option<f64>) -> Option<Rule> {
        if self.place.kernels != Kernels::Cuda {
            return None;
        }
        let kind = match self.settings.kind {
            OptimizerKind::Sgd => 0,
            OptimizerKind::AdamW => 1,
            OptimizerKind::Adam => 2,
            OptimizerKind::Sgld | OptimizerKind::Psgld => return None,
        };
        let number = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let correction = |beta: f32| (1.0 - f64::from(beta).powi(number)) as f32;
        Some(Rule {
            kind,
            nesterov: self.settings.nesterov.into(),
            rate,
            scale,
            clip: clip.unwrap_or_default() as f32,
            momentum: self.settings.momentum,
            beta1: adam::BETA1,
            beta2: adam::BETA2,
            epsilon: adam::EPSILON,
            correction1: correction(adam::BETA1),
            correction2: correction(adam::BETA2),
        })
    }

    #[cfg(feature = "cuda")]
    fn advance(&mut self, rule: Rule) -> Result<Tensor> {
        let moved = learned(&self.parameters).map(|parameter| {
            let (gradient, decay) = (take_gradient(parameter)?, parameter.decay(self.settings.weight_decay));
            Ok(Moved { parameter: parameter.clone(), gradient, decay })
        });
        let norm = cuda::advance(&moved.collect::<Result<Vec<_>>>()?, rule, &self.first, &self.second)?;
        if let Some(Kept { card, values }) = &mut self.average {
            cuda::follow(&self.parameters, values, card.next_weight())?;
        }
        Ok(norm)
    }

    /// The weights after this step, and what is remembered for the next.
    fn moved(&mut self, weights: &Tensor, gradient: &Tensor, rate: f64) -> Result<Tensor> {
        let OptimizerConfig { kind, momentum, nesterov, .. } = self.settings;
        let decay = |weights: &Tensor, decays: &Tensor| weights * decays;
        match kind {
            OptimizerKind::Sgd => {
                let momentum = f64::from(momentum);
                self.first = ((&self.first * momentum)? + gradient)?.detach();
                let step = if nesterov { (gradient + (&self.first * momentum)?)? } else { self.first.clone() };
                (weights - (decay(weights, &self.decays)? * rate)?)? - (step * rate)?
            }
            OptimizerKind::Adam | OptimizerKind::AdamW => {
                let [beta1, beta2] = [adam::BETA1, adam::BETA2].map(f64::from);
                let decoupled = kind == OptimizerKind::AdamW;
                let gradient = if decoupled { gradient.clone() } else { (gradient + decay(weights, &self.decays)?)? };
                self.first = ((&self.first * beta1)? + (&gradient * (1.0 - beta1))?)?.detach();
                self.second = ((&self.second * beta2)? + (gradient.sqr()? * (1.0 - beta2))?)?.detach();
                let number = i32::try_from(self.steps).unwrap_or(i32::MAX);
                let root = (&self.second * (1.0 / (1.0 - beta2.powi(number))))?.sqrt()?;
                let step = (&self.first / (root + f64::from(adam::EPSILON))?)?;
                let kept = if decoupled { (weights - (decay(weights, &self.decays)? * rate)?)? } else { weights.clone() };
                kept - (step * (rate / (1.0 - beta1.powi(number))))?
            }
            OptimizerKind::Sgld | OptimizerKind::Psgld => {
                let variance = 2.0 * rate / self.settings.images.max(1) as f64;
                let drift = (gradient + decay(weights, &self.decays)?)?;
                let noise = self.noise()?;
                if kind == OptimizerKind::Sgld {
                    return (weights - (drift * rate)?)? + (noise * variance.sqrt())?;
                }
                let alpha = f64::from(langevin::ALPHA);
                self.first = ((&self.first * alpha)? + (gradient.sqr()? * (1.0 - alpha))?)?.detach();
                let conditioner = (self.first.sqrt()? + f64::from(langevin::EPSILON))?.recip()?;
                (weights - ((&conditioner * drift)? * rate)?)? + ((conditioner * variance)?.sqrt()? * noise)?
            }
        }
    }

    /// This step's Langevin noise: the same numbers as on the processor.
    fn noise(&self) -> Result<Tensor> {
        let mut noise = Vec::with_capacity(self.decays.elem_count());
        let mut index = 0;
        for parameter in &self.parameters {
            let chunks = count(parameter.len());
            if parameter.role().is_trainable() {
                for (chunk, start) in (index..).zip((0..parameter.len()).step_by(CHUNK)) {
                    let mut random = langevin::noise(self.settings.seed, self.steps, chunk);
                    noise.extend((start..parameter.len().min(start + CHUNK)).map(|_| random.normal()));
                }
            }
            index += chunks;
        }
        Tensor::new(noise, &self.place.device)
    }

    /// Forgets gathered gradients.
    pub fn zero_grad(&self) {
        for parameter in &self.parameters {
            parameter.take_device_gradient();
        }
    }

    /// What it remembers, read back.
    pub fn memory(&self) -> Result<OptimizerState> {
        let [has_first, has_second] = self.settings.memories();
        let read = |row: &Tensor, has: bool| -> Result<Vec<Vec<f32>>> {
            let values = if has { row.to_vec1::<f32>()? } else { Vec::new() };
            let len = |parameter: &Parameter| if has && parameter.role().is_trainable() { parameter.len() } else { 0 };
            Ok(cut(&values, self.parameters.iter().map(len)))
        };
        Ok(OptimizerState { steps: self.steps, first: read(&self.first, has_first)?, second: read(&self.second, has_second)? })
    }

    /// Puts back what `memory` gave.
    pub fn load_state(&mut self, memory: &OptimizerState) -> Result<()> {
        let zeros = self.decays.zeros_like()?;
        let put = |values: &[Vec<f32>]| -> Result<Tensor> {
            let values = values.concat();
            if values.is_empty() { Ok(zeros.clone()) } else { Tensor::new(values, &self.place.device) }
        };
        (self.first, self.second) = (put(&memory.first)?, put(&memory.second)?);
        self.steps = memory.steps;
        Ok(())
    }

    /// The running average, read back; `None` where none is kept.
    pub fn average(&self) -> Result<Option<WeightEma>> {
        let Some(Kept { card, values }) = &self.average else { return Ok(None) };
        let values = cut(&values.to_vec1::<f32>()?, self.parameters.iter().map(Parameter::len));
        Ok(Some(WeightEma { values, ..card.clone() }))
    }

    /// Puts back what `average` gave.
    pub fn set_average(&mut self, average: Option<WeightEma>) -> Result<()> {
        let keep = |mut card: WeightEma| -> Result<Kept> {
            let values = Tensor::new(std::mem::take(&mut card.values).concat(), &self.place.device)?;
            Ok(Kept { card, values })
        };
        self.average = average.map(keep).transpose()?;
        Ok(())
    }

    /// Swaps the averaged weights with those of the parameters; nothing where no average is kept.
    pub fn swap_ema(&mut self) -> Result<()> {
        let Some(Kept { values, .. }) = &mut self.average else { return Ok(()) };
        let weights = row(self.parameters.iter())?;
        set_row(values, self.parameters.iter())?;
        *values = weights;
        Ok(())
    }
}

/// A row, cut into chunks of these lengths.
fn cut(mut row: &[f32], lens: impl Iterator<Item = usize>) -> Vec<Vec<f32>> {
    let cut = lens.map(|len| {
        let (chunk, rest) = row.split_at(len.min(row.len()));
        row = rest;
        chunk.to_vec()
    });
    cut.collect()
}

/// What was gathered for it, which is forgotten; zeros where nothing was.
fn take_gradient(parameter: &Parameter) -> Result<Tensor> {
    parameter.take_device_gradient().map_or_else(|| parameter.tensor().zeros_like(), Ok)
}

fn learned(parameters: &[Parameter]) -> impl Iterator<Item = &Parameter> {
    parameters.iter().filter(|parameter| parameter.role().is_trainable())
}

/// Has them take their values from a row.
fn set_row<'a>(row: &Tensor, parameters: impl Iterator<Item = &'a Parameter>) -> Result<()> {
    let mut start = 0;
    for parameter in parameters {
        parameter.set(&row.narrow(0, start, parameter.len())?.reshape(parameter.tensor().shape())?)?;
        start += parameter.len();
    }
    Ok(())
}

/// All their values in one row, a copy.
fn row<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> Result<Tensor> {
    Tensor::cat(&parameters.map(|parameter| parameter.tensor().flatten_all()).collect::<Result<Vec<_>>>()?, 0)?.copy()
}
