//! A trial: one run with settings that the sampler chose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value::Value;
use crate::records::EpochRecord;
use crate::run_config::RunConfig;

#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// From 1, in the order in which trials were begun.
    pub number: u32,
    /// The values of the settings that vary, in the order of the definition.
    pub values: Vec<Value>,
    pub config: RunConfig,
    pub epochs: Vec<TrialEpoch>,
    /// How it ended; `None` while it trains, and where it was cut short: then it begins again when
    /// the sweep is resumed.
    pub outcome: Option<Outcome>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialEpoch {
    /// From 1.
    pub epoch: u32,
    /// Accuracy on the validation split, 0 to 1.
    pub validation_accuracy: f32,
    /// Mean cross-entropy on it, in nats; `None` where it is not finite.
    pub validation_loss: Option<f32>,
    /// Seconds of training, without validation.
    pub seconds: f32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It trained to its end.
    Completed,
    /// It was ended early, being worse than others after as many epochs.
    Pruned,
    /// It has no result.
    Failed { reason: String },
}

impl Trial {
    /// The validation accuracy of the weights that the run would keep: those of the last epoch, or
    /// with early stopping the best.
    pub fn accuracy(&self) -> Option<f64> {
        let mut all = self
            .epochs
            .iter()
            .map(|epoch| f64::from(epoch.validation_accuracy));
        if self.config.early_stopping.is_some() {
            all.max_by(f64::total_cmp)
        } else {
            all.next_back()
        }
    }

    /// The same, of a trial that trained to its end.
    pub fn result(&self) -> Option<f64> {
        (self.outcome == Some(Outcome::Completed))
            .then(|| self.accuracy())
            .flatten()
    }

    /// Seconds of training.
    pub fn seconds(&self) -> f64 {
        self.epochs
            .iter()
            .map(|epoch| f64::from(epoch.seconds))
            .sum()
    }

    /// The trials that have ended, the best first: by accuracy those that trained to their end,
    /// then those that were ended early, those with more epochs first, then those that failed.
    pub fn ranked(trials: &[Self]) -> Vec<&Self> {
        let rank = |trial: &Self| match trial.outcome {
            Some(Outcome::Completed) => (2, 0),
            Some(Outcome::Pruned) => (1, trial.epochs.len()),
            Some(Outcome::Failed { .. }) | None => (0, 0),
        };
        let accuracy = |trial: &Self| trial.accuracy().unwrap_or(0.0);
        let mut ended: Vec<&Self> = trials
            .iter()
            .filter(|trial| trial.outcome.is_some())
            .collect();
        ended.sort_by(|a, b| {
            rank(b)
                .cmp(&rank(a))
                .then(accuracy(b).total_cmp(&accuracy(a)))
        });
        ended
    }
}

impl From<&EpochRecord> for TrialEpoch {
    fn from(record: &EpochRecord) -> Self {
        Self {
            epoch: record.epoch,
            validation_accuracy: record.validation_accuracy,
            validation_loss: Some(record.validation_loss).filter(|loss| loss.is_finite()),
            seconds: record.seconds,
        }
    }
}
