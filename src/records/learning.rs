//! What a run makes of a few validation images while it trains, what its first layer looks like,
//! and what the statistics of training images gave it to start from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Normalization;
use crate::ink::Image;
use crate::run_config::Initialization;
use crate::text::format::{grouped, percent};

/// A validation image that a run classifies again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOutImage {
    pub image: Image,
    /// The correct digit.
    pub label: u8,
}

/// The prediction for such an image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutAnswer {
    /// The likeliest digit.
    pub digit: u8,
    pub probability: f32,
    /// The probability of the correct digit.
    pub label_probability: f32,
}

/// The weights of some units of a layer, each unit's as an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilterImages {
    /// Pixels in a row of an image.
    pub width: u16,
    /// Rows of an image.
    pub height: u16,
    /// Each image's pixels in rows from the top left: 128 is a weight of zero, 1 and 255 are the
    /// largest of that image, negative and positive.
    pub images: Vec<Vec<u8>>,
}

impl FilterImages {
    /// Of weights in rows from the top left, unit after unit.
    pub fn of(width: usize, height: usize, weights: &[f32]) -> Self {
        let images = weights
            .chunks_exact((width * height).max(1))
            .map(gray_values)
            .collect();
        Self {
            width: width as u16,
            height: height as u16,
            images,
        }
    }
}

/// A unit's weights from 1 to 255, with zero at 128.
fn gray_values(weights: &[f32]) -> Vec<u8> {
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
pub struct HeldOutSnapshot {
    /// Steps done.
    pub step: u64,
    /// Its answers to the validation images, in their order.
    pub answers: Vec<HeldOutAnswer>,
    /// Its first layer, if that was looked at again.
    pub first_layer: Option<FilterImages>,
}

/// The predictions of a saved network for some images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelLook {
    /// The class that each image was taken for, in their order.
    pub digits: Vec<u8>,
    /// The first units of its first layer, if its weights can be seen as images.
    pub first_layer: Option<FilterImages>,
}

/// How a network was initialized from the statistics of training images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct InitializationReport {
    pub method: Initialization,
    /// How long it took.
    pub seconds: f32,
    /// Images that went through the network for it.
    pub images: u32,
    /// Mean and standard deviation of all pixels of the training images, from 0 to 1; the network
    /// normalizes with them.
    pub normalization: Normalization,
    /// The darkest and the brightest of these pixels, from 0 to 255.
    pub extremes: [u8; 2],
    /// Its weights, layer by layer.
    pub layers: Vec<LayerVariance>,
    /// The principal components that the first filters were made of, if they were.
    pub components: Option<PatchComponents>,
}

impl InitializationReport {
    /// In a sentence: "Before the first step: LSUV on 256 training images, in 0.12 s."
    pub fn summary(&self) -> String {
        let method = self.method.label().split(' ').next().unwrap_or_default();
        format!(
            "Before the first step: {method} on {} training images, in {:.2} s.",
            grouped(self.images.into()),
            self.seconds
        )
    }

    /// The report as sentences.
    pub fn sentences(&self) -> Vec<String> {
        let Normalization { mean, std } = self.normalization;
        let [darkest, brightest] = self.extremes;
        let mut sentences = vec![format!(
            "Pixels of the training images: mean {mean:.4}, standard deviation {std:.4}, gray values from {darkest} to {brightest}."
        )];
        sentences.extend(self.components.iter().map(PatchComponents::sentence));
        let of = |variance: fn(&LayerVariance) -> f32| {
            let [low, high] = self
                .layers
                .iter()
                .map(variance)
                .fold([f32::INFINITY, 0.0], |[low, high], next| {
                    [low.min(next), high.max(next)]
                });
            if (high - low).abs() < 0.005 {
                format!("{high:.2}")
            } else {
                format!("{low:.2} to {high:.2}")
            }
        };
        sentences.push(format!(
            "Variance of each layer's output on {} images: {} with random weights, {} now. Initialized in {:.2} s.",
            grouped(self.images.into()),
            of(|layer| layer.before),
            of(|layer| layer.after),
            self.seconds,
        ));
        sentences
    }
}

/// The variance of a layer's output before its activation, over images, positions and channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerVariance {
    /// The layer: `conv1`.
    pub layer: String,
    #[schemars(with = "Option<f32>")]
    /// With the random weights that the layers before it pass their scaled output to.
    pub before: f32,
    /// With the weights that training starts from.
    #[schemars(with = "Option<f32>")]
    pub after: f32,
}

/// The principal components of what the first layer sees: patches as large as its kernel, or whole
/// images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatchComponents {
    /// Patches or images that were analyzed.
    pub samples: u32,
    /// Pixels along a side of each.
    pub side: u32,
    /// The fraction of the variance that each component explains, from the greatest on.
    pub explained: Vec<f32>,
    /// The first of them, as images.
    pub images: FilterImages,
}

impl PatchComponents {
    /// How much of the variance a few of them explain.
    pub fn sentence(&self) -> String {
        let few = (self.explained.len() / 3).max(1);
        let share: f32 = self.explained.iter().take(few).sum();
        let Self { samples, side, .. } = self;
        format!(
            "Principal components of {} patches of {side} x {side} pixels: {few} of {} explain {} of the variance.",
            grouped((*samples).into()),
            self.explained.len(),
            percent(f64::from(share), 1),
        )
    }
}
