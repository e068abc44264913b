//! What is known about optimiser steps once their figures were read.

use super::metrics::Metrics;
use crate::records::Intervention;

/// A step that was taken.
#[derive(Clone, Copy, Debug)]
pub struct CompletedStep {
    /// Which, from 1.
    pub step: u64,
    /// The learning rate it was taken with.
    pub learning_rate: f32,
    /// Its loss and accuracy.
    pub metrics: Metrics,
}

/// What became known about steps.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// Steps that count, oldest first.
    pub completed: Vec<CompletedStep>,
    /// What was done after them so that training can continue.
    pub intervention: Option<Intervention>,
}

impl StepReport {
    /// This, and what became known later.
    pub fn and(mut self, later: Self) -> Self {
        self.completed.extend(later.completed);
        Self {
            completed: self.completed,
            intervention: later.intervention.or(self.intervention),
        }
    }
}
