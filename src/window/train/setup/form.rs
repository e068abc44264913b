//! The form of the run's settings: numbers as they are typed, and their validation. Invalid values
//! are reported beside their field, never clamped.

use std::collections::BTreeMap;

use crate::problem::{Explain, Message};
use crate::run_config::{HiddenLayers, Kind, RunConfig, Setting};
use crate::window::{App, Ctx, MyDigitsView, Train};

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
    pub message: Message,
}

/// The text in each field, as long as it has not been overtaken by another change.
#[derive(Clone, Debug, Default)]
pub struct Form(BTreeMap<Setting, String>);

impl Form {
    pub(super) fn typed(&self, setting: Setting) -> Option<String> {
        self.0.get(&setting).cloned()
    }

    pub(super) fn set_typed(&mut self, setting: Setting, text: Option<String>) {
        match text {
            Some(text) => self.0.insert(setting, text),
            None => self.0.remove(&setting),
        };
    }
}

impl Train {
    /// Takes these settings for the next run.
    pub fn configure(&mut self, ctx: &mut Ctx, mine: &MyDigitsView, config: RunConfig) {
        self.setting_chosen();
        self.edited_layer = None;
        let before = std::mem::replace(&mut ctx.config, config);
        let now = &mut ctx.config;
        // Widths and layers belong to a model: another one has its own.
        if before.model != now.model {
            if before.widths == now.widths {
                now.widths = None;
                self.form.0.remove(&Setting::Widths);
            }
            if before.layers == now.layers {
                now.layers = None;
                self.form.0.remove(&Setting::Layers);
            }
        }
        // Weights belong to a network: another one starts from chance.
        if (before.network(), before.activation) != (now.network(), now.activation)
            && before.initial_weights == now.initial_weights
        {
            now.initial_weights = None;
        }
        if now.initial_weights.is_none()
            && let Some(rate) = ctx.settings.former_learning_rate.take()
            && now.learning_rate == before.learning_rate
        {
            now.learning_rate = rate;
        }
        now.preset = now.matching_preset();
        if before.data != now.data || self.data_problem(ctx, mine).is_some() {
            ctx.check_data();
        }
    }

    /// Takes all of these settings, whatever was typed.
    pub fn take_settings(&mut self, ctx: &mut Ctx, config: RunConfig) {
        self.form.0.clear();
        self.former_layers.clear();
        self.edited_layer = None;
        ctx.settings.former_learning_rate = None;
        ctx.config = config;
    }

    /// Takes settings that come from elsewhere, but for what they say about the machine.
    pub fn use_settings(&mut self, ctx: &mut Ctx, config: RunConfig) {
        self.setting_chosen();
        let config = RunConfig {
            device: ctx.config.device,
            threads: ctx.config.threads,
            memory_limit: ctx.config.memory_limit,
            ..config
        };
        self.take_settings(ctx, config);
    }

    pub fn type_text(&mut self, ctx: &mut Ctx, mine: &MyDigitsView, of: Setting, text: String) {
        self.setting_chosen();
        if of == Setting::LearningRate {
            ctx.settings.former_learning_rate = None;
        }
        match typed(of, &text, &ctx.config) {
            Some(config) if matches!(of, Setting::Widths | Setting::Layers) => {
                self.configure(ctx, mine, config);
            }
            Some(config) => ctx.config = config,
            None => {}
        }
        self.form.0.insert(of, text);
    }

    /// Everything that keeps the configuration from being run; empty means Start works.
    pub fn validation_errors(&self, ctx: &Ctx, mine: &MyDigitsView) -> Vec<ValidationError> {
        let config = &ctx.config;
        let mut errors = Vec::new();
        for (&setting, text) in &self.form.0 {
            let message = match (setting, typed(setting, text, config)) {
                (_, Some(_)) => None,
                (Setting::Widths, None) => Some(Message::not_widths(text, config.model)),
                (Setting::Layers, None) => {
                    let wrong = text.parse::<HiddenLayers>().err();
                    wrong.map(|wrong| Message::not_layers(&wrong))
                }
                (_, None) => {
                    let range = setting.row().range;
                    range.map(|range| Message::not_a_number(text, &range))
                }
            };
            errors.extend(message.map(|message| ValidationError {
                setting: Some(setting),
                message,
            }));
        }
        errors.extend(self.data_problem(ctx, mine).map(|problem| ValidationError {
            setting: Some(Setting::Data),
            message: problem.message(),
        }));
        for problem in self.config_problems(ctx) {
            let setting = problem.setting();
            if errors.iter().all(|known| known.setting != setting) {
                let message = problem.message();
                errors.push(ValidationError { setting, message });
            }
        }
        errors
    }
}

impl App {
    /// Everything that keeps the configuration from being run; empty means Start works.
    pub fn validation_errors(&self) -> Vec<ValidationError> {
        self.train.validation_errors(&self.ctx, &self.my_digits)
    }

    /// Those that are due to this setting.
    pub fn errors_of(&self, setting: Setting) -> impl Iterator<Item = ValidationError> {
        let errors = self.validation_errors().into_iter();
        errors.filter(move |error| error.setting == Some(setting))
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
        let text = self.form.0.get(&setting).filter(holds);
        text.cloned().unwrap_or(shown)
    }
}
