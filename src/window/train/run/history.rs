//! The curves of a run.

use std::fmt::Write as _;

use crate::records::{EpochRecord, StepPoint, Telemetry};

#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every optimizer step, oldest first.
    pub steps: Vec<StepPoint>,
    pub epochs: Vec<EpochRecord>,
    pub telemetry: Vec<Telemetry>,
}

impl History {
    /// Drops what came after the step `last`, from which the run is resumed, and keeps the epochs
    /// `before`. The steps are those of the checkpoint, `curve`, where they were not seen here.
    pub fn rewind(&mut self, before: Vec<EpochRecord>, curve: Vec<StepPoint>, last: u64) {
        if self.steps.is_empty() {
            self.steps = curve;
        }
        self.steps.retain(|point| point.step <= last);
        self.telemetry.retain(|telemetry| telemetry.step <= last);
        self.epochs = before;
    }

    /// The curves as CSV: a row per step and a row per epoch.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "kind,step,epoch,learning_rate,train_loss,train_accuracy,validation_loss,validation_accuracy\n",
        );
        for point in &self.steps {
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "step,{},,{},{},{},,",
                point.step, point.learning_rate, point.loss, point.accuracy
            );
        }
        for record in &self.epochs {
            let _ = writeln!(
                text,
                "epoch,{},{},,{},{},{},{}",
                record.step,
                record.epoch,
                record.train_loss,
                record.train_accuracy,
                record.validation_loss,
                record.validation_accuracy
            );
        }
        text
    }
}

/// An exponentially weighted mean of the values so far, bias-corrected at the start (Kingma & Ba
/// 2015, section 3).
#[derive(Clone, Copy, Debug, Default)]
pub struct RunningMean {
    mean: f64,
    weight: f64,
}

impl RunningMean {
    /// Takes the next value and gives the mean. `smoothing` from 0 (the value as it is) to just
    /// under 1.
    pub fn take(&mut self, value: f64, smoothing: f64) -> f64 {
        let keep = smoothing.clamp(0.0, 0.9999);
        self.mean = keep * self.mean + (1.0 - keep) * value;
        self.weight = keep * self.weight + (1.0 - keep);
        self.mean / self.weight
    }
}
