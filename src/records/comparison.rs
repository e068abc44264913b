//! Models compared: several on the same images, and one before and after it was fine-tuned on a
//! person's own drawings.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{Accuracy, ModelInfo, ModelRef, RunSummary};
use crate::run_config::{Classes, DataSpec, EvaluationSplit, RunConfig};

/// An accuracy before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeforeAfter {
    /// Images classified.
    pub images: u64,
    /// How many of them correctly, before.
    pub before: u64,
    /// How many of them correctly, after.
    pub after: u64,
}

impl BeforeAfter {
    /// The accuracy before, from 0 to 1.
    pub fn before(self) -> f64 {
        self.before as f64 / self.images.max(1) as f64
    }

    /// The accuracy after, from 0 to 1.
    pub fn after(self) -> f64 {
        self.after as f64 / self.images.max(1) as f64
    }
}

/// The result of fine-tuning a model on a person's own drawings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FineTuned {
    /// On all of the drawings.
    pub mine: BeforeAfter,
    /// On the drawings that it did not learn from; `None` if there were too few to keep any
    /// apart.
    pub held_out: Option<BeforeAfter>,
    /// On images of the data it learned from before, which it has not learned from.
    pub old: BeforeAfter,
    /// That data.
    pub old_data: DataSpec,
    /// The accuracy that stood for the model before.
    pub before: Option<Accuracy>,
    /// The model that was saved, measured on test images afterwards; `None` if it was not taken
    /// over because it had become worse.
    pub saved: Option<Box<RunSummary>>,
    /// How long it took, in seconds.
    pub seconds: f32,
}

impl FineTuned {
    /// The part of the old images that may be lost: 0.2 points.
    pub const TOLERANCE: f64 = 0.002;

    /// True if the model lost no more of the old data than [`Self::TOLERANCE`], and none of the
    /// drawings.
    pub fn is_better(&self) -> bool {
        let no_worse = |figures: BeforeAfter| figures.after >= figures.before;
        self.old.after() >= self.old.before() - Self::TOLERANCE
            && no_worse(self.mine)
            && self.held_out.is_none_or(no_worse)
    }
}

/// Models that can be compared at once.
pub const COMPARED_MODELS: RangeInclusive<usize> = 2..=8;

/// Which models are to be compared, and on what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSpec {
    /// The models, [`COMPARED_MODELS`] of them, each once.
    pub models: Vec<ModelRef>,
    /// The data set whose test images they classify; `None` for the one that all of them were
    /// trained on.
    pub data: Option<DataSpec>,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelComparison {
    /// The data set.
    pub data: DataSpec,
    /// Which of its images.
    pub split: EvaluationSplit,
    /// How many these are.
    pub images: u64,
    /// How many there are of each class.
    pub digits: Vec<u64>,
    /// The models, in the order in which they were asked for.
    pub models: Vec<ComparedModel>,
}

/// A model among those that are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedModel {
    pub model: ModelInfo,
    /// The settings it was trained with.
    pub config: RunConfig,
    /// How many seconds that took, if it is known.
    pub train_seconds: Option<f64>,
    /// Images it classifies correctly.
    pub correct: u64,
    /// The same by class.
    pub correct_digits: Vec<u64>,
    /// For each of the models, this one too, how many images this one classifies correctly and the
    /// other does not.
    pub only_correct: Vec<u64>,
}

impl ModelComparison {
    /// The classes of the models.
    pub fn classes(&self) -> Classes {
        self.models
            .first()
            .map(|model| model.model.classes.clone())
            .unwrap_or_default()
    }

    /// How the models with these positions did on the same images; `None` if there is no such
    /// model.
    pub fn pair(&self, first: usize, second: usize) -> Option<PairedCounts> {
        let model = self.models.get(first)?;
        let first_only = *model.only_correct.get(second)?;
        let second_only = *self.models.get(second)?.only_correct.get(first)?;
        let both = model.correct.checked_sub(first_only)?;
        let neither = self.images.checked_sub(both + first_only + second_only)?;
        Some(PairedCounts {
            both,
            first_only,
            second_only,
            neither,
        })
    }
}

/// The images that two models classify, counted by which of both is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairedCounts {
    /// Images that both classify correctly.
    pub both: u64,
    /// Images that only the first does.
    pub first_only: u64,
    /// Images that only the second does.
    pub second_only: u64,
    /// Images that none of them does.
    pub neither: u64,
}

impl PairedCounts {
    /// All images.
    pub const fn images(self) -> u64 {
        self.both + self.first_only + self.second_only + self.neither
    }
}
