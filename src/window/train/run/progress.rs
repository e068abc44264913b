//! A run's state, progress and pace as text.

use super::{Phase, RunView};
use crate::text::format::{grouped, remaining};

impl RunView {
    /// The share of the run that is done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        match (&self.phase, &self.plan) {
            (Phase::Preparing(fraction), _) => *fraction,
            (Phase::NotSaved, _) => 1.0,
            (Phase::Finished(summary), _) if !summary.stopped => 1.0,
            (_, Some(plan)) => self.now.step as f32 / plan.total_steps.max(1) as f32,
            (_, None) => 0.0,
        }
    }

    /// True while the test set is evaluated after the last step.
    pub(super) fn is_testing(&self) -> bool {
        self.phase == Phase::Training
            && self
                .plan
                .as_ref()
                .is_some_and(|plan| self.now.step >= plan.total_steps)
    }

    /// The run's state: "Training, epoch 2 of 3".
    pub fn state(&self) -> String {
        let epoch = || format!("epoch {} of {}", self.now.epoch.max(1), self.config.epochs);
        match &self.phase {
            Phase::Preparing(fraction) if *fraction >= 1.0 => "Starting the run".to_owned(),
            Phase::Preparing(_) => "Preparing the data".to_owned(),
            Phase::Training if self.is_testing() => "Evaluating on the test set".to_owned(),
            Phase::Training => format!("Training, {}", epoch()),
            Phase::Paused => format!("Paused, {}", epoch()),
            // Of a resumed run.
            Phase::Stopping if self.plan.is_none() && self.has_completed_epoch() => {
                "Preparing the data to save the model".to_owned()
            }
            Phase::Stopping => "Stopping…".to_owned(),
            Phase::NotSaved => "Finished, but not saved yet".to_owned(),
            Phase::Finished(summary) if summary.stopped => "Stopped; weights saved".to_owned(),
            Phase::Finished(summary) if summary.stopped_early => {
                format!(
                    "Finished early; epoch {} was best",
                    summary.kept_epoch.unwrap_or_default()
                )
            }
            Phase::Finished(_) => "Finished".to_owned(),
            Phase::Discarded if self.resumable_checkpoint().is_some() => {
                format!("Stopped, {}", epoch())
            }
            Phase::Discarded => "Stopped before the first step; nothing was saved".to_owned(),
            Phase::Failed | Phase::Interrupted => match self.resumable_checkpoint() {
                Some(last) => format!(
                    "Interrupted; saved after {} of {}",
                    last.position, self.config.epochs
                ),
                None => "Failed".to_owned(),
            },
        }
    }

    /// The loss scale in f16, "Loss scale 65,536, 3 steps skipped"; `None` in other precisions.
    pub fn scaling(&self) -> Option<String> {
        let scale = grouped(self.now.loss_scale? as u64);
        let skipped = match self.now.skipped_steps {
            0 => "no steps skipped".to_owned(),
            1 => "1 step skipped".to_owned(),
            steps => format!("{} steps skipped", grouped(steps)),
        };
        Some(format!("Loss scale {scale}, {skipped}"))
    }

    /// Remaining time and throughput, "1 min 20 s left", "4,012 images/s"; empty while unknown.
    pub fn pace(&self) -> Vec<String> {
        let Phase::Training = self.phase else {
            return Vec::new();
        };
        let mut pace = Vec::new();
        if self.now.step > 0 {
            pace.push(format!("{} left", remaining(self.now.remaining_seconds)));
            pace.push(format!(
                "{} images/s",
                grouped(self.now.images_per_second.max(0.0).round() as u64)
            ));
        }
        pace
    }
}
