//! Setting a sweep up: what varies, and for how long, as it is typed. Where a search usually
//! begins: for each setting a range around its value in the run panel, or a few values. Everything
//! else is as the run panel has it.

use crate::problem::Message;
use crate::run_config::{RunConfig, Setting, Trials};
use crate::sweep::{
    Asha, DefinitionError, Dimension, NUMBER_OF_TRIALS, PARALLEL, Range, SECONDS, SamplerKind,
    SettingRange, SweepDefinition, usual_parallel,
};
use crate::text::format::plain;
use crate::window::{Ctx, MyDigitsView, Sweeps, Train};

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
    pub parallel: String,
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
    Parallel,
    /// None of them.
    Other,
}

/// A reason why a sweep cannot be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepFormError {
    pub field: SweepField,
    pub message: Message,
}

impl SweepForm {
    pub fn usual(config: &RunConfig) -> Self {
        Self {
            rows: USUAL.map(|setting| row_of(setting, config)).into(),
            sampler: SamplerKind::Tpe,
            trials: TRIALS.to_string(),
            minutes: String::new(),
            parallel: String::new(),
            ends_early: true,
        }
    }

    pub fn add(&mut self, setting: Setting, config: &RunConfig) {
        if self.rows.iter().all(|row| row.setting != setting) {
            self.rows.push(row_of(setting, config));
        }
    }

    /// Ranges that nobody has changed follow the settings in the run panel.
    pub fn follow(&mut self, config: &RunConfig) {
        for row in self.rows.iter_mut().filter(|row| !row.edited) {
            let listed = row.listed;
            *row = row_of(row.setting, config);
            row.listed = listed;
        }
    }

    /// The sweep over these settings, with everything that is wrong; what is wrong is left out of
    /// it.
    pub fn definition(&self, base: RunConfig) -> (SweepDefinition, Vec<SweepFormError>) {
        let mut problems = Vec::new();
        let parallel = usual_parallel(&base);
        let mut definition = SweepDefinition::of(base);
        definition.sampler = self.sampler;
        definition.pruner = self.ends_early.then_some(Asha::DEFAULT);
        definition.parallel = parallel;
        for row in &self.rows {
            let dimension = row.dimension();
            match dimension.and_then(|dimension| checked(&definition, dimension)) {
                Ok(dimension) => definition.space.push(dimension),
                Err(error) => problems.push(SweepFormError {
                    field: SweepField::Setting(row.setting),
                    message: Message::in_sweep_form(&error),
                }),
            }
        }
        let mut number = |field, text: &str| {
            let number = finite(text);
            if number.is_none() && !text.trim().is_empty() {
                let message = Message::not_a_number_in_sweep(&text.trim().replace(',', "."));
                problems.push(SweepFormError { field, message });
            }
            number
        };
        let trials = number(SweepField::Trials, &self.trials);
        let minutes = number(SweepField::Minutes, &self.minutes);
        let parallel = number(SweepField::Parallel, &self.parallel);
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
        definition.parallel = parallel.map_or(definition.parallel, whole);
        if problems.is_empty() {
            let found = definition.problems();
            let problem = |error: &DefinitionError| SweepFormError {
                field: field_of(error),
                message: Message::in_sweep_form(error),
            };
            problems = found.iter().map(problem).collect();
        }
        (definition, problems)
    }
}

impl SettingRow {
    /// The parsed text; an error if it is not valid.
    fn dimension(&self) -> Result<Dimension, DefinitionError> {
        let setting = self.setting;
        if self.listed || !setting.row().kind.is_number() {
            return match SettingRange::of(setting, &self.values)? {
                SettingRange::Varies(dimension) => Ok(dimension),
                SettingRange::Fixed(..) => Err(DefinitionError::NoValues { setting }),
            };
        }
        let end = |text: &str| {
            finite(text).ok_or_else(|| DefinitionError::Value {
                setting,
                given: text.trim().to_owned(),
                wanted: "a number".to_owned(),
            })
        };
        let (low, high, log) = (end(&self.low)?, end(&self.high)?, self.log);
        let range = Range::Interval { low, high, log };
        Ok(Dimension { setting, range })
    }

    pub fn chosen(&self) -> impl Iterator<Item = &str> {
        let names = self.values.split(',').map(str::trim);
        names.filter(|name| !name.is_empty())
    }

