//! The settings of a run that a sweep can vary, by their names on the command line.

mod config;
mod value;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::DefinitionError;
use crate::run_config::{
    Activation, Augmentation, ModelKind, OptimizerKind, Precision, ScheduleKind,
};

use value::{OFF, ON};

pub use value::Value;

/// A setting that decides what a run learns. Where it trains, on what data and on how many threads
/// is the same for all trials.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Setting {
    Model,
    Widths,
    Layers,
    Activation,
    Epochs,
    BatchSize,
    Precision,
    Optimizer,
    LearningRate,
    Schedule,
    WeightDecay,
    Momentum,
    Nesterov,
    LabelSmoothing,
    ClipNorm,
    Accumulation,
    WeightAveraging,
    EarlyStopping,
    Augmentation,
    Seed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Real,
    Whole,
    /// A name from a list.
    Name,
    /// Widths of layers, or the name of the model's own.
    Widths,
    /// Layers of a CNN, or the name of the usual ones.
    Layers,
}

impl Kind {
    /// True where it has ranges.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Real | Self::Whole)
    }
}

impl Setting {
    /// Every setting, in the order of the options of `inkling train`.
    pub const ALL: [Self; 20] = [
        Self::Model,
        Self::Widths,
        Self::Layers,
        Self::Activation,
        Self::Epochs,
        Self::BatchSize,
        Self::Precision,
        Self::Optimizer,
        Self::LearningRate,
        Self::Schedule,
        Self::WeightDecay,
        Self::Momentum,
        Self::Nesterov,
        Self::LabelSmoothing,
        Self::ClipNorm,
        Self::Accumulation,
        Self::WeightAveraging,
        Self::EarlyStopping,
        Self::Augmentation,
        Self::Seed,
    ];

    /// Its name on the command line of `inkling train`, without dashes before it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Widths => "widths",
            Self::Layers => "layers",
            Self::Activation => "activation",
            Self::Epochs => "epochs",
            Self::BatchSize => "batch-size",
            Self::Precision => "precision",
            Self::Optimizer => "optimizer",
            Self::LearningRate => "lr",
            Self::Schedule => "schedule",
            Self::WeightDecay => "weight-decay",
            Self::Momentum => "momentum",
            Self::Nesterov => "nesterov",
            Self::LabelSmoothing => "label-smoothing",
            Self::ClipNorm => "clip-norm",
            Self::Accumulation => "accumulation",
            Self::WeightAveraging => "weight-averaging",
            Self::EarlyStopping => "early-stopping",
            Self::Augmentation => "augmentation",
            Self::Seed => "seed",
        }
    }

    pub const fn label(self) -> &'static str {
        match self {
            Self::Model => "Model",
            Self::Widths => "Layer widths",
            Self::Layers => "Layers",
            Self::Activation => "Activation",
            Self::Epochs => "Epochs",
            Self::BatchSize => "Batch size",
            Self::Precision => "Precision",
            Self::Optimizer => "Optimiser",
            Self::LearningRate => "Learning rate",
            Self::Schedule => "Schedule",
            Self::WeightDecay => "Weight decay",
            Self::Momentum => "Momentum",
            Self::Nesterov => "Nesterov",
            Self::LabelSmoothing => "Label smoothing",
            Self::ClipNorm => "Clip gradients",
            Self::Accumulation => "Accumulate",
            Self::WeightAveraging => "Weight averaging",
            Self::EarlyStopping => "Early stopping",
            Self::Augmentation => "Augmentation",
            Self::Seed => "Seed",
        }
    }

    /// The names of its values and what the window calls them; none for a number.
    pub fn choices(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Model => ModelKind::ALL
                .iter()
                .map(|choice| (choice.name(), choice.label()))
                .collect(),
            Self::Activation => Activation::ALL
                .iter()
                .map(|choice| (choice.name(), choice.label()))
                .collect(),
            Self::Precision => Precision::ALL
                .iter()
                .map(|choice| (choice.name(), choice.label()))
                .collect(),
            Self::Optimizer => OptimizerKind::ALL
                .iter()
                .map(|choice| (choice.name(), choice.label()))
                .collect(),
            Self::Schedule => ScheduleKind::ALL
                .iter()
                .map(|choice| (choice.name(), choice.label()))
                .collect(),
            Self::Augmentation => Augmentation::ALL
                .iter()
                .map(|choice| (choice.name(), choice.label()))
                .collect(),
            Self::Nesterov => vec![(ON, "On"), (OFF, "Off")],
            _ => Vec::new(),
        }
    }

    /// The setting of this name; `batch_size` and `learning-rate`, as configurations call them, are
    /// understood too.
    pub fn parse(name: &str) -> Result<Self, DefinitionError> {
        let meant = name.trim().to_ascii_lowercase().replace('_', "-");
        let meant = if meant == "learning-rate" {
            Self::LearningRate.name()
        } else {
            &meant
        };
        Self::ALL
            .into_iter()
            .find(|setting| setting.name() == meant)
            .ok_or_else(|| DefinitionError::UnknownSetting {
                name: name.to_owned(),
            })
    }

    pub const fn kind(self) -> Kind {
        match self {
            Self::Widths => Kind::Widths,
            Self::Layers => Kind::Layers,
            Self::Model
            | Self::Activation
            | Self::Precision
            | Self::Optimizer
            | Self::Schedule
            | Self::Nesterov
            | Self::Augmentation => Kind::Name,
            Self::Epochs
            | Self::BatchSize
            | Self::Accumulation
            | Self::EarlyStopping
            | Self::Seed => Kind::Whole,
            Self::LearningRate
            | Self::WeightDecay
            | Self::Momentum
            | Self::LabelSmoothing
            | Self::ClipNorm
            | Self::WeightAveraging => Kind::Real,
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Setting> for &'static str {
    fn from(setting: Setting) -> Self {
        setting.name()
    }
}

impl TryFrom<String> for Setting {
    type Error = DefinitionError;

    fn try_from(name: String) -> Result<Self, DefinitionError> {
        Self::parse(&name)
    }
}
