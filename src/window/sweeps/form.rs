//! Setting a sweep up: what varies, and for how long, as it is typed. Everything else is as the run
//! panel has it.

use super::prefilled;
use super::prefilled::USUAL;
use crate::problem::Message;
use crate::run_config::{RunConfig, Setting};
use crate::sweep::{
    AT_ONCE, Asha, Definition, DefinitionError, Dimension, NUMBER_OF_TRIALS, Range, SECONDS,
    SamplerKind, SettingRange, usual_at_once,
};
use crate::window::App;

/// Trials unless something else is asked for.
const TRIALS: u32 = 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepForm {
    pub rows: Vec<SettingRow>,
    pub sampler: SamplerKind,
    /// The most trials; may be empty.
    pub trials: String,
    /// The longest time in minutes; may be empty.
    pub minutes: String,
    /// Trials at the same time; empty for the usual number.
    pub at_once: String,
    pub ends_early: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingRow {
    pub setting: Setting,
    /// True if values are listed, false for a range.
    pub listed: bool,
    pub low: String,
    pub high: String,
    /// Whether it is searched by orders of magnitude.
    pub log: bool,
    pub values: String,
    /// False while it follows the run panel.
    pub edited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepField {
    Setting(Setting),
    Trials,
    Minutes,
    /// The trials at once.
    AtOnce,
    /// None of them.
    Other,
}

/// What keeps a sweep from being started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepProblem {
    /// Where.
    pub field: SweepField,
    /// What is wrong and what to do.
    pub message: Message,
}

impl SweepForm {
    pub fn usual(config: &RunConfig) -> Self {
        Self {
            rows: USUAL.map(|setting| prefilled::row(setting, config)).into(),
            sampler: SamplerKind::Tpe,
            trials: TRIALS.to_string(),
            minutes: String::new(),
            at_once: String::new(),
            ends_early: true,
        }
    }

    pub fn add(&mut self, setting: Setting, config: &RunConfig) {
        if self.rows.iter().all(|row| row.setting != setting) {
            self.rows.push(prefilled::row(setting, config));
        }
    }

    /// Those of its ranges that nobody has changed follow the settings in the run panel.
    pub fn follow(&mut self, config: &RunConfig) {
        for row in self.rows.iter_mut().filter(|row| !row.edited) {
            let SettingRow { listed, .. } = *row;
            *row = SettingRow {
                listed,
                ..prefilled::row(row.setting, config)
            };
        }
    }

    /// The sweep over these settings, with everything that is wrong; what is wrong is left out of
    /// it.
    pub fn definition(&self, base: RunConfig) -> (Definition, Vec<SweepProblem>) {
        let mut problems = Vec::new();
        let mut definition = Definition {
            sampler: self.sampler,
            at_once: usual_at_once(&base),
            ..Definition::of(base)
        };
        definition.pruner = self.ends_early.then_some(Asha::DEFAULT);
        for row in &self.rows {
            match row
                .dimension()
                .and_then(|dimension| checked(&definition, dimension))
            {
                Ok(dimension) => definition.space.push(dimension),
                Err(error) => {
                    problems.push(SweepProblem {
                        field: SweepField::Setting(row.setting),
                        message: Message::in_sweep_form(&error),
                    });
                }
            }
        }
        let mut number = |field, text: &str| {
            let text = text.trim().replace(',', ".");
            let read = text.parse::<f64>().ok().filter(|number| number.is_finite());
            if read.is_none() && !text.is_empty() {
                problems.push(SweepProblem {
                    field,
                    message: Message::not_a_number_in_sweep(&text),
                });
            }
            read
        };
        let trials = number(SweepField::Trials, &self.trials);
        let minutes = number(SweepField::Minutes, &self.minutes);
        let at_once = number(SweepField::AtOnce, &self.at_once);
        // A number that is out of range stays out of range as a whole number.
        let whole = |number: f64| {
            if number.fract() == 0.0 {
                number as u32
            } else {
                0
            }
        };
        definition.trials = trials.map(whole);
        definition.seconds = minutes.map(|minutes| minutes * 60.0);
        definition.at_once = at_once.map_or(definition.at_once, whole);
        if problems.is_empty() {
            let found = definition.problems();
            problems = found
                .iter()
                .map(|error| SweepProblem {
                    field: field_of(error),
                    message: Message::in_sweep_form(error),
                })
                .collect();
        }
        (definition, problems)
    }
}

impl SettingRow {
    /// What it says; an error where it says nothing sensible.
    fn dimension(&self) -> Result<Dimension, DefinitionError> {
        let setting = self.setting;
        if self.listed || !setting.row().kind.is_number() {
            return match SettingRange::of(setting, &self.values)? {
                SettingRange::Varies(dimension) => Ok(dimension),
                SettingRange::Fixed(..) => Err(DefinitionError::NoValues { setting }),
            };
        }
        let end = |text: &str| {
            let number = text
                .trim()
                .replace(',', ".")
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite());
            number.ok_or_else(|| DefinitionError::Value {
                setting,
                given: text.trim().to_owned(),
                wanted: "a number".to_owned(),
            })
        };
        Ok(Dimension {
            setting,
            range: Range::Interval {
                low: end(&self.low)?,
                high: end(&self.high)?,
                log: self.log,
            },
        })
    }

    pub fn chosen(&self) -> impl Iterator<Item = &str> {
        self.values
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
    }

    /// Chooses a name or leaves it out, in the order of the choices.
    pub fn choose(&mut self, name: &str, chosen: bool) {
        let kept = |known: &str| {
            if known == name {
                chosen
            } else {
                self.chosen().any(|other| other == known)
            }
        };
        let names: Vec<&str> = self
            .setting
            .choices()
            .into_iter()
            .map(|(known, _)| known)
            .filter(|known| kept(known))
            .collect();
        self.values = names.join(", ");
    }
}

/// The dimension, if a sweep over nothing else is possible.
fn checked(definition: &Definition, dimension: Dimension) -> Result<Dimension, DefinitionError> {
    let alone = Definition {
        space: vec![dimension.clone()],
        trials: Some(1),
        ..definition.clone()
    };
    let known = definition.base.problems();
    let of_base = |problem: &DefinitionError| matches!(problem, DefinitionError::Config(problem) if known.contains(problem));
    alone
        .problems()
        .into_iter()
        .find(|problem| !of_base(problem))
        .map_or(Ok(dimension), Err)
}

fn field_of(error: &DefinitionError) -> SweepField {
    match error {
        DefinitionError::NoBudget => SweepField::Trials,
        DefinitionError::Number { what, .. } if *what == AT_ONCE => SweepField::AtOnce,
        DefinitionError::Number { what, .. } if *what == SECONDS => SweepField::Minutes,
        DefinitionError::Number { what, .. } if *what == NUMBER_OF_TRIALS => SweepField::Trials,
        _ => SweepField::Other,
    }
}

impl App {
    /// The sweep that Start would begin, and what keeps it from that.
    pub fn sweep_definition(&self) -> Option<(Definition, Vec<SweepProblem>)> {
        let (definition, mut problems) = self
            .sweeps
            .form
            .as_ref()?
            .definition(self.ctx.with_device(&self.ctx.config));
        for error in self.validation_errors() {
            problems.push(SweepProblem {
                field: SweepField::Other,
                message: Message::invalid_in_train(&error.message),
            });
        }
        Some((definition, problems))
    }
}
