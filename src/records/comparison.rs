//! The comparison of several models on the same images: what is asked for, and what is found.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{ModelInfo, ModelRef};
use crate::run_config::{Classes, DataSpec, EvaluationSplit, RunConfig};

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

/// What a comparison found.
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
    /// The model.
    pub model: ModelInfo,
    /// The settings it was trained with.
    pub config: RunConfig,
    /// How many seconds that took, where it is known.
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
    /// What the classes of the models stand for.
    pub fn classes(&self) -> Classes {
        self.models
            .first()
            .map(|model| model.model.classes.clone())
            .unwrap_or_default()
    }

    /// How the models with these positions did on the same images; `None` where there is no such
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
