//! The map of digits: what the last hidden layer of a model makes of images, along the principal
//! components of its numbers, and which images are nearest to a drawing there.

use serde::{Deserialize, Serialize};

use crate::ink::Image;
use crate::run_config::{DataSpec, EvaluationSplit};

/// An image, and the class that it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabeledImage {
    pub image: Image,
    /// The correct class.
    pub label: u8,
}

/// The contents of a map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapSpec {
    /// The held-out images that the caller has, by [`DigitMap::images_id`]: they are not sent
    /// again.
    pub known: Option<u64>,
    /// The person's drawings.
    pub own: Vec<LabeledImage>,
    /// Principal components that are wanted of each image, at most [`COMPONENTS`].
    pub components: usize,
}

/// The principal components that are computed: what neighbors are found by.
pub const COMPONENTS: usize = 30;
/// The most drawings of the person on the map.
pub const OWN_IMAGES: usize = 200;

/// A map of held-out images and of the person's drawings, by the features of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigitMap {
    /// Identifies it among all maps of this engine.
    pub id: u64,
    pub layer: MapLayer,
    /// Where the held-out images are from; `None` if there are none of the model's classes here.
    pub source: Option<MapSource>,
    /// Identifies these held-out images.
    pub images_id: u64,
    /// The held-out images, unless the caller has them. A slow model answers for the first of them
    /// alone.
    pub images: Option<Vec<LabeledImage>>,
    /// The predictions for the first held-out images, and then for all of the person's drawings.
    pub points: Vec<MapPoint>,
    /// How many of the points are the person's drawings.
    pub own: usize,
    /// Where each point is along each principal component, point after point.
    pub coordinates: Vec<f32>,
    /// The fraction of the variance along each of these components, from 0 to 1.
    pub explained: Vec<f32>,
    /// How long it kept the engine, in microseconds.
    pub micros: u32,
}

impl DigitMap {
    /// How many of the points are held-out images.
    pub const fn held_out(&self) -> usize {
        self.points.len().saturating_sub(self.own)
    }

    /// Where each point is in the plane of the first two components.
    pub fn plane(&self) -> impl Iterator<Item = [f32; 2]> + '_ {
        let points = self.coordinates.chunks_exact(self.explained.len().max(1));
        points.map(plane)
    }
}

/// The first two coordinates.
pub fn plane(coordinates: &[f32]) -> [f32; 2] {
    [0, 1].map(|axis| coordinates.get(axis).copied().unwrap_or_default())
}

/// The prediction for an image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapPoint {
    /// The correct class.
    pub label: u8,
    /// The class that is predicted.
    pub answer: u8,
    /// Its probability.
    pub confidence: f32,
}

impl MapPoint {
    /// Whether the model is right.
    pub const fn is_correct(self) -> bool {
        self.label == self.answer
    }
}

/// The layer whose values a map shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MapLayer {
    /// The last hidden layer, with so many units.
    Hidden { units: usize },
    /// The pixels: the network has no hidden layer.
    Pixels,
    /// The logits: the model's layers are not known, or it consists of several networks.
    Logits,
}

/// Where images are from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapSource {
    /// The data set.
    pub data: DataSpec,
    /// Which of its images.
    pub split: EvaluationSplit,
}

/// Where a drawing is on the map, and which images are nearest to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neighborhood {
    /// The map, by [`DigitMap::id`].
    pub map: u64,
    /// Where the drawing is along each of the [`COMPONENTS`].
    pub coordinates: Vec<f32>,
    /// The nearest images by Euclidean distance in the whole layer, the nearest first.
    pub nearest: Vec<NearImage>,
    /// Among how many.
    pub among: usize,
    /// Whether these are images that the model was trained on; else they are the held-out ones.
    pub trained: bool,
}

/// An image, and how far from the drawing it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearImage {
    /// The image and its label.
    pub labeled: LabeledImage,
    /// The Euclidean distance.
    pub distance: f32,
}
