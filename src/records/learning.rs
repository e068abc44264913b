//! What a run makes of a few held-out images while it trains, and what its first layer looks like.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ink::Image;

/// A validation image that a run classifies again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOutImage {
    /// What the network sees.
    pub image: Image,
    /// The correct digit.
    pub label: u8,
}

/// What the network makes of such an image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutAnswer {
    /// The likeliest digit.
    pub digit: u8,
    /// Its probability.
    pub probability: f32,
    /// The probability of the correct digit.
    pub label_probability: f32,
}

/// The weights of some units of a layer, each unit's as an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WeightImages {
    /// Pixels in a row of an image.
    pub width: u16,
    /// Rows of an image.
    pub height: u16,
    /// Each image's pixels in rows from the top left: 128 is a weight of zero, 1 and 255 are the
    /// largest of that image, negative and positive.
    pub images: Vec<Vec<u8>>,
}

impl WeightImages {
    /// Of weights in rows from the top left, unit after unit.
    pub fn of(width: usize, height: usize, weights: &[f32]) -> Self {
        let images = weights
            .chunks_exact((width * height).max(1))
            .map(grey_values)
            .collect();
        Self {
            width: width as u16,
            height: height as u16,
            images,
        }
    }
}

/// A unit's weights from 1 to 255, with zero at 128.
fn grey_values(weights: &[f32]) -> Vec<u8> {
    let largest = weights.iter().fold(f32::MIN_POSITIVE, |largest, weight| {
        largest.max(weight.abs())
    });
    weights
        .iter()
        .map(|weight| (128.0 + 127.0 * weight / largest).round() as u8)
        .collect()
}

/// The state of a network that is being trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningSnapshot {
    /// Steps done.
    pub step: u64,
    /// Its answers to the held-out images, in their order.
    pub answers: Vec<HeldOutAnswer>,
    /// Its first layer, where that was looked at again.
    pub first_layer: Option<WeightImages>,
}
