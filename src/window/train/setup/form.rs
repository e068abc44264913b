//! The form of the run's settings: numbers as they are typed, and their validation. Invalid values
//! are reported beside their field, never clamped.

use std::collections::BTreeMap;

use crate::problem::{Explain, Message};
use crate::run_config::{CnnLayers, Kind, RunConfig, Setting};
use crate::window::{App, Ctx, Train};

/// The configuration with this text as the setting's value; `None` if the text is not such a value.
fn typed(setting: Setting, text: &str, config: &RunConfig) -> Option<RunConfig> {
    let mut config = config.clone();
    // Half of Europe writes a comma where a point is meant; no number here is grouped by thousands.
    match setting.row().kind {
        Kind::Real => setting.set(&mut config, &text.replace(',', ".")),
        _ => setting.set(&mut config, text),
    }
    .ok()?;
    config.preset = config.matching_preset();
    Some(config)
}

/// Something that keeps the configuration from being run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    pub setting: Option<Setting>,
    /// What is wrong and what to do.
    pub message: Message,
}

/// What was typed, per field, as long as it has not been overtaken by another change.
#[derive(Clone, Debug, Default)]
pub struct Form(BTreeMap<Setting, String>);

impl Form {
    /// Forgets what was typed: every value comes from elsewhere now.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl App {
    /// Takes these settings for the next run.
    pub(in crate::window) fn configure(&mut self, config: RunConfig) {
        self.train.setting_chosen();
        let before = std::mem::replace(&mut self.ctx.config, config);
        // Widths and layers belong to a model: another one has its own.
        if before.model != self.ctx.config.model {
            if before.widths == self.ctx.config.widths {
                self.ctx.config.widths = None;
                self.train.form.0.remove(&Setting::Widths);
            }
            if before.layers == self.ctx.config.layers {
                self.ctx.config.layers = None;
                self.train.form.0.remove(&Setting::Layers);
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
            self.ctx.check_data();
        }
    }

    pub fn type_text(&mut self, setting: Setting, text: String) {
        if setting == Setting::LearningRate {
            self.ctx.settings.former_learning_rate = None;
        }
        match typed(setting, &text, &self.ctx.config) {
            Some(config) if matches!(setting, Setting::Widths | Setting::Layers) => {
                self.configure(config);
            }
            Some(config) => self.ctx.config = config,
            None => {}
        }
        self.train.form.0.insert(setting, text);
    }

    /// Everything that keeps the configuration from being run; empty means Start works.
    pub fn validation_errors(&self) -> Vec<ValidationError> {
        let unreadable = self
            .train
            .form
            .0
            .iter()
            .filter(|(setting, text)| typed(**setting, text, &self.ctx.config).is_none());
        let unreadable = unreadable.filter_map(|(&setting, text)| {
            let message = match setting {
                Setting::Widths => Message::not_widths(text, self.ctx.config.model),
                Setting::Layers => Message::not_layers(&text.parse::<CnnLayers>().err()?),
                _ => Message::not_a_number(text, &setting.row().range?),
            };
            Some(ValidationError {
                setting: Some(setting),
                message,
            })
        });
        let mut validation_errors: Vec<ValidationError> = unreadable.collect();
        if let Some(problem) = self.data_problem() {
            validation_errors.push(ValidationError {
                setting: Some(Setting::Data),
                message: problem.message(),
            });
        }
        for problem in self.config_problems() {
            let setting = problem.setting();
            if validation_errors
                .iter()
                .all(|known| known.setting != setting)
            {
                validation_errors.push(ValidationError {
                    setting,
                    message: problem.message(),
                });
            }
        }
        validation_errors
    }
}

impl Train {
    /// A field's text: what was typed if it still applies, otherwise the configuration's value.
    pub fn text(&self, ctx: &Ctx, setting: Setting) -> String {
        let shown = setting.field_text(&ctx.config);
        let holds = |text: &&String| {
            typed(setting, text, &ctx.config)
                .is_none_or(|config| setting.field_text(&config) == shown)
        };
        self.form
            .0
            .get(&setting)
            .filter(holds)
            .cloned()
            .unwrap_or(shown)
    }
}
