//! What a configuration has for a setting, and how a value is put into one.

use super::value::{DEFAULT, OFF, ON, off};
use super::{Setting, Value};
use crate::run_config::{CnnLayers, NotCnnLayers, RunConfig, Widths};
use crate::sweep::error::DefinitionError;

/// Whole numbers up to here are exact as floats.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

impl Setting {
    pub fn value(self, config: &RunConfig) -> Value {
        let name = |name: &str| Value::Name(name.to_owned());
        let optional = |number: Option<f64>| number.map_or_else(|| name(OFF), Value::Number);
        match self {
            Self::Model => name(config.model.name()),
            Self::Widths => config
                .widths
                .map_or_else(|| name(DEFAULT), |widths| Value::parse(&widths.to_string())),
            Self::Layers => config
                .layers
                .map_or_else(|| name(DEFAULT), |layers| Value::parse(&layers.to_string())),
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

    /// Puts a value into a configuration. Whether the number is in the setting's range is for
    /// [`RunConfig::problems`] to say.
    pub fn apply(self, value: &Value, config: &mut RunConfig) -> Result<(), DefinitionError> {
        match self {
            Self::Model => config.model = self.choice(value)?,
            Self::Widths => config.widths = self.widths(value)?,
            Self::Layers => config.layers = self.layers(value)?,
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
            Self::WeightAveraging => {
                config.weight_averaging = self.optional(value, Self::number)?
            }
            Self::EarlyStopping => config.early_stopping = self.optional(value, Self::count)?,
            Self::Augmentation => config.augmentation = self.choice(value)?,
            Self::Seed => config.seed = self.whole(value)?,
        }
        Ok(())
    }

    fn wrong(self, value: &Value, wanted: impl Into<String>) -> DefinitionError {
        DefinitionError::Value {
            setting: self,
            given: value.to_string(),
            wanted: wanted.into(),
        }
    }

    fn number(self, value: &Value) -> Result<f64, DefinitionError> {
        match value {
            Value::Number(number) if number.is_finite() => Ok(*number),
            _ => Err(self.wrong(value, "a number")),
        }
    }

    fn whole(self, value: &Value) -> Result<u64, DefinitionError> {
        match value {
            Value::Number(number)
                if number.fract() == 0.0 && (0.0..=MAX_WHOLE).contains(number) =>
            {
                Ok(*number as u64)
            }
            _ => Err(self.wrong(value, "a whole number")),
        }
    }

    fn count(self, value: &Value) -> Result<u32, DefinitionError> {
        u32::try_from(self.whole(value)?).map_err(|_| self.wrong(value, "a smaller number"))
    }

    fn choice<T: std::str::FromStr<Err = crate::run_config::UnknownChoice>>(
        self,
        value: &Value,
    ) -> Result<T, DefinitionError> {
        value
            .to_string()
            .parse()
            .map_err(|error: crate::run_config::UnknownChoice| {
                self.wrong(value, format!("one of {}", error.known))
            })
    }

    fn widths(self, value: &Value) -> Result<Option<Widths>, DefinitionError> {
        let text = value.to_string();
        if text == DEFAULT {
            Ok(None)
        } else {
            text.parse()
                .map(Some)
                .map_err(|_| self.wrong(value, "widths such as 128-64, or default"))
        }
    }

    fn layers(self, value: &Value) -> Result<Option<CnnLayers>, DefinitionError> {
        let text = value.to_string();
        let wanted = |error: NotCnnLayers| {
            self.wrong(
                value,
                format!(
                    "layers such as {} ({}), or default",
                    CnnLayers::DEFAULT,
                    error.reason
                ),
            )
        };
        if text == DEFAULT {
            Ok(None)
        } else {
            text.parse().map(Some).map_err(wanted)
        }
    }

    fn switch(self, value: &Value) -> Result<bool, DefinitionError> {
        match value {
            Value::Name(name) if name == ON => Ok(true),
            Value::Name(name) if name == OFF => Ok(false),
            _ => Err(self.wrong(value, "on or off")),
        }
    }

    fn optional<T>(
        self,
        value: &Value,
        some: fn(Self, &Value) -> Result<T, DefinitionError>,
    ) -> Result<Option<T>, DefinitionError> {
        if *value == off() {
            Ok(None)
        } else {
            some(self, value).map(Some)
        }
    }
}
