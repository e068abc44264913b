//! Small curves beside the models in the list.

use std::path::Path;

use crate::records::{EpochRecord, StepPoint};
use crate::runs::{RunEntry, load_steps};
use crate::window::{Ctx, Models};

/// Runs of fewer epochs show their steps.
const MIN_EPOCHS: usize = 3;
/// Points of a curve at most.
const POINTS: usize = 48;

/// A run's accuracy, from its beginning to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thumbnail {
    /// Accuracies from 0 to 1 at equal distances; none if nothing is known.
    pub values: Vec<f32>,
    /// True for validation accuracies by epoch, false for training accuracies by step.
    pub validation: bool,
}

impl Thumbnail {
    fn of_epochs(epochs: &[EpochRecord]) -> Self {
        Self {
            values: thinned(
                epochs
                    .iter()
                    .map(|record| record.validation_accuracy)
                    .collect(),
            ),
            validation: true,
        }
    }

    fn of_steps(steps: &[StepPoint]) -> Self {
        Self {
            values: thinned(steps.iter().map(|point| point.accuracy).collect()),
            validation: false,
        }
    }
}

/// The means of equal parts, if there are many values.
fn thinned(values: Vec<f32>) -> Vec<f32> {
    if values.len() <= POINTS {
        return values;
    }
    let part =
        |index: usize| &values[index * values.len() / POINTS..(index + 1) * values.len() / POINTS];
    (0..POINTS)
        .map(|index| part(index).iter().sum::<f32>() / part(index).len() as f32)
        .collect()
}

impl Models {
    /// The curve of the run in this folder, once it is known.
    pub fn thumbnail(&self, folder: &Path) -> Option<&Thumbnail> {
        self.thumbnails
            .get(folder)
            .filter(|thumbnail| thumbnail.values.len() > 1)
    }

    /// Takes in the list of runs, and has the curves read that are not known yet.
    pub fn set_runs(&mut self, ctx: &mut Ctx, runs: Vec<RunEntry>) {
        self.thumbnails
            .retain(|folder, _| runs.iter().any(|run| run.folder == *folder));
        let mut unread = Vec::new();
        for run in &runs {
            let Ok(summary) = &run.summary else { continue };
            if summary.epochs.is_empty() || self.thumbnails.contains_key(&run.folder) {
                continue;
            }
            let thumbnail = if summary.epochs.len() < MIN_EPOCHS {
                unread.push(run.folder.clone());
                Thumbnail::default()
            } else {
                Thumbnail::of_epochs(&summary.epochs)
            };
            self.thumbnails.insert(run.folder.clone(), thumbnail);
        }
        self.runs = Some(runs);
        if !unread.is_empty() {
            ctx.background.run_with_updates(move |report| {
                for folder in unread {
                    let thumbnail = Thumbnail::of_steps(&load_steps(&folder));
                    report(Box::new(move |app| {
                        if let Some(known) = app.models.thumbnails.get_mut(&folder) {
                            *known = thumbnail;
                        }
                    }));
                }
            });
        }
    }
}
