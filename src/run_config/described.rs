//! The settings of a run as people read them, and those in which several runs differ.

use super::{Initialization, OptimizerKind, RunConfig};
use crate::text::format::{count, plain};
use crate::text::visible;

/// What stands for a setting that is turned off, in a table with runs that have it.
const OFF: &str = "off";

/// The name of a setting, and its value; `None` where it is turned off.
pub type Setting = (&'static str, Option<String>);

impl RunConfig {
    /// How the weights are changed: everything but the data, the network, the machine's part and
    /// the seed.
    pub fn training_settings(&self) -> Vec<Setting> {
        let smoothing = (self.label_smoothing > 0.0).then(|| plain(self.label_smoothing));
        vec![
            (
                "Initial weights",
                self.initial_weights
                    .as_ref()
                    .map(|weights| visible::path(weights)),
            ),
            (
                "Initialisation",
                (self.initialization != Initialization::Random)
                    .then(|| self.initialization.label().to_owned()),
            ),
            ("Epochs", Some(self.epochs.to_string())),
            (
                "Batch size",
                Some(if self.growing_batches {
                    format!("{}, growing", self.batch_size)
                } else {
                    self.batch_size.to_string()
                }),
            ),
            ("Augmentation", Some(self.augmentation.label().to_owned())),
            ("Activation", Some(self.activation.label().to_owned())),
            ("Optimiser", Some(self.optimizer_with_momentum())),
            (
                "Learning rate",
                Some(format!(
                    "{} ({})",
                    plain(self.learning_rate),
                    self.schedule.label()
                )),
            ),
            ("Weight decay", Some(plain(self.weight_decay))),
            ("Label smoothing", smoothing),
            (
                "Gradient clipping",
                self.clip_norm.map(|norm| format!("global norm {norm}")),
            ),
            (
                "Gradient accumulation",
                (self.accumulation > 1).then(|| format!("{} batches per step", self.accumulation)),
            ),
            (
                "Weight averaging",
                self.weight_averaging
                    .map(|decay| format!("EMA, decay {decay} per step")),
            ),
            (
                "Early stopping",
                self.early_stopping.map(|epochs| {
                    format!(
                        "after {} without improvement",
                        count(epochs.into(), "epoch")
                    )
                }),
            ),
        ]
    }

    /// All settings.
    fn all_settings(&self) -> Vec<Setting> {
        let mut settings = vec![
            ("Data", Some(self.data.label())),
            ("Network", Some(self.network().label())),
        ];
        settings.extend(self.training_settings());
        settings.extend([
            ("Precision", Some(self.precision.label().to_owned())),
            ("Device", Some(self.device.label().to_owned())),
            (
                "Threads",
                Some(
                    self.threads
                        .map_or_else(|| "one per core".to_owned(), |threads| threads.to_string()),
                ),
            ),
            ("Autotuning", self.autotune.then(|| "on".to_owned())),
            (
                "Activation checkpointing",
                self.activation_checkpointing.then(|| "on".to_owned()),
            ),
            (
                "Memory limit",
                self.memory_limit
                    .map(|mebibytes| format!("{mebibytes} MiB")),
            ),
            ("Seed", Some(self.seed.to_string())),
        ]);
        settings
    }

    /// The optimiser with its momentum.
    fn optimizer_with_momentum(&self) -> String {
        match (self.optimizer, self.nesterov) {
            (OptimizerKind::Sgd, true) => {
                format!("{} {} (Nesterov)", self.optimizer.label(), self.momentum)
            }
            (OptimizerKind::Sgd, false) => format!("{} {}", self.optimizer.label(), self.momentum),
            _ => self.optimizer.label().to_owned(),
        }
    }
}

/// The settings in which these runs differ, each with its value in every run.
pub fn differing_settings(configs: &[&RunConfig]) -> Vec<(&'static str, Vec<String>)> {
    let columns: Vec<Vec<Setting>> = configs.iter().map(|config| config.all_settings()).collect();
    let Some(first) = columns.first() else {
        return Vec::new();
    };
    let row = |(index, (name, _)): (usize, &Setting)| {
        let value = |column: &Vec<Setting>| {
            column
                .get(index)
                .and_then(|(_, value)| value.clone())
                .unwrap_or_else(|| OFF.to_owned())
        };
        (*name, columns.iter().map(value).collect::<Vec<_>>())
    };
    let differ =
        |(_, values): &(&str, Vec<String>)| values.windows(2).any(|pair| pair[0] != pair[1]);
    first.iter().enumerate().map(row).filter(differ).collect()
}
