//! Owns stochastic gradient descent with Nesterov momentum (Sutskever et al. 2013, in the form of `torch.optim.SGD`), with
//! decoupled weight decay. Must not know schedules.

use candle_core::Result;
use rayon::prelude::*;

use super::{CHUNK, Optimizer};
use crate::nn::Parameter;

const MOMENTUM: f32 = 0.9;

/// `u ← 0.9u + g`, `w ← w - lr·decay·w - lr·(g + 0.9u)`. Biases do not decay.
pub struct Sgd {
    weight_decay: f32,
    velocities: Vec<(Parameter, Vec<f32>)>,
}

impl Sgd {
    /// The optimiser of these parameters, at rest.
    pub fn new(parameters: &[Parameter], weight_decay: f32) -> Self {
        let velocities = parameters.iter().map(|parameter| (parameter.clone(), vec![0.0; parameter.len()])).collect();
        Self { weight_decay, velocities }
    }
}

impl Optimizer for Sgd {
    fn step(&mut self, learning_rate: f32) -> Result<()> {
        for (parameter, velocity) in &mut self.velocities {
            let keep = if parameter.is_bias() { 1.0 } else { 1.0 - learning_rate * self.weight_decay };
            parameter.update(|weights, gradient| {
                let chunks = weights.par_chunks_mut(CHUNK).zip(gradient.par_chunks_mut(CHUNK)).zip(velocity.par_chunks_mut(CHUNK));
                chunks.for_each(|((weights, gradient), velocity)| {
                    for ((w, g), u) in weights.iter_mut().zip(gradient).zip(velocity) {
                        *u = MOMENTUM * *u + *g;
                        *w = keep * *w - learning_rate * (*g + MOMENTUM * *u);
                        *g = 0.0;
                    }
                });
            })?;
        }
        Ok(())
    }
}
