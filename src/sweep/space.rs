//! The search space: a range or a list of values for each setting that varies.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::DefinitionError;
use crate::run_config::{Kind, RunConfig, Setting};
use crate::text::format::{either, plain, rounded};

const MAX_VALUES: u64 = 1000;
/// Numbers from a range are rounded to this many digits: what is shown is then exactly what was
/// trained.
const DIGITS: usize = 4;

/// The values that a setting can have in a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Range {
    /// Every number in between, ends included; for a setting that is a whole number, the whole
    /// ones.
    Interval {
        low: f64,
        high: f64,
        /// Whether 1 to 10 is searched as closely as 10 to 100.
        log: bool,
    },
    Values {
        /// At least two.
        values: Vec<Value>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dimension {
    pub setting: Setting,
    #[serde(flatten)]
    pub range: Range,
}

/// The parsed form of `--set NAME=VALUES`.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingRange {
    Fixed(Setting, Value),
    Varies(Dimension),
}

impl SettingRange {
    /// Reads `NAME=VALUE`, `NAME=A,B,C`, `NAME=LOW..HIGH`, `NAME=LOW..HIGH:log`, or either range
    /// with `:N` for N values spread over it.
    pub fn parse(text: &str) -> Result<Self, DefinitionError> {
        let not = || DefinitionError::NotAnAssignment {
            text: text.to_owned(),
        };
        let (name, values) = text.split_once('=').ok_or_else(not)?;
        Self::of(sweepable(name)?, values)
    }

    pub const fn setting(&self) -> Setting {
        match self {
            Self::Fixed(setting, _) | Self::Varies(Dimension { setting, .. }) => *setting,
        }
    }

    /// An error if two of these are about the same setting.
    pub fn check_once(ranges: &[Self]) -> Result<(), DefinitionError> {
        let mut settings = BTreeSet::new();
        let twice = |range: &&Self| !settings.insert(range.setting());
        ranges.iter().find(twice).map_or(Ok(()), |range| {
            let setting = range.setting();
            Err(DefinitionError::SettingTwice { setting })
        })
    }

    /// The same for the part behind the name.
    pub fn of(setting: Setting, text: &str) -> Result<Self, DefinitionError> {
        if text.contains("..") {
            return Ok(Self::Varies(Dimension {
                setting,
                range: interval(setting, text)?,
            }));
        }
        Self::of_values(
            setting,
            text.split(',')
                .filter(|part| !part.trim().is_empty())
                .map(Value::parse)
                .collect(),
        )
    }

    /// A value that is fixed, or several to choose from.
    pub fn of_values(setting: Setting, values: Vec<Value>) -> Result<Self, DefinitionError> {
        match <[Value; 1]>::try_from(values) {
            Ok([only]) => Ok(Self::Fixed(setting, only)),
            Err(values) if values.is_empty() => Err(DefinitionError::NoValues { setting }),
            Err(values) => Ok(Self::Varies(Dimension {
                setting,
                range: Range::Values { values },
            })),
        }
    }
}

/// The setting of this name, if it can vary.
pub(super) fn sweepable(name: &str) -> Result<Setting, DefinitionError> {
    Setting::sweepable()
        .find(|setting| Setting::parse(name) == Ok(*setting))
        .ok_or_else(|| DefinitionError::UnknownSetting {
            name: name.to_owned(),
        })
}

fn interval(setting: Setting, text: &str) -> Result<Range, DefinitionError> {
    let not = || DefinitionError::NotARange {
        setting,
        text: text.to_owned(),
    };
    let mut parts = text.split(':');
    let (low, high) = parts
        .next()
        .and_then(|span| span.split_once(".."))
        .ok_or_else(not)?;
    let number = |text: &str| {
        text.trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(not)
    };
    let (low, high) = (number(low)?, number(high)?);
    let (mut log, mut count) = (false, None);
    for part in parts {
        match part.trim().parse() {
            Ok(points) if count.is_none() && (2..=MAX_VALUES).contains(&points) => {
                count = Some(points);
            }
            _ if part.trim().eq_ignore_ascii_case("log") && !log => log = true,
            _ => return Err(not()),
        }
    }
    let range = Range::Interval { low, high, log };
    let Some(count) = count else { return Ok(range) };
    let dimension = Dimension { setting, range };
    dimension.check()?;
    let (low, high) = dimension.ends();
    let mut values: Vec<Value> = (0..count)
        .map(|index| dimension.value_at(low + (high - low) * index as f64 / (count - 1) as f64))
        .collect();
    values.dedup();
    Ok(Range::Values { values })
}

impl Dimension {
    fn is_whole(&self) -> bool {
        self.setting.row().kind == Kind::Whole
    }

    /// An error if this is not a range of that setting. Whether a run can have its ends is not
    /// checked.
    pub(super) fn check(&self) -> Result<(), DefinitionError> {
        let setting = sweepable(self.setting.row().name)?;
        match &self.range {
            Range::Interval { .. } if !setting.row().kind.is_number() => {
                Err(DefinitionError::RangeOfNames { setting })
            }
            &Range::Interval { low, high, .. } if low >= high => {
                Err(DefinitionError::Reversed { setting, low, high })
            }
            &Range::Interval { low, log: true, .. } if low <= 0.0 => {
                Err(DefinitionError::LogFromZero { setting, low })
            }
            Range::Interval { .. } => Ok(()),
            Range::Values { values } if values.len() < 2 => {
                Err(DefinitionError::NoValues { setting })
            }
            Range::Values { values } if values.len() as u64 > MAX_VALUES => {
                Err(DefinitionError::Number {
                    what: "the number of values",
                    given: values.len() as f64,
                    low: 2.0,
                    high: MAX_VALUES as f64,
                })
            }
            Range::Values { values } => match values
                .iter()
                .enumerate()
                .find(|(index, value)| values[..*index].contains(value))
            {
                Some((_, twice)) => Err(DefinitionError::ValueTwice {
                    setting,
                    given: twice.to_string(),
                }),
                None => Ok(()),
            },
        }
    }

