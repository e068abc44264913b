//! Owns the running average of the weights (Polyak & Juditsky 1992, exponentially weighted).
//! Must not know optimisers.

use candle_core::Result;
use serde::{Deserialize, Serialize};

use crate::nn::Parameter;

/// `a ← d·a + (1-d)·w` after every step, with `d = min(decay, t/(t+9))` at step `t`: the average forgets the start fast while there is
/// little to average (as `tf.train.ExponentialMovingAverage` with its step count), so it is not biased towards the first weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightEma {
    pub(super) decay: f64,
    pub(super) steps: u64,
    /// A copy of each parameter, in the order of the optimiser's.
    pub(super) values: Vec<Vec<f32>>,
}

impl WeightEma {
    /// The average of these weights alone.
    pub const fn new(decay: f64, weights: Vec<Vec<f32>>) -> Self {
        Self { decay, steps: 0, values: weights }
    }

    /// The averaged weights.
    pub fn values(&self) -> &[Vec<f32>] {
        &self.values
    }

    /// Swaps the averaged weights with those of `parameters`, which must be those it averages.
    pub fn exchange(&mut self, parameters: &[Parameter]) -> Result<()> {
        self.values
            .iter_mut()
            .zip(parameters)
            .try_for_each(|(average, parameter)| parameter.update(|weights, _| weights.swap_with_slice(average)))
    }

    /// Counts a step; gives what the new weights count for in it (`1 - d`).
    pub(super) fn next_weight(&mut self) -> f32 {
        self.steps += 1;
        let steps = self.steps as f64;
        (1.0 - self.decay.min(steps / (steps + 9.0))) as f32
    }

    /// Takes the weights of a chunk in; nothing where no average is kept.
    #[inline(always)]
    pub(super) fn take_in(average: &mut [f32], weights: &[f32], share: f32) {
        for (a, w) in average.iter_mut().zip(weights) {
            *a += share * (*w - *a);
        }
    }
}
