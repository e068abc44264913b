//! Trials, each one run with settings that the sampler chose, and which of them end early.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::space::Value;
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
    /// How it ended; `None` while it trains, and if it was cut short: then it begins again when
    /// the sweep is resumed.
    pub outcome: Option<Outcome>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialEpoch {
    /// From 1.
    pub epoch: u32,
    /// Accuracy on the validation split, 0 to 1.
    pub validation_accuracy: f32,
    /// Mean cross-entropy on it, in nats; `None` if it is not finite.
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
    /// The validation accuracy of the weights that the run would keep: the last epoch's, or
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

/// Asynchronous successive halving (Li et al. 2020, "A system for massively parallel hyperparameter
/// tuning", <https://arxiv.org/abs/1810.05934>) in the form that stops trials instead of pausing
/// them (as Ray Tune and Optuna's `SuccessiveHalvingPruner` do): when a trial completes epoch
/// `min_epochs · reductionᵏ`, a rung, it goes on only if it is among the best `1 / reduction` of
/// the trials that have reached this rung by then, rounded down but at least one. No trial waits
/// for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asha {
    /// One in this many trials goes on at each rung (η in the paper).
    pub reduction: u32,
    /// The epochs that every trial trains (r in the paper).
    pub min_epochs: u32,
}

impl Asha {
    /// The paper's reduction factor for four times the epochs from rung to rung is 4; with fewer
    /// epochs, 3 gives one rung more.
    pub const DEFAULT: Self = Self {
        reduction: 3,
        min_epochs: 1,
    };

    /// Whether trials are compared after this epoch.
    pub fn is_rung(self, epoch: u32) -> bool {
        let mut rung = u64::from(self.min_epochs.max(1));
        while rung < u64::from(epoch) {
            rung *= u64::from(self.reduction.max(2));
        }
        rung == u64::from(epoch)
    }

    /// Whether the trial goes on after the last epoch it completed, seeing what all trials, itself
    /// among them, have reached so far.
    pub fn should_continue(self, trial: &Trial, trials: &[Trial]) -> bool {
        let Some(last) = trial.epochs.last() else {
            return true;
        };
        if !self.is_rung(last.epoch) || last.epoch >= trial.config.epochs {
            return true;
        }
        let reached = |other: &Trial| {
            other
                .epochs
                .iter()
                .find(|epoch| epoch.epoch == last.epoch)
                .map(|epoch| epoch.validation_accuracy)
        };
        let mut accuracies: Vec<f32> = trials.iter().filter_map(reached).collect();
        accuracies.sort_unstable_by(|a, b| b.total_cmp(a));
        let promoted = (accuracies.len() / self.reduction.max(2) as usize).max(1);
        accuracies
            .get(promoted - 1)
            .is_none_or(|&least| last.validation_accuracy >= least)
    }
}
