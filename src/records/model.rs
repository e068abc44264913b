//! A model: which one, what is known of it, how it fares on a data set, and what it makes of one
//! drawing.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Accuracy, Ensemble, Explanation, JobId, RELIABILITY_BINS, ReliabilityBin, Uncertainty,
};
use crate::ink::{Framing, Image};
use crate::run_config::{Classes, DataSpec, DeviceChoice, Network};
use crate::text::visible::is_hidden;

/// Which model is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelRef {
    /// The small model that comes with Inkling.
    Starter,
    /// A model file written by a run.
    File(PathBuf),
    /// Several model files together, or one with dropout.
    Ensemble(Ensemble),
    /// The newest weights of the run that is in progress or was the last.
    Training(JobId),
}

/// A model in a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Which one.
    pub reference: ModelRef,
    pub network: Network,
    /// Trainable numbers.
    pub parameters: u64,
    /// The meaning of its classes.
    pub classes: Classes,
    /// Its training data.
    pub data: DataSpec,
    /// Epochs of training behind it.
    pub epochs: u32,
    /// The accuracy that stands for it, if one is known: on test images if it was measured on any.
    pub accuracy: Option<Accuracy>,
}

impl ModelInfo {
    /// The part of an image that it gets: only the writing, if it recognizes writing.
    pub const fn framing(&self) -> Framing {
        Framing::of(&self.classes)
    }
}

/// Turns a pixel into the network's input: `(pixel / 255 - mean) / std`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Normalization {
    /// Mean of the pixels, from 0 to 1.
    pub mean: f32,
    /// Their standard deviation.
    pub std: f32,
}

impl Normalization {
    /// Mean and standard deviation of MNIST's training images, as commonly used.
    pub const MNIST: Self = Self {
        mean: 0.1307,
        std: 0.3081,
    };
}

/// How well a model does on a split of a data set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Images classified.
    pub images: u64,
    /// The fraction of images classified correctly.
    pub accuracy: f64,
    /// Mean cross-entropy, in nats.
    pub loss: f64,
    /// `confusion[truth][answer]`, in images.
    pub confusion: Vec<Vec<u32>>,
    /// Images to look at: the errors, the most confident first, and a few that were classified
    /// correctly of each class and each confidence, the least confident first.
    pub samples: Vec<Sample>,
    /// Labels that are suspected to be wrong. The most suspicious are among the samples.
    pub suspected: u64,
    /// How often answers of each confidence are right.
    pub reliability: [ReliabilityBin; RELIABILITY_BINS],
}

impl Evaluation {
    /// How many images of the class `truth` were taken for the class `answer`.
    pub fn count(&self, truth: usize, answer: usize) -> u32 {
        self.confusion
            .get(truth)
            .and_then(|row| row.get(answer))
            .copied()
            .unwrap_or_default()
    }

    /// The misclassified images, the most confident errors first.
    pub fn mistakes(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| !sample.is_correct())
    }

    /// The images whose labels are suspected to be wrong, the most suspicious first.
    pub fn suspects(&self) -> Vec<(&Sample, Suggestion)> {
        let samples = self.samples.iter();
        let mut suspects: Vec<_> = samples
            .filter_map(|sample| Some((sample, sample.suggestion?)))
            .collect();
        suspects.sort_by(|(a, _), (b, _)| a.margin().total_cmp(&b.margin()));
        suspects
    }
}

/// An image of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Position in the split.
    pub index: u64,
    /// The image that the model saw.
    pub image: Image,
    pub label: u8,
    /// The model's answer.
    pub answer: u8,
    /// The probability it gave its answer.
    pub confidence: f32,
    /// The probability it gave the label.
    pub label_probability: f32,
    /// The suggested label, if this one is suspected to be wrong.
    pub suggestion: Option<Suggestion>,
}

impl Sample {
    /// Whether the model's answer is the label.
    pub const fn is_correct(&self) -> bool {
        self.answer == self.label
    }

