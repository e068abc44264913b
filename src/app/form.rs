//! Owns the numbers of the configuration as they are typed, and what stands between them and a run.
//! Must not clamp anything: what cannot be is said, beside the field it is about.

use std::collections::BTreeMap;

use super::messages::Message;
use super::state::App;
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
    Seed,
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
            Self::Seed => "a whole number, 0 or more",
            Self::Precision | Self::Device | Self::Other => "one of the choices",
        }
    }

    fn of(problem: &ConfigProblem) -> Self {
        match problem {
            ConfigProblem::Epochs { .. } => Self::Epochs,
            ConfigProblem::BatchSize { .. } | ConfigProblem::BatchLargerThanSet { .. } => Self::BatchSize,
            ConfigProblem::LearningRate { .. } => Self::LearningRate,
            ConfigProblem::WeightDecay { .. } => Self::WeightDecay,
            ConfigProblem::PrecisionUnavailable { .. } => Self::Precision,
            ConfigProblem::DeviceUnavailable { .. } => Self::Device,
            ConfigProblem::NewerVersion { .. }
            | ConfigProblem::Momentum { .. }
            | ConfigProblem::LabelSmoothing { .. }
            | ConfigProblem::ClipNorm { .. }
            | ConfigProblem::Accumulation { .. }
            | ConfigProblem::WeightAveraging { .. }
            | ConfigProblem::EarlyStopping { .. }
            | ConfigProblem::Threads { .. } => Self::Other,
        }
    }

    /// The configuration's value, as it is shown until somebody types.
    fn shown(self, config: &RunConfig) -> String {
        match self {
            Self::Epochs => config.epochs.to_string(),
            Self::BatchSize => config.batch_size.to_string(),
            Self::LearningRate => config.learning_rate.to_string(),
            Self::WeightDecay => config.weight_decay.to_string(),
            Self::Seed => config.seed.to_string(),
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
        let mut config = config.clone();
        match self {
            Self::Epochs => config.epochs = text.parse().ok()?,
            Self::BatchSize => config.batch_size = text.parse().ok()?,
            Self::LearningRate => config.learning_rate = real()?,
            Self::WeightDecay => config.weight_decay = real()?,
            Self::Seed => config.seed = text.parse().ok()?,
            Self::Precision | Self::Device | Self::Other => return None,
        }
        config.preset = config.matching_preset();
        Some(config)
    }
}

/// Something that keeps the configuration from being run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
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

    pub(super) fn type_text(&mut self, field: Field, text: String) {
        if let Some(config) = field.typed(&text, &self.config) {
            self.config = config;
        }
        self.form.0.insert(field, text);
    }

    /// Everything that keeps the configuration from being run; empty means Start works.
    pub fn obstacles(&self) -> Vec<Obstacle> {
        let unreadable = self.form.0.iter().filter(|(field, text)| field.typed(text, &self.config).is_none());
        let unreadable = unreadable.map(|(&field, text)| Obstacle { field, message: Message::not_a_number(text, field.range()) });
        let mut obstacles: Vec<Obstacle> = unreadable.collect();
        for problem in self.config_problems() {
            let field = Field::of(&problem);
            if obstacles.iter().all(|known| known.field != field) {
                obstacles.push(Obstacle { field, message: Message::from(&Problem::Config(problem)) });
            }
        }
        obstacles
    }
}
