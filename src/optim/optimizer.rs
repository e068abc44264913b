//! Owns one optimiser step: a single pass in place over weights, gradients, the rule's memory and the running average.
//! Must not know where gradients come from nor when a step is due.

use candle_core::Result;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::adam::Adam;
use super::chunks::{Chunk, count, squares, sum_of_squares};
use super::ema::WeightEma;
use super::langevin::Langevin;
use super::sgd::Sgd;
use crate::nn::Parameter;
use crate::run_config::{OptimizerKind, RunConfig};

/// What decides an optimiser, besides its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimizerConfig {
    /// Which rule.
    pub kind: OptimizerKind,
    /// λ, for parameters that decay.
    pub weight_decay: f32,
    /// μ, for SGD.
    pub momentum: f32,
    /// Whether SGD's momentum is Nesterov's.
    pub nesterov: bool,
    /// Images learned from, for Langevin dynamics.
    pub images: u64,
    /// Where Langevin dynamics' noise comes from.
    pub seed: u64,
}

impl OptimizerConfig {
    /// A run's, which learns from so many images.
    pub const fn of(config: &RunConfig, images: u64) -> Self {
        let RunConfig { optimizer, weight_decay, momentum, nesterov, seed, .. } = *config;
        Self { kind: optimizer, weight_decay: weight_decay as f32, momentum: momentum as f32, nesterov, images, seed }
    }

    /// Whether the rule remembers a first and a second number for each weight.
    pub(super) fn memories(self) -> [bool; 2] {
        self.rule().memories()
    }

    fn rule(self) -> Box<dyn Pass> {
        let Self { kind, momentum, nesterov, images, seed, .. } = self;
        match kind {
            OptimizerKind::AdamW => Box::new(Adam { decoupled: true }),
            OptimizerKind::Sgd => Box::new(Sgd { momentum, nesterov }),
            OptimizerKind::Adam => Box::new(Adam { decoupled: false }),
            OptimizerKind::Sgld => Box::new(Langevin { preconditioned: false, images, seed }),
            OptimizerKind::Psgld => Box::new(Langevin { preconditioned: true, images, seed }),
        }
    }
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Which, from 1.
    pub number: u64,
    /// The learning rate.
    pub rate: f32,
    /// What gathered gradients are multiplied by: it undoes loss scaling and clips.
    pub scale: f32,
}

/// A rule that moves weights by their gradients, number by number.
pub(super) trait Rule: Send + Sync {
    /// Whether it remembers a first and a second number for each weight.
    fn memories(&self) -> [bool; 2];

    /// Moves the weights of a chunk and leaves its gradient at zero. Inlined always, into what is compiled for each kind of processor.
    fn update(&self, chunk: &mut Chunk<'_>, decay: f32, step: &Step);
}

/// A rule as the optimiser uses it.
trait Pass: Send + Sync {
    fn memories(&self) -> [bool; 2];

    /// Updates a chunk with the best instructions this processor has, and takes its weights into the average; gives the sum of the
    /// squares its gradient had. What is computed does not depend on which instructions these are.
    fn advance(&self, chunk: Chunk<'_>, decay: f32, step: &Step, share: f32) -> f64;
}

impl<R: Rule> Pass for R {
    fn memories(&self) -> [bool; 2] {
        Rule::memories(self)
    }

    fn advance(&self, chunk: Chunk<'_>, decay: f32, step: &Step, share: f32) -> f64 {
        pulp::Arch::new().dispatch(Advance { rule: self, chunk, decay, step, share })
    }
}

struct Advance<'a, R> {
    rule: &'a R,
    chunk: Chunk<'a>,
    decay: f32,
    step: &'a Step,
    share: f32,
}

impl<R: Rule> pulp::NullaryFnOnce for Advance<'_, R> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Self { rule, mut chunk, decay, step, share } = self;
        let squares = sum_of_squares(chunk.gradient);
        rule.update(&mut chunk, decay, step);
        WeightEma::take_in(chunk.average, chunk.weights, share);
        squares
    }
}

