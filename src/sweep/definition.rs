//! The definition of a sweep: plain, versioned, validated data, like the settings of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{DefinitionError, SweepError};
use super::space::{Dimension, SettingRange, Value, sweepable};
use super::trial::Asha;
use crate::run_config::{Preset, RunConfig, UnknownChoiceError};
use crate::system::files::read_limited;

/// The version written into the files of sweeps; newer ones are refused.
pub const VERSION: u32 = 1;
pub const MAX_TRIALS: u32 = 10_000;
/// The names of the limits in [`DefinitionError::Number`].
pub const NUMBER_OF_TRIALS: &str = "the number of trials";
pub const SECONDS: &str = "the time for the sweep in seconds";
/// Trials at the same time.
pub const PARALLEL: &str = "the number of parallel trials";
/// The longest time budget: 30 days.
const MAX_SECONDS: f64 = 30.0 * 86_400.0;
/// The most trials at once.
const MAX_PARALLEL: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SamplerKind {
    /// Every combination of the listed values once, in random order.
    Grid,
    Random,
    /// By a model of the trials so far (Bergstra et al. 2011).
    Tpe,
}

impl SamplerKind {
    /// Every sampler, in the order it is offered.
    pub const ALL: [Self; 3] = [Self::Tpe, Self::Random, Self::Grid];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Random => "random",
            Self::Tpe => "tpe",
        }
    }
}

impl FromStr for SamplerKind {
    type Err = UnknownChoiceError;

    fn from_str(text: &str) -> Result<Self, UnknownChoiceError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownChoiceError {
                what: "sampler".to_owned(),
                given: text.to_owned(),
                known: Self::ALL.map(Self::name).join(", "),
            })
    }
}

/// A sweep as it was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepDefinition {
    pub version: u32,
    /// The settings of every trial, but for those that vary.
    pub base: RunConfig,
    /// The folder that was named for data sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    pub space: Vec<Dimension>,
    /// The most trials; `None` if only time ends the sweep, or the grid.
    pub trials: Option<u32>,
    /// No trial is started after this many seconds; those that train by then are completed.
    pub seconds: Option<f64>,
    /// Where the randomness of the sampler comes from.
    pub seed: u64,
    pub sampler: SamplerKind,
    /// When poor trials end early; `None` if all train to their last epoch.
    pub pruner: Option<Asha>,
    /// Trials that train in parallel, with the threads divided among them.
    pub parallel: u32,
}

impl SweepDefinition {
    /// A sweep without anything that varies, over these settings.
    pub const fn of(base: RunConfig) -> Self {
        Self {
            version: VERSION,
            base,
            data_dir: None,
            space: Vec::new(),
            trials: None,
            seconds: None,
            seed: 1,
            sampler: SamplerKind::Tpe,
            pruner: Some(Asha::DEFAULT),
            parallel: 1,
        }
    }

    /// Sets what a setting varies over. A later range of the same setting replaces an earlier
    /// one.
    pub fn set(&mut self, range: SettingRange) -> Result<(), DefinitionError> {
        self.space
            .retain(|dimension| dimension.setting != range.setting());
        match range {
            SettingRange::Fixed(setting, value) => value.apply(setting, &mut self.base)?,
            SettingRange::Varies(new) => self.space.push(new),
        }
        self.base.preset = self.base.matching_preset();
        Ok(())
    }

    /// The first thing that is wrong.
    pub(super) fn check(&self) -> Result<(), DefinitionError> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything that is wrong, one entry per mistake; empty means valid.
    pub fn problems(&self) -> Vec<DefinitionError> {
        let mut problems: Vec<DefinitionError> = self
            .base
            .problems()
            .into_iter()
            .map(DefinitionError::from)
            .collect();
        if self.version > VERSION {
            problems.push(DefinitionError::File {
                reason: format!("its version, {}, is newer than {VERSION}", self.version),
            });
        }
        if self.space.is_empty() {
            problems.push(DefinitionError::NothingVaries);
        }
        for (index, dimension) in self.space.iter().enumerate() {
            let setting = dimension.setting;
            if self.space[..index]
                .iter()
                .any(|before| before.setting == setting)
            {
                problems.push(DefinitionError::SettingTwice { setting });
            } else if let Err(problem) = dimension
                .check()
                .and_then(|()| self.check_values(dimension))
            {
                problems.push(problem);
            } else if self.sampler == SamplerKind::Grid && dimension.all().is_none() {
                problems.push(DefinitionError::GridOfRange { setting });
            }
        }
        if self.sampler == SamplerKind::Grid && problems.is_empty() {
            if let Some(size) = self.combinations().filter(|size| *size > MAX_TRIALS.into()) {
                problems.push(DefinitionError::GridTooLarge { size });
            }
        } else if self.sampler != SamplerKind::Grid
            && self.trials.is_none()
            && self.seconds.is_none()
        {
            problems.push(DefinitionError::NoBudget);
        }
        let mut number = |what, given: f64, low: f64, high: f64| {
            if !(low..=high).contains(&given) {
                problems.push(DefinitionError::Number {
                    what,
                    given,
                    low,
                    high,
                });
            }
        };
        number(
            NUMBER_OF_TRIALS,
            self.trials.unwrap_or(1).into(),
            1.0,
            MAX_TRIALS.into(),
        );
        number(SECONDS, self.seconds.unwrap_or(1.0), 1.0, MAX_SECONDS);
        number(PARALLEL, self.parallel.into(), 1.0, MAX_PARALLEL.into());
        if let Some(Asha {
            reduction,
            min_epochs,
        }) = self.pruner
        {
            number("the reduction factor", reduction.into(), 2.0, 16.0);
            number(
                "the minimum number of epochs",
                min_epochs.into(),
                1.0,
                1000.0,
            );
        }
        problems
    }

