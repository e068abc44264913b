//! How much a model's probabilities are worth: what is fitted so that they mean what they say, and
//! how far they still are from it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// What is fitted on images that a network did not learn from. It belongs to the weights it was
/// fitted for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Logits are divided by this before the softmax (temperature scaling: Guo et al. 2017, "On
    /// Calibration of Modern Neural Networks"). 1 where none was fitted.
    pub temperature: f32,
    /// Digit scores below this are not digits.
    pub digit_threshold: f32,
}

impl Calibration {
    /// Of a network for which nothing was fitted: its logits as they are, and everything counts as
    /// a digit.
    pub const NONE: Self = Self {
        temperature: 1.0,
        digit_threshold: f32::NEG_INFINITY,
    };

    /// The temperatures that are fitted, and accepted in files. Logits of networks that recognise
    /// digits need less than 5; at 20 hardly any network is sure of anything, and at 0.05 every one
    /// is.
    pub const TEMPERATURES: RangeInclusive<f32> = 0.05..=20.0;

    /// True where a temperature was fitted, which is never exactly that of [`Self::NONE`].
    pub fn has_temperature(&self) -> bool {
        (self.temperature - Self::NONE.temperature).abs() > f32::EPSILON
    }

    /// False for numbers that no Inkling model has.
    pub fn is_valid(&self) -> bool {
        Self::TEMPERATURES.contains(&self.temperature) && self.digit_threshold.is_finite()
    }
}

/// Bins of a reliability diagram.
pub const RELIABILITY_BINS: usize = 15;

/// A bin of a reliability diagram: the images whose confidence, the probability of the answer, is
/// in the bin's range. Bin `i` of `n` goes from `i / n` to `(i + 1) / n`; its upper end belongs to
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Images in it.
    pub images: u32,
    /// Those of them that were classified correctly.
    pub correct: u32,
    /// Mean confidence of its images, 0 to 1; 0 without images.
    pub confidence: f64,
}

impl ReliabilityBin {
    /// The bin that a confidence from 0 to 1 belongs to.
    pub fn index_of(confidence: f32) -> usize {
        ((f64::from(confidence) * RELIABILITY_BINS as f64).ceil() as usize)
            .clamp(1, RELIABILITY_BINS)
            - 1
    }

    /// Counts one more image.
    pub fn add(&mut self, confidence: f32, correct: bool) {
        self.images += 1;
        self.correct += u32::from(correct);
        self.confidence += (f64::from(confidence) - self.confidence) / f64::from(self.images);
    }

    /// Share of its images that were classified correctly; `None` without images.
    pub fn accuracy(&self) -> Option<f64> {
        (self.images > 0).then(|| f64::from(self.correct) / f64::from(self.images))
    }
}