    /// The values that have to be valid for all of them to be.
    pub(super) fn extremes(&self) -> Vec<Value> {
        match &self.range {
            Range::Interval { low, high, .. } => vec![Value::Number(*low), Value::Number(*high)],
            Range::Values { values } => values.clone(),
        }
    }

    pub fn contains(&self, value: &Value) -> bool {
        match (&self.range, value) {
            (Range::Interval { low, high, .. }, Value::Number(number)) => {
                (*low..=*high).contains(number) && (!self.is_whole() || number.fract() == 0.0)
            }
            (Range::Interval { .. }, Value::Name(_)) => false,
            (Range::Values { values }, value) => values.contains(value),
        }
    }

    /// All its values, for a grid; `None` if there are too many to list.
    pub(super) fn all(&self) -> Option<Vec<Value>> {
        match &self.range {
            Range::Values { values } => Some(values.clone()),
            &Range::Interval { low, high, .. } => {
                let few = self.is_whole() && high - low < MAX_VALUES as f64;
                few.then(|| {
                    (low.ceil() as u64..=high.floor() as u64)
                        .map(|number| Value::Number(number as f64))
                        .collect()
                })
            }
        }
    }

    /// The two ends on the axis on which values are drawn: logarithms if the range is
    /// logarithmic, indices for listed values.
    pub(super) fn ends(&self) -> (f64, f64) {
        match &self.range {
            Range::Values { values } => (0.0, values.len() as f64),
            &Range::Interval { low, high, log } => {
                // A whole number stands for all that are rounded to it, so that the ends are as
                // likely as the others.
                let half = if self.is_whole() { 0.5 } else { 0.0 };
                let (low, high) = (low - half, high + half);
                if log {
                    (low.ln(), high.ln())
                } else {
                    (low, high)
                }
            }
        }
    }

    pub(super) fn value_at(&self, place: f64) -> Value {
        match &self.range {
            Range::Values { values } => {
                let index = (place.max(0.0) as usize).min(values.len().saturating_sub(1));
                values
                    .get(index)
                    .cloned()
                    .unwrap_or(Value::Number(f64::NAN))
            }
            &Range::Interval { low, high, log } => {
                let number = if log { place.exp() } else { place };
                let number = if self.is_whole() {
                    number.round()
                } else {
                    rounded(number, DIGITS)
                };
                Value::Number(number.clamp(low, high))
            }
        }
    }

    /// Where a value stands on that axis.
    pub(super) fn place_of(&self, value: &Value) -> Option<f64> {
        match (&self.range, value) {
            (Range::Values { values }, value) => values
                .iter()
                .position(|listed| listed == value)
                .map(|index| index as f64 + 0.5),
            (&Range::Interval { log, .. }, Value::Number(number)) => {
                Some(if log { number.ln() } else { *number })
            }
            (Range::Interval { .. }, Value::Name(_)) => None,
        }
    }

    /// Where a value stands between the ends of that axis, from 0 to 1, for a plot.
    pub fn share_of(&self, value: &Value) -> Option<f64> {
        let (low, high) = self.ends();
        Some(((self.place_of(value)? - low) / (high - low)).clamp(0.0, 1.0))
    }
}

/// "learning-rate 0.0001 to 0.01 (logarithmic)", "batch-size 32, 64 or 128".
impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.setting)?;
        match &self.range {
            Range::Interval { low, high, log } => write!(
                f,
                "{low} to {high}{}",
                if *log { " (logarithmic)" } else { "" }
            ),
            Range::Values { values } => f.write_str(&either(values)),
        }
    }
}

/// A value of a setting: a number, or a name such as `gentle`; `off` for one that is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A number, whole or not.
    Number(f64),
    Name(String),
}

impl Value {
    /// The number in this text, or the name that it is.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        text.parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .map_or_else(|| Self::Name(text.to_ascii_lowercase()), Self::Number)
    }

    pub fn of(setting: Setting, config: &RunConfig) -> Self {
        Self::parse(&setting.text(config))
    }

    /// Puts it into a configuration. Whether the number is in the setting's range is for
    /// [`RunConfig::problems`] to say.
    pub fn apply(&self, setting: Setting, config: &mut RunConfig) -> Result<(), DefinitionError> {
        let text = self.to_string();
        setting
            .set(config, &text)
            .map_err(|wanted| DefinitionError::Value {
                setting,
                given: text,
                wanted,
            })
    }
}

impl Value {
    /// For columns, where there is little room: a number that is not whole has three digits that
    /// matter.
    pub fn in_brief(&self) -> String {
        match self {
            Self::Number(number) if number.fract() != 0.0 => plain(rounded(*number, 3)),
            whole => whole.to_string(),
        }
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
