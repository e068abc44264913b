//! What a row of the table of settings consists of, and how the values of each type are written and
//! read: the same in an option, in a field of the window, in a sweep and in a table.

use std::fmt;
use std::path::PathBuf;

use super::network::{MAX_LAYERS, MAX_WIDTH};
use super::settings::Setting;
use super::{DataSpec, HiddenLayers, RunConfig, UnknownChoiceError, Widths};
use crate::text::format::{joined, plain};
use crate::text::visible;

/// A row of the table of settings.
#[derive(Debug)]
pub struct Row {
    /// The field of [`RunConfig`], and the key in files.
    pub key: &'static str,
    /// The option without its dashes, and the name in sweeps.
    pub name: &'static str,
    /// Names that options and sweeps had before.
    pub former: &'static [&'static str],
    /// The text that people read.
    pub label: &'static str,
    pub section: Section,
    /// Its description, as sentences.
    pub help: &'static str,
    /// The placeholder of a value in the help: "N".
    pub value_name: &'static str,
    pub kind: Kind,
    /// Of a number.
    pub range: Option<Range>,
    /// How a setting is written that has no value; empty if it always has one.
    pub unset: &'static str,
    /// The effect of a setting without a value, shown in its empty field.
    pub placeholder: &'static str,
    /// The setting that cannot be given together with this one.
    pub excludes: Option<Setting>,
    /// Whether the other settings leave it a meaning.
    pub applies: fn(&RunConfig) -> bool,
    /// Whether it is about how this machine computes, so that a run that is resumed or reproduced
    /// can have another value.
    pub is_of_machine: bool,
    pub trials: Trials,
    /// The choices there are: their names and labels.
    pub(super) choices: fn() -> Vec<(&'static str, &'static str)>,
    /// The value in full; empty if there is none.
    pub(super) text: fn(&RunConfig) -> String,
    /// Takes a value; the error is what is wanted instead.
    pub(super) set: fn(&mut RunConfig, &str) -> Result<(), String>,
    /// The value as people read it; `None` if the setting is turned off, or told with another.
    pub describe: fn(&RunConfig) -> Option<String>,
}

/// Where a setting stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Main,
    Optimization,
    Regularization,
    Execution,
}

impl Section {
    pub const ALL: [Self; 4] = [
        Self::Main,
        Self::Optimization,
        Self::Regularization,
        Self::Execution,
    ];

    pub const fn label(self) -> &'static str {
        match self {
            Self::Main => "Settings",
            Self::Optimization => "Optimization",
            Self::Regularization => "Regularization",
            Self::Execution => "Execution",
        }
    }

    pub fn settings(self) -> impl Iterator<Item = Setting> {
        let all = Setting::ALL.iter().copied();
        all.filter(move |setting| setting.row().section == self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Real,
    Whole,
    /// On or off.
    Switch,
    /// A name from a list.
    Choice,
    /// Anything else that can be written: widths, layers, data, a path.
    Text,
}

impl Kind {
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Real | Self::Whole)
    }
}

/// The values of a setting that a sweep tries by default.
#[derive(Clone, Copy, Debug)]
pub enum Trials {
    /// All trials have the same: where they train, and on what.
    Same,
    /// By orders of magnitude, as far to either side of its value; of 0, above this number.
    Around(f64),
    /// Every number in between.
    Between(f64, f64),
    /// Its half, itself and its double.
    Halves,
    List(&'static [&'static str]),
    /// Every choice.
    Choices,
    /// Its value and the first other choice: a large network beside a small one would take most of
    /// the time.
    OneOther,
    Of(fn(&RunConfig) -> Vec<String>),
}

pub(super) trait Value: Sized {
    const KIND: Kind;
    fn text(&self) -> String;
    fn read(text: &str) -> Result<Self, String>;

    fn describe(&self) -> Option<String> {
        Some(self.text()).filter(|text| !text.is_empty())
    }

