//! The form of the run's settings: numbers as they are typed, and their validation. Invalid values are reported beside their field,
//! never clamped.

use std::collections::BTreeMap;

use crate::app::App;
use crate::app::messages::Message;
use crate::problem::Problem;
use crate::run_config::{ConfigProblem, RunConfig};

/// The parts of a configuration a person sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of the configuration's fields")]
pub enum Field {
    Epochs,
    BatchSize,
    LearningRate,
    WeightDecay,
    Momentum,
    LabelSmoothing,
    ClipNorm,
    Accumulation,
    WeightAveraging,
    EarlyStopping,
    Seed,
    Threads,
    MemoryLimit,
    Precision,
    Device,
    Other,
}

impl Field {
    /// What a number in this field must be, in words.
    const fn range(self) -> &'static str {
        match self {
            Self::Epochs => "a whole number from 1 to 1000",
            Self::BatchSize => "a whole number from 1 to 8192",
            Self::LearningRate => "a number above 0 and at most 10, such as 0.002",
            Self::WeightDecay => "a number from 0 to 1, such as 0.01",
            Self::Momentum => "a number from 0 to below 1, such as 0.9",
            Self::LabelSmoothing => "a number from 0 to 0.5, such as 0.1",
            Self::ClipNorm => "a number above 0, such as 1, or leave it empty to turn clipping off",
            Self::Accumulation => "a whole number from 1 to 1024",
            Self::WeightAveraging => "a number above 0 and below 1, such as 0.999, or leave it empty to turn averaging off",
            Self::EarlyStopping => "a whole number from 1 to 1000, or leave it empty to train all epochs",
            Self::Seed => "a whole number, 0 or greater",
            Self::Threads => "a whole number from 1 to 1024, or leave it empty for one per core",
            Self::MemoryLimit => "a whole number of MB above 0, or leave it empty for no limit",
            Self::Precision | Self::Device | Self::Other => "one of the choices",
        }
    }

    const fn of(problem: &ConfigProblem) -> Self {
        match problem {
            ConfigProblem::Epochs { .. } => Self::Epochs,
            ConfigProblem::BatchSize { .. } | ConfigProblem::BatchLargerThanSet { .. } => Self::BatchSize,
            ConfigProblem::LearningRate { .. } => Self::LearningRate,
            ConfigProblem::WeightDecay { .. } => Self::WeightDecay,
            ConfigProblem::Momentum { .. } => Self::Momentum,
            ConfigProblem::LabelSmoothing { .. } => Self::LabelSmoothing,
            ConfigProblem::ClipNorm { .. } => Self::ClipNorm,
            ConfigProblem::Accumulation { .. } => Self::Accumulation,
            ConfigProblem::WeightAveraging { .. } => Self::WeightAveraging,
            ConfigProblem::EarlyStopping { .. } => Self::EarlyStopping,
            ConfigProblem::Threads { .. } => Self::Threads,
            ConfigProblem::MemoryLimit { .. } => Self::MemoryLimit,
            ConfigProblem::PrecisionUnavailable { .. } => Self::Precision,
            ConfigProblem::DeviceUnavailable { .. } => Self::Device,
            ConfigProblem::NewerVersion { .. } | ConfigProblem::InitialWeights { .. } => Self::Other,
        }
    }

    /// The configuration's value, as it is shown until somebody types; nothing stands for a choice that is left open.
    fn shown(self, config: &RunConfig) -> String {
        fn open(value: Option<impl ToString>) -> String {
            value.map(|value| value.to_string()).unwrap_or_default()
        }
        match self {
            Self::Epochs => config.epochs.to_string(),
            Self::BatchSize => config.batch_size.to_string(),
            Self::LearningRate => config.learning_rate.to_string(),
            Self::WeightDecay => config.weight_decay.to_string(),
            Self::Momentum => config.momentum.to_string(),
            Self::LabelSmoothing => config.label_smoothing.to_string(),
            Self::ClipNorm => open(config.clip_norm),
            Self::Accumulation => config.accumulation.to_string(),
            Self::WeightAveraging => open(config.weight_averaging),
            Self::EarlyStopping => open(config.early_stopping),
            Self::Seed => config.seed.to_string(),
            Self::Threads => open(config.threads),
            Self::MemoryLimit => open(config.memory_limit),
            Self::Precision => config.precision.to_string(),
            Self::Device => config.device.to_string(),
            Self::Other => String::new(),
        }
    }

    /// The configuration with this text as the field's value; `None` when the text is no such number.
    fn typed(self, text: &str, config: &RunConfig) -> Option<RunConfig> {
        let text = text.trim();
        // Half of Europe writes a comma where a point is meant; no number here is grouped by thousands.
        let real = || text.replace(',', ".").parse::<f64>().ok().filter(|value| value.is_finite());
        let whole = || text.parse::<u32>().ok();
        let mut config = config.clone();
        match self {
            Self::Epochs => config.epochs = whole()?,
            Self::BatchSize => config.batch_size = whole()?,
            Self::LearningRate => config.learning_rate = real()?,
            Self::WeightDecay => config.weight_decay = real()?,
            Self::Momentum => config.momentum = real()?,
            Self::LabelSmoothing => config.label_smoothing = real()?,
            Self::ClipNorm => config.clip_norm = open(text, real)?,
            Self::Accumulation => config.accumulation = whole()?,
            Self::WeightAveraging => config.weight_averaging = open(text, real)?,
            Self::EarlyStopping => config.early_stopping = open(text, whole)?,
            Self::Seed => config.seed = text.parse().ok()?,
            Self::Threads => config.threads = open(text, whole)?,
            Self::MemoryLimit => config.memory_limit = open(text, whole)?,
            Self::Precision | Self::Device | Self::Other => return None,
        }
        config.preset = config.matching_preset();
        Some(config)
    }
}

