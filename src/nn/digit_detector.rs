//! Distinguishes digits from other drawings (out-of-distribution detection): a small classifier on
//! the input and output of a network's last layer.

use std::sync::Arc;

use candle_core::{Result, Tensor};

/// Hidden units.
pub const HIDDEN: usize = 32;
/// The names of its tensors in a model file.
pub const TENSORS: [&str; 4] = [
    "digit_detector.hidden.weight",
    "digit_detector.hidden.bias",
    "digit_detector.output.weight",
    "digit_detector.output.bias",
];

/// A network of one hidden layer (`ReLU`) that scores the features and logits of an image: above 0
/// it takes the image for a digit, and the score is the log odds of that. Clones share their
/// weights.
#[derive(Clone, Debug)]
pub struct DigitDetector {
    /// For each of [`TENSORS`].
    values: Arc<[Vec<f32>; 4]>,
    inputs: usize,
}

impl DigitDetector {
    /// A detector with these values for [`TENSORS`], which have the [`Self::shapes`] for `inputs`:
    /// the features and logits of the network together.
    pub fn new(values: [Vec<f32>; 4], inputs: usize) -> Self {
        Self {
            values: Arc::new(values),
            inputs,
        }
    }

    pub fn shapes(inputs: usize) -> [Vec<usize>; 4] {
        [vec![HIDDEN, inputs], vec![HIDDEN], vec![1, HIDDEN], vec![1]]
    }

    /// Its tensors with their names and shapes, as they are stored.
    pub fn tensors(&self) -> impl Iterator<Item = (&'static str, Vec<usize>, &[f32])> {
        let named = TENSORS.into_iter().zip(Self::shapes(self.inputs));
        named
            .zip(self.values.iter())
            .map(|((name, shape), values)| (name, shape, values.as_slice()))
    }

    /// The score of each row of `features` `[n, features]` and `logits` `[n, 10]`, on any device.
    pub fn scores(&self, features: &Tensor, logits: &Tensor) -> Result<Vec<f32>> {
        let (features, logits) = (features.to_vec2::<f32>()?, logits.to_vec2::<f32>()?);
        Ok(features
            .iter()
            .zip(&logits)
            .map(|(features, logits)| self.score(features, logits))
            .collect())
    }

    fn score(&self, features: &[f32], logits: &[f32]) -> f32 {
        let [hidden_weight, hidden_bias, output_weight, output_bias] = &*self.values;
        let unit = |(weights, bias): (&[f32], &f32)| {
            let (of_features, of_logits) = weights.split_at(features.len().min(weights.len()));
            (dot(of_features, features) + dot(of_logits, logits) + bias).max(0.0)
        };
        let hidden: Vec<f32> = hidden_weight
            .chunks_exact(self.inputs)
            .zip(hidden_bias)
            .map(unit)
            .collect();
        dot(output_weight, &hidden) + output_bias.iter().sum::<f32>()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