    fn choices() -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

/// The words for a value that is left out.
pub(super) const OFF: &str = "off";
pub(super) const DEFAULT: &str = "default";
const ON: &str = "on";

impl Row {
    /// A row with what follows from its field's type.
    pub(super) const fn of<T: Value>(
        key: &'static str,
        _field: fn(&RunConfig) -> &T,
        text: fn(&RunConfig) -> String,
        set: fn(&mut RunConfig, &str) -> Result<(), String>,
        describe: fn(&RunConfig) -> Option<String>,
    ) -> Self {
        Self {
            key,
            name: key,
            former: &[],
            label: "",
            section: Section::Main,
            help: "",
            value_name: match T::KIND {
                Kind::Real => "X",
                Kind::Whole => "N",
                Kind::Switch => "on|off",
                Kind::Choice | Kind::Text => "NAME",
            },
            kind: T::KIND,
            range: None,
            unset: "",
            placeholder: "",
            excludes: None,
            applies: |_| true,
            is_of_machine: false,
            trials: Trials::Same,
            choices: T::choices,
            text,
            set,
            describe,
        }
    }
}

impl Setting {
    /// The setting of this name, or of one that it had before.
    pub fn parse(name: &str) -> Result<Self, UnknownChoiceError> {
        let meant = name.trim().to_ascii_lowercase().replace('_', "-");
        let is_meant = |setting: &Self| {
            let row = setting.row();
            row.name == meant || row.former.contains(&meant.as_str())
        };
        let found = Self::ALL.iter().copied().find(is_meant);
        found.ok_or_else(|| UnknownChoiceError {
            what: "setting".to_owned(),
            given: name.to_owned(),
            known: Self::names(Self::ALL.iter().copied()),
        })
    }

    pub fn names(settings: impl Iterator<Item = Self>) -> String {
        joined(settings, ", ")
    }

    /// Those that a sweep can vary.
    pub fn sweepable() -> impl Iterator<Item = Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|setting| !matches!(setting.row().trials, Trials::Same))
    }

    /// The value as an option or a sweep has it, with all its digits.
    pub fn text(self, config: &RunConfig) -> String {
        let row = self.row();
        Some((row.text)(config))
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| row.unset.to_owned())
    }

    /// The value as a field has it: no digits that only stand for a rounding error, and empty if
    /// there is none.
    pub fn field_text(self, config: &RunConfig) -> String {
        match self.number(config) {
            Some(number) if self.row().kind == Kind::Real => plain(number),
            _ => (self.row().text)(config),
        }
    }

    /// Its number; `None` if it is none or has no value.
    pub fn number(self, config: &RunConfig) -> Option<f64> {
        let row = self.row();
        row.kind
            .is_number()
            .then(|| (row.text)(config).parse().ok())?
    }

    /// The names and the labels of its choices, if it has any.
    pub fn choices(self) -> Vec<(&'static str, &'static str)> {
        (self.row().choices)()
    }

    /// Takes a value. Whether a number is in its range is for [`RunConfig::problems`] to say. The
    /// error is what is wanted instead.
    pub fn set(self, config: &mut RunConfig, text: &str) -> Result<(), String> {
        (self.row().set)(config, text.trim())
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Real;

    fn text(&self) -> String {
        self.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number: &Self| number.is_finite());
        number.ok_or_else(|| "a number".to_owned())
    }

    fn describe(&self) -> Option<String> {
        Some(plain(*self))
    }
}

impl Value for u64 {
    const KIND: Kind = Kind::Whole;

    fn text(&self) -> String {
        self.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "a whole number".to_owned())
    }
}

impl Value for u32 {
    const KIND: Kind = Kind::Whole;

    fn text(&self) -> String {
        self.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        Self::try_from(u64::read(text)?).map_err(|_| "a smaller number".to_owned())
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Switch;

    fn text(&self) -> String {
        if *self { ON } else { OFF }.to_owned()
    }

    fn read(text: &str) -> Result<Self, String> {
        match text {
            ON => Ok(true),
            OFF => Ok(false),
            _ => Err("on or off".to_owned()),
        }
    }

    fn describe(&self) -> Option<String> {
        self.then(|| ON.to_owned())
    }

    fn choices() -> Vec<(&'static str, &'static str)> {
        vec![(ON, "On"), (OFF, "Off")]
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;

    fn text(&self) -> String {
        self.as_ref().map(T::text).unwrap_or_default()
    }

    fn read(text: &str) -> Result<Self, String> {
        match text {
            "" | OFF | DEFAULT => Ok(None),
            _ => T::read(text).map(Some),
        }
    }

    fn describe(&self) -> Option<String> {
        self.as_ref().and_then(T::describe)
    }
}

impl Value for Widths {
    const KIND: Kind = Kind::Text;

    fn text(&self) -> String {
        self.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| {
            format!(
                "1 to {MAX_LAYERS} whole numbers from 1 to {MAX_WIDTH}, such as 128-64, or default"
            )
        })
    }
}

impl Value for HiddenLayers {
    const KIND: Kind = Kind::Text;

    fn text(&self) -> String {
        self.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: super::ParseLayersError| {
            let usual = Self::DEFAULT;
            format!("layers such as {usual} ({}), or default", error.reason)
        })
    }
}

impl Value for DataSpec {
    const KIND: Kind = Kind::Text;

    fn text(&self) -> String {
        self.to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|error: UnknownChoiceError| format!("one of {}", error.known))
    }

    fn describe(&self) -> Option<String> {
        Some(self.label())
    }
}

