//! The settings of a run that a sweep can vary, by their names on the command line.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::DefinitionError;
use crate::run_config::{Activation, Augmentation, ModelKind, OptimizerKind, Precision, Preset, RunConfig, ScheduleKind};

/// A setting that decides what a run learns. Where it trains, on what data and on how many threads is the same for all trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
#[expect(missing_docs, reason = "the names are those of the configuration's fields")]
pub enum Setting {
    Model,
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

/// A value of a setting: a number, or a name such as `gentle`; `off` for one that is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, whole or not.
    Number(f64),
    /// A choice by its name.
    Name(String),
}

/// The name of an optional setting's value when it is left out.
const OFF: &str = "off";
/// The value of a switch that is on.
const ON: &str = "on";
/// Whole numbers up to here are exact as floats.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// What a setting's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any number.
    Real,
    /// A whole number.
    Whole,
    /// A name from a list.
    Name,
}

impl Setting {
    /// Every setting, in the order of the options of `inkling train`.
    pub const ALL: [Self; 18] = [
        Self::Model,
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

    /// What the window calls it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Model => "Model",
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
            Self::Model => ModelKind::ALL.iter().map(|choice| (choice.name(), choice.label())).collect(),
            Self::Activation => Activation::ALL.iter().map(|choice| (choice.name(), choice.label())).collect(),
            Self::Precision => Precision::ALL.iter().map(|choice| (choice.name(), choice.label())).collect(),
            Self::Optimizer => OptimizerKind::ALL.iter().map(|choice| (choice.name(), choice.label())).collect(),
            Self::Schedule => ScheduleKind::ALL.iter().map(|choice| (choice.name(), choice.label())).collect(),
            Self::Augmentation => Augmentation::ALL.iter().map(|choice| (choice.name(), choice.label())).collect(),
            Self::Nesterov => vec![(ON, "On"), (OFF, "Off")],
            _ => Vec::new(),
        }
    }

    /// The setting of this name; `batch_size` and `learning-rate`, as configurations call them, are understood too.
    pub fn parse(name: &str) -> Result<Self, DefinitionError> {
        let meant = name.trim().to_ascii_lowercase().replace('_', "-");
        let meant = if meant == "learning-rate" { Self::LearningRate.name() } else { &meant };
        Self::ALL
            .into_iter()
            .find(|setting| setting.name() == meant)
            .ok_or_else(|| DefinitionError::UnknownSetting { name: name.to_owned() })
    }

    /// What its values are.
    pub const fn kind(self) -> Kind {
        match self {
            Self::Model | Self::Activation | Self::Precision | Self::Optimizer | Self::Schedule | Self::Nesterov | Self::Augmentation => {
                Kind::Name
            }
            Self::Epochs | Self::BatchSize | Self::Accumulation | Self::EarlyStopping | Self::Seed => Kind::Whole,
            Self::LearningRate | Self::WeightDecay | Self::Momentum | Self::LabelSmoothing | Self::ClipNorm | Self::WeightAveraging => {
                Kind::Real
            }
        }
    }

    /// Its value in a configuration.
    pub fn value(self, config: &RunConfig) -> Value {
        let name = |name: &str| Value::Name(name.to_owned());
        let optional = |number: Option<f64>| number.map_or_else(|| name(OFF), Value::Number);
        match self {
            Self::Model => name(config.model.name()),
            Self::Activation => name(config.activation.name()),
            Self::Epochs => Value::Number(config.epochs.into()),
            Self::BatchSize => Value::Number(config.batch_size.into()),
            Self::Precision => name(config.precision.name()),
            Self::Optimizer => name(config.optimizer.name()),
            Self::LearningRate => Value::Number(config.learning_rate),
            Self::Schedule => name(config.schedule.name()),
            Self::WeightDecay => Value::Number(config.weight_decay),
            Self::Momentum => Value::Number(config.momentum),
            Self::Nesterov => name(if config.nesterov { ON } else { OFF }),
            Self::LabelSmoothing => Value::Number(config.label_smoothing),
            Self::ClipNorm => optional(config.clip_norm),
            Self::Accumulation => Value::Number(config.accumulation.into()),
            Self::WeightAveraging => optional(config.weight_averaging),
            Self::EarlyStopping => optional(config.early_stopping.map(f64::from)),
            Self::Augmentation => name(config.augmentation.name()),
            Self::Seed => Value::Number(config.seed as f64),
        }
    }

    /// Puts a value into a configuration. Whether the number is in the setting's range is for [`RunConfig::problems`] to say.
    pub fn apply(self, value: &Value, config: &mut RunConfig) -> Result<(), DefinitionError> {
        match self {
            Self::Model => config.model = self.choice(value)?,
            Self::Activation => config.activation = self.choice(value)?,
            Self::Epochs => config.epochs = self.count(value)?,
            Self::BatchSize => config.batch_size = self.count(value)?,
            Self::Precision => config.precision = self.choice(value)?,
            Self::Optimizer => config.optimizer = self.choice(value)?,
            Self::LearningRate => config.learning_rate = self.number(value)?,
            Self::Schedule => config.schedule = self.choice(value)?,
            Self::WeightDecay => config.weight_decay = self.number(value)?,
            Self::Momentum => config.momentum = self.number(value)?,
            Self::Nesterov => config.nesterov = self.switch(value)?,
            Self::LabelSmoothing => config.label_smoothing = self.number(value)?,
            Self::ClipNorm => config.clip_norm = self.optional(value, Self::number)?,
            Self::Accumulation => config.accumulation = self.count(value)?,
            Self::WeightAveraging => config.weight_averaging = self.optional(value, Self::number)?,
            Self::EarlyStopping => config.early_stopping = self.optional(value, Self::count)?,
            Self::Augmentation => config.augmentation = self.choice(value)?,
            Self::Seed => config.seed = self.whole(value)?,
        }
        Ok(())
    }

    /// The options of `inkling train` that give this configuration's settings, but not its data, device and threads: the preset first.
    pub fn options(config: &RunConfig) -> Vec<(&'static str, String)> {
        let differing = |preset: Preset| -> Vec<Self> {
            let base = RunConfig::preset(preset);
            Self::ALL.into_iter().filter(|setting| setting.value(config) != setting.value(&base)).collect()
        };
        // An option can give a setting, but not take away what a preset has.
        let can_be_said =
            |settings: &Vec<Self>| settings.iter().all(|setting| *setting == Self::Nesterov || setting.value(config) != off());
        let presets = Preset::ALL.iter().map(|&preset| (preset, differing(preset)));
        let shortest = presets.filter(|(_, settings)| can_be_said(settings)).min_by_key(|(_, settings)| settings.len());
        let (preset, settings) = shortest.unwrap_or((Preset::Balanced, Vec::new()));
        let option = |setting: Self| match setting {
            Self::Nesterov => ("no-nesterov", String::new()),
            setting => (setting.name(), setting.value(config).to_string()),
        };
        std::iter::once(("preset", preset.name().to_owned())).chain(settings.into_iter().map(option)).collect()
    }

    fn wrong(self, value: &Value, wanted: impl Into<String>) -> DefinitionError {
        DefinitionError::Value { setting: self, given: value.to_string(), wanted: wanted.into() }
    }

    fn number(self, value: &Value) -> Result<f64, DefinitionError> {
        match value {
            Value::Number(number) if number.is_finite() => Ok(*number),
            _ => Err(self.wrong(value, "a number")),
        }
    }

    fn whole(self, value: &Value) -> Result<u64, DefinitionError> {
        match value {
            Value::Number(number) if number.fract() == 0.0 && (0.0..=MAX_WHOLE).contains(number) => Ok(*number as u64),
            _ => Err(self.wrong(value, "a whole number")),
        }
    }

    fn count(self, value: &Value) -> Result<u32, DefinitionError> {
        u32::try_from(self.whole(value)?).map_err(|_| self.wrong(value, "a smaller number"))
    }

    fn choice<T: std::str::FromStr<Err = crate::run_config::UnknownChoice>>(self, value: &Value) -> Result<T, DefinitionError> {
        value.to_string().parse().map_err(|error: crate::run_config::UnknownChoice| self.wrong(value, format!("one of {}", error.known)))
    }

    fn switch(self, value: &Value) -> Result<bool, DefinitionError> {
        match value {
            Value::Name(name) if name == ON => Ok(true),
            Value::Name(name) if name == OFF => Ok(false),
            _ => Err(self.wrong(value, "on or off")),
        }
    }

    fn optional<T>(self, value: &Value, some: fn(Self, &Value) -> Result<T, DefinitionError>) -> Result<Option<T>, DefinitionError> {
        if *value == off() { Ok(None) } else { some(self, value).map(Some) }
    }
}

fn off() -> Value {
    Value::Name(OFF.to_owned())
}

impl Value {
    /// The number in this text, or the name that it is.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        text.parse().ok().filter(|number: &f64| number.is_finite()).map_or_else(|| Self::Name(text.to_ascii_lowercase()), Self::Number)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
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
