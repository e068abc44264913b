//! Owns Adam with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2; `torch.optim.AdamW`).
//! Must not know schedules.

use candle_core::Result;
use rayon::prelude::*;

use super::{CHUNK, Optimizer};
use crate::nn::Parameter;

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// `m ← β₁m + (1-β₁)g`, `v ← β₂v + (1-β₂)g²`, `w ← w - lr·decay·w - lr·m̂/(√v̂ + ε)` with `β = (0.9, 0.999)`, `ε = 1e-8`, and the
/// moments `m̂`, `v̂` corrected for their start at zero. Biases do not decay.
pub struct AdamW {
    weight_decay: f32,
    steps: i32,
    moments: Vec<Moments>,
}

struct Moments {
    parameter: Parameter,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl AdamW {
    /// The optimiser of these parameters, at its first step.
    pub fn new(parameters: &[Parameter], weight_decay: f32) -> Self {
        let moments = parameters
            .iter()
            .map(|parameter| Moments {
                parameter: parameter.clone(),
                first: vec![0.0; parameter.len()],
                second: vec![0.0; parameter.len()],
            })
            .collect();
        Self { weight_decay, steps: 0, moments }
    }
}

impl Optimizer for AdamW {
    fn step(&mut self, learning_rate: f32) -> Result<()> {
        self.steps = self.steps.saturating_add(1);
        // Both corrections in one factor each, so that the loop below has one division and one root.
        let first_correction = 1.0 - f64::from(BETA1).powi(self.steps);
        let second_correction = 1.0 - f64::from(BETA2).powi(self.steps);
        let rate = (f64::from(learning_rate) / first_correction) as f32;
        let second_scale = (1.0 / second_correction) as f32;
        for Moments { parameter, first, second } in &mut self.moments {
            let keep = if parameter.is_bias() { 1.0 } else { 1.0 - learning_rate * self.weight_decay };
            parameter.update(|weights, gradient| {
                let chunks = weights
                    .par_chunks_mut(CHUNK)
                    .zip(gradient.par_chunks_mut(CHUNK))
                    .zip(first.par_chunks_mut(CHUNK))
                    .zip(second.par_chunks_mut(CHUNK));
                chunks.for_each(|(((weights, gradient), first), second)| {
                    for (((w, g), m), v) in weights.iter_mut().zip(gradient).zip(first).zip(second) {
                        *m = BETA1 * *m + (1.0 - BETA1) * *g;
                        *v = BETA2 * *v + (1.0 - BETA2) * *g * *g;
                        *w = keep * *w - rate * *m / ((*v * second_scale).sqrt() + EPSILON);
                        *g = 0.0;
                    }
                });
            })?;
        }
        Ok(())
    }
}