/// What an optimiser remembers from step to step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OptimizerState {
    pub(super) steps: u64,
    pub(super) first: Vec<Vec<f32>>,
    pub(super) second: Vec<Vec<f32>>,
}

impl OptimizerState {
    /// True when both load_state as many numbers of each weight.
    pub fn same_shape(&self, other: &Self) -> bool {
        let lens = |memory: &Self| memory.first.iter().chain(&memory.second).map(Vec::len).collect::<Vec<_>>();
        self.first.len() == other.first.len() && lens(self) == lens(other)
    }
}

/// Moves parameters by their gradients.
pub struct Optimizer {
    rule: Box<dyn Pass>,
    weight_decay: f32,
    parameters: Vec<Parameter>,
    memory: OptimizerState,
}

impl Optimizer {
    /// The optimiser of these parameters, at its first step. Buffers among them are averaged, but not moved.
    pub fn new(settings: OptimizerConfig, parameters: &[Parameter]) -> Self {
        let rule = settings.rule();
        let [first, second] = rule.memories().map(|remembers| {
            let len = |parameter: &Parameter| if remembers && parameter.role().is_trainable() { parameter.len() } else { 0 };
            parameters.iter().map(|parameter| vec![0.0; len(parameter)]).collect()
        });
        Self {
            rule,
            weight_decay: settings.weight_decay,
            parameters: parameters.to_vec(),
            memory: OptimizerState { steps: 0, first, second },
        }
    }

    /// The L2 norm of all gathered gradients together; not finite if one of them is not.
    pub fn gradient_norm(&self) -> f64 {
        self.parameters.iter().map(|parameter| squares(&parameter.gradient())).sum::<f64>().sqrt()
    }

    /// Moves every parameter once, its gradient multiplied by `scale`, and leaves gradients at zero. `average` takes the moved weights
    /// in. Gives the norm the gradients had, which the same pass finds: if it is not finite, neither are the weights any more.
    pub fn step(&mut self, rate: f32, scale: f32, mut average: Option<&mut WeightEma>) -> Result<f64> {
        self.memory.steps += 1;
        let step = Step { number: self.memory.steps, rate, scale };
        let Self { rule, weight_decay, parameters, memory } = self;
        let share = average.as_deref_mut().map_or(0.0, WeightEma::next_weight);
        let memories = memory.first.iter_mut().zip(&mut memory.second);
        let (mut index, mut sum) = (0, 0.0);
        for (place, (parameter, (first, second))) in parameters.iter().zip(memories).enumerate() {
            let trainable = parameter.role().is_trainable();
            let decay = parameter.decay(*weight_decay);
            let mut averaged = average.as_deref_mut().and_then(|average| average.values.get_mut(place));
            parameter.update(|weights, gradient| {
                let averaged = averaged.as_deref_mut().map_or(&mut [][..], Vec::as_mut_slice);
                let chunks = Chunk::cut(index, weights, gradient, [first, second, averaged]);
                let update = |chunk: Chunk<'_>| {
                    if trainable {
                        return rule.advance(chunk, decay, &step, share);
                    }
                    WeightEma::take_in(chunk.average, chunk.weights, share);
                    0.0
                };
                // Handing a single chunk to another thread would take longer than updating it.
                if chunks.len() == 1 {
                    sum += chunks.into_iter().map(update).sum::<f64>();
                } else {
                    sum += chunks.into_par_iter().map(update).collect::<Vec<_>>().iter().sum::<f64>();
                }
            })?;
            index += count(parameter.len());
        }
        Ok(sum.sqrt())
    }

    /// Leaves gradients at zero without using them.
    pub fn zero_grad(&self) {
        for parameter in &self.parameters {
            parameter.gradient().fill(0.0);
        }
    }

    /// What it moves, and what of it is only averaged.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// What it remembers.
    pub const fn memory(&self) -> &OptimizerState {
        &self.memory
    }

    /// Puts back what `memory` gave.
    pub fn load_state(&mut self, memory: &OptimizerState) {
        self.memory.clone_from(memory);
    }
}