impl Value for PathBuf {
    const KIND: Kind = Kind::Text;

    fn text(&self) -> String {
        self.display().to_string()
    }

    fn read(text: &str) -> Result<Self, String> {
        Ok(text.into())
    }

    fn describe(&self) -> Option<String> {
        Some(visible::path(self))
    }
}

impl RunConfig {
    /// How the weights are changed, as people read it: everything but the data, the network and the
    /// machine's part.
    pub fn training_settings(&self) -> Vec<(&'static str, Option<String>)> {
        let is_elsewhere = |setting: Setting| {
            matches!(
                setting,
                Setting::Data | Setting::Network | Setting::Precision
            )
        };
        Setting::ALL
            .iter()
            .filter(move |setting| {
                setting.row().section != Section::Execution && !is_elsewhere(**setting)
            })
            .map(|setting| (setting.row().label, (setting.row().describe)(self)))
            .collect()
    }
}

/// The settings in which these runs differ, each with its value in every run.
pub fn differing_settings(configs: &[&RunConfig]) -> Vec<(&'static str, Vec<String>)> {
    let values = |setting: &Setting| {
        let describe = setting.row().describe;
        let value = |config: &&RunConfig| describe(config).unwrap_or_else(|| OFF.to_owned());
        (
            setting.row().label,
            configs.iter().map(value).collect::<Vec<_>>(),
        )
    };
    let differ =
        |(_, values): &(&str, Vec<String>)| values.windows(2).any(|pair| pair[0] != pair[1]);
    Setting::ALL.iter().map(values).filter(differ).collect()
}

#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The setting's name in a sentence.
    pub name: &'static str,
    pub(super) low: Bound,
    pub(super) high: Bound,
    pub(super) whole: bool,
    /// The unit; may be empty.
    pub unit: &'static str,
    /// A usual value; may be empty.
    pub(super) example: &'static str,
    /// The effect of a setting that is left empty; `None` if it must not be.
    pub if_empty: Option<&'static str>,
}

/// One end of a range.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// This number and what lies inside of it.
    At(f64),
    /// What lies inside of this number, but not the number.
    Beyond(f64),
    None,
}
use Bound::{At, Beyond};

impl Range {
    /// 1 and more, for a setting that is called this in a sentence.
    pub(super) const fn whole(name: &'static str) -> Self {
        Self {
            name,
            low: At(1.0),
            high: Bound::None,
            whole: true,
            unit: "",
            example: "",
            if_empty: None,
        }
    }

    /// 0 and more, whole or not.
    pub(super) const fn real(name: &'static str) -> Self {
        Self {
            low: At(0.0),
            whole: false,
            ..Self::whole(name)
        }
    }

    /// True for numbers the setting can be; false for NaN and infinities.
    pub fn contains(&self, value: f64) -> bool {
        let above = match self.low {
            At(low) => value >= low,
            Beyond(low) => value > low,
            Bound::None => true,
        };
        let below = match self.high {
            At(high) => value <= high,
            Beyond(high) => value < high,
            Bound::None => true,
        };
        value.is_finite() && above && below
    }

    /// The valid input: "a whole number from 1 to 1000, or leave it out to …".
    pub fn hint(&self) -> String {
        let if_empty = self
            .if_empty
            .map(|what| format!(", or leave it out {what}"));
        format!("{}{}", self.numbers(), if_empty.unwrap_or_default())
    }

    /// Which numbers: "a whole number from 1 to 1000".
    pub(super) fn numbers(&self) -> String {
        let kind = if self.whole { "whole number" } else { "number" };
        let of = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" of {}", self.unit)
        };
        let span = match (self.low, self.high) {
            (At(low), At(high)) => format!(" from {low} to {high}"),
            (At(low), Beyond(high)) => format!(" from {low} to below {high}"),
            (At(low), Bound::None) => format!(", {low} or greater"),
            _ => format!(" {self}"),
        };
        let example = if self.example.is_empty() {
            String::new()
        } else {
            format!(", such as {}", self.example)
        };
        format!("a {kind}{of}{span}{example}")
    }
}

/// The range alone: "between 1 and 1000", "above 0 and at most 10".
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (At(low), At(high)) => write!(f, "between {low} and {high}"),
            (At(low), Beyond(high)) => write!(f, "at least {low} and below {high}"),
            (At(low), Bound::None) => write!(f, "at least {low}"),
            (Beyond(low), At(high)) => write!(f, "above {low} and at most {high}"),
            (Beyond(low), Beyond(high)) => write!(f, "above {low} and below {high}"),
            (Beyond(low), Bound::None) => write!(f, "above {low}"),
            (Bound::None, _) => f.write_str("any number"),
        }
    }
}
