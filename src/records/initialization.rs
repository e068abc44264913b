//! What the statistics of training images gave a network to start from, before its first step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Normalization, WeightImages};
use crate::run_config::Initialization;
use crate::text::format::{grouped, percent};

/// How a network was initialised from the statistics of training images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct InitializationReport {
    /// The method.
    pub method: Initialization,
    /// How long it took.
    pub seconds: f32,
    /// Images that went through the network for it.
    pub images: u32,
    /// Mean and standard deviation of all pixels of the training images, from 0 to 1; the network
    /// normalises with them.
    pub normalization: Normalization,
    /// The darkest and the brightest of these pixels, from 0 to 255.
    pub extremes: [u8; 2],
    /// Its weights, layer by layer.
    pub layers: Vec<LayerVariance>,
    /// What the first filters were made of, where they are principal components.
    pub components: Option<Components>,
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

    /// What was found, as people read it.
    pub fn sentences(&self) -> Vec<String> {
        let Normalization { mean, std } = self.normalization;
        let [darkest, brightest] = self.extremes;
        let mut sentences = vec![format!(
            "Pixels of the training images: mean {mean:.4}, standard deviation {std:.4}, grey values from {darkest} to {brightest}."
        )];
        sentences.extend(self.components.iter().map(Components::sentence));
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
            "Variance of each layer's output on {} images: {} with random weights, {} now. Initialised in {:.2} s.",
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
pub struct Components {
    /// Patches or images that were analysed.
    pub samples: u32,
    /// Pixels along a side of each.
    pub side: u32,
    /// The share of the variance that each component explains, from the greatest on.
    pub explained: Vec<f32>,
    /// The first of them, as images.
    pub images: WeightImages,
}

impl Components {
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
