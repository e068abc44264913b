//! Repeated runs: what is said of the same settings with several seeds.

use super::RunEntry;
use crate::math::statistics::{MeanInterval, mean_interval};
use crate::records::RunSummary;
use crate::run_config::RunConfig;
use crate::text::format::percent;

/// The repetitions after this one that are not among these runs.
pub fn missing_repetitions(config: &RunConfig, runs: &[RunEntry]) -> Vec<RunConfig> {
    let mut missing = config.next_repetitions();
    let saved = |run: &RunConfig| {
        runs.iter()
            .flat_map(|entry| &entry.summary)
            .any(|summary| summary.config.repetition == run.repetition)
    };
    missing.retain(|run| !saved(run));
    missing
}

/// The runs of one repetition that were saved and not stopped, in the order of their numbers; at
/// least two.
#[derive(Clone, Debug)]
pub struct Repeats<'r> {
    runs: Vec<(&'r RunEntry, &'r RunSummary)>,
    tested: bool,
}

impl<'r> Repeats<'r> {
    /// The runs that were repeated together with this one; `None` while there are not two.
    pub fn of(runs: &'r [RunEntry], one: &RunSummary) -> Option<Self> {
        let begun = &one.config.repetition.as_ref()?.begun;
        let summaries = runs
            .iter()
            .filter_map(|entry| Some((entry, &**entry.summary.as_ref().ok()?)));
        let is_one = |summary: &RunSummary| {
            !summary.stopped
                && summary
                    .config
                    .repetition
                    .as_ref()
                    .is_some_and(|run| run.begun == *begun)
        };
        let mut runs: Vec<_> = summaries.filter(|(_, summary)| is_one(summary)).collect();
        runs.sort_by_key(|(_, summary)| summary.config.repetition.as_ref().map(|run| run.number));
        let tested = runs.iter().all(|(_, summary)| summary.test.is_some());
        (runs.len() >= 2).then_some(Self { runs, tested })
    }

    pub fn runs(&self) -> &[(&'r RunEntry, &'r RunSummary)] {
        &self.runs
    }

    /// What the accuracies were measured on: "test" images if all runs were, else "validation"
    /// images.
    pub const fn measured_on(&self) -> &'static str {
        if self.tested { "test" } else { "validation" }
    }

    /// The accuracy of a run, 0 to 1.
    pub fn accuracy(&self, run: &RunSummary) -> f64 {
        let validation = || {
            run.kept()
                .map_or(0.0, |record| f64::from(record.validation_accuracy))
        };
        run.test
            .as_ref()
            .filter(|_| self.tested)
            .map_or_else(validation, |test| test.evaluation.accuracy)
    }

    /// The mean of the accuracies.
    pub fn mean(&self) -> Option<MeanInterval> {
        mean_interval(
            &self
                .runs
                .iter()
                .map(|(_, run)| self.accuracy(run))
                .collect::<Vec<_>>(),
        )
    }

    /// The run with the lowest accuracy, and that with the highest.
    pub fn extremes(&self) -> Option<(&'r RunSummary, &'r RunSummary)> {
        let by = |a: &&&RunSummary, b: &&&RunSummary| self.accuracy(a).total_cmp(&self.accuracy(b));
        let all: Vec<&RunSummary> = self.runs.iter().map(|(_, run)| *run).collect();
        Some((all.iter().min_by(by)?, all.iter().max_by(by)?))
    }

    /// For each epoch that two runs or more have completed: the epoch, and the mean validation
    /// accuracy with its interval.
    pub fn by_epoch(&self) -> Vec<(u32, MeanInterval)> {
        let last = self
            .runs
            .iter()
            .filter_map(|(_, run)| run.epochs.last())
            .map(|record| record.epoch)
            .max()
            .unwrap_or_default();
        let at = |epoch: u32| -> Vec<f64> {
            let of = |run: &RunSummary| {
                run.epochs
                    .iter()
                    .find(|record| record.epoch == epoch)
                    .map(|record| record.validation_accuracy)
            };
            self.runs
                .iter()
                .filter_map(|(_, run)| of(run))
                .map(f64::from)
                .collect()
        };
        (1..=last)
            .filter_map(|epoch| Some((epoch, mean_interval(&at(epoch))?)))
            .collect()
    }

    /// "5 runs: mean test accuracy 99.21 %, 95 % interval of the mean 99.15 % to 99.27 % (Student's
    /// t), standard deviation 0.05 percentage points; lowest 99.10 % (seed 5), highest 99.30 %
    /// (seed 3)."
    pub fn sentence(&self) -> String {
        let (Some(mean), Some((worst, best))) = (self.mean(), self.extremes()) else {
            return String::new();
        };
        let one = |run: &RunSummary| {
            format!(
                "{} (seed {})",
                percent(self.accuracy(run), 2),
                run.config.seed
            )
        };
        format!(
            "{} runs: mean {} accuracy {}, 95 % interval of the mean {} to {} (Student's t), standard deviation {:.2} percentage points; \
             lowest {}, highest {}.",
            mean.count,
            self.measured_on(),
            percent(mean.mean, 2),
            percent(mean.low.max(0.0), 2),
            percent(mean.high.min(1.0), 2),
            mean.deviation * 100.0,
            one(worst),
            one(best),
        )
    }
}