    /// Chooses a name or leaves it out, in the order of the choices.
    pub fn choose(&mut self, name: &str, chosen: bool) {
        let choices = self.setting.choices().into_iter().map(|(known, _)| known);
        let stays = |known: &str| self.chosen().any(|other| other == known);
        let kept = |known: &&str| if *known == name { chosen } else { stays(known) };
        self.values = choices.filter(kept).collect::<Vec<_>>().join(", ");
    }
}

/// The number that was typed.
fn finite(text: &str) -> Option<f64> {
    let number = text.trim().replace(',', ".").parse().ok();
    number.filter(|number: &f64| number.is_finite())
}

/// The dimension, if a sweep over nothing else is possible.
fn checked(
    definition: &SweepDefinition,
    dimension: Dimension,
) -> Result<Dimension, DefinitionError> {
    let alone = SweepDefinition {
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
        DefinitionError::Number { what, .. } => match *what {
            PARALLEL => SweepField::Parallel,
            SECONDS => SweepField::Minutes,
            NUMBER_OF_TRIALS => SweepField::Trials,
            _ => SweepField::Other,
        },
        DefinitionError::NoBudget => SweepField::Trials,
        _ => SweepField::Other,
    }
}

impl Sweeps {
    /// The sweep that Start would begin, and what keeps it from that.
    pub fn definition(
        &self,
        ctx: &Ctx,
        train: &Train,
        mine: &MyDigitsView,
    ) -> Option<(SweepDefinition, Vec<SweepFormError>)> {
        let form = self.form.as_ref()?;
        let (definition, mut problems) = form.definition(ctx.with_device(&ctx.config));
        let errors = train.validation_errors(ctx, mine).into_iter();
        problems.extend(errors.map(|error| {
            let message = Message::invalid_in_train(&error.message);
            SweepFormError {
                field: SweepField::Other,
                message,
            }
        }));
        Some((definition, problems))
    }
}

/// The settings that vary at first: those that matter most for most networks.
pub const USUAL: [Setting; 4] = [
    Setting::LearningRate,
    Setting::BatchSize,
    Setting::WeightDecay,
    Setting::Augmentation,
];
/// How far a logarithmic range reaches to either side.
const REACH: f64 = 10.0;

fn row_of(setting: Setting, config: &RunConfig) -> SettingRow {
    let number = setting.number(config).unwrap_or_default();
    let around = |number: f64| range(setting, number / REACH, number * REACH, true);
    match setting.row().trials {
        Trials::Same => list::<&str>(setting, &[]),
        Trials::Around(_) if number > 0.0 => around(number),
        Trials::Around(least) => range(setting, least, least * 1e4, true),
        Trials::Between(low, high) => range(setting, low, high, false),
        Trials::Halves => {
            let values = [number / 2.0, number, number * 2.0].map(|value| value.round().max(1.0));
            list(setting, &values.map(plain))
        }
        Trials::List(values) => list(setting, values),
        Trials::Choices => {
            let names: Vec<&str> = setting.choices().iter().map(|(name, _)| *name).collect();
            list(setting, &names)
        }
        Trials::OneOther => {
            let own = setting.text(config);
            let mut names = setting.choices().into_iter().map(|(name, _)| name);
            let other = names.find(|name| *name != own);
            list(setting, &[own.as_str(), other.unwrap_or_default()])
        }
        Trials::Of(values) => list(setting, &values(config)),
    }
}

fn range(setting: Setting, low: f64, high: f64, log: bool) -> SettingRow {
    // Values are put in place of the range if a grid needs them.
    let middle = if log {
        (low * high).sqrt()
    } else {
        low.midpoint(high)
    };
    let texts = [low, middle, high].map(short);
    let mut row = list(setting, &texts);
    row.listed = false;
    [row.low, _, row.high] = texts;
    row.log = log;
    row
}

fn list<T: AsRef<str>>(setting: Setting, values: &[T]) -> SettingRow {
    let mut distinct: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
    distinct.dedup();
    let is_number = setting.row().kind.is_number();
    let end = |text: Option<&&str>| text.filter(|_| is_number).map(ToString::to_string);
    SettingRow {
        setting,
        listed: true,
        low: end(distinct.first()).unwrap_or_default(),
        high: end(distinct.last()).unwrap_or_default(),
        log: false,
        values: distinct.join(", "),
        edited: false,
    }
}

/// Two digits are enough for the end of a range.
fn short(number: f64) -> String {
    plain(format!("{number:.1e}").parse().unwrap_or(number))
}
