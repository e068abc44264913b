//! The figure that people train for, a run's accuracy as it rises, and how far the run is.

use super::{Phase, RunView};
use crate::notices::harder_data_note;
use crate::text::format::{count, duration, grouped, local_time, percent, remaining};

/// The accuracy that says most about a run at present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// Which accuracy it is: "Validation accuracy".
    pub name: &'static str,
    /// Its value in percent: "98.92 %".
    pub value: String,
    /// What it was measured on or when: "after epoch 2", "on MNIST, 10,000 images".
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
        let ended = if let Phase::Finished(summary) = &self.phase {
            Some(summary)
        } else {
            None
        };
        if let Some(accuracy) = ended
            .filter(|summary| summary.test.is_some())
            .and_then(|summary| summary.accuracy())
        {
            return Some(Headline {
                name: accuracy.name(),
                value: accuracy.percent(),
                measured: format!("on {}", accuracy.measured_on()),
                about: if self.config.data.sources().len() > 1 {
                    "Share of the test images classified correctly. They come from the first data set alone, validation images from every one: \
                     the two accuracies are measured on different images."
                } else {
                    "Share of the test images classified correctly. The network never saw them during training."
                },
                note,
            });
        }
        let record = ended.map_or(self.history.epochs.last(), |summary| summary.kept());
        if let Some(record) = record {
            return Some(Headline {
                name: "Validation accuracy",
                value: percent(f64::from(record.validation_accuracy), 2),
                measured: format!("after epoch {}", record.epoch),
                about: "Share of the validation images classified correctly. They are held back from training and measured after each epoch.",
                note,
            });
        }
        training.map(|accuracy| Headline {
            name: "Training accuracy",
            value: percent(accuracy, 2),
            measured: "so far".to_owned(),
            about: "Share of the latest training images classified correctly. Validation accuracy follows after the first epoch.",
            note,
        })
    }

    /// How far a run is that trains or is paused, as names and values: the epoch, the time left and
    /// the speed. Empty in other phases.
    pub fn progress_figures(&self) -> Vec<(&'static str, String)> {
        if !matches!(
            self.phase,
            Phase::Training | Phase::Paused | Phase::Stopping
        ) {
            return Vec::new();
        }
        let epoch = (
            "Epoch",
            format!("{} of {}", self.now.epoch.max(1), self.config.epochs),
        );
        let left = match self.phase {
            Phase::Paused => "paused".to_owned(),
            Phase::Stopping => "stopping".to_owned(),
            _ if self.is_testing() => "testing…".to_owned(),
            _ if self.now.step > 0 => remaining(self.now.remaining_seconds),
            _ => "–".to_owned(),
        };
        let speed = format!(
            "{} images/s",
            grouped(self.now.images_per_second.max(0.0).round() as u64)
        );
        vec![epoch, ("Time left", left), ("Speed", speed)]
    }

    /// The run's network and data: "LeNet-5 on MNIST".
    pub fn title(&self) -> String {
        self.config.title()
    }

    /// What a figure says of the run: when it finished, how it was trained, and its accuracy.
    pub fn caption(&self) -> String {
        let when = if let Phase::Finished(summary) = &self.phase {
            Some(local_time(&summary.finished_at))
        } else {
            None
        };
        let epochs = count(u64::from(self.config.epochs), "epoch");
        let preset = self.config.preset.map_or_else(
            || "Custom settings".to_owned(),
            |preset| preset.label().to_owned(),
        );
        let how = format!("{preset}, {epochs}, batch size {}", self.config.batch_size);
        let accuracy = self.headline(None).map(|headline| {
            format!(
                "{} {} {}",
                headline.name.to_lowercase(),
                headline.value,
                headline.measured
            )
        });
        when.into_iter()
            .chain([how])
            .chain(accuracy)
            .collect::<Vec<_>>()
            .join(" · ")
    }

    /// How the run ended, in a few words: "Trained in 42 s"; its state in all other phases.
    pub fn outcome(&self) -> String {
        match &self.phase {
            Phase::Finished(summary) if !summary.stopped && !summary.stopped_early => {
                format!("Trained in {}", duration(summary.train_seconds))
            }
            _ => self.state(),
        }
    }
}