/// A value that may be left open by leaving its field empty; `None` when the text is neither empty nor a number.
#[expect(clippy::option_option, reason = "the outer one says whether the text makes sense, the inner one is the value")]
fn open<T>(text: &str, number: impl FnOnce() -> Option<T>) -> Option<Option<T>> {
    if text.is_empty() { Some(None) } else { number().map(Some) }
}

/// Something that keeps the configuration from being run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// The field it is about.
    pub field: Field,
    /// What is wrong and what to do.
    pub message: Message,
}

/// What was typed, per field, as long as it has not been overtaken by another change.
#[derive(Clone, Debug, Default)]
pub struct Form(BTreeMap<Field, String>);

impl Form {
    /// Forgets what was typed: every value comes from elsewhere now.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl App {
    /// What stands in a number's field: what was typed if it still holds, the configuration's value otherwise.
    pub fn text(&self, field: Field) -> String {
        let holds = |text: &&String| field.typed(text, &self.config).is_none_or(|config| field.shown(&config) == field.shown(&self.config));
        self.form.0.get(&field).filter(holds).cloned().unwrap_or_else(|| field.shown(&self.config))
    }

    pub(in crate::app) fn type_text(&mut self, field: Field, text: String) {
        if let Some(config) = field.typed(&text, &self.config) {
            self.config = config;
        }
        self.form.0.insert(field, text);
    }

    /// Everything that keeps the configuration from being run; empty means Start works.
    pub fn validation_errors(&self) -> Vec<ValidationError> {
        let unreadable = self.form.0.iter().filter(|(field, text)| field.typed(text, &self.config).is_none());
        let unreadable = unreadable.map(|(&field, text)| ValidationError { field, message: Message::not_a_number(text, field.range()) });
        let mut validation_errors: Vec<ValidationError> = unreadable.collect();
        for problem in self.config_problems() {
            let field = Field::of(&problem);
            if validation_errors.iter().all(|known| known.field != field) {
                validation_errors.push(ValidationError { field, message: Message::from(&Problem::Config(problem)) });
            }
        }
        validation_errors
    }
}
