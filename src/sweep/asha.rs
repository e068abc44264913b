//! Ending poor trials early: asynchronous successive halving.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trial::Trial;

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
    pub fn goes_on(self, trial: &Trial, trials: &[Trial]) -> bool {
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