    /// How much more probable the label is than the suggestion, or than the answer if nothing else
    /// is suggested.
    pub fn margin(&self) -> f32 {
        let other = self.suggestion.map(|suggestion| suggestion.probability);
        self.label_probability - other.unwrap_or(self.confidence)
    }
}

/// Another label for an image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The class.
    pub label: u8,
    /// The probability that the model gave it.
    pub probability: f32,
}

/// A model's prediction for a drawing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The image that the model saw.
    pub image: Image,
    /// A probability per class; they sum to 1.
    pub probabilities: Vec<f32>,
    /// The likeliest digit.
    pub digit: u8,
    /// Its probability.
    pub confidence: f32,
    /// The higher, the more like a digit; [`super::Calibration::digit_threshold`] is on the same
    /// scale.
    pub digit_score: f32,
    /// False when the drawing does not look like any digit the model knows.
    pub is_digit: bool,
    /// How unsure the members of an ensemble are, and why; `None` for a single network.
    pub uncertainty: Option<Uncertainty>,
    /// From ink to probabilities, in microseconds.
    pub micros: u32,
    /// The device that classified it (never `Auto`).
    pub device: DeviceChoice,
    /// The model that classified it.
    pub model: ModelInfo,
}

impl Prediction {
    /// The name of the likeliest class.
    pub fn name(&self) -> &str {
        self.model.classes.name(self.digit)
    }
}

/// A model's prediction for one drawing among many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawingAnswer {
    /// The likeliest digit.
    pub digit: u8,
    /// Its probability.
    pub confidence: f32,
    /// Whether the drawing looks like a digit at all.
    pub is_digit: bool,
}

/// One digit of writing with several, and where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigitPrediction {
    /// Its left and upper edge, its width and its height, in the unit of the drawing or in pixels
    /// of the image.
    #[serde(rename = "box")]
    pub bounds: [f32; 4],
    /// The pieces of the writing that it consists of.
    pub pieces: std::ops::Range<usize>,
    pub prediction: Prediction,
    /// Why, if that was asked.
    pub explanation: Option<Explanation>,
}

/// A name, a note, tags and a star. They belong to a saved run and change nothing about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The model's own name; empty if it has none.
    pub name: String,
    /// A line or two about it; may be empty.
    pub note: String,
    /// Words that it is found and grouped by, such as "baseline".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// True for a model that was starred.
    pub starred: bool,
}

impl Annotation {
    /// The most characters of a name.
    pub const MAX_NAME: usize = 60;
    /// The most characters of a note.
    pub const MAX_NOTE: usize = 240;

    /// The most characters of a tag.
    pub const MAX_TAG: usize = 24;
    /// The most tags.
    pub const MAX_TAGS: usize = 8;

    /// The tags in a text with commas between them.
    pub fn tags_of(text: &str) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for tag in text
            .split(',')
            .map(|tag| one_line(tag, Self::MAX_TAG))
            .filter(|tag| !tag.is_empty())
        {
            if tags
                .iter()
                .all(|known| known.to_lowercase() != tag.to_lowercase())
            {
                tags.push(tag);
            }
        }
        tags.truncate(Self::MAX_TAGS);
        tags
    }

    /// Reads it as it is saved, from JSON. Whatever the file holds, the texts are fit to be shown.
    pub fn from_json(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice::<Self>(bytes).map(|annotation| annotation.cleaned())
    }

    /// The same with each text in one line, without hidden characters and spaces around it, and no
    /// longer than it may be.
    #[must_use]
    pub fn cleaned(&self) -> Self {
        Self {
            name: one_line(&self.name, Self::MAX_NAME),
            note: one_line(&self.note, Self::MAX_NOTE),
            tags: Self::tags_of(&self.tags.join(",")),
            starred: self.starred,
        }
    }
}

fn one_line(text: &str, max_chars: usize) -> String {
    let spaced: String = text
        .chars()
        .map(|c| if is_hidden(c) { ' ' } else { c })
        .collect();
    let line = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars()
        .take(max_chars)
        .collect::<String>()
        .trim_end()
        .to_owned()
}
