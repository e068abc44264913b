//! A run in words: the figure that people train for, its accuracy as it rises, its state, progress
//! and pace.

use super::{Phase, RunView};
use crate::notices::harder_data_note;
use crate::records::RunSummary;
use crate::text::format::{count, duration, grouped, local_time, percent, remaining};

/// The accuracy that says most about a run at present.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Which accuracy it is: "Validation accuracy".
    pub name: &'static str,
    /// Its value in percent: "98.92%".
    pub value: String,
    /// The same from 0 to 1.
    pub fraction: f64,
    /// The images that it was measured on, or when: "after epoch 2", "on MNIST, 10,000 images".
    pub measured: String,
    pub about: &'static str,
    /// A figure to compare it with, if it is lower than people may expect.
    pub note: Option<String>,
}

impl RunView {
    /// The test accuracy once there is one, else the validation accuracy, else the `training`
    /// accuracy from 0 to 1; `None` before all.
    pub fn headline(&self, training: Option<f64>) -> Option<Headline> {
        let note = harder_data_note(&self.config.data);
        let ended = self.summary();
        let tested = ended.filter(|summary| summary.test.is_some());
        if let Some(accuracy) = tested.and_then(RunSummary::accuracy) {
            return Some(Headline {
                name: accuracy.name(),
                value: accuracy.percent(),
                fraction: accuracy.value,
                measured: format!("on {}", accuracy.measured_on()),
                about: if self.config.data.sources().len() > 1 {
                    "Fraction of the test images classified correctly. They come from the first data set only, but validation images come from all of them, so the two accuracies are measured on different images."
                } else {
                    "Fraction of the test images classified correctly. The network never saw them during training."
                },
                note,
            });
        }
        let record = ended.map_or(self.history.epochs.last(), |summary| summary.kept());
        if let Some(record) = record {
            return Some(Headline {
                name: "Validation accuracy",
                value: percent(f64::from(record.validation_accuracy), 2),
                fraction: record.validation_accuracy.into(),
                measured: format!("after epoch {}", record.epoch),
                about: "Fraction of the validation images classified correctly. They are held out from training and evaluated after each epoch.",
                note,
            });
        }
        training.map(|accuracy| Headline {
            name: "Training accuracy",
            value: percent(accuracy, 2),
            fraction: accuracy,
            measured: "so far".to_owned(),
            about: "Fraction of the latest training images classified correctly. Validation accuracy follows after the first epoch.",
            note,
        })
    }

    fn speed(&self) -> String {
        let rate = self.now.images_per_second.max(0.0).round() as u64;
        format!("{} images/s", grouped(rate))
    }

    /// The caption of a figure: when the run finished, how it was trained, and its accuracy.
    pub fn caption(&self) -> String {
        let when = self.summary().map(|run| local_time(&run.finished_at));
        let preset = self.config.preset;
        let how = format!(
            "{}, {}, batch size {}",
            preset.map_or("Custom settings", |preset| preset.label()),
            count(u64::from(self.config.epochs), "epoch"),
            self.config.batch_size
        );
        let accuracy = self.headline(None).map(|headline| {
            let name = headline.name.to_lowercase();
            format!("{name} {} {}", headline.value, headline.measured)
        });
        let parts = [when, Some(how), accuracy].into_iter().flatten();
        parts.collect::<Vec<_>>().join(" · ")
    }

    /// How the run ended, in a few words: "Trained in 42 s"; its state in all other phases.
    pub fn outcome(&self) -> String {
        let complete = |run: &&RunSummary| !run.stopped && !run.stopped_early;
        match self.summary().filter(complete) {
            Some(summary) => format!("Trained in {}", duration(summary.train_seconds)),
            None => self.state(),
        }
    }
}

impl RunView {
    /// The fraction of the run that is done, from 0 to 1.
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
        let plan = self.plan.as_ref();
        self.phase == Phase::Training && plan.is_some_and(|plan| self.now.step >= plan.total_steps)
    }

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
            Phase::Finished(_) => "Training finished".to_owned(),
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
        if self.phase != Phase::Training || self.now.step == 0 {
            return Vec::new();
        }
        let left = format!("{} left", remaining(self.now.remaining_seconds));
        vec![left, self.speed()]
    }
}
