//! A sweep on disk: its definition, and a journal of all that happened, line by line.
//!
//! A line is on the disk before anything else happens, so that no process that is killed loses more
//! than the trials in progress. Half a line at the end, as a power cut leaves it, is dropped.

mod folder;
mod replay;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::error::SweepError;
use super::space::Value;
use super::trial::{Trial, TrialEpoch};

const JOURNAL: &str = "journal.jsonl";

/// A sweep and the folder it is kept in, which no other process works on as long as this lives.
#[derive(Debug)]
pub struct Sweep {
    folder: PathBuf,
    definition: Definition,
    trials: Vec<Trial>,
    ends: Vec<(u32, f64)>,
    elapsed: f64,
    tested: Option<(u32, Tested)>,
    journal: File,
    _lock: File,
}

impl Sweep {
    /// Where it is kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it is to do.
    pub const fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Changes how long it goes on and how many trials train at once: everything else is as it was
    /// begun.
    pub fn extend(
        &mut self,
        trials: Option<u32>,
        seconds: Option<f64>,
        at_once: Option<u32>,
    ) -> Result<(), SweepError> {
        let old = &self.definition;
        let definition = Definition {
            trials: trials.or(old.trials),
            seconds: seconds.or(old.seconds),
            at_once: at_once.unwrap_or(old.at_once),
            ..old.clone()
        };
        definition
            .problems()
            .into_iter()
            .next()
            .map_or(Ok(()), Err)?;
        if definition != self.definition {
            folder::write_definition(&self.folder, &definition)?;
            self.definition = definition;
        }
        Ok(())
    }

    /// Every trial that has begun, in order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    pub fn trial(&self, number: u32) -> Option<&Trial> {
        self.trials.get(number.checked_sub(1)? as usize)
    }

    /// The trial with the highest validation accuracy of those that trained to their end; of equals
    /// the earliest.
    pub fn best(&self) -> Option<&Trial> {
        Trial::ranked(&self.trials)
            .into_iter()
            .next()
            .filter(|trial| trial.result().is_some())
    }

    /// The trials that have ended, in the order in which they did, and after how many seconds.
    pub fn ends(&self) -> &[(u32, f64)] {
        &self.ends
    }

    pub fn is_complete(&self) -> bool {
        let is_over =
            |seconds: f64| self.elapsed >= seconds && self.ends.len() == self.trials.len();
        let of_trials = self
            .definition
            .max_trials()
            .is_some_and(|most| self.ends.len() >= most as usize);
        of_trials || self.definition.seconds.is_some_and(is_over)
    }

    /// Seconds that it has run, all sessions together.
    pub const fn elapsed(&self) -> f64 {
        self.elapsed
    }

    /// The run whose test accuracy was read, and the trial whose settings it has.
    pub const fn tested(&self) -> Option<&(u32, Tested)> {
        self.tested.as_ref()
    }

    /// Notes the run that came of a trial.
    pub fn note_tested(&mut self, trial: u32, tested: Tested) -> Result<(), SweepError> {
        self.record(trial, self.elapsed, Entry::Tested(tested))
    }
}

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
