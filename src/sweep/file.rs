//! The file that describes a sweep, as a person writes it: TOML.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::error::{DefinitionError, SweepError};
use super::space::{SettingRange, sweepable};
use super::value::Value;
use crate::run_config::Preset;
use crate::system::files::read_limited;

const MAX_FILE_BYTES: u64 = 1 << 20;

/// What such a file says. Whatever it leaves out, the command line says, or a default.
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
    /// Trials that train at the same time.
    pub at_once: Option<u32>,
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
