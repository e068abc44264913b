use std::path::PathBuf;

use crate::problem::{Code, Explain, Problem, sentence};
use crate::run_config::{ConfigError, Setting};
use crate::system::{NotRegular, WriteError};
use crate::text::format::capitalized;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DefinitionError {
    #[error("No setting is called \"{name}\".")]
    UnknownSetting { name: String },
    #[error("\"{text}\" does not name a setting and its values.")]
    NotAnAssignment { text: String },
    #[error("{given} is not a value of {setting}.")]
    Value {
        setting: Setting,
        given: String,
        wanted: String,
    },
    #[error("There are too few values of {setting} to choose from.")]
    NoValues { setting: Setting },
    #[error("\"{text}\" is not a range of {setting}.")]
    NotARange { setting: Setting, text: String },
    #[error("The values of {setting} are names and have no range.")]
    RangeOfNames { setting: Setting },
    #[error("The range of {setting}, {low} to {high}, is empty.")]
    Reversed {
        setting: Setting,
        low: f64,
        high: f64,
    },
    #[error("A logarithmic range of {setting} cannot begin at {low}.")]
    LogFromZero { setting: Setting, low: f64 },
    #[error("The value {given} of {setting} is listed twice.")]
    ValueTwice { setting: Setting, given: String },
    #[error("{setting} is given twice.")]
    SettingTwice { setting: Setting },
    #[error("No setting varies.")]
    NothingVaries,
    #[error("The sweep has no limit.")]
    NoBudget,
    #[error("{} is out of range (got {given}).", capitalized(what))]
    Number {
        what: &'static str,
        given: f64,
        low: f64,
        high: f64,
    },
    #[error("A grid needs single values of {setting}, not a range.")]
    GridOfRange { setting: Setting },
    #[error("The grid has {size} combinations, more than a sweep can try.")]
    GridTooLarge { size: u128 },
    #[error("\"{text}\" is not a duration.")]
    Duration { text: String },
    #[error("The definition of the sweep cannot be read: {}", sentence(reason))]
    File { reason: String },
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Explain for DefinitionError {
    fn remedy(&self) -> String {
        match self {
            Self::UnknownSetting { .. } => {
                return format!("Choose one of {}.", Setting::names(Setting::sweepable()));
            }
            Self::NotAnAssignment { .. } => "Write NAME=VALUES, such as learning-rate=1e-4..1e-2:log or batch-size=32,64,128.",
            Self::Value { wanted, .. } => return format!("Choose {wanted}."),
            Self::NoValues { .. } => "List them, separated by commas, or give one value to fix the setting.",
            Self::NotARange { .. } => "Write LOW..HIGH, with :log behind it for a logarithmic range, and :N for N values spread over it.",
            Self::RangeOfNames { .. } => "List the values, separated by commas.",
            Self::Reversed { .. } => "Write the lower number first.",
            Self::LogFromZero { .. } => "Begin above 0, or leave out :log.",
            Self::ValueTwice { .. } => "Leave one of them out.",
            Self::SettingTwice { .. } => "Give it once, with its values separated by commas.",
            Self::NothingVaries => "Name at least one with --set, for example --set learning-rate=1e-4..1e-2:log --set batch-size=32,64,128.",
            Self::NoBudget => "Limit it with --trials or --time.",
            Self::Number { low, high, .. } => {
                return format!("Choose a number from {low} to {high}.");
            }
            Self::GridOfRange { setting } => {
                return format!(
                    "List them, or spread a number of them over the range: --set {setting}=LOW..HIGH:5."
                );
            }
            Self::GridTooLarge { .. } => "Leave values out, or choose the sampler tpe or random.",
            Self::Duration { .. } => "Write, for example, 90s, 30m or 2h.",
            Self::File { .. } => "Correct the file.",
            Self::Config(problem) => return problem.remedy(),
        }
        .to_owned()
    }

    fn code(&self) -> Code {
        Code::Usage
    }
}

/// Why a sweep cannot begin or go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    SweepDefinition(#[from] DefinitionError),
    #[error("{path} could not be read: {}", sentence(reason))]
    Unreadable { path: PathBuf, reason: String },
    #[error("{path} is not part of a sweep, or is damaged: {}", sentence(reason))]
    Malformed { path: PathBuf, reason: String },
    #[error("The folder {folder} is not empty.")]
    Occupied { folder: PathBuf },
    #[error("The sweep in {folder} is in progress in another process.")]
    InUse { folder: PathBuf },
    #[error("There is no sweep to resume in {folder}.")]
    None { folder: PathBuf },
    /// Its journal could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Its trials cannot be trained at all.
    #[error("{}", .0.message.what)]
    Problem(#[from] Problem),
}

impl Explain for SweepError {
    fn remedy(&self) -> String {
        match self {
            Self::SweepDefinition(error) => return error.remedy(),
            Self::Write(error) => return error.remedy(),
            Self::Problem(problem) => return problem.message.remedy.clone(),
            Self::Unreadable { reason, .. } => NotRegular::remedy(reason),
            Self::Malformed { .. } => "Choose another folder, or start a new sweep.",
            Self::Occupied { .. } => "Choose another, or resume the sweep in it with --resume.",
            Self::InUse { .. } => "Wait until that has ended, or stop it.",
            Self::None { .. } => "Leave out --resume to start a new one.",
        }
        .to_owned()
    }

    fn code(&self) -> Code {
        match self {
            Self::SweepDefinition(error) => error.code(),
            Self::Problem(problem) => problem.code.clone(),
            _ => Code::Other,
        }
    }
}
