//! The curves of compared models as points: of each epoch, or of each step, over epochs, steps or
//! seconds.

use crate::records::{EpochRecord, RunSummary, StepPoint};
use crate::window::RunningMean;
use crate::window::plots::scale::significant;

/// How much of the mean before it each step's loss keeps: single batches scatter too much for eight
/// curves to be told apart.
const SMOOTHING: f64 = 0.9;
/// Points of a curve of steps, at most: more than the plot is wide would only take time.
const POINTS: usize = 400;

/// A figure of each epoch, or of each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Figure {
    #[default]
    ValidationAccuracy,
    ValidationLoss,
    TrainingLoss,
    StepLoss,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    #[default]
    Epoch,
    Step,
    Time,
}

impl Figure {
    pub const ALL: [Self; 4] = [
        Self::ValidationAccuracy,
        Self::ValidationLoss,
        Self::TrainingLoss,
        Self::StepLoss,
    ];

    pub const fn label(self) -> &'static str {
        match self {
            Self::ValidationAccuracy => "Validation accuracy",
            Self::ValidationLoss => "Validation loss",
            Self::TrainingLoss => "Training loss",
            Self::StepLoss => "Training loss per step",
        }
    }

    /// This figure of an epoch; steps have their own.
    fn of(self, record: &EpochRecord) -> f64 {
        f64::from(match self {
            Self::ValidationAccuracy => record.validation_accuracy * 100.0,
            Self::ValidationLoss => record.validation_loss,
            Self::TrainingLoss | Self::StepLoss => record.train_loss,
        })
    }

    pub fn text(self, value: f64) -> String {
        if self == Self::ValidationAccuracy {
            format!("{value:.2} %")
        } else {
            significant(value)
        }
    }
}

impl Unit {
    pub const ALL: [Self; 3] = [Self::Epoch, Self::Step, Self::Time];

    pub const fn label(self) -> &'static str {
        match self {
            Self::Epoch => "by epoch",
            Self::Step => "by step",
            Self::Time => "by seconds of training",
        }
    }
}

/// The points of a run's curve; its steps are given beside its summary, which has only the epochs.
pub fn points(run: &RunSummary, steps: &[StepPoint], figure: Figure, unit: Unit) -> Vec<[f64; 2]> {
    let ends = ends_of_epochs(run, unit);
    let points: Vec<[f64; 2]> = if figure == Figure::StepLoss {
        of_steps(steps, &ends)
    } else {
        ends.iter()
            .zip(&run.epochs)
            .map(|(&[_, x], record)| [x, figure.of(record)])
            .collect()
    };
    points
        .into_iter()
        .filter(|[x, y]| x.is_finite() && y.is_finite())
        .collect()
}

/// The last step of each epoch, and where that is on the axis.
fn ends_of_epochs(run: &RunSummary, unit: Unit) -> Vec<[f64; 2]> {
    let mut seconds = 0.0;
    let end = |record: &EpochRecord| {
        seconds += f64::from(record.seconds);
        let x = match unit {
            Unit::Epoch => f64::from(record.epoch),
            Unit::Step => record.step as f64,
            Unit::Time => seconds,
        };
        [record.step as f64, x]
    };
    run.epochs.iter().map(end).collect()
}

/// The smoothed losses, at equal distances within each epoch.
fn of_steps(steps: &[StepPoint], ends: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut mean = RunningMean::default();
    let finite = steps.iter().filter(|point| point.loss.is_finite());
    let smoothed: Vec<(f64, f64)> = finite
        .map(|point| {
            (
                point.step as f64,
                mean.take(f64::from(point.loss), SMOOTHING),
            )
        })
        .collect();
    let every = smoothed.len().div_ceil(POINTS).max(1);
    let last = smoothed.len().saturating_sub(1);
    let shown = smoothed
        .into_iter()
        .enumerate()
        .filter(|(index, _)| index % every == 0 || *index == last);
    shown
        .filter_map(|(_, (step, loss))| Some([position(step, ends)?, loss]))
        .collect()
}

/// Where a step is on the axis; `None` after the last epoch, whose time is not known.
fn position(step: f64, ends: &[[f64; 2]]) -> Option<f64> {
    let after = ends.iter().position(|[end, _]| *end >= step)?;
    let [to_step, to] = ends[after];
    let [from_step, from] = after
        .checked_sub(1)
        .map_or([0.0, 0.0], |before| ends[before]);
    Some(if to_step > from_step {
        from + (to - from) * (step - from_step) / (to_step - from_step)
    } else {
        to
    })
}
