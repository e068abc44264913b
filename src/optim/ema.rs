//! The running average of the weights (Polyak & Juditsky 1992, exponentially weighted).

use serde::{Deserialize, Serialize};

use crate::math::packed;

/// `a ← d·a + (1-d)·w` after every step, with `d = min(decay, t/(t+9))` at step `t`: the average
/// forgets the start fast while there is little to average (as `tf.train.ExponentialMovingAverage`
/// with its step count), so it is not biased towards the first weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightEma {
    decay: f64,
    steps: u64,
    /// The average of each parameter, in the order of the optimiser's.
    #[serde(with = "packed")]
    values: Vec<Vec<f32>>,
}

impl WeightEma {
    /// The average of these weights alone.
    pub const fn new(decay: f64, weights: Vec<Vec<f32>>) -> Self {
        Self {
            decay,
            steps: 0,
            values: weights,
        }
    }

    /// The averaged weights.
    pub fn values(&self) -> &[Vec<f32>] {
        &self.values
    }

    /// The averaged weights, without which it still counts its steps.
    pub(super) fn take_values(&mut self) -> Vec<Vec<f32>> {
        std::mem::take(&mut self.values)
    }

    /// The same with these values.
    pub(super) fn with_values(&self, values: Vec<Vec<f32>>) -> Self {
        Self {
            decay: self.decay,
            steps: self.steps,
            values,
        }
    }

    /// Counts a step; gives the weight of its parameters in the average (`1 - d`).
    pub(super) fn next_weight(&mut self) -> f32 {
        self.steps += 1;
        let steps = self.steps as f64;
        (1.0 - self.decay.min(steps / (steps + 9.0))) as f32
    }
}
