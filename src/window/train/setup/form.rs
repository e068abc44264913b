//! The form of the run's settings: numbers as they are typed, and their validation. Invalid values
//! are reported beside their field, never clamped.

use std::collections::BTreeMap;

use crate::problem::Problem;
use crate::run_config::{CnnLayers, RunConfig};
use crate::text::format::plain;
use crate::window::App;
use crate::window::messages::Message;

pub use crate::run_config::Field;

/// The configuration's value as text; empty for an optional value that is not set.
fn shown(field: Field, config: &RunConfig) -> String {
    match field {
        Field::Widths => config
            .widths
            .map(|widths| widths.to_string())
            .unwrap_or_default(),
        Field::Layers => config
            .layers
            .map(|layers| layers.to_string())
            .unwrap_or_default(),
        Field::Seed => config.seed.to_string(),
        Field::Precision => config.precision.to_string(),
        Field::Device => config.device.to_string(),
        number => number.number(config).map(plain).unwrap_or_default(),
    }
}

/// The configuration with this text as the field's value; `None` when the text is not such a
/// number.
fn typed(field: Field, text: &str, config: &RunConfig) -> Option<RunConfig> {
    let text = text.trim();
    // Half of Europe writes a comma where a point is meant; no number here is grouped by thousands.
    let real = || {
        text.replace(',', ".")
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
    };
    let whole = || text.parse::<u32>().ok();
    let mut config = config.clone();
    match field {
        Field::Widths => config.widths = open(text, || text.parse().ok())?,
        Field::Layers => config.layers = open(text, || text.parse().ok())?,
        Field::Epochs => config.epochs = whole()?,
        Field::BatchSize => config.batch_size = whole()?,
        Field::LearningRate => config.learning_rate = real()?,
        Field::WeightDecay => config.weight_decay = real()?,
        Field::Momentum => config.momentum = real()?,
        Field::LabelSmoothing => config.label_smoothing = real()?,
        Field::ClipNorm => config.clip_norm = open(text, real)?,
        Field::Accumulation => config.accumulation = whole()?,
        Field::WeightAveraging => config.weight_averaging = open(text, real)?,
        Field::EarlyStopping => config.early_stopping = open(text, whole)?,
        Field::Seed => config.seed = text.parse().ok()?,
        Field::Repeats => config.repeats = whole()?,
        Field::Threads => config.threads = open(text, whole)?,
        Field::MemoryLimit => config.memory_limit = open(text, whole)?,
        Field::Precision | Field::Device | Field::Data | Field::Other => return None,
    }
    config.preset = config.matching_preset();
    Some(config)
}

/// A value that may be left open by leaving its field empty; `None` when the text is neither empty
/// nor a number.
#[expect(
    clippy::option_option,
    reason = "the outer one says whether the text makes sense, the inner one is the value"
)]
fn open<T>(text: &str, number: impl FnOnce() -> Option<T>) -> Option<Option<T>> {
    if text.is_empty() {
        Some(None)
    } else {
        number().map(Some)
    }
}

/// Something that keeps the configuration from being run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
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
    /// Takes these settings for the next run.
    pub(in crate::window) fn configure(&mut self, config: RunConfig) {
        self.setting_chosen();
        let before = std::mem::replace(&mut self.ctx.config, config);
        // Widths and layers belong to a model: another one has its own.
        if before.model != self.ctx.config.model {
            if before.widths == self.ctx.config.widths {
                self.ctx.config.widths = None;
                self.train.form.0.remove(&Field::Widths);
            }
            if before.layers == self.ctx.config.layers {
                self.ctx.config.layers = None;
                self.train.form.0.remove(&Field::Layers);
            }
        }
        // Weights belong to a network: another one starts from chance.
        if (before.network(), before.activation)
            != (self.ctx.config.network(), self.ctx.config.activation)
            && before.initial_weights == self.ctx.config.initial_weights
        {
            self.ctx.config.initial_weights = None;
        }
        if self.ctx.config.initial_weights.is_none()
            && let Some(rate) = self.ctx.settings.former_learning_rate.take()
            && self.ctx.config.learning_rate == before.learning_rate
        {
            self.ctx.config.learning_rate = rate;
        }
        self.ctx.config.preset = self.ctx.config.matching_preset();
        if before.data != self.ctx.config.data || self.data_problem().is_some() {
            self.check_data();
        }
    }

    /// A field's text: what was typed if it still applies, otherwise the configuration's value.
    pub fn text(&self, field: Field) -> String {
        let holds = |text: &&String| {
            typed(field, text, &self.ctx.config)
                .is_none_or(|config| shown(field, &config) == shown(field, &self.ctx.config))
        };
        self.train
            .form
            .0
            .get(&field)
            .filter(holds)
            .cloned()
            .unwrap_or_else(|| shown(field, &self.ctx.config))
    }

    pub(in crate::window) fn type_text(&mut self, field: Field, text: String) {
        if field == Field::LearningRate {
            self.ctx.settings.former_learning_rate = None;
        }
        match typed(field, &text, &self.ctx.config) {
            Some(config) if matches!(field, Field::Widths | Field::Layers) => {
                self.configure(config)
            }
            Some(config) => self.ctx.config = config,
            None => {}
        }
        self.train.form.0.insert(field, text);
    }

    /// Everything that keeps the configuration from being run; empty means Start works.
    pub fn validation_errors(&self) -> Vec<ValidationError> {
        let unreadable = self
            .train
            .form
            .0
            .iter()
            .filter(|(field, text)| typed(**field, text, &self.ctx.config).is_none());
        let unreadable = unreadable.filter_map(|(&field, text)| {
            let message = match field {
                Field::Widths => Message::not_widths(text, self.ctx.config.model),
                Field::Layers => Message::not_layers(&text.parse::<CnnLayers>().err()?),
                _ => Message::not_a_number(text, field.range()?),
            };
            Some(ValidationError { field, message })
        });
        let mut validation_errors: Vec<ValidationError> = unreadable.collect();
        if let Some(problem) = self.data_problem() {
            validation_errors.push(ValidationError {
                field: Field::Data,
                message: Message::from(&Problem::Data(problem)),
            });
        }
        for problem in self.config_problems() {
            let field = problem.field();
            if validation_errors.iter().all(|known| known.field != field) {
                validation_errors.push(ValidationError {
                    field,
                    message: Message::from(&Problem::Config(problem)),
                });
            }
        }
        validation_errors
    }
}
