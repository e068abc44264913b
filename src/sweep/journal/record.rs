//! The lines of the journal.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::sweep::trial::TrialEpoch;
use crate::sweep::value::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The trial, from 1.
    pub trial: u32,
    /// Seconds that the sweep has run until then, all its sessions together.
    pub elapsed: f64,
    #[serde(flatten)]
    pub entry: Entry,
}

/// What happened to a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Entry {
    /// It began, or began again after it was cut short.
    Started {
        values: BTreeMap<String, Value>,
    },
    Epoch(TrialEpoch),
    /// It trained to its end.
    Completed,
    Pruned,
    /// It has no result.
    Failed {
        reason: String,
    },
    /// Its settings were trained once more as a run of its own, whose test accuracy was read.
    Tested(Tested),
}

/// The run that came of the best trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    pub run: PathBuf,
    /// Accuracy on the test split, 0 to 1; `None` where the data has none.
    pub test_accuracy: Option<f64>,
}
