use std::path::PathBuf;

use crate::problem::Problem;
use crate::run_config::{ConfigProblem, Setting};
use crate::system::WriteError;

/// A mistake in the definition of a sweep.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DefinitionError {
    #[error("no setting of a run is called {name:?}")]
    UnknownSetting { name: String },
    #[error("{text:?} is not of the form NAME=VALUES")]
    NotAnAssignment { text: String },
    #[error("{setting}: {given} is not {wanted}")]
    Value {
        setting: Setting,
        given: String,
        wanted: String,
    },
    #[error("{setting} has no values")]
    NoValues { setting: Setting },
    #[error("{setting}: {text:?} is not a range")]
    NotARange { setting: Setting, text: String },
    #[error("{setting} is a choice of names and has no range")]
    RangeOfNames { setting: Setting },
    #[error("{setting}: the range ends at {high}, before it begins at {low}")]
    Reversed {
        setting: Setting,
        low: f64,
        high: f64,
    },
    #[error("{setting}: a logarithmic range cannot begin at {low}")]
    LogFromZero { setting: Setting, low: f64 },
    #[error("{setting}: {given} is listed twice")]
    ValueTwice { setting: Setting, given: String },
    #[error("{setting} is given twice")]
    SettingTwice { setting: Setting },
    #[error("no setting varies")]
    NothingVaries,
    #[error("the sweep has no end")]
    NoBudget,
    #[error("{what}: {given} is not between {low} and {high}")]
    Number {
        what: &'static str,
        given: f64,
        low: f64,
        high: f64,
    },
    #[error("{setting} is a range, and a grid needs values")]
    GridOfRange { setting: Setting },
    #[error("the grid has {size} points")]
    GridTooLarge { size: u128 },
    #[error("{text:?} is not a duration")]
    Duration { text: String },
    #[error("the definition cannot be read: {reason}")]
    File { reason: String },
    #[error(transparent)]
    Config(#[from] ConfigProblem),
}

/// Why a sweep cannot begin or go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// A file of it could not be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable { path: PathBuf, reason: String },
    /// What is there is not a sweep, or is damaged.
    #[error("{path} is not a sweep, or is damaged: {reason}")]
    Malformed { path: PathBuf, reason: String },
    /// There is something in the folder for a new sweep.
    #[error("{folder} is not empty")]
    Occupied { folder: PathBuf },
    #[error("the sweep in {folder} is in progress")]
    InUse { folder: PathBuf },
    /// There is no sweep to resume.
    #[error("there is no sweep in {folder}")]
    None {
        /// Where sweeps are.
        folder: PathBuf,
    },
    /// Its journal could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Its trials cannot be trained at all.
    #[error(transparent)]
    Problem(#[from] Problem),
}