    /// Whether a run can have every value of this setting.
    fn check_values(&self, dimension: &Dimension) -> Result<(), DefinitionError> {
        for value in dimension.extremes() {
            let mut config = self.base.clone();
            value.apply(dimension.setting, &mut config)?;
            let known = self.base.problems();
            config
                .problems()
                .into_iter()
                .find(|problem| !known.contains(problem))
                .map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// The number of combinations; `None` if a range has too many values to list.
    pub(super) fn combinations(&self) -> Option<u128> {
        self.space.iter().try_fold(1_u128, |count, dimension| {
            Some(count.saturating_mul(dimension.all()?.len() as u128))
        })
    }

    /// Whether this many trials, which all differ, have tried every combination.
    pub fn is_exhausted(&self, trials: usize) -> bool {
        self.combinations()
            .is_some_and(|count| trials as u128 >= count)
    }

    /// The most trials there can be; `None` if only time ends the sweep.
    pub fn max_trials(&self) -> Option<u32> {
        let combinations = self
            .combinations()
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| *count <= MAX_TRIALS);
        self.trials.into_iter().chain(combinations).min()
    }

    /// The settings of a trial with these values, in the order of the space.
    pub fn config(&self, values: &[Value]) -> Result<RunConfig, DefinitionError> {
        let mut config = self.base.clone();
        for (dimension, value) in self.space.iter().zip(values) {
            value.apply(dimension.setting, &mut config)?;
        }
        config.preset = config.matching_preset();
        Ok(config)
    }
}

const MAX_FILE_BYTES: u64 = 1 << 20;

/// The contents of such a file. Whatever it leaves out comes from the command line, or a default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct DefinitionFile {
    /// Where the base settings come from.
    pub preset: Option<Preset>,
    /// The training data, as `--data` has it.
    pub data: Option<String>,
    pub trials: Option<u32>,
    /// The longest time: "30m".
    pub time: Option<String>,
    /// `tpe`, `random` or `grid`.
    pub sampler: Option<String>,
    /// The seed of the sampler.
    pub seed: Option<u64>,
    /// Trials that train in parallel.
    pub parallel: Option<u32>,
    /// `asha`, or `none` to train every trial to its last epoch.
    pub pruner: Option<String>,
    /// One in this many trials goes on at each comparison.
    pub reduction: Option<u32>,
    pub min_epochs: Option<u32>,
    /// Settings by name: a value, a list of values, or a range as text.
    set: BTreeMap<String, TomlRange>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum TomlRange {
    Text(String),
    Number(f64),
    List(Vec<Value>),
}

impl DefinitionFile {
    /// Reads a file of at most 1 MiB.
    pub fn read(path: &Path) -> Result<Self, SweepError> {
        let unreadable = |reason: String| SweepError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let bytes =
            read_limited(path, MAX_FILE_BYTES).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| unreadable("it is not text in UTF-8".to_owned()))?;
        Ok(Self::parse(&text)?)
    }

    /// The same for its text.
    pub fn parse(text: &str) -> Result<Self, DefinitionError> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let line = error.span().map_or(String::new(), |span| {
                let line = text
                    .get(..span.start)
                    .map_or(0, |before| before.matches('\n').count())
                    + 1;
                format!("line {line}: ")
            });
            DefinitionError::File {
                reason: format!("{line}{}", error.message()),
            }
        })
    }

    pub fn settings(&self) -> Result<Vec<SettingRange>, DefinitionError> {
        let range = |(name, range): (&String, &TomlRange)| {
            let setting = sweepable(name)?;
            match range {
                TomlRange::Text(text) => SettingRange::of(setting, text),
                TomlRange::Number(number) => {
                    SettingRange::of_values(setting, vec![Value::Number(*number)])
                }
                TomlRange::List(values) => SettingRange::of_values(setting, values.clone()),
            }
        };
        self.set.iter().map(range).collect()
    }
}

/// The seconds in a duration: "90" or "90s", "30m", "2h", "1d".
pub fn seconds(text: &str) -> Result<f64, DefinitionError> {
    let wrong = || DefinitionError::Duration {
        text: text.to_owned(),
    };
    let text = text.trim();
    let (number, unit) = text.split_at(
        text.find(|letter: char| letter.is_ascii_alphabetic())
            .unwrap_or(text.len()),
    );
    let unit = match unit {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    if number.is_finite() && number > 0.0 {
        Ok(number * unit)
    } else {
        Err(wrong())
    }
}
