//! The plotted curves of a run: extended as the run's history grows, thinned when drawn.

use super::pyramid::Pyramid;
use crate::records::JobId;
use crate::window::{RunView, RunningMean};

/// Bytes of a mebibyte, the unit memory is plotted in.
const MIB: f64 = 1024.0 * 1024.0;

/// A quantity measured at every step: raw and smoothed.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub raw: Pyramid,
    pub smooth: Pyramid,
    running: RunningMean,
}

impl Measured {
    fn push(&mut self, x: f64, value: f64, smoothing: f64) {
        if value.is_finite() {
            self.raw.push(x, value);
            let smoothed = self.running.take(value, smoothing);
            self.smooth.push(x, smoothed);
        }
    }

    fn recompute_smooth(&mut self, smoothing: f64) {
        self.smooth = Pyramid::default();
        self.running = RunningMean::default();
        for &[x, value] in self.raw.points() {
            self.smooth.push(x, self.running.take(value, smoothing));
        }
    }
}

/// All curves of a run; `x` is always the step.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    run: Option<JobId>,
    smoothing: f64,
    steps_taken: usize,
    epochs_taken: usize,
    telemetry_taken: usize,
    pub loss: Measured,
    /// Accuracy of each batch, in percent.
    pub accuracy: Measured,
    /// Cross-entropy on the validation set, in nats.
    pub validation_loss: Pyramid,
    /// Accuracy on the validation set, in percent.
    pub validation_accuracy: Pyramid,
    pub learning_rate: Pyramid,
    /// Training images per second.
    pub throughput: Pyramid,
    pub memory: Pyramid,
}

impl Curves {
    /// Adds what is new in the run's history. Another run, or a history that shrank, replaces all
    /// curves. True if they are another run's.
    pub fn sync(&mut self, run: &RunView, smoothing: f64) -> bool {
        let history = &run.history;
        let shrank = self.steps_taken > history.steps.len()
            || self.epochs_taken > history.epochs.len()
            || self.telemetry_taken > history.telemetry.len();
        let is_another = self.run != Some(run.id);
        if is_another || shrank {
            *self = Self {
                run: Some(run.id),
                smoothing,
                ..Self::default()
            };
        }
        if self.smoothing != smoothing {
            self.smoothing = smoothing;
            self.loss.recompute_smooth(smoothing);
            self.accuracy.recompute_smooth(smoothing);
        }
        for point in history.steps.get(self.steps_taken..).unwrap_or_default() {
            let x = point.step as f64;
            self.loss.push(x, f64::from(point.loss), smoothing);
            self.accuracy
                .push(x, f64::from(point.accuracy) * 100.0, smoothing);
            self.learning_rate.push(x, f64::from(point.learning_rate));
        }
        for record in history.epochs.get(self.epochs_taken..).unwrap_or_default() {
            let x = record.step as f64;
            self.validation_loss
                .push(x, f64::from(record.validation_loss));
            self.validation_accuracy
                .push(x, f64::from(record.validation_accuracy) * 100.0);
        }
        for telemetry in history
            .telemetry
            .get(self.telemetry_taken..)
            .unwrap_or_default()
        {
            let x = telemetry.step as f64;
            self.throughput
                .push(x, f64::from(telemetry.images_per_second));
            self.memory.push(x, telemetry.memory_bytes as f64 / MIB);
        }
        self.steps_taken = history.steps.len();
        self.epochs_taken = history.epochs.len();
        self.telemetry_taken = history.telemetry.len();
        is_another
    }

    pub fn last_step(&self) -> f64 {
        [&self.loss.raw, &self.validation_loss, &self.throughput]
            .into_iter()
            .filter_map(|curve| curve.points().last())
            .fold(0.0, |last, point| last.max(point[0]))
    }
}
