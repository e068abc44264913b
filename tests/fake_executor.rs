//! An executor for sweeps that trains nothing: each trial completes an epoch whenever it is its
//! turn.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use inkling::problem::Problem;
use inkling::protocol::EngineError;
use inkling::run_config::RunConfig;
use inkling::sweep::{Executor, TrialEpoch, TrialEvent};

/// The executor.
#[derive(Default)]
pub struct FakeExecutor {
    /// Each with the epochs that it has completed.
    pub training: VecDeque<(u32, RunConfig, u32)>,
    /// Trials in the order in which they were started.
    pub started: Vec<u32>,
    pub stopped: Vec<u32>,
    /// What happens, once, to the trial with this number instead of its next epoch.
    pub instead: Option<(u32, TrialEvent)>,
    pub most_at_once: usize,
    /// After this many trials no machine is left to start another.
    pub machines_last: Option<usize>,
    /// What was done to the data of the trials, until it is said.
    pub data_notes: Vec<String>,
    /// Epochs that it still completes; without a number, all.
    pub epochs: Option<Arc<AtomicI64>>,
}

impl Executor for FakeExecutor {
    fn start(&mut self, trial: u32, config: &RunConfig) -> Result<(), Problem> {
        self.started.push(trial);
        self.training.push_back((trial, config.clone(), 0));
        self.most_at_once = self.most_at_once.max(self.training.len());
        Ok(())
    }

    fn capacity(&mut self) -> Result<u32, Problem> {
        match self.machines_last {
            Some(last) if self.started.len() >= last => Err(EngineError::Gone.into()),
            _ => Ok(u32::MAX),
        }
    }

    fn stop(&mut self, trial: u32) {
        self.stopped.push(trial);
        self.training.retain(|(training, ..)| *training != trial);
    }

    fn next(&mut self, limit: Duration) -> Option<(u32, TrialEvent)> {
        let (trial, config, done) = self.training.pop_front()?;
        if let Some(instead) = self.instead.take_if(|(other, _)| *other == trial) {
            return Some(instead);
        }
        if !self.data_notes.is_empty() {
            let notes = std::mem::take(&mut self.data_notes);
            self.training.push_front((trial, config, done));
            return Some((trial, TrialEvent::DataNotes(notes)));
        }
        if done == config.epochs {
            return Some((trial, TrialEvent::Completed));
        }
        if let Some(epochs) = &self.epochs {
            if epochs.load(Ordering::Relaxed) == 0 {
                self.training.push_front((trial, config, done));
                std::thread::sleep(limit.min(Duration::from_millis(1)));
                return None;
            }
            epochs.fetch_sub(1, Ordering::Relaxed);
        }
        let event = TrialEvent::Epoch(epoch(done + 1, accuracy(&config, done + 1)));
        self.training.push_back((trial, config, done + 1));
        Some((trial, event))
    }
}

pub fn epoch(epoch: u32, validation_accuracy: f64) -> TrialEpoch {
    TrialEpoch {
        epoch,
        validation_accuracy: validation_accuracy as f32,
        validation_loss: Some(0.5),
        seconds: 1.0,
    }
}

/// An accuracy that is best for a learning rate of 0.003 and small batches, and grows with the
/// epochs.
pub fn accuracy(config: &RunConfig, epoch: u32) -> f64 {
    let distance =
        (config.learning_rate / 3e-3).log10().abs() + f64::from(config.batch_size) / 1000.0;
    0.99 - 0.1 * distance - 0.05 / f64::from(epoch)
}
